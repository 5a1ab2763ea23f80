package okon

import (
	"bufio"
	"context"
	"encoding/binary"
	"net"
	"time"

	"github.com/halyard-robotics/halyard/protocols"
)

// VideoServer is the video channel: a byte requests a picture. Each client has one goroutine and one picture at a time:
// a client that requests many and reads none delays only itself, until its write times out.
type VideoServer struct {
	pictures *pictures
	options  Options
	traffic  protocols.Traffic
	clients  protocols.Acceptor
}

// NewVideoServer returns a server of pictures for the clients of listener. It owns listener. It uses the options
// WriteTimeout, ClientTimeout, MaxClients and Log. pictures may be nil: then every request is refused.
func NewVideoServer(listener net.Listener, pictures *pictures, o Options) *VideoServer {
	s := &VideoServer{pictures: pictures, options: o.withDefaults()}
	s.clients = acceptor(listener, s.options.MaxClients, nil, &s.traffic, s.options.Log)
	return s
}

// Address is where the server listens. Traffic counts requests and answers.
func (s *VideoServer) Address() net.Addr           { return s.clients.Listener.Addr() }
func (s *VideoServer) Traffic() *protocols.Traffic { return &s.traffic }

// Serve serves until ctx ends or the listener breaks, then ends every session and waits for them.
func (s *VideoServer) Serve(ctx context.Context) error {
	return s.clients.Serve(ctx, func(ctx context.Context, conn net.Conn) {
		v := viewer{server: s, conn: conn, in: bufio.NewReaderSize(conn, smallest), seen: map[int]uint64{}}
		s.options.Log.Info("okon: viewer", "client", conn.RemoteAddr())
		why := v.run(ctx)
		s.options.Log.Info("okon: viewer ends", "client", conn.RemoteAddr(), "why", why)
	})
}

// viewer is one client of the video channel.
type viewer struct {
	server *VideoServer
	conn   net.Conn
	in     *bufio.Reader
	seen   map[int]uint64 // the last picture of each camera that was sent
	out    []byte
}

// run answers requests until the client leaves, and reports why it did.
func (v *viewer) run(ctx context.Context) error {
	for {
		if limit := v.server.options.ClientTimeout; limit > 0 {
			v.conn.SetReadDeadline(time.Now().Add(limit))
		}
		b, err := v.in.ReadByte()
		if err != nil {
			return err
		}
		v.server.traffic.Receive()
		v.out = v.out[:0]
		switch t := Type(b); t {
		case 0: // nothing, as in the original
			continue
		case illegal:
			return errIllegal
		case legacyVideo, GetVideoBytes, GetDepthBytes:
			if !protocols.Recognize(v.conn) {
				return protocols.ErrStranger
			}
			if err := v.picture(ctx, t); err != nil {
				v.fault(err.Error(), b)
			}
		default:
			v.server.traffic.Drop(protocols.Unknown)
			v.fault("Unknown dataframe type "+t.String(), b)
		}
		v.conn.SetWriteDeadline(time.Now().Add(v.server.options.WriteTimeout))
		if _, err := v.conn.Write(v.out); err != nil {
			v.server.traffic.Drop(protocols.Unsent)
			return err
		}
		v.server.traffic.Send()
	}
}

func (v *viewer) fault(info string, b byte) {
	v.out = Append(v.out[:0], Packet{Type: failure, Data: appendFault(nil, info, []byte{b})})
}

// picture waits for a picture and puts it into out.
func (v *viewer) picture(ctx context.Context, t Type) error {
	p := v.server.pictures
	if p == nil {
		return errNoPicture
	}
	camera := p.views.of(t)
	var got *shot
	var err error
	done := make(chan struct{})
	p.ask(camera, imageRequest{after: v.seen[camera], image: true, deliver: func(s *shot, e error) {
		got, err = s, e
		close(done)
	}})
	<-done // no longer than the pictures' timeout
	if err != nil {
		return err
	}
	v.seen[camera] = got.sequence
	if t == legacyVideo {
		v.out = binary.LittleEndian.AppendUint32(append(v.out, byte(t)), uint32(len(got.jpeg)))
	} else {
		v.out = appendHeader(v.out, t, 0, len(got.jpeg))
	}
	v.out = append(v.out, got.jpeg...)
	return ctx.Err()
}

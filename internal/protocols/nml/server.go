package nml

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"slices"
	"sync/atomic"
	"time"

	"github.com/halyard-robotics/halyard/protocols"
)

// DefaultConnections is how many connections a server serves at a time: a program opens one or two for each buffer.
const DefaultConnections = 256

// Options are the settings of a server.
type Options struct {
	// MaxConnections bounds the connections; 0 = DefaultConnections. A further connection is closed.
	MaxConnections int
	// WriteTimeout is how long a client may leave a reply unread until its connection ends; 0 = 5 s.
	WriteTimeout time.Duration
	// Contain is deferred in each of the server's goroutines: hal.Rig.Contain; nil = a panic ends the process.
	Contain func(what string)
	// Log receives connections that begin, end and are refused, and the first refused write of each connection;
	// nil = silent.
	Log *slog.Logger
}

func (o Options) withDefaults() Options {
	protocols.Positive(&o.MaxConnections, DefaultConnections)
	protocols.Positive(&o.WriteTimeout, 5*time.Second)
	if o.Contain == nil {
		o.Contain = func(string) {}
	}
	o.Log = protocols.Logger(o.Log)
	return o
}

// Server serves buffers on one port.
type Server struct {
	listener net.Listener
	buffers  map[int32]*Buffer
	options  Options
	traffic  protocols.Traffic
}

// Writer is a client that writes: the connection of its last message.
type Writer struct {
	requests atomic.Uint64
	left     atomic.Bool
}

// Left reports whether the client's connection has ended.
func (w *Writer) Left() bool { return w.left.Load() }

// Requests counts the requests of the connection: while it rises the client is alive.
func (w *Writer) Requests() uint64 { return w.requests.Load() }

// names are the names of the buffers, by their numbers.
func (s *Server) names() (list []string) {
	for _, n := range slices.Sorted(maps.Keys(s.buffers)) {
		list = append(list, s.buffers[n].options.Name)
	}
	return list
}

// info is the line of a configuration file for the buffer called name, "" if absent.
func (s *Server) info(name string) string {
	for _, b := range s.buffers {
		if o := &b.options; o.Name == name {
			line := BufferLine{Name: o.Name, Type: "SHMEM", Host: "localhost", Size: o.Size, Number: o.Number,
				Encoding: o.Encoding, Queue: o.Queue, ConfirmWrite: o.ConfirmWrite}
			if at, ok := s.listener.Addr().(*net.TCPAddr); ok {
				line.Port = at.Port
			}
			return string(line.Append(nil))
		}
	}
	return ""
}

// NewServer returns a server of buffers, which must have different numbers. It owns listener.
func NewServer(listener net.Listener, buffers []*Buffer, o Options) (*Server, error) {
	s := &Server{listener: listener, buffers: map[int32]*Buffer{}, options: o.withDefaults()}
	for _, b := range buffers {
		if before := s.buffers[b.options.Number]; before != nil {
			return nil, fmt.Errorf("buffer %s: number %d is that of %s", b.options.Name, b.options.Number,
				before.options.Name)
		}
		s.buffers[b.options.Number] = b
	}
	return s, nil
}

// Address is the server's address. Traffic counts requests, replies, and requests that were refused.
func (s *Server) Address() net.Addr           { return s.listener.Addr() }
func (s *Server) Traffic() *protocols.Traffic { return &s.traffic }

// Serve serves until ctx ends or the listener breaks, then ends every connection and waits for it.
func (s *Server) Serve(ctx context.Context) error {
	a := protocols.Acceptor{Name: "nml", Listener: s.listener, Limit: s.options.MaxConnections,
		Contain: s.options.Contain, Log: s.options.Log, Traffic: &s.traffic}
	return a.Serve(ctx, s.serve)
}

// serve runs one connection.
func (s *Server) serve(ctx context.Context, conn net.Conn) {
	log := s.options.Log.With("client", conn.RemoteAddr())
	log.Info("nml: connection")
	err := newSession(s, conn, log).run(ctx)
	log.Info("nml: connection ends", "reason", err)
}

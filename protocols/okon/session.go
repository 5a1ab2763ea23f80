package okon

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/halyard-robotics/halyard/protocols"
)

var errSilent = errors.New("silent")

// session is one client of the control channel.
type session struct {
	server   *Server
	name     string
	in       packets
	out      outbox
	received atomic.Bool // a packet was received since the last heartbeat
	log      *slog.Logger

	// The reading goroutine's.
	packet   Packet
	measured []float64
	sensors  Sensors
	text     func([]byte) []byte // appends sensors; made once

	// The requests in progress, those that wait for them, and the last picture of each camera that was sent.
	mu      sync.Mutex
	asked   int
	waiting []pictureRequest
	seen    map[int]uint64
}

// pictureRequest is a request of a picture that waits for earlier ones.
type pictureRequest struct {
	kind Type
	flag Flag
	data []byte
}

// maxAsked bounds the pictures in progress for one client, maxWaiting the requests queued behind them, as in the
// original: three minutes of twenty requests a second.
const (
	maxAsked   = 16
	maxWaiting = 4096
)

func newSession(s *Server, conn net.Conn) *session {
	c := &session{server: s, name: conn.RemoteAddr().String(), seen: map[int]uint64{}}
	c.log = s.options.Log.With("client", c.name)
	c.in = packets{from: conn, limit: maxRequest, prompt: quickAck(conn)}
	c.out = outbox{conn: conn, timeout: s.options.WriteTimeout, traffic: &s.traffic, wake: make(chan struct{}, 1)}
	c.text = func(dst []byte) []byte { return appendSensors(dst, &c.sensors, s.options.AngularAccel) }
	c.log.Info("okon: session")
	return c
}

// run serves until the client leaves, and reports why it did.
func (c *session) run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	var pulse sync.WaitGroup
	pulse.Go(func() {
		defer c.server.rig.Contain("okon writer")
		defer c.out.conn.Close() // the reader ends with it
		c.pulse(ctx)
	})
	defer pulse.Wait()
	defer c.out.conn.Close()
	defer cancel()
	err := c.read()
	c.mu.Lock()
	c.waiting = nil // no client receives them
	c.mu.Unlock()
	if errors.Is(err, errLength) {
		c.server.traffic.Drop(protocols.Oversized)
		c.fault(err, nil)
		c.out.flush()
	}
	return c.out.why(err)
}

// pulse sends the packets that do not answer a request directly: heartbeat, broadcasts, and pictures once rendered.
func (c *session) pulse(ctx context.Context) {
	beat := time.NewTicker(c.server.options.Heartbeat)
	defer beat.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-c.out.wake:
		case <-beat.C:
			// the original's checker: silent for a whole period, then at every end of one (500 ms, not the 1 s of the
			// document)
			if c.received.Swap(false) {
				continue
			}
			c.out.put(Ack, 0, nil)
		}
		c.out.flush()
	}
}

// read answers packets until one ends the session. Packets received together are answered together.
func (c *session) read() error {
	var deadline time.Time
	for {
		// written only when no packet is buffered: six requests in one piece get their answers in one piece
		ok, err := c.in.buffered(&c.packet)
		if err != nil {
			return err
		}
		if !ok {
			c.out.flush()
			if limit := c.server.options.ClientTimeout; limit > 0 {
				if now := time.Now(); deadline.Sub(now) < limit*3/4 {
					deadline = now.Add(limit)
					c.out.conn.SetReadDeadline(deadline)
				}
			}
			if err := c.in.next(&c.packet); err != nil {
				if errors.Is(err, os.ErrDeadlineExceeded) {
					return errSilent
				}
				return err
			}
		}
		c.received.Store(true)
		c.server.traffic.Receive()
		if c.packet.Flag&DoNotLog == 0 && c.log.Enabled(context.Background(), slog.LevelDebug) {
			c.log.Debug("okon: received", "packet", c.packet.Type, "bytes", len(c.packet.Data))
		}
		if !protocols.Recognize(c.out.conn) {
			return protocols.ErrStranger
		}
		c.handle(&c.packet)
		c.server.command.alive(c)
	}
}

// fault answers a refused request with an ERROR that has the reason and a part of fromClient.
func (c *session) fault(why error, fromClient []byte) {
	c.log.Debug("okon: refused", "why", why)
	c.out.put(failure, 0, func(dst []byte) []byte { return appendFault(dst, why.Error(), fromClient) })
}

// echo sends the ACK after the answer if the flag requests it.
func (c *session) echo(f Flag, data []byte) {
	if f&serverEcho != 0 {
		c.out.put(Ack, 0, func(dst []byte) []byte { return appendEcho(dst, data) })
	}
}

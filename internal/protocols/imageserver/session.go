package imageserver

import (
	"bufio"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"log/slog"
	"math"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/protocols"
)

const (
	// idle is how long a picture may wait for its acknowledgement before the camera is closed.
	idle = time.Second
	// timeout is how long a camera has for a picture before the viewpoint is looked up again.
	timeout = 500 * time.Millisecond
	// blackWidth and blackHeight are the size of the black picture without a camera, if no size is set, pixels.
	blackWidth, blackHeight = 320, 240
)

// session is one client.
type session struct {
	server  *Server
	log     *slog.Logger
	conn    net.Conn
	from    [2]netip.Addr // the client's address and the server's, as it is seen from there
	asked   chan region   // acknowledgements
	painter painter

	// The present view.
	shows view
	bound string          // the connection whose viewports it received first; it gets no other's
	watch hal.ImageStream // nil: no camera
	seen  uint64          // the sequence of the last picture
}

// newSession returns a session without a camera: the viewpoint is looked up for each picture.
func newSession(s *Server, conn net.Conn) *session {
	c := &session{server: s, conn: conn, asked: make(chan region), log: s.options.Log.With("client", conn.RemoteAddr())}
	c.from = [2]netip.Addr{protocols.TCPAddr(conn.RemoteAddr()), protocols.TCPAddr(conn.LocalAddr())}
	c.painter.format = s.options.Format
	return c
}

// run shows pictures until the client leaves or ctx ends, and reports why.
func (c *session) run(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	var reader sync.WaitGroup
	reader.Go(func() {
		defer c.server.contain("imageserver reader")
		defer c.conn.Close() // a write in progress ends with it
		defer cancel(nil)
		cancel(c.listen(ctx))
	})
	defer reader.Wait()
	defer c.close()
	cancel(c.show(ctx))
	c.conn.Close() // the reader ends with it
	return context.Cause(ctx)
}

// show sends a picture at once, and one for each acknowledgement at the frame rate's instants.
func (c *session) show(ctx context.Context) error {
	period := time.Duration(float64(time.Second) / c.server.options.FrameRate)
	var part region
	for due := time.Now(); ; {
		if err := c.send(ctx, part); err != nil {
			return err
		}
		var err error
		if part, err = c.acknowledged(ctx); err != nil {
			return err
		}
		now := time.Now()
		if due = due.Add(period); due.Before(now) {
			due = now // an instant that was missed is not made up for
		}
		if err := until(ctx, due.Sub(now)); err != nil {
			return err
		}
	}
}

// until waits for d.
func until(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// acknowledged waits for the client, and closes the camera after idle.
func (c *session) acknowledged(ctx context.Context) (region, error) {
	t := time.NewTimer(idle)
	defer t.Stop()
	for {
		select {
		case part := <-c.asked:
			return part, nil
		case <-t.C:
			c.close()
		case <-ctx.Done():
			return region{}, ctx.Err()
		}
	}
}

// listen reads acknowledgements: OK, with any bytes before or after it, or U and a part of the picture.
func (c *session) listen(ctx context.Context) error {
	in := bufio.NewReaderSize(c.conn, 64)
	for last := byte(0); ; {
		b, err := in.ReadByte()
		if err != nil {
			return err
		}
		var part region
		switch {
		case b == 'K' && last == 'O':
		case b == 'U' && last != 'O':
			var box [16]byte
			if _, err := io.ReadFull(in, box[:]); err != nil {
				return err
			}
			part = unbox(box)
		default:
			last = b
			continue
		}
		last = 0
		c.server.traffic.Receive()
		if !protocols.Recognize(c.conn) {
			return protocols.ErrStranger
		}
		select {
		case c.asked <- part:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// unbox decodes x, y, width and height, clipped to the largest picture.
func unbox(box [16]byte) region {
	var v [4]int
	for i := range v {
		v[i] = int(min(binary.BigEndian.Uint32(box[4*i:]), math.MaxInt32))
	}
	return region{v[0], v[1], v[2], v[3]}
}

// send sends the newest picture of the client's view.
func (c *session) send(ctx context.Context, part region) error {
	o := &c.server.options
	p, err := c.picture(ctx)
	if err != nil {
		return err
	}
	black := hal.Picture{Width: blackWidth, Height: blackHeight}
	shown := cmp.Or(p, &black)
	b, err := c.painter.paint(shown, o.Width, o.Height, part)
	p.Release()
	if err != nil {
		return err
	}
	c.conn.SetWriteDeadline(time.Now().Add(o.WriteTimeout))
	if _, err := c.conn.Write(b); err != nil {
		c.server.traffic.Drop(protocols.Unsent)
		return err
	}
	c.server.traffic.Send()
	return nil
}

// picture waits for a picture that the client has not received; nil without a camera. The caller releases it.
func (c *session) picture(ctx context.Context) (*hal.Picture, error) {
	for {
		now, by := c.server.views.of(c.bound, c.from[:]...)
		if now != c.shows {
			c.close()
			c.shows = now
		}
		if by != "" {
			c.bound = by
		}
		if c.watch == nil && !c.open() {
			return nil, ctx.Err()
		}
		wait, cancel := context.WithTimeout(ctx, timeout)
		p, err := c.watch.Next(wait, c.seen)
		cancel()
		switch {
		case err == nil:
			c.seen = p.Sequence
			return p, nil
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case !errors.Is(err, context.DeadlineExceeded): // the robot was removed
			c.close()
			return nil, nil
		}
	}
}

// open opens the camera of the view, and reports whether there is one.
func (c *session) open() bool {
	var err error
	if c.watch, err = c.server.watch(c.shows); err != nil {
		c.watch = nil
		return false
	}
	c.seen = 0
	return true
}

// close closes the camera.
func (c *session) close() {
	if c.watch != nil {
		c.watch.Close()
		c.watch = nil
	}
}

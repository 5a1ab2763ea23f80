package wire

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"time"

	"github.com/halyard-robotics/halyard/internal/emulator/pty"
)

const (
	patrol = 10 * time.Millisecond // how often an idle line checks its faults and devices
	// how long no client sends before it is checked whether one died with the line claimed
	release = time.Second
)

// Device is the operating system's side of a line that is served: a pty, a connection, a CAN socket. Read waits until a
// deadline (os.ErrDeadlineExceeded), or until Interrupt.
type Device interface {
	Read(b []byte, deadline time.Time) (int, error)
	Write(b []byte) (int, error)
	Baud() int // the host's rate; 0 if absent
	Interrupt()
}

// socket is a TCP connection as a device.
type socket struct{ net.Conn }

func (s socket) Read(b []byte, deadline time.Time) (int, error) {
	if err := s.SetReadDeadline(deadline); err != nil {
		return 0, err
	}
	return s.Conn.Read(b)
}
func (s socket) Baud() int  { return 0 }
func (s socket) Interrupt() { s.SetReadDeadline(time.Unix(1, 0)) }

// server is a line on the wall clock.
type server struct {
	m      *Medium
	end    End
	link   string
	began  time.Time
	offset time.Duration // the line's clock at began
}

func newServer(m *Medium, e End, link string) *server {
	return &server{m: m, end: e, link: link, began: time.Now(), offset: m.Now()}
}

// ServePTY puts a line on a new pseudo terminal that begins at baud, paced by wire time on the wall clock, until ctx is
// done. Clients may come one after another at any rate. Unplugged it closes the terminal, and there is another when it
// is plugged in again. With link not empty, a symbolic link of that name leads to the terminal for as long as it is
// plugged in. It returns the terminal's path once it can be opened; wait blocks until all is closed and returns why it
// ended, nil where ctx did it. Linux only.
func ServePTY(ctx context.Context, m *Medium, e End, baud int, link string) (path string, wait func() error,
	err error) {
	s := newServer(m, e, link)
	p, err := s.plugIn(baud)
	if err != nil {
		return "", nil, err
	}
	// A terminal has no DTR: it counts as down, which lets a scanner's motor turn.
	m.Lock()
	setDTR(e, false, m.own)
	m.Unlock()
	// The one goroutine; the caller of wait owns it.
	done := make(chan error, 1)
	go func() { done <- s.terminals(ctx, p, baud) }()
	return p.Path, sync.OnceValue(func() error { return <-done }), nil
}

// ServeTCP serves a line to one client after another of n, until ctx is done; it closes n then.
func ServeTCP(ctx context.Context, m *Medium, e End, n net.Listener) error {
	defer context.AfterFunc(ctx, func() { n.Close() })()
	defer n.Close()
	s := newServer(m, e, "")
	for {
		c, err := n.Accept()
		if ctx.Err() != nil {
			if err == nil {
				c.Close()
			}
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", m.Name, err)
		}
		s.serve(ctx, socket{c}) // how one client ends is nothing to the next
		c.Close()
	}
}

// Serve serves a line on d until ctx is done or d fails.
func Serve(ctx context.Context, m *Medium, e End, d Device) error {
	return newServer(m, e, "").serve(ctx, d)
}

// plugIn opens a pty and leads the link to it.
func (s *server) plugIn(baud int) (*pty.PTY, error) {
	p, err := pty.Open(baud)
	if err != nil || s.link == "" {
		return p, err
	}
	// Renamed into place, so that the name always leads somewhere; only a link is ever replaced.
	if old, err := os.Lstat(s.link); err == nil && old.Mode()&os.ModeSymlink == 0 {
		p.Close()
		return nil, fmt.Errorf("link %s: got a file, want a link or none", s.link)
	}
	fresh := fmt.Sprintf("%s.%d", s.link, os.Getpid())
	if err = os.Symlink(p.Path, fresh); err == nil {
		err = os.Rename(fresh, s.link)
	}
	if err != nil {
		os.Remove(fresh)
		p.Close()
		return nil, fmt.Errorf("link: %w", err)
	}
	return p, nil
}

// plugOut unplugs the pty and takes its link away, if it is still ours. The caller closes it.
func (s *server) plugOut(p *pty.PTY) {
	if to, err := os.Readlink(s.link); err == nil && to == p.Path {
		os.Remove(s.link)
	}
	p.Unplug()
}

// terminals serves one pty after another, from plug to plug.
func (s *server) terminals(ctx context.Context, p *pty.PTY, baud int) error {
	for {
		err := s.serve(ctx, p)
		s.plugOut(p)
		again := err == nil && ctx.Err() == nil && s.waitForPlug(ctx)
		p.Close() // not before: the number of a line that is away is no other program's
		if !again {
			return err
		}
		if p, err = s.plugIn(baud); err != nil {
			return err
		}
	}
}

// pass lets the line's time come up to the wall's, in steps from one fault's edge to the next. Under the lock.
func (s *server) pass() {
	m, now := s.m, s.offset+time.Since(s.began)
	for m.own < now {
		m.Pass(s.end.Run(min(now, m.Next(m.own)), false))
	}
	m.edge = m.own
}

// waitForPlug waits until the line is plugged in again; false when ctx is done.
func (s *server) waitForPlug(ctx context.Context) bool {
	tick := time.NewTicker(patrol)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case <-tick.C:
		}
		s.m.Lock()
		s.pass()
		gone := s.m.gone
		s.m.Unlock()
		if !gone {
			return true
		}
	}
}

// serve carries bytes both ways until ctx is done or the line is unplugged, both nil, or the device fails.
func (s *server) serve(ctx context.Context, d Device) error {
	defer context.AfterFunc(ctx, d.Interrupt)()
	m, e := s.m, s.end
	claimed, _ := d.(interface{ Release() })
	m.Lock()
	s.pass()
	e.Discard(m.own)
	quiet := m.own // since when no client has sent, or it was checked for a dead one
	m.Unlock()
	var in, out [4096]byte
	for {
		rate := d.Baud()
		m.Lock()
		e.Tune(rate)
		s.pass()
		e.Rest(m.own)
		now, gone := m.own, m.gone
		n := e.Receive(out[:], now)
		// Sleep until the next byte is due, and no longer than watchdogs and faults can wait.
		wake := min(now+patrol, e.Due())
		m.Unlock()
		if gone {
			return nil
		}
		if n > 0 {
			if _, err := d.Write(out[:n]); err != nil {
				return err
			}
			continue
		}
		// Looking through /proc takes milliseconds: never while a client is talking.
		if claimed != nil && now-quiet > release {
			claimed.Release()
			quiet = now
		}
		// The deadline is set before ctx is asked, so that Interrupt always has the last word.
		got, err := d.Read(in[:], s.began.Add(wake-s.offset))
		if ctx.Err() != nil {
			return nil
		}
		if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			return fmt.Errorf("%s: %w", m.Name, err)
		}
		if got > 0 {
			rate = d.Baud() // as it is now, not as it was before the wait
			m.Lock()
			e.Tune(rate)
			s.pass()
			quiet = m.own
			e.Send(in[:got], m.own)
			m.Unlock()
		}
	}
}

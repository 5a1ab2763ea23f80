package uart

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"time"

	"github.com/halyard-robotics/halyard/sim/emulator/pty"
)

// patrol is how often a line that is served looks at its faults.
const patrol = 10 * time.Millisecond

// end is the operating system's end of a line that is served: a pty, a connection.
type end interface {
	Read(b []byte, deadline time.Time) (int, error)
	Write(b []byte) (int, error)
	Baud() int // the host's rate; 0 where there is none
	Interrupt()
	Close() error
}

// socket is a TCP connection as an end.
type socket struct{ net.Conn }

func (s socket) Read(b []byte, deadline time.Time) (int, error) {
	if err := s.SetReadDeadline(deadline); err != nil {
		return 0, err
	}
	return s.Conn.Read(b)
}
func (s socket) Baud() int  { return 0 }
func (s socket) Interrupt() { s.SetReadDeadline(time.Unix(1, 0)) }

// ServePTY puts the line on a new pseudo terminal, paced by wire time on the wall clock, until ctx is done; unplugged it
// closes the terminal, and there is another when it is plugged in again. With link not empty, a symbolic link of that name
// leads to the terminal. It returns the terminal's path; wait blocks until all is closed and returns why it ended, nil
// where ctx did it. Linux only.
func (l *Line) ServePTY(ctx context.Context, link string) (path string, wait func() error, err error) {
	plugIn := func() (*pty.PTY, error) {
		p, err := pty.Open(max(1, l.baud))
		if err != nil || link == "" {
			return p, err
		}
		// Renamed into place, so that the name always leads somewhere; only a link is ever replaced.
		if old, err := os.Lstat(link); err == nil && old.Mode()&os.ModeSymlink == 0 {
			p.Close()
			return nil, fmt.Errorf("uart: link %s: is there and no link", link)
		}
		fresh := fmt.Sprintf("%s.%d", link, os.Getpid())
		if err = os.Symlink(p.Path, fresh); err == nil {
			err = os.Rename(fresh, link)
		}
		if err != nil {
			p.Close()
			return nil, fmt.Errorf("uart: link: %w", err)
		}
		return p, nil
	}
	p, err := plugIn()
	if err != nil {
		return "", nil, err
	}
	s := l.serving()
	done := make(chan error, 1)
	go func() {
		for {
			err := s.serve(ctx, p)
			if to, e := os.Readlink(link); e == nil && to == p.Path {
				os.Remove(link)
			}
			p.Close()
			if err != nil || !s.waitForPlug(ctx) {
				done <- err
				return
			}
			if p, err = plugIn(); err != nil {
				done <- err
				return
			}
		}
	}()
	return p.Path, sync.OnceValue(func() error { return <-done }), nil
}

// ServeTCP serves the line to one client after another of n, until ctx is done; it closes n then.
func (l *Line) ServeTCP(ctx context.Context, n net.Listener) error {
	defer context.AfterFunc(ctx, func() { n.Close() })()
	defer n.Close()
	s := l.serving()
	for {
		c, err := n.Accept()
		if ctx.Err() != nil {
			if err == nil {
				c.Close()
			}
			return nil
		}
		if err != nil {
			return fmt.Errorf("uart: %w", err)
		}
		s.serve(ctx, socket{c}) // how one client ends is nothing to the next
		c.Close()
	}
}

// server is a line on the wall clock.
type server struct {
	line   *Line
	began  time.Time
	offset time.Duration // the line's clock at began
}

func (l *Line) serving() *server { return &server{l, time.Now(), l.Now()} }

// pass lets the line's time come up to the wall's.
func (s *server) pass() {
	s.line.own = max(s.line.own, s.offset+time.Since(s.began))
	s.line.edge = s.line.own
	s.line.run(s.line.own)
}

// serve carries bytes both ways until ctx is done, the line is unplugged (nil) or the end fails.
func (s *server) serve(ctx context.Context, e end) error {
	defer context.AfterFunc(ctx, e.Interrupt)()
	l := s.line
	l.mu.Lock()
	l.drop()
	l.mu.Unlock()
	var in, out [4096]byte
	for {
		rate := e.Baud()
		l.mu.Lock()
		l.host = rate
		s.pass()
		gone, n := l.wild.gone, l.receive(out[:], l.own)
		wake := min(l.own+patrol, l.out.whole())
		if len(l.in.pieces) > 0 {
			wake = min(wake, l.in.pieces[0].first)
		}
		if !l.wild.dark {
			wake = min(wake, l.board.Next())
		}
		l.mu.Unlock()
		if gone {
			return nil
		}
		if n > 0 {
			if _, err := e.Write(out[:n]); err != nil {
				return err
			}
			continue
		}
		got, err := e.Read(in[:], s.began.Add(wake-s.offset))
		if ctx.Err() != nil {
			return nil
		}
		if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			return err
		}
		if got > 0 {
			rate = e.Baud() // as it is now, not as it was before the wait
			l.mu.Lock()
			l.host = rate
			s.pass()
			l.out.add(in[:got], l.own, rate)
			l.mu.Unlock()
		}
	}
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
		s.line.mu.Lock()
		s.pass()
		gone := s.line.wild.gone
		s.line.mu.Unlock()
		if !gone {
			return true
		}
	}
}

package emulator

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/halyard-robotics/halyard/sim/emulator/pty"
)

const (
	patrol  = 10 * time.Millisecond // how often an idle bus on a pty looks at its servos
	release = time.Second           // how long nobody speaks before it looks whether a client died with the line claimed
)

// ServePTY puts the bus on a new pseudo terminal, paced by wire time on the wall clock, until ctx is done. Clients may
// come one after another at any rate. With link not empty, a symbolic link of that name leads to the terminal for as
// long as it is plugged in. It returns the terminal's path once it can be opened; wait blocks until all is closed and
// returns why it ended, nil where ctx did it. Linux only.
func (b *Bus) ServePTY(ctx context.Context, link string) (path string, wait func() error, err error) {
	s := &ptyServer{bus: b, link: link, began: time.Now()}
	b.mu.Lock()
	s.offset = b.now
	b.mu.Unlock()
	p, err := s.plugIn()
	if err != nil {
		return "", nil, err
	}
	// The one goroutine; its owner is who calls wait.
	done := make(chan error, 1)
	go func() { done <- s.run(ctx, p) }()
	return p.Path, sync.OnceValue(func() error { return <-done }), nil
}

// ptyServer is one bus on ptys, one after another where the adapter is unplugged.
type ptyServer struct {
	bus    *Bus
	link   string
	began  time.Time
	offset time.Duration // the bus's clock at began
}

// clock is the bus's time by the wall.
func (s *ptyServer) clock() time.Duration { return s.offset + time.Since(s.began) }

// plugIn opens a pty and leads the link to it.
func (s *ptyServer) plugIn() (*pty.PTY, error) {
	p, err := pty.Open(s.bus.baud)
	if err != nil || s.link == "" {
		return p, err
	}
	// Renamed into place, so that the name always leads somewhere; only a link is ever replaced.
	if old, err := os.Lstat(s.link); err == nil && old.Mode()&os.ModeSymlink == 0 {
		p.Close()
		return nil, fmt.Errorf("emulator: link %s: is there and no link", s.link)
	}
	fresh := fmt.Sprintf("%s.%d", s.link, os.Getpid())
	if err = os.Symlink(p.Path, fresh); err == nil {
		err = os.Rename(fresh, s.link)
	}
	if err != nil {
		os.Remove(fresh)
		p.Close()
		return nil, fmt.Errorf("emulator: link: %w", err)
	}
	return p, nil
}

// plugOut closes the pty and takes its link away, if it is still ours.
func (s *ptyServer) plugOut(p *pty.PTY) {
	if to, err := os.Readlink(s.link); err == nil && to == p.Path {
		os.Remove(s.link)
	}
	p.Close()
}

// run serves until ctx is done, through unplugged times.
func (s *ptyServer) run(ctx context.Context, p *pty.PTY) error {
	for {
		// A pty lives from plug to plug.
		stop := context.AfterFunc(ctx, p.Interrupt)
		err := s.serve(ctx, p)
		stop()
		s.plugOut(p)
		if err != nil || ctx.Err() != nil {
			return err
		}
		if !s.waitForPlug(ctx) {
			return nil
		}
		if p, err = s.plugIn(); err != nil {
			return err
		}
	}
}

// waitForPlug waits until the bus is plugged in again; false when ctx is done.
func (s *ptyServer) waitForPlug(ctx context.Context) bool {
	tick := time.NewTicker(patrol)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case <-tick.C:
		}
		b := s.bus
		b.mu.Lock()
		b.update(s.clock())
		plugged := b.plugged
		b.mu.Unlock()
		if plugged {
			return true
		}
	}
}

// serve carries bytes both ways until ctx is done or the bus is unplugged.
func (s *ptyServer) serve(ctx context.Context, p *pty.PTY) error {
	b := s.bus
	var in, out [1024]byte // a client's write may be longer; it comes in pieces then
	quiet := s.clock()     // since when nobody has said anything, or we have looked who is there
	for {
		now := s.clock()
		b.mu.Lock()
		b.setHost(p.Baud())
		b.update(now)
		// Hand on what has reached the host by now.
		plugged := b.plugged
		n := b.read(out[:], now, b.host)
		at, coming := b.next()
		b.mu.Unlock()
		if !plugged {
			return nil
		}
		if n > 0 {
			p.Write(out[:n]) // what a client that does not read leaves no room for is lost
			continue
		}
		// Looking through /proc takes milliseconds: never while a client is talking.
		if now-quiet > release {
			p.Release()
			quiet = now
		}
		// Sleep until the next byte is due, and no longer than watchdogs and faults can wait.
		wake := now + patrol
		if coming {
			wake = min(wake, at)
		}
		// The deadline is set before ctx is asked, so that Interrupt always has the last word.
		got, err := p.Read(in[:], s.began.Add(wake-s.offset))
		if ctx.Err() != nil {
			return nil
		}
		if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			return fmt.Errorf("emulator: pty: %w", err)
		}
		if got > 0 {
			quiet = s.clock()
			b.mu.Lock()
			b.setHost(p.Baud()) // as it is now, not as it was before the wait
			// What comes while earlier bytes are still going out queues up behind them, as in an adapter.
			b.receive(in[:got], max(quiet, b.sent))
			b.mu.Unlock()
		}
	}
}

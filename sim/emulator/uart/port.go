package uart

import (
	"fmt"
	"os"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
)

// port is one opening of a Line: a servo.Line.
type port struct {
	line   *Line
	plug   int
	closed bool
}

// there reports whether the adapter is there, at the host's own time. Under the lock.
func (p *port) there() error {
	p.line.run(p.line.own)
	if p.closed || p.plug != p.line.plug {
		return servo.ErrDisconnected
	}
	return nil
}

// Write is servo.Port's: the bytes are on their way when it returns.
func (p *port) Write(b []byte) (int, error) {
	l := p.line
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := p.there(); err != nil {
		return 0, err
	}
	if l.wild.faultOccurs(Echo, l.own) {
		l.in.add(b, l.own, l.host)
	}
	said, late := l.wild.corrupt(append(l.text[:0], b...), l.own)
	l.out.add(said, l.own+late, l.host)
	return len(b), nil
}

// Read is servo.Port's: waiting costs the host's own time alone.
func (p *port) Read(b []byte, timeout time.Duration) (int, error) {
	l := p.line
	l.mu.Lock()
	defer l.mu.Unlock()
	until := l.own + max(0, timeout)
	for {
		if err := p.there(); err != nil {
			return 0, err
		}
		if n := l.receive(b, l.own); n > 0 {
			return n, nil
		}
		if l.own >= until {
			return 0, os.ErrDeadlineExceeded
		}
		// On to the next thing that happens, and no further.
		next := min(until, l.out.whole(), l.wild.next(l.own))
		if len(l.in.pieces) > 0 {
			next = min(next, l.in.pieces[0].first)
		}
		if !l.wild.dark {
			next = min(next, l.board.Next())
		}
		l.own = max(l.own, next)
	}
}

// Discard is servo.Port's; what is on the wire comes later.
func (p *port) Discard() error {
	p.line.mu.Lock()
	defer p.line.mu.Unlock()
	if err := p.there(); err != nil {
		return err
	}
	p.line.drop()
	return nil
}

// Now is the host's own time.
func (p *port) Now() time.Duration { return p.line.Now() }

// Baud is the host's rate; 0 where the wire has none.
func (p *port) Baud() int {
	p.line.mu.Lock()
	defer p.line.mu.Unlock()
	return p.line.host
}

// SetBaud changes the host's rate; the board keeps its own.
func (p *port) SetBaud(baud int) error {
	p.line.mu.Lock()
	defer p.line.mu.Unlock()
	if baud < 1 {
		return &hal.Error{Kind: hal.Invalid, Bus: p.line.name, Op: "baud", Err: fmt.Errorf("got %d, want 1 or more", baud)}
	}
	p.line.host = baud
	return nil
}

// SetDTR tells the board the state of the modem line DTR, where it cares.
func (p *port) SetDTR(on bool) error {
	p.line.mu.Lock()
	defer p.line.mu.Unlock()
	if b, ok := p.line.board.(interface{ DTR(bool, time.Duration) }); ok {
		b.DTR(on, p.line.own)
	}
	return nil
}

// Close ends this opening; the line stays.
func (p *port) Close() error {
	p.line.mu.Lock()
	defer p.line.mu.Unlock()
	p.closed = true
	return nil
}

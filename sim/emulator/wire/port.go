package wire

import (
	"fmt"
	"os"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
)

// MaxBaud bounds the rate that a host may set, bit/s.
const MaxBaud = 100_000_000

// End is the far end of a line, seen from the host's adapter: devices, and bytes on the wire from them. All methods are
// called under the medium's lock.
type End interface {
	// Send receives the bytes that the host writes from now on, and returns the end time of the write.
	Send(p []byte, now time.Duration) (over time.Duration)
	// Run lets everything happen up to a time, in its order. With stop it ends when bytes reach the host. It returns
	// how far it came.
	Run(to time.Duration, stop bool) time.Duration
	// Due is when something happens next by itself: bytes reach the host, a device sends. Never where nothing does.
	Due() time.Duration
	// Receive hands over what has reached the host by now.
	Receive(p []byte, now time.Duration) int
	// Discard loses it.
	Discard(now time.Duration)
	// Baud is the host's rate, and Tune changes it; the devices keep theirs.
	Baud() int
	Tune(baud int)
	// Rest notices that the host waited up to now for nothing.
	Rest(now time.Duration)
}

// port is one opening of a line in memory: a servo.Line. Every method holds the medium's lock for its own length.
type port struct {
	m      *Medium
	end    End
	plug   int
	closed bool
}

// OpenPort opens a line in memory; an error of kind hal.Absent while it is unplugged. Under the lock.
func OpenPort(m *Medium, e End) (servo.Line, error) {
	m.Pass(m.own)
	e.Run(m.own, false)
	plug, err := m.Plugged()
	if err != nil {
		return nil, err
	}
	return &port{m: m, end: e, plug: plug}, nil
}

// NewPort opens a line in memory without a check of its plug. Under the lock.
func NewPort(m *Medium, e End) servo.Line { return &port{m: m, end: e, plug: m.plug} }

// there brings everything up to the host's time and reports whether the adapter is there.
func (p *port) there() error {
	p.m.Pass(p.m.own)
	p.end.Run(p.m.own, false)
	if p.closed || p.m.Gone(p.plug) {
		return servo.ErrDisconnected
	}
	return nil
}

func (p *port) Write(b []byte) (int, error) {
	p.m.Lock()
	defer p.m.Unlock()
	if err := p.there(); err != nil {
		return 0, err
	}
	p.m.own = max(p.m.own, p.end.Send(b, p.m.own))
	return len(b), nil
}

// Read is servo.Port's: waiting advances only the host's own time.
func (p *port) Read(b []byte, timeout time.Duration) (int, error) {
	m := p.m
	m.Lock()
	defer m.Unlock()
	for until := m.own + max(0, timeout); ; {
		// On to the next thing that happens, and no further.
		m.Pass(p.end.Run(min(until, m.Next(m.own)), true))
		if p.closed || m.Gone(p.plug) {
			return 0, servo.ErrDisconnected
		}
		if n := p.end.Receive(b, m.own); n > 0 || len(b) == 0 && p.end.Due() <= m.own {
			return n, nil
		}
		if m.own >= until {
			p.end.Rest(m.own)
			if m.Gone(p.plug) {
				return 0, servo.ErrDisconnected
			}
			return 0, os.ErrDeadlineExceeded
		}
	}
}

// Discard is servo.Port's; what is on the wire or held by the adapter comes later.
func (p *port) Discard() error {
	p.m.Lock()
	defer p.m.Unlock()
	if err := p.there(); err != nil {
		return err
	}
	p.end.Discard(p.m.own)
	return nil
}

func (p *port) Now() time.Duration { return p.m.Now() }

func (p *port) Baud() int {
	p.m.Lock()
	defer p.m.Unlock()
	return p.end.Baud()
}

func (p *port) SetBaud(baud int) error {
	p.m.Lock()
	defer p.m.Unlock()
	if baud < 1 || baud > MaxBaud {
		return &hal.Error{Kind: hal.Invalid, Bus: p.m.Name, Op: "baud",
			Err: fmt.Errorf("got %d, want 1..%d", baud, MaxBaud)}
	}
	p.end.Tune(baud)
	return nil
}

// SetDTR sets the modem line DTR of the far end, where it has one.
func (p *port) SetDTR(on bool) error {
	p.m.Lock()
	defer p.m.Unlock()
	setDTR(p.end, on, p.m.own)
	return nil
}

func setDTR(e End, on bool, now time.Duration) {
	if d, ok := e.(interface{ DTR(bool, time.Duration) }); ok {
		d.DTR(on, now)
	}
}

// Close ends this opening; the line stays.
func (p *port) Close() error {
	p.m.Lock()
	defer p.m.Unlock()
	p.closed = true
	return nil
}

package chip

import (
	"os"
	"sync"
	"time"

	"math/rand/v2"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
)

// Endpoint is an emulated board at the other end of a serial line.
type Endpoint interface {
	// Receive takes what the host sent, whole by now, and appends what the board says to answer.
	Receive(p []byte, now time.Duration, answer []byte) []byte
	// Power takes its power away or gives it.
	Power(on bool, now time.Duration)
}

// Serial is a line in memory with one board at its end. It is a hal.World, as Bus is; Open is a servo.Opener.
type Serial struct {
	name string
	baud int
	end  Endpoint

	mu     sync.Mutex
	edge   time.Duration
	own    time.Duration // the host's: what its writes and waits took it to, beyond the edge
	faults []*planted
	dark   bool
	dice   *rand.Rand
	plug   int // counts losses of the adapter: a line opened before one is gone
	gone   bool
}

// NewSerial returns the line called name, 8N1, with a board that has been under power for long.
func NewSerial(name string, baud int, seed int64, end Endpoint) *Serial {
	end.Power(true, -time.Hour)
	return &Serial{name: name, baud: max(1, baud), end: end, dice: rand.New(rand.NewPCG(uint64(seed), 0x5E1))}
}

// Advance lets a period of dt pass.
func (s *Serial) Advance(dt time.Duration) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.edge += dt
	s.power(s.edge)
	return nil
}

// Edge is the time of the cycle's edge: what a poller in step with the cycle goes by.
func (s *Serial) Edge() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.edge
}

// Now is the host's own time: the edge's, or what was waited for beyond it. With SleepUntil the line is a hal.Clock.
func (s *Serial) Now() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.own = max(s.own, s.edge)
	return s.own
}

// SleepUntil returns at once; the host's time is t then, or later.
func (s *Serial) SleepUntil(t time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.own = max(s.own, s.edge, t)
}

// Fault plants f, whose address does not count.
func (s *Serial) Fault(f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f.Address = Everyone
	s.faults = append(s.faults, &planted{f, s.edge})
	s.power(s.edge)
}

// ClearFaults ends all faults.
func (s *Serial) ClearFaults() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = nil
	s.power(s.edge)
}

// power is Bus.power's. A Hang is the adapter unplugged.
func (s *Serial) power(now time.Duration) {
	if off := s.at(Off, now); off != s.dark {
		s.end.Power(!off, now)
		s.dark = off
	}
	if gone := s.at(BusHeldLow, now); gone != s.gone {
		if s.gone = gone; gone {
			s.plug++
		}
	}
}

func (s *Serial) at(kind FaultKind, now time.Duration) bool {
	for _, p := range s.faults {
		if p.Kind == kind && p.on(now) && (p.P == 0 || s.dice.Float64() < p.P) {
			return true
		}
	}
	return false
}

// Open opens the line; hal.Absent while its adapter is unplugged.
func (s *Serial) Open() (servo.Line, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gone {
		return nil, &hal.Error{Kind: hal.Absent, Bus: s.name, Op: "open", Err: servo.ErrDisconnected}
	}
	return &port{serial: s, plug: s.plug}, nil
}

// port is one opening of a Serial: a servo.Line.
type port struct {
	serial *Serial
	plug   int
	closed bool
	coming []byte        // on its way from the board
	first  time.Duration // when its first byte is over
	answer []byte        // scratch
}

func (p *port) byteTime(n int) time.Duration {
	return time.Duration(n) * 10 * time.Second / time.Duration(p.serial.baud)
}

// now moves the host's time to the edge at least and reports whether the adapter is there. Under the lock.
func (p *port) now() error {
	p.serial.own = max(p.serial.own, p.serial.edge)
	p.serial.power(p.serial.own)
	if p.closed || p.plug != p.serial.plug || p.serial.gone {
		return servo.ErrDisconnected
	}
	return nil
}

// Write is servo.Port's; the host's time is when the last byte has left.
func (p *port) Write(b []byte) (int, error) {
	s := p.serial
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := p.now(); err != nil {
		return 0, err
	}
	p.serial.own += p.byteTime(len(b))
	if s.dark || s.at(NoAck, p.serial.own) {
		return len(b), nil
	}
	// The board hears all of it at its end, and answers at once: its own time to think is less than a byte's.
	p.answer = s.corrupt(s.end.Receive(b, p.serial.own, p.answer[:0]), p.serial.own)
	if len(p.coming) == 0 {
		p.first = p.serial.own + p.byteTime(1)
	}
	p.coming = append(p.coming, p.answer...)
	return len(b), nil
}

// corrupt lets an answer go wrong on its way.
func (s *Serial) corrupt(b []byte, now time.Duration) []byte {
	if len(b) == 0 || len(s.faults) == 0 {
		return b
	}
	i := s.dice.IntN(len(b))
	if s.at(Flip, now) {
		b[i] ^= 1 << s.dice.IntN(8)
	}
	if s.at(Garbage, now) {
		for k := range b {
			b[k] = byte(s.dice.Uint32())
		}
	}
	if s.at(Lost, now) {
		b = append(b[:i], b[i+1:]...)
	}
	if s.at(Doubled, now) && i < len(b) {
		b = append(b[:i+1], b[i:]...)
	}
	if s.at(Noise, now) {
		noise := []byte{byte(s.dice.Uint32()), byte(s.dice.Uint32()), byte(s.dice.Uint32())}
		b = append(noise, b...)
	}
	return b
}

// Read is servo.Port's: waiting costs the host's own time alone.
func (p *port) Read(b []byte, timeout time.Duration) (int, error) {
	p.serial.mu.Lock()
	defer p.serial.mu.Unlock()
	if err := p.now(); err != nil {
		return 0, err
	}
	if len(p.coming) == 0 || p.first > p.serial.own+timeout {
		p.serial.own += max(0, timeout)
		return 0, os.ErrDeadlineExceeded
	}
	p.serial.own = max(p.serial.own, p.first)
	// As many as have come by now; the rest is still on the wire.
	n := min(len(b), len(p.coming), 1+int((p.serial.own-p.first)/max(1, p.byteTime(1))))
	copy(b, p.coming[:n])
	p.coming = p.coming[:copy(p.coming, p.coming[n:])]
	p.first += p.byteTime(n)
	return n, nil
}

// Discard drops what has come; what is on the wire comes later.
func (p *port) Discard() error {
	p.serial.mu.Lock()
	defer p.serial.mu.Unlock()
	if err := p.now(); err != nil {
		return err
	}
	for len(p.coming) > 0 && p.first <= p.serial.own {
		p.coming = p.coming[:copy(p.coming, p.coming[1:])]
		p.first += p.byteTime(1)
	}
	return nil
}

// Now is the host's own time.
func (p *port) Now() time.Duration { return p.serial.Now() }

// Baud is the line's rate.
func (p *port) Baud() int { return p.serial.baud }

// SetBaud takes the line's own rate alone: at any other the board does not understand a word.
func (p *port) SetBaud(baud int) error {
	if baud != p.serial.baud {
		return &hal.Error{Kind: hal.Invalid, Bus: p.serial.name, Op: "baud"}
	}
	return nil
}

// Close ends this opening; the line stays.
func (p *port) Close() error {
	p.serial.mu.Lock()
	defer p.serial.mu.Unlock()
	p.closed = true
	return nil
}

package bundle

import (
	"errors"
	"os"
	"sync"
	"time"

	"periph.io/x/conn/v3/i2c"
	"periph.io/x/conn/v3/physic"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/commission/doctor"
	"github.com/halyard-robotics/halyard/internal/plan"
	"github.com/halyard-robotics/halyard/servo"
)

// Player answers the requests of drivers by the traffic of a report. Each line has a clock of its own, which waiting
// advances.
type Player struct {
	report  *Report
	instead func(bus string, kind configs.BodyKind) servo.Line // answers what no traffic has; nil = silence

	mu    sync.Mutex
	lines map[string]*script
	Counts
}

// Counts is how requests were answered.
type Counts struct {
	Matched int // as in the traffic
	Instead int // by an emulated servo that has the registers of the report
	Unknown int // not at all: the traffic has no such request
}

// script is what a line does.
type script struct {
	list []Exchange
	at   map[string][]int // by request: where they are in list
	next map[string]int   // by request: how many were used
	last int              // in list

	mu  sync.Mutex
	now time.Duration
}

// Now and SleepUntil implement hal.Clock: waiting takes no time of the wall.
func (s *script) Now() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

func (s *script) SleepUntil(t time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = max(s.now, t)
}

// NewPlayer lets all lines of p be those of r: none of this machine is opened.
func NewPlayer(p *plan.Plan, r *Report) *Player {
	player := &Player{report: r, lines: map[string]*script{}}
	for name, list := range r.Wire {
		s := &script{list: list, at: map[string][]int{}, next: map[string]int{}}
		for i := range list {
			k := list[i].key()
			s.at[k] = append(s.at[k], i)
		}
		player.lines[name] = s
	}
	p.Tap = func(bus string, kind configs.BodyKind, _ servo.Opener) servo.Opener {
		return func() (servo.Line, error) { return player.open(bus, kind) }
	}
	p.WireClock = func(bus string, kind configs.BodyKind) hal.Clock {
		if s := player.lines[player.named(bus, kind)]; s != nil {
			return s
		}
		return &script{}
	}
	p.TapBus = func(bus string, kind configs.BodyKind, _ func() (i2c.Bus, error)) (i2c.Bus, error) {
		name := player.named(bus, kind)
		if _, err := player.begin(name, bus); err != nil {
			return nil, err
		}
		return &playedBus{player, name, bus, p.Config.Buses[bus].Type == "spi"}, nil
	}
	return player
}

// named is the line of the traffic for a bus: that of its kind of body, else of the other one.
func (p *Player) named(bus string, kind configs.BodyKind) string {
	for _, k := range []configs.BodyKind{kind, configs.Real, configs.Emulated} {
		if name := doctor.Bodied(bus, k); p.lines[name] != nil {
			return name
		}
	}
	return doctor.Bodied(bus, kind)
}

// begin opens a line of the traffic.
func (p *Player) begin(name, bus string) (*Exchange, error) {
	if e := p.take(name, &Exchange{Op: opOpen}); e != nil {
		return e, e.Fault.err()
	}
	return nil, &hal.Error{Kind: hal.Absent, Bus: bus, Op: "open",
		Err: errors.New("the report has no traffic of this bus")}
}

func (p *Player) open(bus string, kind configs.BodyKind) (servo.Line, error) {
	name := p.named(bus, kind)
	e, err := p.begin(name, bus)
	if err != nil {
		return nil, err
	}
	l := &playedLine{script: p.lines[name], player: p, name: name, baud: e.Baud}
	l.answered(e) // what a device sends unasked
	if p.instead != nil {
		l.instead = p.instead(bus, kind)
	}
	if b := p.report.Buses[name]; b.Timed {
		return &playedTimed{l, b.Latency}, nil
	}
	return l, nil
}

// take is the next exchange of a request: in the order of the report, then from the first again; nil where the report
// has none. An opening that is not in the report is one of an open line.
func (p *Player) take(name string, request *Exchange) *Exchange {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.lines[name]
	if s == nil {
		return nil
	}
	k := request.key()
	at := s.at[k]
	if len(at) == 0 {
		return nil
	}
	s.last = at[s.next[k]%len(at)]
	e := &s.list[s.last]
	s.next[k]++
	if request.Op != opOpen && request.Op != opRate {
		p.Matched++
	}
	return e
}

// pause lets the time pass between the last request and the one after it in the report: devices count it.
func (p *Player) pause(s *script) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s.last+1 < len(s.list) {
		s.SleepUntil(s.list[s.last+1].At)
	}
}

func (p *Player) miss(instead bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if instead {
		p.Instead++
	} else {
		p.Unknown++
	}
}

// maxLate is how long after its timeout a read may have ended.
const maxLate = time.Second

// playedLine is a line of a report.
type playedLine struct {
	*script
	player *Player
	name   string
	baud   int
	even   bool

	coming  []Piece // with After as the line's time
	instead servo.Line
	asked   bool // the last request went to instead
}

func (l *playedLine) Write(b []byte) (int, error) {
	e := l.player.take(l.name, &Exchange{Baud: l.baud, Even: l.even, Send: b})
	l.coming, l.asked = nil, e == nil && l.instead != nil
	if e == nil {
		l.player.miss(l.asked)
		if l.asked {
			if err := l.instead.Discard(); err != nil {
				return 0, err
			}
			return l.instead.Write(b)
		}
		return len(b), nil
	}
	l.answered(e)
	if err := e.Fault.err(); err != nil {
		return 0, err
	}
	return len(b), nil
}

// answered lets the answers of e come.
func (l *playedLine) answered(e *Exchange) {
	now := l.Now()
	for _, p := range e.Answer {
		p.After += now
		l.coming = append(l.coming, p)
	}
}

func (l *playedLine) Read(b []byte, timeout time.Duration) (int, error) {
	if l.asked {
		before := l.instead.Now()
		n, err := l.instead.Read(b, timeout)
		l.SleepUntil(l.Now() + l.instead.Now() - before)
		return n, err
	}
	until := l.Now() + max(0, timeout)
	// A busy machine wakes late: a read may have got what came after its timeout.
	if len(l.coming) == 0 || l.coming[0].After > until && (l.coming[0].Waits > 0 || l.coming[0].After > until+maxLate) {
		if len(l.coming) > 0 && l.coming[0].Waits > 0 {
			l.coming[0].Waits--
		}
		l.SleepUntil(until)
		return 0, os.ErrDeadlineExceeded
	}
	p := &l.coming[0]
	l.SleepUntil(p.After)
	n := copy(b, p.Data)
	if p.Data = p.Data[n:]; len(p.Data) > 0 {
		return n, nil
	}
	err := p.Fault.err()
	l.coming = l.coming[1:]
	return n, err
}

// Discard drops what has come; the rest of an answer comes later.
func (l *playedLine) Discard() error {
	for now := l.Now(); len(l.coming) > 0 && l.coming[0].After <= now && l.coming[0].Fault == nil; {
		l.coming = l.coming[1:]
	}
	if l.asked {
		return l.instead.Discard()
	}
	if len(l.coming) == 0 {
		l.player.pause(l.script)
	}
	return nil
}

func (l *playedLine) Baud() int { return l.baud }

func (l *playedLine) SetBaud(baud int) error {
	if e := l.player.take(l.name, &Exchange{Op: opRate, Baud: baud}); e != nil {
		return e.Fault.err()
	}
	l.baud = baud
	if l.instead != nil {
		return l.instead.SetBaud(baud)
	}
	return nil
}

// SetEven is that of a serial line.
func (l *playedLine) SetEven(even bool) error {
	l.even = even
	return nil
}

// SetDTR is that of a serial line.
func (l *playedLine) SetDTR(bool) error { return nil }

func (l *playedLine) Close() error { return nil }

// playedTimed is a line of an adapter with a latency timer.
type playedTimed struct {
	*playedLine
	latency time.Duration
}

// LatencyTimer implements catalog.Timed.
func (l *playedTimed) LatencyTimer() (time.Duration, string) { return l.latency, "" }

// playedBus is an I2C bus or an SPI port of a report.
type playedBus struct {
	player    *Player
	name, bus string
	spi       bool
}

func (b *playedBus) String() string { return b.bus }

func (b *playedBus) SetSpeed(physic.Frequency) error { return errNoSpeed }

var errNoSpeed = errors.New("a report has no rate to set")

// OnSPI implements the interface that i2c.OnSPI asks for.
func (b *playedBus) OnSPI() bool { return b.spi }

func (b *playedBus) Tx(addr uint16, w, r []byte) error {
	e := b.player.take(b.name, &Exchange{Op: opTx, Addr: addr, Want: len(r), Send: w})
	if e == nil {
		b.player.miss(false)
		return errors.New("no acknowledge: the report has no such request")
	}
	if len(e.Answer) > 0 {
		copy(r, e.Answer[0].Data)
	}
	return e.Fault.err()
}

package record

import (
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"github.com/halyard-robotics/halyard/servo"
)

// Playback is a line that repeats recorded answers. Requests that differ from the recording are counted, with the first
// difference. Answers keep the order of the recording, so that a driver that sends other bytes receives the old
// answers.
type Playback struct {
	bus     string
	baud    int
	ops     []playedOp // those not used yet
	now     time.Duration
	Differs uint64
	First   string // the first difference
	cycle   uint64
}

type playedOp struct {
	kind opKind
	at   time.Duration
	data []byte
	n    int
	err  error
}

// NewPlayback returns a line of bus at a rate.
func NewPlayback(bus string, baud int) *Playback { return &Playback{bus: bus, baud: baud} }

func (p *Playback) Open() (servo.Line, error) {
	if o := p.next(opOpen, nil); o.err != nil {
		return nil, o.err
	}
	return p, nil
}

// Feed appends the uses of the line in a cycle, from a message of the line's channel; nil for a cycle without uses.
func (p *Playback) Feed(message []byte) error {
	if message == nil { // it was silent
		return nil
	}
	m, err := parseLine(message)
	if err != nil {
		return fmt.Errorf("bus %q: %w", p.bus, err)
	}
	p.cycle = m.Cycle
	for _, o := range m.Ops {
		kind := slices.Index(opNames[:], o.Op)
		data, err := hex.DecodeString(o.Data)
		if err != nil || kind < 0 {
			return fmt.Errorf("bus %q: op of cycle %d: got %q, data %.20q", p.bus, m.Cycle, o.Op, o.Data)
		}
		p.ops = append(p.ops, playedOp{opKind(kind), time.Duration(o.AtNS), data, o.N, errorNamed(o.Error)})
	}
	return nil
}

// next returns the next recorded use of this kind; without one, an empty use, or a time-out for a read.
func (p *Playback) next(kind opKind, sent []byte) playedOp {
	for i := range p.ops {
		o := p.ops[i]
		if o.kind != kind {
			continue
		}
		if i > 0 {
			p.differ(fmt.Sprintf("%s where it was %s", opNames[kind], opNames[p.ops[0].kind]))
		}
		p.ops = p.ops[i+1:]
		if sent != nil && string(sent) != string(o.data) {
			p.differ(fmt.Sprintf("sent % X, was % X", sent, o.data))
		}
		return o
	}
	if kind != opNow && kind != opClose {
		p.differ(opNames[kind] + " where there was nothing")
	}
	return playedOp{kind: kind, at: p.now, err: map[opKind]error{opRead: errorNamed(timedOut)}[kind]}
}

func (p *Playback) differ(what string) {
	if p.Differs++; p.Differs == 1 {
		p.First = fmt.Sprintf("bus %q: cycle %d: %s", p.bus, p.cycle, what)
	}
}

func (p *Playback) Write(b []byte) (int, error) {
	o := p.next(opWrite, b)
	if o.err != nil {
		return len(o.data), o.err
	}
	return len(b), nil
}

// Read implements servo.Port. It never waits.
func (p *Playback) Read(b []byte, _ time.Duration) (int, error) {
	o := p.next(opRead, nil)
	return copy(b, o.data), o.err
}

func (p *Playback) Discard() error { return p.next(opDiscard, nil).err }

func (p *Playback) Now() time.Duration {
	p.now = p.next(opNow, nil).at
	return p.now
}

func (p *Playback) Baud() int { return p.baud }

func (p *Playback) SetBaud(baud int) error {
	o := p.next(opBaud, nil)
	if o.err == nil {
		p.baud = baud
	}
	return o.err
}

func (p *Playback) Close() error { return p.next(opClose, nil).err }

// SetDTR is a line's that has one.
func (p *Playback) SetDTR(bool) error { return p.next(opSet, nil).err }

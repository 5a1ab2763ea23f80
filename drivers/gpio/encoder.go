package gpio

import (
	"math"
	"slices"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/wire/gpiochip"
)

// Encoder counts the steps of a quadrature encoder: two values, the steps turned since the first Open, four a slot, and
// their rate, steps a second. It is a drivers.Sensor. Swapping the lines turns its direction.
//
// The count is exact as long as no edge is missed. A missed edge, or a change of both lines at once, counts as an
// error, and the Read that finds it fails: the count continues with an unknown offset.
type Encoder struct {
	lines
	take   func(*gpiochip.Event)
	state  uint8 // a<<1 | b, as last received
	count  int64 // wraps; a float64 has it exactly up to 2^53
	errors uint64
	rate   speed
}

// steps is the step of a change of the two lines, by old<<2 | new; a change of both at once is not a valid step.
var steps = [16]int8{
	0, -1, +1, 0,
	+1, 0, 0, -1,
	-1, 0, 0, +1,
	0, +1, -1, 0,
}

// NewEncoder returns the encoder at two lines, A and B. It does no I/O.
func NewEncoder(p Pins) *Encoder {
	e := &Encoder{lines: lines{pins: &p, op: "encoder"}}
	e.take = func(ev *gpiochip.Event) {
		bit := uint8(2) >> slices.Index(e.lines.offsets, ev.Line)
		next := e.state &^ bit
		if ev.Rising {
			next |= bit
		}
		if next == e.state {
			e.errors++ // the edge between two of the same kind was missed
		}
		e.turn(next)
		e.rate.step(e.count, ev.At)
	}
	return e
}

// turn takes the lines as they are now.
func (e *Encoder) turn(next uint8) {
	i := e.state<<2 | next
	if e.state^next == 3 {
		e.errors++
	}
	e.count += int64(steps[i])
	e.state = next
}

// Open requests the lines and reads their levels. The count continues.
func (e *Encoder) Open() error {
	if err := e.lines.open(e.lines.pins.input(), gpiochip.MaxEvents); err != nil {
		return err
	}
	return e.syncLevels()
}

// syncLevels takes the lines' present levels. Edges that came before the levels were read must not be counted from
// there: while it turns, look again.
func (e *Encoder) syncLevels() error {
	const maxTries = 8
	for range maxTries {
		bits, err := e.lines.values()
		if err != nil {
			return err
		}
		e.state = uint8(bits&1<<1 | bits>>1&1)
		came := false
		if _, err := e.lines.each(0, func(*gpiochip.Event) { came = true }); err != nil {
			return err
		}
		if !came {
			return nil
		}
	}
	e.errors++ // it turns faster than it is read: a step may be off
	return nil
}

// Read counts the received edges. An error reports missed steps.
func (e *Encoder) Read(values []float64) error {
	before := e.errors
	lost, err := e.lines.each(0, e.take)
	if err != nil {
		return err
	}
	if lost > 0 {
		e.errors += uint64(lost)
		if err := e.syncLevels(); err != nil {
			return err
		}
	}
	if e.errors != before {
		return e.lines.faultf(hal.BusFault, "%d edges were missed: the count is off", e.errors-before)
	}
	copy(values, []float64{float64(e.count), e.rate.at(e.lines.node.Now())})
	return nil
}

// Errors counts the edges that were missed.
func (e *Encoder) Errors() uint64 { return e.errors }

// speed is the rate of a counter, from the stamps of its steps: between the last one of the look before and the last
// one of this look, or, where the counter was in between, from the first one of this look on.
type speed struct {
	steps       int // steps in this look
	first, last stamp
	from        stamp // the last step of the looks before
	moving      bool  // the look before had steps
	rate        float64
}

// stamp is a count and when it was made.
type stamp struct {
	count int64
	at    time.Duration
}

func (s *speed) step(count int64, at time.Duration) {
	s.last = stamp{count, at}
	if s.steps++; s.steps == 1 {
		s.first = s.last
	}
}

// at is the rate now. Where no step came there was no more than one in the time since the last.
func (s *speed) at(now time.Duration) float64 {
	from := s.from
	if !s.moving && s.steps > 1 {
		from = s.first
	}
	switch span := s.last.at - from.at; {
	case s.steps > 0 && span > 0:
		s.rate = float64(s.last.count-from.count) / span.Seconds()
	case s.steps == 0 && now > from.at:
		if most := 1 / (now - from.at).Seconds(); math.Abs(s.rate) > most {
			s.rate = math.Copysign(most, s.rate)
		}
	}
	if s.moving = s.steps > 0; s.moving {
		s.from, s.steps = s.last, 0
	}
	return s.rate
}

package haltest

import (
	"cmp"
	"math"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/hal"
)

// Subject is a body under test, with its buses and world.
type Subject struct {
	Body   hal.Body
	Buses  []hal.Bus
	World  hal.World
	Period time.Duration
	// Sag is how far a holding joint may be from its goal, rad: its load over its stiffness. 0 = 0.05.
	Sag float64
	// Falls reports that the load moves joints without torque.
	Falls bool
}

// Run examines a body of the kind that open makes, a new one for each rule. Every body passes it: simulated,
// emulated, joined and shadowed ones, and real ones on a bench.
func Run(t *testing.T, open func(t *testing.T) Subject) {
	t.Helper()
	for _, rule := range []struct {
		name  string
		check func(*testing.T, *bench)
	}{
		{"layout is valid and constant", layoutHolds},
		{"the first read measures every joint", measuresItself},
		{"enabling moves nothing", enablingMovesNothing},
		{"goals are followed", followsGoals},
		{"no command keeps the place", keepsPlace},
		{"joints without torque ignore goals", torqueOffIgnoresGoals},
		{"a torque limit of zero is torque off", zeroLimitIsTorqueOff},
		{"halt is inert, twice", haltIsInert},
		{"a cycle allocates nothing", allocatesNothing},
	} {
		t.Run(rule.name, func(t *testing.T) {
			s := open(t)
			s.Period = cmp.Or(s.Period, 10*time.Millisecond)
			s.Sag = cmp.Or(s.Sag, 0.05)
			b := &bench{t: t, Subject: s, frame: hal.NewFrame(s.Body.Layout())}
			b.receive()
			rule.check(t, b)
		})
	}
}

// bench runs a body without a rig, so that the suite tests only the body.
type bench struct {
	Subject
	t     *testing.T
	frame *hal.Frame
}

func (b *bench) receive() {
	b.t.Helper()
	for _, bus := range b.Buses {
		b.must(bus.Receive())
	}
	b.must(b.Body.Read(b.frame))
}

func (b *bench) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) cycle() {
	b.t.Helper()
	b.must(b.Body.Write(b.frame))
	for _, bus := range b.Buses {
		b.must(bus.Send())
	}
	if b.World != nil {
		b.must(b.World.Advance(b.Period))
	}
	b.frame.Time += b.Period
	b.receive()
}

func (b *bench) cycles(d time.Duration) {
	b.t.Helper()
	for range int(d / b.Period) {
		b.cycle()
	}
}

// hinges calls f for every actuator that has a position goal and measures it.
func (b *bench) hinges(f func(i int, a *hal.Actuator)) {
	l := b.Body.Layout()
	for i := range l.Actuators {
		if a := &l.Actuators[i]; a.Goal[hal.PositionMode] != hal.None && a.Position != hal.None {
			f(i, a)
		}
	}
}

func (b *bench) enable(on bool) {
	for i := range b.frame.Enable {
		b.frame.Enable[i] = on
	}
}

// positions are the measured positions of all actuators, NaN if absent.
func (b *bench) positions() []float64 {
	l := b.Body.Layout()
	p := make([]float64, len(l.Actuators))
	hal.FillNaN(p)
	b.hinges(func(i int, a *hal.Actuator) { p[i] = b.frame.Measured[a.Position] })
	return p
}

// command gives every joint a goal a fifth of its range away from where it is, towards the middle, and returns them.
func (b *bench) command() []float64 {
	goals := b.positions()
	b.hinges(func(i int, a *hal.Actuator) {
		span := a.Limits.MaxPosition - a.Limits.MinPosition
		if a.Wraps {
			span = math.Pi
		}
		step := math.Min(0.2*span, 0.5)
		if goals[i] > (a.Limits.MaxPosition+a.Limits.MinPosition)/2 {
			step = -step
		}
		goals[i] += step
		b.frame.Inputs[a.Goal[hal.PositionMode]] = goals[i]
	})
	return goals
}

func (b *bench) near(what string, want []float64, within float64) {
	b.t.Helper()
	b.hinges(func(i int, a *hal.Actuator) {
		if got := b.frame.Measured[a.Position]; !(math.Abs(got-want[i]) <= within) {
			b.t.Errorf("%s: joint %q: got %.4f rad, want %.4f within %.4f", what, a.Name, got, want[i], within)
		}
	})
}

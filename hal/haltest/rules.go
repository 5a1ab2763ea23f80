package haltest

import (
	"math"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/hal"
)

// settle is the time for a joint to arrive: for a slow servo over a third of its range, and for oscillations to decay.
const settle = 2 * time.Second

func layoutHolds(t *testing.T, b *bench) {
	l := b.Body.Layout()
	if err := l.Validate(); err != nil {
		t.Error(err)
	}
	b.cycles(100 * time.Millisecond)
	if b.Body.Layout() != l {
		t.Error("layout: changed while the body was open")
	}
}

func measuresItself(t *testing.T, b *bench) {
	b.hinges(func(i int, a *hal.Actuator) {
		if v := b.frame.Measured[a.Position]; math.IsNaN(v) {
			t.Errorf("joint %q: position: got NaN after the first read", a.Name)
		}
		if s := b.frame.Status[i]; s.Err != nil || s.Time < 0 {
			t.Errorf("joint %q: status: got %v at %v", a.Name, s.Err, s.Time)
		}
	})
}

func enablingMovesNothing(t *testing.T, b *bench) {
	was := b.positions()
	b.enable(true)
	b.cycles(settle)
	b.near("enabled without a command", was, b.Sag)
}

func followsGoals(t *testing.T, b *bench) {
	b.enable(true)
	goals := b.command()
	b.cycles(settle)
	b.near("after the time to settle", goals, b.Sag)
}

func keepsPlace(t *testing.T, b *bench) {
	b.enable(true)
	goals := b.command()
	b.cycles(settle)
	hal.FillNaN(b.frame.Inputs)
	b.cycles(settle)
	b.near("after a goal and silence", goals, 2*b.Sag) // where it has sagged to it may sag again
}

func torqueOffIgnoresGoals(t *testing.T, b *bench) {
	if b.Falls {
		t.Skip("the load moves joints without torque")
	}
	was := b.positions()
	b.command()
	b.cycles(settle)
	b.near("not enabled, with goals", was, 0.02)
}

func zeroLimitIsTorqueOff(t *testing.T, b *bench) {
	if b.Falls {
		t.Skip("the load moves joints without torque")
	}
	was := b.positions()
	b.enable(true)
	b.command()
	b.hinges(func(i int, a *hal.Actuator) {
		if a.TorqueLimit == hal.None {
			was[i] = b.frame.Inputs[a.Goal[hal.PositionMode]]
			return
		}
		b.frame.Inputs[a.TorqueLimit] = 0
	})
	b.cycles(settle)
	b.near("torque limit 0, with goals", was, b.Sag)
}

func haltIsInert(t *testing.T, b *bench) {
	b.enable(true)
	b.cycles(100 * time.Millisecond)
	for range 2 {
		if err := b.Body.Halt(); err != nil {
			t.Errorf("halt: %v", err)
		}
	}
	if b.Falls {
		return
	}
	was := b.positions()
	b.command()
	b.enable(false)
	b.cycles(settle)
	b.near("halted, with goals", was, 0.02)
}

func allocatesNothing(t *testing.T, b *bench) {
	b.enable(true)
	b.command()
	b.cycles(200 * time.Millisecond)
	if n := testing.AllocsPerRun(100, b.cycle); n != 0 {
		t.Errorf("a cycle: got %g allocations, want 0", n)
	}
}

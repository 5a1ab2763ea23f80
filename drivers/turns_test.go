package drivers

import (
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/hal"
)

// TestSafety04EndOfCount: a joint without an end on a servo that counts one turn, which gives way over the end of the
// count, is told where it is by two readings that agree: its servo would turn to the goal the long way round.
func TestSafety04EndOfCount(t *testing.T) {
	r := newRobot(t, xm, []string{"wheel"}, func(l *hal.Layout, _ []Joint) { l.Actuators[0].Wraps = true })
	r.f.Enable[0] = true
	goal := -3.14 // 1 tick
	for k, c := range []struct{ present, want float64 }{
		{5, 1}, {3, 1}, {1, 1},
		{2048, 1}, {1, 1}, // garbled
		{4094, 1}, {4093, 4095}, {4094, 4095},
	} {
		r.states[0].Position, r.states[0].Time = c.present, time.Duration(k+1)
		r.set(0, hal.PositionMode, goal)
		r.cycle()
		if got := r.goals[0].Position; got < c.want-0.6 || got > c.want+0.6 {
			t.Errorf("reading %d, at tick %g: got goal %g, want %g", k, c.present, got, c.want)
		}
	}
}

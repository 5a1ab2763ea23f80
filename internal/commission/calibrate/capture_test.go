package calibrate

import (
	"math"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/hal/haltest"
)

// watching captures a joint at the end of each cycle.
type watching struct{ s *stand }

func (w watching) Cycle(*hal.Cycle) { w.s.observe() }

// Each position is captured with the goal that went over the wire at its time: in the room that of the same cycle, in a
// simulated world, whose time passes within the cycle, that of the next one. How late a session's goals reach the rig
// is of no importance. The body is at its goal at once.
func TestCapturePairsPositionAndGoal(t *testing.T) {
	for _, real := range []bool{false, true} {
		r, err := hal.New(hal.Config{Name: "rig", Period: 10 * time.Millisecond, Mode: hal.Lockstep})
		if err != nil {
			t.Fatal(err)
		}
		b := haltest.NewBody("j")
		b.Speed = 1e6
		a, err := r.Add(hal.AgentConfig{Name: "a", Body: b, World: b, BodyKind: hal.Simulated})
		if err != nil {
			t.Fatal(err)
		}
		s := &stand{rig: a, real: real, period: 10 * time.Millisecond, tick: make(chan struct{}, 1),
			clock: hal.WallClock()}
		p := r.NewSession("session", watching{s})
		l, err := p.Acquire(a)
		if err != nil {
			t.Fatal(err)
		}
		_, end := s.record(0)
		for n := range 40 {
			p.Step(l, []float64{0.3 * math.Sin(float64(n)/10), math.NaN()})
		}
		all := end()
		if len(all) < 30 {
			t.Fatalf("real %t: got %d samples", real, len(all))
		}
		for i := 3; i < len(all)-1; i++ {
			want := all[i].Position
			if !real {
				want = all[i+1].Position
			}
			if got := all[i].Goal; !all[i].Torque || math.Abs(got-want) > 1e-9 {
				t.Fatalf("real %t, sample %d at %.4f: got goal %.4f, torque %t, want %.4f", real, i, all[i].Position,
					got,
					all[i].Torque, want)
			}
		}
	}
}

package sim

import (
	"math"
	"testing"

	"github.com/halyard-robotics/halyard/hal"
)

// reading is a sensor's channels in the frame.
func (r *rig) reading(name string) []float64 {
	for _, s := range r.body.Layout().Sensors {
		if s.Name == name {
			return r.frame.Measured[s.First : s.First+s.Count]
		}
	}
	r.t.Fatalf("no sensor %q", name)
	return nil
}

// The humanoid stands for a minute on its servos, its boards read gravity, and it falls when torque is switched off.
func TestHumanoidStands(t *testing.T) {
	r := newRig(t, "a-series", 1)
	r.enable(true)
	for i := range r.body.Layout().Actuators {
		a := &r.body.Layout().Actuators[i]
		r.frame.Inputs[a.Goal[hal.PositionMode]] = a.Default
	}
	head := r.body.model.Body("head")
	start := r.body.Pose(head).Position[2]
	worst := 0.0
	for k := range 6000 {
		r.cycle(1)
		worst = math.Max(worst, start-r.body.Pose(head).Position[2])
		if k%1000 == 0 {
			t.Logf("%d s: head %.4f m, pelvis %v", k/100, r.body.Pose(head).Position[2], r.body.Pose(0))
		}
	}
	t.Logf("head sinks by at most %.4f m of %.4f m in 60 s", worst, start)
	if worst > 0.02 {
		t.Errorf("head: sank by %.3f m, want it to stand", worst)
	}
	for _, name := range []string{"abfr", "abhr", "absr", "abar", "abfl", "abhl", "absl", "abal"} {
		got := r.reading(name)
		t.Logf("%s: %.3f m/s²", name, got)
	}
	// The same nudge that it withstands while it holds throws it when torque is off; without one its gears hold it
	// upright.
	nudge := func() {
		for range 20 {
			r.must(r.Push("a-series", "upper_body", [3]float64{4, 0, 0}))
			r.cycle(1)
		}
		r.cycle(300)
	}
	nudge()
	t.Logf("held and nudged: head %.4f m", r.body.Pose(head).Position[2])
	if r.body.Pose(head).Position[2] < 0.9*start {
		t.Error("held: a nudge throws it")
	}
	r.enable(false)
	nudge()
	t.Logf("torque off and nudged: head %.4f m", r.body.Pose(head).Position[2])
	if r.body.Pose(head).Position[2] > start/2 {
		t.Error("torque off: it still stands")
	}
}

// A humanoid that stands sleeps, and is where one is that was kept awake: while it stands, after a nudge, and after a
// command.
func TestHumanoidSleeps(t *testing.T) {
	var rigs [2]*rig
	for i := range rigs {
		r := newRig(t, "a-series", 1)
		r.enable(true)
		for k := range r.body.Layout().Actuators {
			a := &r.body.Layout().Actuators[k]
			r.frame.Inputs[a.Goal[hal.PositionMode]] = a.Default
		}
		rigs[i] = r
	}
	run := func(cycles int) {
		for range cycles {
			rigs[0].cycle(1)
			rigs[1].system.Moved()
			rigs[1].cycle(1)
		}
	}
	still := func() bool {
		for _, v := range rigs[0].system.V {
			if v != 0 {
				return false
			}
		}
		return true
	}
	for _, c := range []struct {
		what   string
		do     func(r *rig)
		cycles int
		sleeps bool
		within float64 // rad, m
	}{
		{"stands", func(*rig) {}, 2000, true, 1e-6},
		{"nudged", func(r *rig) { r.must(r.Push("a-series", "upper_body", [3]float64{4, 0, 0})) }, 10, false, 1e-5},
		{"stands again", func(*rig) {}, 1000, true, 1e-4},
		{"bends an arm", func(r *rig) {
			r.frame.Inputs[r.body.Layout().Actuators[5].Goal[hal.PositionMode]] += 0.5
		}, 20, false, 1e-3},
	} {
		for _, r := range rigs {
			c.do(r)
		}
		run(c.cycles)
		if still() != c.sleeps {
			t.Errorf("%s: still: %v, want %v", c.what, still(), c.sleeps)
		}
		worst := 0.0
		for k, x := range rigs[1].system.Q {
			worst = math.Max(worst, math.Abs(rigs[0].system.Q[k]-x))
		}
		t.Logf("%s: apart by at most %.2g", c.what, worst)
		if worst > c.within {
			t.Errorf("%s: %.2g apart from one that was kept awake, want %g", c.what, worst, c.within)
		}
	}
}

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
	// The same nudge that it bears while it holds throws it when it has torque off; without one its gears hold it upright.
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
	t.Logf("limp and nudged: head %.4f m", r.body.Pose(head).Position[2])
	if r.body.Pose(head).Position[2] > start/2 {
		t.Error("limp: it still stands")
	}
}

package sim

import (
	"math"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/sim/model"
)

// sway stands a robot up for 10 s in steps of the physics of h, its joints swaying by 0.15 rad about their defaults,
// and returns where they were.
func sway(t *testing.T, name string, h time.Duration) [][]float64 {
	t.Helper()
	m, err := model.Load(name)
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{Scene: NewScene(SceneConfig{Seed: 1, Substep: h}), t: t}
	if r.body, err = r.Add("robot", m, hal.Pose{}); err != nil {
		t.Fatal(err)
	}
	r.frame = hal.NewFrame(r.body.Layout())
	r.enable(true)
	var list [][]float64
	for k := range 1000 {
		for i := range r.body.Layout().Actuators {
			a := &r.body.Layout().Actuators[i]
			amplitude := 0.15 * math.Min(1, float64(k)/100)
			r.frame.Inputs[a.Goal[hal.PositionMode]] = a.Default +
				amplitude*math.Sin(math.Pi*float64(k)*0.01+float64(i))
		}
		r.cycle(1)
		var at []float64
		for i := range r.body.joints {
			at = append(at, r.body.joints[i].position())
		}
		list = append(list, at)
	}
	return list
}

// With the step that it needs a robot moves as with steps of 1 ms, within the bounds that docs/physics.md states: 1
// mrad on average, which is less than a tick of its encoders, and 20 mrad at any time.
func TestNeedIsEnough(t *testing.T) {
	t.Parallel()
	for _, name := range model.Names() {
		m, err := model.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		need := Need([]*model.Robot{m})
		if need < 2*time.Millisecond {
			t.Errorf("%s: got %v, want 2 ms", name, need)
		}
		want, got := sway(t, name, DefaultSubstep), sway(t, name, need)
		most, sum, n := 0.0, 0.0, 0
		for k := range want {
			for i := range want[k] {
				off := got[k][i] - want[k][i]
				most = math.Max(most, math.Abs(off))
				sum += off * off
				n++
			}
		}
		rms := math.Sqrt(sum / float64(n))
		t.Logf("%s: %v: RMS %.5f rad, at most %.5f", name, need, rms, most)
		if rms > 1e-3 || most > 0.02 {
			t.Errorf("%s: steps of %v: got RMS %.5f rad, at most %.5f, want 0.001 and 0.02", name, need, rms, most)
		}
	}
}

// The humanoid stands for a minute in the steps that it needs, too.
func TestHumanoidStandsInNeed(t *testing.T) {
	m, err := model.Load("a-series")
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{Scene: NewScene(SceneConfig{Seed: 1, Substep: Need([]*model.Robot{m})}), t: t}
	if r.body, err = r.Add("robot", m, hal.Pose{}); err != nil {
		t.Fatal(err)
	}
	r.frame = hal.NewFrame(r.body.Layout())
	r.enable(true)
	for i := range r.body.Layout().Actuators {
		a := &r.body.Layout().Actuators[i]
		r.frame.Inputs[a.Goal[hal.PositionMode]] = a.Default
	}
	head := r.body.model.Body("head")
	start := r.body.Pose(head).Position
	r.cycle(6000)
	end := r.body.Pose(head).Position
	t.Logf("head at %.4f after 60 s, %.4f at the start", end, start)
	if off := math.Hypot(math.Hypot(end[0]-start[0], end[1]-start[1]), end[2]-start[2]); off > 0.02 {
		t.Errorf("head: got %.3f m off after 60 s, want it to stand", off)
	}
}

// Simloid's robots and motor controllers with fast loops keep 1 ms, bodies alone take what their contacts allow, and
// nothing takes more than 5 ms.
func TestNeed(t *testing.T) {
	simloid, err := model.Load("simloid-31")
	if err != nil {
		t.Fatal(err)
	}
	arm, err := model.Load("xm430-arm")
	if err != nil {
		t.Fatal(err)
	}
	bare := &model.Robot{Simloid: hal.None, Bodies: make([]model.Body, 1)}
	for _, c := range []struct {
		name   string
		robots []*model.Robot
		want   time.Duration
	}{
		{"none", nil, 5 * time.Millisecond},
		{"no bodies", []*model.Robot{{Simloid: hal.None}}, 5 * time.Millisecond},
		{"bodies", []*model.Robot{bare}, 2500 * time.Microsecond},
		{"servos", []*model.Robot{arm}, 2 * time.Millisecond},
		{"servos and bodies", []*model.Robot{bare, arm}, 2 * time.Millisecond},
		{"Simloid among others", []*model.Robot{arm, simloid}, time.Millisecond},
	} {
		if got := Need(c.robots); got != c.want {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}

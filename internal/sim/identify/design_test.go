package identify

import (
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard/hal/haltest"
	"github.com/halyard-robotics/halyard/sim/actuator"
)

// What recordings lack is planned, and a recording beyond them is said to leave what was identified.
func TestPlanAndReach(t *testing.T) {
	s := example()
	names := func() (all []string) {
		for _, m := range s.Plan() {
			all = append(all, m.Name)
		}
		return all
	}
	s.Prior, s.Play.Low = nil, 0.009
	s.Over = Reach{s.Spec.Free() * 0.6, s.Spec.Stall() * 0.3, 1, [2]float64{400, 800}, [2]float64{7.4, 7.4}, true}
	if got := names(); len(got) != 0 {
		t.Errorf("got %v, want nothing to record", got)
	}
	s.Prior = &Prior{}
	s.Over.Off, s.Over.Speed, s.Over.Load, s.Over.P[0], s.Play.Low = false, 1, 0, 800, math.NaN()
	want := "saturated,torque off,faster,loaded,hanging,another gain"
	if got := strings.Join(names(), ","); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	o := Reach{4.2, 0.48, 0.6, [2]float64{400, 800}, [2]float64{7.4, 7.4}, false}
	if got := o.leaves(o); got != "" {
		t.Errorf("within: got %q", got)
	}
	got := o.leaves(Reach{6, 0.7, 0.9, [2]float64{200, 900}, [2]float64{5, 7.4}, true})
	for _, part := range []string{"leaves what was identified", "faster than 4.2 rad/s", "more than 0.48 N m", "60 %",
		"gain below 400", "supply below 7.4 V", "torque off"} {
		if !strings.Contains(got, part) {
			t.Errorf("got %q, want %q in it", got, part)
		}
	}
}

// The whole of Fit, the choice of the model among it, on planted servos: with and without drops, play, delays of goal
// and torque. The intervals of what every friction model has hold the truth in nine of ten. HALYARD_SEEDS draws more.
func TestPlantedThroughFit(t *testing.T) {
	seeds, _ := strconv.Atoi(os.Getenv("HALYARD_SEEDS"))
	if seeds == 0 && !haltest.Full() {
		t.Skip("HALYARD_FULL=1 runs it")
	}
	names := []string{"xl330-m288", "xl430-w250", "sts3215", "lx-16a"}
	c := newCoverage()
	for seed := range max(2, seeds) {
		spec, _ := actuator.Lookup(names[seed%len(names)])
		p := plant(spec.Name, uint64(100+seed), 3, correlated, false, func(u *trial) {
			u.bench.GoalDelay = float64(-5+seed*7%35) / 1000
			u.bench.TorqueDelay = float64(seed*5%30) / 1000
			u.bench.Play = []float64{0, 0.5, 1, 2}[seed%3] * math.Pi / 180 * float64(seed%2)
		})
		if seed%4 >= 2 { // without drops
			p.runs = append(p.runs[:4:4], p.runs[6:]...)
		}
		s, err := Fit(p.runs, p.spec, nil)
		if err != nil {
			t.Fatal(err)
		}
		found := map[string]estimate{"goal_delay": {s.Latency.Seconds, s.Latency.Low, s.Latency.High}}
		for _, v := range s.Intervals {
			switch v.Name {
			case "kt", "R", "armature", "arm_offset", "torque_delay", "Kb":
				if v.Name != "Kb" || s.Spec.Friction.Model == 3 {
					found[v.Name] = estimate{v.Value, v.Low, v.High}
				}
			}
		}
		if !math.IsNaN(s.Play.Low) {
			found["play"] = estimate{s.Play.Value, s.Play.Low, s.Play.High}
		}
		t.Logf("seed %d %s: %s, play %.4f of %.4f", seed, spec.Name, s.Spec.Fit, s.Bench.Play, p.truth.bench.Play)
		c.add(p, found)
	}
	t.Logf("intervals hold %.1f %%\n%s", 100*c.total(), c)
	if c.total() < 0.8 {
		t.Errorf("intervals hold %.1f %%, want 90 %%", 100*c.total())
	}
}

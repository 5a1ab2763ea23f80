package calibrate

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard"
	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal/haltest"
	"github.com/halyard-robotics/halyard/internal/sim/identify"
	"github.com/halyard-robotics/halyard/internal/sim/twin"
	"github.com/halyard-robotics/halyard/sim/model"
)

// plantJoint changes one joint of the body, of which the twin knows nothing.
func plantJoint(name string, change func(*configs.Joint)) func(*configs.Config) {
	return func(c *configs.Config) {
		j := c.Agents[0].Hardware.Joints[name]
		truth := configs.GroundTruth{}
		if j.GroundTruth != nil {
			truth = *j.GroundTruth
		}
		j.GroundTruth = &truth
		change(&j)
		c.Agents[0].Hardware.Joints[name] = j
	}
}

// weaker is a servo file of an XL430 that was changed.
func weaker(t *testing.T, change func(*identify.Servo)) func(*configs.Joint) {
	t.Helper()
	s, err := identify.Known("xl430-w250")
	if err != nil {
		t.Fatal(err)
	}
	change(s)
	s.Date = noon
	path := filepath.Join(t.TempDir(), "servo.yaml")
	if err := s.Save(path); err != nil {
		t.Fatal(err)
	}
	return func(j *configs.Joint) { j.Model = path }
}

// What is planted in an emulated body is named by the twin beside it.
func TestTwinNamesWhatIsPlanted(t *testing.T) {
	value := func(v float64) *float64 { return &v }
	for _, c := range []struct {
		want twin.Cause
		body func(*configs.Joint)
	}{
		{twin.None, func(*configs.Joint) {}},
		{twin.Zero, func(j *configs.Joint) { j.GroundTruth.Zero = value(2048 + 300) }},
		{twin.Play, func(j *configs.Joint) { j.GroundTruth.Backlash = 0.08 }},
		{twin.Constant, weaker(t, func(s *identify.Servo) { s.Spec.Kt *= 0.65 })},
		{twin.Friction, weaker(t, func(s *identify.Servo) {
			s.Spec.Friction.Kb, s.Spec.Friction.Kv = 3*s.Spec.Friction.Kb, 3*s.Spec.Friction.Kv
			s.Spec.Friction.Ks *= 3
		})},
		{twin.Supply, func(j *configs.Joint) { j.Supply = &configs.Supply{Volts: 9} }},
	} {
		g, out := guide(t, t.TempDir(), "-70 70\n\n", configs.Options{Body: "emulated"})
		g.Config = "xl430-pendulum"
		g.alter = plantJoint("joint0", c.body)
		rows, err := g.Twin(context.Background())
		if err != nil {
			t.Fatalf("%s: %v\n%s", c.want, err, out)
		}
		t.Logf("%+v", rows)
		if len(rows) != 1 || rows[0].Cause != c.want {
			t.Errorf("got %+v, want %s", rows, c.want)
		}
	}
}

// The joints of a healthy arm are named healthy.
func TestTwinOfHealthyArm(t *testing.T) {
	if !haltest.Full() {
		t.Skip("HALYARD_FULL=1 runs it")
	}
	g, out := guide(t, t.TempDir(), strings.Repeat("\n", 6), configs.Options{Body: "emulated"})
	if os.Getenv("HALYARD_LONG") == "" {
		g.Only = []string{"shoulder_lift", "wrist_roll"}
	}
	rows, err := g.Twin(context.Background())
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, r := range rows {
		t.Logf("%+v", r)
		if r.Cause != twin.None {
			t.Errorf("%s: got %s, want none: %s", r.Joint, r.Cause, r.Found)
		}
	}
}

// body is an emulated pendulum: what differs from its model from the start, and a fault of its servo as the motion
// begins.
type body struct {
	alter  func(*configs.Config)
	strike string
}

// tilted lets the pendulum hang at -40 degrees of its joint. Where a joint hangs at 0, reversed is the same as not, and
// a lower gear nearly the same as more load.
const tilted = "agents[0].pose.rotation=[0, 0.7, 0]"

// pendulum is one whose joint differs by change.
func pendulum(change func(*configs.Joint)) body { return body{plantJoint("joint0", change), ""} }

// struck is one whose servo gets a fault.
func struck(fault string, args ...any) body {
	return body{func(*configs.Config) {}, fmt.Sprintf(fault, args...)}
}

func between(r *rand.Rand, low, high float64) float64 { return low + (high-low)*r.Float64() }

// either is v, or -v.
func either(r *rand.Rand, v float64) float64 { return v * float64(1-2*r.IntN(2)) }

// emulatedCauses draw what is planted in an emulated body, behind the real driver, by each cause.
var emulatedCauses = []struct {
	cause twin.Cause
	draw  func(t *testing.T, r *rand.Rand) body
}{
	{twin.None, func(*testing.T, *rand.Rand) body { return pendulum(func(*configs.Joint) {}) }},
	{twin.Zero, func(_ *testing.T, r *rand.Rand) body {
		zero := 2048 + either(r, float64(100+r.IntN(300))) // 9 to 35 degrees
		return pendulum(func(j *configs.Joint) { j.GroundTruth.Zero = &zero })
	}},
	{twin.Reversed, func(*testing.T, *rand.Rand) body {
		turned := -1
		return pendulum(func(j *configs.Joint) { j.GroundTruth.Direction = &turned })
	}},
	{twin.Gear, func(_ *testing.T, r *rand.Rand) body {
		gear := []float64{0.6, 0.67, 1.5, 2}[r.IntN(4)]
		return pendulum(func(j *configs.Joint) { j.GroundTruth.Gear = &gear })
	}},
	{twin.Play, func(_ *testing.T, r *rand.Rand) body {
		play := between(r, 0.04, 0.15)
		return pendulum(func(j *configs.Joint) { j.GroundTruth.Backlash = play })
	}},
	{twin.Load, func(t *testing.T, r *rand.Rand) body {
		text, err := model.Source("xl430-pendulum")
		if err != nil {
			t.Fatal(err)
		}
		times := between(r, 1.4, 2.5)
		heavy := regexp.MustCompile("mass_kg: [0-9.]+").ReplaceAllStringFunc(string(text), func(s string) string {
			kg, _ := strconv.ParseFloat(strings.Fields(s)[1], 64)
			return fmt.Sprintf("mass_kg: %.4f", kg*times)
		})
		path := filepath.Join(t.TempDir(), "heavy.yaml")
		if err := os.WriteFile(path, []byte(heavy), 0o644); err != nil {
			t.Fatal(err)
		}
		return body{func(c *configs.Config) { c.Agents[0].Model = path }, ""}
	}},
	{twin.Friction, func(t *testing.T, r *rand.Rand) body {
		times := between(r, 2, 3.2) // beyond, this pendulum is an overload
		return pendulum(weaker(t, func(s *identify.Servo) {
			f := &s.Spec.Friction
			f.Kb, f.Ks, f.Kv, f.Kl, f.Kls = times*f.Kb, times*f.Ks, times*f.Kv, math.Min(1, times*f.Kl),
				math.Min(1, times*f.Kls)
		}))
	}},
	{twin.Supply, func(_ *testing.T, r *rand.Rand) body {
		volts := 12 * between(r, 0.6, 0.85)
		return pendulum(func(j *configs.Joint) { j.Supply = &configs.Supply{Volts: volts} })
	}},
	{twin.Constant, func(t *testing.T, r *rand.Rand) body {
		share := between(r, 0.5, 0.8)
		return pendulum(weaker(t, func(s *identify.Servo) { s.Spec.Kt *= share }))
	}},
	{twin.Latency, func(_ *testing.T, r *rand.Rand) body { return struck("stale by=%.0fms", between(r, 20, 100)) }},
	{twin.Stuck, func(_ *testing.T, r *rand.Rand) body { return struck("stuck from=%.0fms", 1000*between(r, 1, 6)) }},
	{twin.LooseHorn, func(_ *testing.T, r *rand.Rand) body {
		return struck("slipped by=%.0f from=%.0fms", either(r, between(r, 0.2, 0.5)*4096/(2*math.Pi)),
			1000*between(r, 1.5, 7))
	}},
}

// The confusion matrix of an emulated body: what is planted behind the driver against what halyard twin names.
// HALYARD_LONG draws 50 of each.
func TestConfusionOfEmulated(t *testing.T) {
	seeds, _ := strconv.Atoi(os.Getenv("HALYARD_SEEDS"))
	if os.Getenv("HALYARD_LONG") != "" {
		seeds = 50
	}
	if seeds == 0 {
		t.Skip("minutes: HALYARD_LONG=1 runs it")
	}
	right, all := 0, 0
	for _, p := range emulatedCauses {
		t.Run(string(p.cause), func(t *testing.T) {
			named := map[twin.Cause]int{}
			for seed := range seeds {
				b := p.draw(t, rand.New(rand.NewPCG(uint64(seed), 98)))
				g, out := guide(t, t.TempDir(), "-70 70\n\n",
					configs.Options{Body: "emulated", Set: []string{fmt.Sprintf("world.seed=%d", seed+1), tilted}})
				g.Config, g.alter = "xl430-pendulum", b.alter
				if b.strike != "" {
					g.strike = func(a *halyard.Agent) error { return a.Fault("joint0", b.strike) }
				}
				rows, err := g.Twin(context.Background())
				if err != nil || len(rows) != 1 {
					t.Fatalf("seed %d: got %d rows, %v\n%s", seed, len(rows), err, out)
				}
				if named[rows[0].Cause]++; rows[0].Cause != p.cause {
					t.Logf("seed %d: got %+v", seed, rows[0])
				}
			}
			t.Logf("%-13s %v", p.cause, named)
			right, all = right+named[p.cause], all+seeds
		})
	}
	t.Logf("%d of %d on the diagonal, %.1f %%", right, all, 100*float64(right)/float64(all))
	if float64(right) < 0.9*float64(all) {
		t.Errorf("got %d of %d, want 90 %%", right, all)
	}
}

package peers_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/halyard-robotics/halyard/hal/haltest"
	"github.com/halyard-robotics/halyard/internal/sim/peers"
	"github.com/halyard-robotics/halyard/sim/dynamics"
)

// The tips that Bullet (double), DART, MuJoCo and our probe agree on for Euler, and MuJoCo and the probe for RK4.
var chains = []struct {
	n          int
	integrator dynamics.Integrator
	tip1, tip2 [2]float64
	drift      float64 // greatest, of M g L; 0: not checked
}{
	{2, dynamics.Euler, [2]float64{0.286227, -0.107383}, [2]float64{0.099151, -0.019066}, 0},
	{2, dynamics.RK4, [2]float64{0.284594, -0.110744}, [2]float64{-0.029708, -0.013596}, 1e-7},
	{10, dynamics.Euler, [2]float64{-1.782014, -0.894434}, [2]float64{-0.040767, -1.633394}, 0},
	{10, dynamics.RK4, [2]float64{-1.764599, -0.926169}, [2]float64{-0.034460, -1.635036}, 5e-5},
	{20, dynamics.Euler, [2]float64{-1.100055, -3.363725}, [2]float64{-3.532414, -0.516464}, 0},
	{20, dynamics.RK4, [2]float64{-1.057044, -3.396865}, [2]float64{-3.585255, -0.663811}, 1e-3},
	{40, dynamics.Euler, [2]float64{5.186442, -4.914177}, [2]float64{-7.186663, -3.407342}, 0},
	{40, dynamics.RK4, [2]float64{5.197203, -4.904979}, [2]float64{-7.056426, -3.662444}, 6e-3},
}

func TestChain(t *testing.T) {
	for _, c := range chains {
		t.Run(fmt.Sprintf("%d/%d", c.n, c.integrator), func(t *testing.T) {
			if c.n > haltest.Sample(10, math.MaxInt) {
				t.Skip("HALYARD_FULL=1 runs it")
			}
			steps := 10_000
			if c.drift == 0 {
				steps = 2000
			}
			f, err := peers.Run("chain", c.n, c.integrator, steps)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%.0f steps/s, drift %+.1e, at most %.1e, gap %.0e m, tip %.6f, %.6f", f.StepsPerSecond, f.DriftEnd,
				f.DriftMax, f.JointError, f.Tip1, f.Tip2)
			for i, want := range [][2]float64{c.tip1, c.tip2} {
				got := [...][2]float64{f.Tip1, f.Tip2}[i]
				if math.Abs(got[0]-want[0]) > 2e-6 || math.Abs(got[1]-want[1]) > 2e-6 {
					t.Errorf("tip at %d s: got %.6f, want %.6f", i+1, got, want)
				}
			}
			if c.drift > 0 && f.DriftMax > c.drift {
				t.Errorf("drift: got %g, want at most %g", f.DriftMax, c.drift)
			}
			if f.JointError > 1e-13 {
				t.Errorf("joint error: got %g m, want rounding", f.JointError)
			}
		})
	}
}

// With every step taken in one part, as those engines do, the tips are theirs to the last digit printed.
func TestChainOnePart(t *testing.T) {
	for _, c := range chains {
		spec := peers.Chain(c.n)
		spec.Options.Integrator, spec.Options.MaxTurn = c.integrator, -1
		s := system(t, spec)
		for i, want := range [][2]float64{c.tip1, c.tip2} {
			for range 1000 {
				if err := s.Step(0.001); err != nil {
					t.Fatal(err)
				}
			}
			p := s.Pose(c.n - 1)
			w, y := p.Rotation[0], p.Rotation[2]
			x, z := p.Position[0]+0.1*(1-2*y*y), p.Position[2]-0.1*2*w*y
			if math.Abs(x-want[0]) > 0.51e-6 || math.Abs(z-want[1]) > 0.51e-6 {
				t.Errorf("chain %d, integrator %d: tip at %d s: got %.7f, %.7f, want %.6f", c.n, c.integrator, i+1, x,
					z, want)
			}
		}
	}
}

func system(tb testing.TB, spec dynamics.Spec) *dynamics.System {
	tb.Helper()
	m, err := dynamics.New(spec)
	if err != nil {
		tb.Fatal(err)
	}
	s, err := dynamics.NewSystem(m)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// integrators are those that robots stand by for ten seconds. RK4 takes four times as long.
func integrators() []dynamics.Integrator {
	return haltest.Sample([]dynamics.Integrator{dynamics.Euler}, []dynamics.Integrator{dynamics.Euler, dynamics.RK4})
}

// What Bullet, DART, MuJoCo and ODE have in common, and the room physics.md gives.
func TestQuad(t *testing.T) {
	for _, in := range integrators() {
		f, err := peers.Run("quad", 0, in, 10_000)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("integrator %d: %.0f steps/s, torso %.4f, mean z %.4f, lowest %.2e, leg %.4f", in, f.StepsPerSecond,
			f.Torso, f.MeanZ, f.Lowest, f.Leg)
		if f.MeanZ < 0.274 || f.MeanZ > 0.276 {
			t.Errorf("mean z: got %g m, want 0.274 to 0.276", f.MeanZ)
		}
		if f.Lowest < -2.5e-3 {
			t.Errorf("lowest foot: got %g m, want above -2.5 mm", f.Lowest)
		}
		if f.Leg[1] < 0.5045-0.06 || f.Leg[1] > 0.5608+0.06 || f.Leg[2] < -0.9721-0.06 || f.Leg[2] > -0.9308+0.06 {
			t.Errorf("leg: got %g, want pitch 0.44 to 0.62, knee -1.03 to -0.87", f.Leg)
		}
	}
}

// The humanoid stands on eight corners, its pelvis within millimetres of its height; it neither falls nor sinks nor
// walks away.
func TestHumanoid(t *testing.T) {
	for _, in := range integrators() {
		f, err := peers.Run("humanoid", 0, in, 10_000)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("integrator %d: %.0f steps/s, pelvis %.4f, at 2 s %.4f, mean z %.4f, deepest %.2e, contacts %.2f, "+
			"sweeps %.1f", in, f.StepsPerSecond, f.Torso, f.Pose2, f.MeanZ, f.Deepest, f.Contacts, f.Sweeps)
		if math.Abs(f.MeanZ-0.7069) > 1e-3 || math.Hypot(f.Torso[0], f.Torso[1]) > 0.02 {
			t.Errorf("pelvis: got mean height %.4f m, %.4f at the end, want 0.7069 m, within 20 mm of the middle",
				f.MeanZ, f.Torso)
		}
		if f.Deepest > 1e-3 || f.Contacts < 7.9 {
			t.Errorf("soles: got %g m deep and %.2f contacts, want at most 1 mm and 8", f.Deepest, f.Contacts)
		}
	}
}

// The heap comes to rest with every box on the floor or on others, none in another.
func TestHeap(t *testing.T) {
	if !haltest.Full() {
		t.Skip("HALYARD_FULL=1 runs it")
	}
	s, err := peers.New("heap", 0, dynamics.Euler)
	if err != nil {
		t.Fatal(err)
	}
	deepest := 0.0
	for range 10_000 {
		if err := s.Step(0.001); err != nil {
			t.Fatal(err)
		}
	}
	for i := range s.Touches() {
		deepest = math.Max(deepest, s.Touch(i).Contact.Depth)
	}
	kinetic, _ := s.Energy()
	t.Logf("%d contacts, deepest %.2e m, %.1e J", s.Touches(), deepest, kinetic)
	if n := s.Touches(); n < 150 || n > 260 || deepest > 5e-4 || kinetic > 1e-6 {
		t.Errorf("got %d contacts, %g m deep, %g J, want 150 to 260, 0.5 mm and rest", n, deepest, kinetic)
	}
	for b := range s.Model().Bodies() {
		if z := s.Pose(b).Position[2]; z < 0.0495 || z > 0.6 {
			t.Errorf("box %d: got height %g m, want it in the heap", b, z)
		}
	}
}

func TestRunRefuses(t *testing.T) {
	for _, c := range []struct {
		model    string
		n, steps int
	}{{"chain", 0, 10}, {"chain", 1e6, 10}, {"quad", 0, 0}, {"hexapod", 1, 10}} {
		if _, err := peers.Run(c.model, c.n, dynamics.Euler, c.steps); err == nil {
			t.Errorf("%v: got no error", c)
		}
	}
	if _, err := peers.Run("chain", 2, 7, 10); err == nil {
		t.Error("integrator 7: got no error")
	}
}

func BenchmarkStep(b *testing.B) {
	for _, in := range []dynamics.Integrator{dynamics.Euler, dynamics.RK4} {
		name := [...]string{"euler", "rk4"}[in]
		for _, n := range []int{2, 10, 20, 40} {
			b.Run(fmt.Sprintf("chain%d/%s", n, name), func(b *testing.B) { step(b, peers.Chain(n), in, nil) })
		}
		b.Run("quad/"+name, func(b *testing.B) { step(b, peers.Quad(), in, peers.Squat) })
		b.Run("humanoid/"+name, func(b *testing.B) { step(b, peers.Humanoid(), in, peers.Stand) })
		b.Run("heap/"+name, func(b *testing.B) { step(b, peers.Heap(), in, nil) })
	}
}

// BenchmarkFactor shows from which depth on the recursion wins.
func BenchmarkFactor(b *testing.B) {
	for _, n := range []int{4, 6, 8, 10, 14, 20} {
		for from, name := range map[int]string{-1: "ltdl", 1: "recursion"} {
			b.Run(fmt.Sprintf("chain%d/%s", n, name), func(b *testing.B) {
				spec := peers.Chain(n)
				spec.Options.Articulated = from
				step(b, spec, dynamics.Euler, nil)
			})
		}
	}
}

func step(b *testing.B, spec dynamics.Spec, in dynamics.Integrator, before func(*dynamics.System, float64)) {
	spec.Options.Integrator = in
	s := system(b, spec)
	s.Before = before
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if i%2000 == 0 {
			s.Reset()
		}
		if err := s.Step(0.001); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "steps/s")
}

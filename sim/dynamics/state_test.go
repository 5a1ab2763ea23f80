package dynamics_test

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"testing"

	"github.com/halyard-robotics/halyard/internal/sim/exact"
	"github.com/halyard-robotics/halyard/internal/sim/peers"
	"github.com/halyard-robotics/halyard/sim/collide"
	"github.com/halyard-robotics/halyard/sim/dynamics"
)

// busy is a system with everything in it: a quad on the floor with stops, friction and a followed joint, a loop, and a
// crate that falls on it.
func busy(tb testing.TB, in dynamics.Integrator) *dynamics.System {
	spec := peers.Quad()
	spec.Options.Integrator, spec.Options.SubSteps = in, 2
	for i := 1; i < 13; i++ {
		j := &spec.Bodies[i].Joint
		j.Limited, j.Limits, j.Armature = true, [2]float64{-1.2, 0.9}, 0.01
		j.Dry, j.Static, j.Stribeck = 0.05, 0.1, 0.1
	}
	rough := collide.Material{Friction: 0.5, Torsion: 0.01, Rolling: 0.001, Restitution: 0.3}
	b, g := crate(13, [3]float64{0.05, 0.05, 0.05}, [3]float64{0.02, 0.01, 0.8}, rough)
	g.Group, g.Mask = 4, 7
	for i := range spec.Geoms {
		spec.Geoms[i].Mask |= 4
	}
	spec.Bodies, spec.Geoms = append(spec.Bodies, b), append(spec.Geoms, g)
	spec.Equalities = []dynamics.Equality{{Kind: dynamics.Mirror, A: 1, B: 4, Ratio: -1}}
	s := system(tb, spec)
	s.Before = func(s *dynamics.System, h float64) {
		peers.Squat(s, h)
		s.Drive[17].Kp, s.Drive[17].Kd, s.Drive[17].Goal = 30, 1, -0.5
		s.Force[13].Force = [3]float64{0.3 * exact.Sin(s.Time), 0, 0}
	}
	return s
}

// run steps n times and returns the hashes of the states.
func run(t *testing.T, s *dynamics.System, n int) []uint64 {
	t.Helper()
	var hashes []uint64
	for range n {
		s.Follow(10, 0.1*exact.Sin(s.Time), 0.1*exact.Cos(s.Time))
		steps(t, s, 1, 2e-3)
		hashes = append(hashes, s.Hash())
	}
	return hashes
}

func same(t *testing.T, what string, a, b []uint64) {
	t.Helper()
	for i := range a {
		if a[i] != b[i] {
			t.Fatalf("%s: step %d: got state %x, want %x", what, i, b[i], a[i])
		}
	}
}

func TestDeterminism(t *testing.T) {
	for _, in := range both {
		first := run(t, busy(t, in), 400)
		same(t, "another run", first, run(t, busy(t, in), 400))
		for _, n := range []int{1, 2, 7} {
			before := runtime.GOMAXPROCS(n)
			hashes := run(t, busy(t, in), 400)
			runtime.GOMAXPROCS(before)
			same(t, fmt.Sprintf("GOMAXPROCS %d", n), first, hashes)
		}

		s := busy(t, in)
		run(t, s, 150)
		saved := s.NewState()
		if err := s.Save(saved); err != nil {
			t.Fatal(err)
		}
		run(t, s, 100)
		if err := s.Restore(saved); err != nil {
			t.Fatal(err)
		}
		same(t, "restored", first[150:], run(t, s, 250))
		other := busy(t, in)
		run(t, other, 7)
		if err := other.Restore(saved); err != nil {
			t.Fatal(err)
		}
		same(t, "restored elsewhere", first[150:], run(t, other, 250))
		s.Reset()
		same(t, "reset", first, run(t, s, 400))
		// Looking changes nothing.
		s.Reset()
		for i := range 50 {
			for b := range 14 {
				s.Pose(b)
				s.Velocity(b)
				s.Acceleration(b)
				s.Reaction(b)
			}
			s.Energy()
			same(t, "watched", first[i:i+1], run(t, s, 1))
		}
	}
}

// The bits of a run, as amd64 computed them: another architecture, or a compiler that fuses, must not change them.
func TestGoldenBits(t *testing.T) {
	want := map[dynamics.Integrator]uint64{dynamics.Euler: goldenEuler, dynamics.RK4: goldenRK4}
	for in, w := range want {
		if h := run(t, busy(t, in), 300); h[299] != w {
			t.Errorf("integrator %d: got state %#x, want %#x", in, h[299], w)
		}
	}
}

const (
	goldenEuler = 0xafc76749caf0acb6
	goldenRK4   = 0x346a7216fecb5e9
)

func TestNoAllocation(t *testing.T) {
	for _, in := range both {
		s := busy(t, in)
		saved := s.NewState()
		jac, h, qdd := make([]float64, 6*len(s.V)), make([]float64, len(s.V)*len(s.V)), make([]float64, len(s.V))
		for what, f := range map[string]func(){
			"step":    func() { _ = s.Step(2e-3) },
			"save":    func() { _ = s.Save(saved); _ = s.Restore(saved) },
			"reset":   func() { s.Reset() },
			"dynamic": func() { s.InverseDynamics(qdd, qdd); _ = s.ForwardDynamics(1e-3, qdd) },
			"look": func() {
				s.Jacobian(jac, 3, [3]float64{})
				s.MassMatrix(h)
				s.Energy()
				s.Momentum()
				for b := range 14 {
					s.Pose(b)
					s.Acceleration(b)
					s.Reaction(b)
				}
				for i := range s.Touches() {
					s.Touch(i)
				}
			},
		} {
			if n := testing.AllocsPerRun(300, f); n != 0 {
				t.Errorf("%s: got %g allocations, want none", what, n)
			}
		}
	}
}

// After a diverged step of any cause the state is the finite one before it, and the error names the joint.
func TestDiverged(t *testing.T) {
	for _, in := range both {
		for what, spoil := range map[string]func(s *dynamics.System) (body int){
			"torque":  func(s *dynamics.System) int { s.Tau[8] = math.NaN(); return 3 },
			"huge":    func(s *dynamics.System) int { s.Tau[8] = 1e300; return -1 },
			"force":   func(s *dynamics.System) int { s.Force[5].Torque[1] = math.Inf(1); return 5 },
			"damping": func(s *dynamics.System) int { s.Drive[11].Damping = math.NaN(); return 6 },
			"goal":    func(s *dynamics.System) int { s.Drive[9].Kp, s.Drive[9].Goal = 1, math.NaN(); return 4 },
			"inertia": func(s *dynamics.System) int { s.Drive[11].Armature = -100; return 6 },
			"follow":  func(s *dynamics.System) int { s.Follow(8, 1e300, 0); return 3 },
			"gravity": func(s *dynamics.System) int { s.Gravity[1] = math.NaN(); return -1 },
		} {
			s := busy(t, in)
			run(t, s, 60)
			s.Before = nil
			body := spoil(s)
			clean := s.NewState()
			q := append([]float64{}, s.Q...)
			if qdd := make([]float64, len(s.V)); what == "torque" && s.ForwardDynamics(1e-3, qdd) == nil {
				t.Error("forward dynamics of a NaN: got no error")
			}
			err := s.Step(2e-3)
			var d *dynamics.Diverged
			if !errors.As(err, &d) {
				t.Fatalf("%s: got %v, want a *Diverged", what, err)
			}
			if body >= 0 && d.Body != body || d.Name == "" {
				t.Errorf("%s: got body %d of %q, want %d", what, d.Body, err, body)
			}
			for i, x := range s.Q {
				if x != q[i] {
					t.Fatalf("%s: coordinate %d changed from %g to %g", what, i, q[i], x)
				}
			}
			// and it goes on when the cause is gone
			s.Release(8)
			copy(s.Tau, clean.Tau)
			copy(s.Drive, clean.Drive)
			copy(s.Force, clean.Force)
			s.Gravity = clean.Gravity
			steps(t, s, 100, 2e-3)
			for b := range 14 {
				for _, x := range s.Pose(b).Position {
					if x-x != 0 {
						t.Fatalf("%s: body %d is at %g", what, b, x)
					}
				}
			}
		}
	}
	s := busy(t, dynamics.Euler)
	for _, dt := range []float64{0, -1, math.NaN(), math.Inf(1), 1e9} {
		if err := s.Step(dt); err == nil {
			t.Errorf("step of %g s: got no error", dt)
		}
	}
}

// The chain of 40 under Euler blows up in every engine; here it is stopped.
func TestChain40Euler(t *testing.T) {
	spec := peers.Chain(40)
	s := system(t, spec)
	var err error
	for range 10_000 {
		if err = s.Step(1e-3); err != nil {
			break
		}
	}
	t.Logf("at %.3f s: %v", s.Time, err)
	for i, x := range s.V {
		if !(math.Abs(x) <= 1e5) {
			t.Errorf("velocity %d: got %g", i, x)
		}
	}
}

func TestPlace(t *testing.T) {
	s := busy(t, dynamics.Euler)
	pose := collide.Pose{Position: [3]float64{1, 2, 3}, Rotation: [4]float64{0, 2, 0, 0}}
	if !s.Place(13, pose, [3]float64{1, 0, 0}, [3]float64{0, 0, 2}) {
		t.Fatal("place: refused")
	}
	if p := s.Pose(13); p.Position != pose.Position || p.Rotation != [4]float64{0, 1, 0, 0} {
		t.Errorf("place: got %v", p)
	}
	if v, w := s.Velocity(13); v != [3]float64{1, 0, 0} || w != [3]float64{0, 0, 2} {
		t.Errorf("place: got velocities %v, %v", v, w)
	}
	before := s.Hash()
	for what, f := range map[string]func() bool{
		"a hinged body": func() bool { return s.Place(3, pose, [3]float64{}, [3]float64{}) },
		"NaN": func() bool {
			return s.Place(13, collide.Pose{Position: [3]float64{math.NaN()}, Rotation: pose.Rotation}, [3]float64{},
				[3]float64{})
		},
		"no rotation": func() bool { return s.Place(13, collide.Pose{}, [3]float64{}, [3]float64{}) },
		"infinite":    func() bool { return s.Place(13, pose, [3]float64{math.Inf(1)}, [3]float64{}) },
	} {
		if f() {
			t.Errorf("place %s: got true", what)
		}
	}
	if s.Hash() != before {
		t.Error("a refused place changed the state")
	}
	if err := s.Restore(system(t, pendulum(dynamics.Euler)).NewState()); err == nil {
		t.Error("restore of another model: got no error")
	}
}

// Sensors place the links; a step that then finds other gravity places them again.
func TestGravityAfterALook(t *testing.T) {
	for _, in := range both {
		looked, not := busy(t, in), busy(t, in)
		run(t, looked, 20)
		run(t, not, 20)
		looked.Pose(3)
		looked.Gravity, not.Gravity = [3]float64{1, 2, -3}, [3]float64{1, 2, -3}
		same(t, "looked at", run(t, not, 1), run(t, looked, 1))
	}
}

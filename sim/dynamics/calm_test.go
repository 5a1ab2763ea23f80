package dynamics_test

import (
	"math"
	"testing"

	"github.com/halyard-robotics/halyard/sim/collide"
	"github.com/halyard-robotics/halyard/sim/dynamics"
)

// crane is a base that stands on the ground, with an arm that its dry friction holds at an angle. The whole system may
// sleep.
func crane(sleeps bool) dynamics.Spec {
	half := [3]float64{0.1, 0.1, 0.05}
	ground := collide.Geom{Shape: collide.Shape{Kind: collide.Plane}, Body: dynamics.World,
		Material: collide.Material{Friction: 0.8}}
	spec := dynamics.Spec{Geoms: []collide.Geom{ground}}
	spec.Options.Gravity, spec.Options.Sleeps = [3]float64{0, 0, -9.81}, sleeps
	base, geom := crate(0, half, [3]float64{0, 0, 0.05}, collide.Material{Friction: 0.8})
	arm := dynamics.Body{Parent: 0, Position: [3]float64{0, 0, 0.05}, Mass: 0.2, COM: [3]float64{0.1, 0, 0.1},
		Inertia: solid(0.2, [3]float64{0.02, 0.02, 0.1}),
		Joint:   dynamics.Joint{Kind: dynamics.Hinge, Axis: [3]float64{0, 1, 0}, Armature: 0.001, Dry: 0.4}}
	spec.Bodies, spec.Geoms = []dynamics.Body{base, arm}, append(spec.Geoms, geom)
	return spec
}

// resting is a crane at rest for 3 s.
func resting(t *testing.T, sleeps bool) *dynamics.System {
	s := system(t, crane(sleeps))
	steps(t, s, 3000, 1e-3)
	return s
}

func fastest(s *dynamics.System) (v float64) {
	for _, x := range s.V {
		v = max(v, math.Abs(x))
	}
	return v
}

// A system at rest falls asleep, does not move by a bit from then on, still has its contacts, and is where it would be
// without sleep.
func TestCalm(t *testing.T) {
	s, awake := resting(t, true), resting(t, false)
	if fastest(s) != 0 || fastest(awake) == 0 {
		t.Fatalf("after 3 s: got velocities of %g and, without sleep, %g, want 0 and more", fastest(s), fastest(awake))
	}
	lies := [2]collide.Pose{s.Pose(0), s.Pose(1)}
	steps(t, s, 20000, 1e-3)
	steps(t, awake, 20000, 1e-3)
	for b := range lies {
		if s.Pose(b) != lies[b] {
			t.Errorf("body %d moves in its sleep: got %v, want %v", b, s.Pose(b), lies[b])
		}
		for k, x := range awake.Pose(b).Position {
			near(t, "place", s.Pose(b).Position[k], x, 1e-6)
		}
	}
	up := 0.0
	for i := range s.Touches() {
		up += s.Touch(i).Force[2]
	}
	near(t, "force of the ground", math.Abs(up), 9.81*s.Model().Mass(), 0.01)
	held, _ := s.ConstraintForce(6)
	near(t, "friction of the arm", math.Abs(held), 0.2*9.81*0.1, 1e-4)
	if n := testing.AllocsPerRun(100, func() { s.Step(1e-3) }); n != 0 {
		t.Errorf("a step: got %v allocations, want 0", n)
	}
}

// An action on a sleeping system moves it as it moves one that was awake.
func TestCalmWakes(t *testing.T) {
	for what, do := range map[string]func(s *dynamics.System){
		"a torque":         func(s *dynamics.System) { s.Tau[6] = 1 },
		"less friction":    func(s *dynamics.System) { s.Drive[6].Dry = 0.1 },
		"a motor":          func(s *dynamics.System) { s.Drive[6].Target, s.Drive[6].Dry = -2, 1 },
		"a controller":     func(s *dynamics.System) { s.Drive[6].Kp, s.Drive[6].Kd, s.Drive[6].Goal = 50, 1, -1 },
		"a force":          func(s *dynamics.System) { s.Force[0].Force[0] = 30 },
		"gravity":          func(s *dynamics.System) { s.Gravity = [3]float64{9, 0, -9.81} },
		"followed":         func(s *dynamics.System) { s.Follow(6, s.Q[7]-0.1, -1) },
		"placed":           func(s *dynamics.System) { s.Place(0, collide.At(0, 0, 0.3), [3]float64{}, [3]float64{}) },
		"thrown":           func(s *dynamics.System) { s.V[0] = 1; s.Moved() },
		"a small torque":   func(s *dynamics.System) { s.Tau[6] = 0.21 },
		"a torque at last": func(s *dynamics.System) { steps(t, s, 500, 1e-3); s.Tau[6] = -0.7 },
	} {
		s, awake := resting(t, true), resting(t, false)
		was := s.Pose(1)
		for _, x := range []*dynamics.System{s, awake} {
			do(x)
			steps(t, x, 60, 1e-3)
		}
		if fastest(awake) < 0.01 {
			t.Fatalf("%s: without sleep it does not move", what)
		}
		if s.Pose(1) == was {
			t.Errorf("%s: it sleeps on", what)
		}
		for i := range s.V {
			near(t, what, s.V[i], awake.V[i], 1e-4*fastest(awake)+1e-5)
		}
	}
}

// A torque that friction takes up, however small, ends the sleep, and one that changes nothing but rounding does not.
func TestCalmInput(t *testing.T) {
	for by, sleeps := range map[float64]bool{1e-3: false, 1e-5: false, 1e-7: true} {
		s := resting(t, true)
		s.Tau[6] = by
		steps(t, s, 1, 1e-3)
		if (fastest(s) == 0) != sleeps {
			t.Errorf("%g N·m: got velocities of %g, want sleep: %v", by, fastest(s), sleeps)
		}
		s.Tau[6] += 0.5 // after a change that it has slept through, one that moves it
		steps(t, s, 20, 1e-3)
		if fastest(s) < 0.01 {
			t.Errorf("%g N·m, then 0.5: it sleeps on", by)
		}
	}
}

// A slow motion is not rest: that of a pendulum that leaves its upper equilibrium, slowly because it is damped, and of
// one that swings.
func TestCalmIsNotSlow(t *testing.T) {
	for what, c := range map[string]struct {
		from, damping float64
		ms            int
	}{
		"upright":            {1e-9, 0, 7000},
		"upright, in honey":  {1e-9, 2, 11000},
		"upright, in tar":    {1e-7, 10, 20000},
		"swings a little":    {math.Pi - 1e-3, 0, 20000},
		"sinks, in much tar": {1.5, 40, 20000},
	} {
		var at [2]float64
		for i, sleeps := range []bool{true, false} {
			spec := dynamics.Spec{Bodies: []dynamics.Body{{Parent: dynamics.World, Mass: 1, COM: [3]float64{0, 0, 0.5},
				Inertia: solid(1, [3]float64{0.01, 0.01, 0.5}),
				Joint:   dynamics.Joint{Kind: dynamics.Hinge, Axis: [3]float64{0, 1, 0}, Damping: c.damping}}}}
			spec.Options.Gravity, spec.Options.Sleeps = [3]float64{0, 0, -9.81}, sleeps
			s := system(t, spec)
			s.Q[0] = c.from
			s.Moved()
			steps(t, s, c.ms, 1e-3)
			at[i] = s.Q[0]
		}
		if at[0] != at[1] {
			t.Errorf("%s: after %d ms at %g, want %g as without sleep", what, c.ms, at[0], at[1])
		}
	}
}

// Sleep is a part of the state: a run goes on from a snapshot as it did, wherever that was taken, with the same
// contacts.
func TestCalmIsState(t *testing.T) {
	forces := func(s *dynamics.System) (f [3]float64) {
		for i := range s.Touches() {
			for k, x := range s.Touch(i).Force {
				f[k] += x
			}
		}
		return f
	}
	for _, at := range []int{10, 700, 1500, 3000} {
		s := system(t, crane(true))
		steps(t, s, at, 1e-3)
		saved := s.NewState()
		if err := s.Save(saved); err != nil {
			t.Fatal(err)
		}
		run := func() (hashes [3]uint64, felt [3]float64) {
			s.Tau[6] = 0
			steps(t, s, 1, 1e-3)
			felt, hashes[0] = forces(s), s.Hash()
			steps(t, s, 2500, 1e-3)
			hashes[1] = s.Hash()
			s.Tau[6] = 0.5
			steps(t, s, 300, 1e-3)
			hashes[2] = s.Hash()
			return hashes, felt
		}
		want, felt := run()
		if err := s.Restore(saved); err != nil {
			t.Fatal(err)
		}
		if got, f := run(); got != want || f != felt {
			t.Errorf("from step %d: got states %x and forces %v, want %x and %v", at, got, f, want, felt)
		}
	}
}

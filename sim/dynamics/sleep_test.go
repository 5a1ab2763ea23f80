package dynamics_test

import (
	"testing"

	"github.com/halyard-robotics/halyard/internal/sim/peers"
	"github.com/halyard-robotics/halyard/sim/collide"
	"github.com/halyard-robotics/halyard/sim/dynamics"
)

// bricks are a quadruped that squats, if one is wanted, and beside it boxes on the ground: two on each other at x = 2,
// and one that lies alone at x = 3. They may sleep.
func bricks(quad, sleeps bool) dynamics.Spec {
	var spec dynamics.Spec
	if quad {
		spec = peers.Quad()
	} else {
		spec.Options.Gravity = [3]float64{0, 0, -9.81}
		spec.Geoms = []collide.Geom{{Shape: collide.Shape{Kind: collide.Plane}, Body: dynamics.World,
			Material: collide.Material{Friction: 0.8}}}
	}
	for _, at := range [][3]float64{{2, 0, 0.05}, {2.01, 0, 0.151}, {3, 0, 0.052}} {
		spec.Geoms = append(spec.Geoms,
			collide.Geom{Body: len(spec.Bodies), Group: 6, Material: collide.Material{Friction: 0.8},
				Shape: collide.Shape{Kind: collide.Box, Half: [3]float64{0.05, 0.05, 0.05}}})
		spec.Bodies = append(spec.Bodies,
			dynamics.Body{Parent: dynamics.World, Joint: dynamics.Joint{Kind: dynamics.Free}, Sleeps: sleeps,
				Position: at, Mass: 1, Inertia: [9]float64{0: 0.0017, 4: 0.0017, 8: 0.0017}})
	}
	return spec
}

// asleep is a system of three boxes at rest for 2 s: it has no contacts, since those between sleepers do not count.
func asleep(t *testing.T) *dynamics.System {
	s := system(t, bricks(false, true))
	steps(t, s, 2000, 1e-3)
	if s.Touches() != 0 {
		t.Fatalf("after 2 s: got %d contacts, want all asleep", s.Touches())
	}
	return s
}

// Boxes that sleep do not move by a bit, and lie where they would without sleep. What is next to them moves as it does
// next to boxes that cannot sleep, to the bit.
func TestSleep(t *testing.T) {
	a, b := system(t, bricks(true, true)), system(t, bricks(true, false))
	a.Before, b.Before = peers.Squat, peers.Squat
	first := len(peers.Quad().Bodies)
	var lies [3]collide.Pose
	for k := range 4000 {
		steps(t, a, 1, 1e-3)
		steps(t, b, 1, 1e-3)
		for i := range first {
			if a.Pose(i) != b.Pose(i) {
				t.Fatalf("step %d: quadruped: got %v, want %v as without sleepers", k, a.Pose(i), b.Pose(i))
			}
		}
		for i := range lies {
			if k > 2000 && a.Pose(first+i) != lies[i] {
				t.Fatalf("step %d: box %d moves in its sleep: got %v, want %v", k, i, a.Pose(first+i), lies[i])
			}
			lies[i] = a.Pose(first + i)
		}
	}
	for i := range lies {
		awake := b.Pose(first + i).Position
		for k := range awake {
			near(t, "box asleep", lies[i].Position[k], awake[k], 1e-4)
		}
	}
}

// A box is woken by a force, by gravity, by a change of the state from outside, by a blow, and by losing its support.
func TestWake(t *testing.T) {
	speed := func(s *dynamics.System, b int) float64 {
		v, _ := s.Velocity(b)
		return v[0]*v[0] + v[1]*v[1] + v[2]*v[2]
	}
	for what, c := range map[string]struct {
		do    func(s *dynamics.System)
		wakes [3]bool
	}{
		"nothing":                {func(*dynamics.System) {}, [3]bool{}},
		"a force":                {func(s *dynamics.System) { s.Force[2].Force[0] = 20 }, [3]bool{2: true}},
		"a torque":               {func(s *dynamics.System) { s.Tau[s.Model().Joint(2).V+2] = 20 }, [3]bool{2: true}},
		"a force tips the tower": {func(s *dynamics.System) { s.Force[1].Force[1] = 8.3 }, [3]bool{true, true}},
		"gravity": {func(s *dynamics.System) { s.Gravity = [3]float64{9, 0, -9.81} },
			[3]bool{true, true, true}},
		"the lower is thrown away": {func(s *dynamics.System) { s.Force[0].Force = [3]float64{0, 5e3, 0} },
			[3]bool{true, true}},
		"placed, and falls": {func(s *dynamics.System) {
			s.Place(2, collide.At(2, 0, 0.4), [3]float64{}, [3]float64{})
		}, [3]bool{2: true}},
		"placed, and hits": {func(s *dynamics.System) {
			s.Place(2, collide.At(2.5, 0, 0.06), [3]float64{-5, 0, 0}, [3]float64{})
		}, [3]bool{true, true, true}},
	} {
		s := asleep(t)
		c.do(s)
		var woken [3]bool
		for range 400 {
			steps(t, s, 1, 1e-3)
			for b := range woken {
				woken[b] = woken[b] || speed(s, b) > 0.01
			}
		}
		if woken != c.wakes {
			t.Errorf("%s: got %v moved, want %v", what, woken, c.wakes)
		}
		for b := range woken {
			if z := s.Pose(b).Position[2]; z < 0.045 {
				t.Errorf("%s: box %d sank to %.4f m", what, b, z)
			}
		}
	}
}

// Which bodies sleep is part of the state: a run goes on from a snapshot as it did, wherever that was taken.
func TestSleepIsState(t *testing.T) {
	for _, at := range []int{10, 300, 600, 1200} {
		s := system(t, bricks(true, true))
		s.Before = peers.Squat
		steps(t, s, at, 1e-3)
		saved := s.NewState()
		if err := s.Save(saved); err != nil {
			t.Fatal(err)
		}
		run := func() uint64 {
			steps(t, s, 500, 1e-3)
			s.Force[len(s.Force)-1].Force[0] = 30
			steps(t, s, 200, 1e-3)
			s.Force[len(s.Force)-1].Force[0] = 0
			steps(t, s, 800, 1e-3)
			return s.Hash()
		}
		want := run()
		if err := s.Restore(saved); err != nil {
			t.Fatal(err)
		}
		if got := run(); got != want {
			t.Errorf("from step %d: got state %#x, want %#x", at, got, want)
		}
	}
}

// Only a free body may sleep: on another joint Sleeps has no effect.
func TestSleepsOnHinge(t *testing.T) {
	s := system(t, dynamics.Spec{Bodies: []dynamics.Body{{
		Parent: dynamics.World, Joint: dynamics.Joint{Kind: dynamics.Hinge, Axis: [3]float64{0, 0, 1}, Armature: 1},
		Mass: 1, Sleeps: true,
	}}})
	steps(t, s, 1000, 1e-3)
}

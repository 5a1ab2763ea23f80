package dynamics

import (
	"math"
	"testing"
)

// A flywheel on a motor that holds a speed: it comes there with all the torque that there is, and stays a little
// behind under a load, by as much as its slip says.
func TestDriveTarget(t *testing.T) {
	const inertia, most, target, slip, load = 0.02, 0.5, 3.0, 0.1, 0.3
	spec := Spec{Bodies: []Body{{
		Name: "wheel", Parent: World, Mass: 1, Inertia: [9]float64{inertia, 0, 0, 0, inertia, 0, 0, 0, inertia},
		Joint: Joint{Kind: Hinge, Axis: [3]float64{0, 0, 1}},
	}}}
	m, err := New(spec)
	if err != nil {
		t.Fatal(err)
	}
	s, err := NewSystem(m)
	if err != nil {
		t.Fatal(err)
	}
	s.Drive[0].Dry, s.Drive[0].Target, s.Drive[0].Slip = most, target, slip
	const h = 0.001
	for range 50 {
		if err := s.Step(h); err != nil {
			t.Fatal(err)
		}
	}
	if want := most / inertia * 0.05; math.Abs(s.V[0]-want) > 1e-3*want {
		t.Errorf("on its way: got %g rad/s, want %g", s.V[0], want)
	}
	s.Tau[0] = -load
	for range 3000 {
		if err := s.Step(h); err != nil {
			t.Fatal(err)
		}
	}
	if want := target - slip*load; math.Abs(s.V[0]-want) > 1e-4 {
		t.Errorf("under load: got %g rad/s, want %g", s.V[0], want)
	}
	if f, _ := s.ConstraintForce(0); math.Abs(f-load) > 1e-4 {
		t.Errorf("the motor: got %g N·m, want %g", f, load)
	}
	s.Tau[0] = -2 * most
	before := s.V[0]
	for range 10 {
		if err := s.Step(h); err != nil {
			t.Fatal(err)
		}
	}
	if want := before - most/inertia*0.01; math.Abs(s.V[0]-want) > 0.01*math.Abs(want-before) {
		t.Errorf("overloaded: got %g rad/s, want %g", s.V[0], want)
	}
}

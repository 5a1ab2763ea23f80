package dynamics_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/halyard-robotics/halyard/sim/collide"
	"github.com/halyard-robotics/halyard/sim/dynamics"
)

// anything returns a random robot on a floor, with shapes, stops, frictions and springs.
func anything(r *rand.Rand, n int) dynamics.Spec {
	spec := randomTree(r, n)
	m := collide.Material{Friction: r.Float64(), Torsion: 0.01 * r.Float64(),
		Restitution: float64(r.IntN(2)) * r.Float64()}
	spec.Geoms = []collide.Geom{floor(m)}
	spec.Geoms[0].Local.Position[2] = -1
	for i := range spec.Bodies {
		j := &spec.Bodies[i].Joint
		j.Damping = 0.2 * r.Float64()
		j.Dry = float64(r.IntN(2)) * r.Float64()
		if j.Kind == dynamics.Hinge || j.Kind == dynamics.Slide {
			j.Limited, j.Limits = r.IntN(2) == 0, [2]float64{-r.Float64(), r.Float64()}
			j.Stiffness = 5 * r.Float64() * float64(r.IntN(2))
		}
		g := collide.Geom{Material: m, Body: i, Local: collide.Identity()}
		g.Shape = collide.Shape{Kind: collide.Kind(r.IntN(4)), Radius: 0.1, Half: [3]float64{0.1, 0.08, 0.12}}
		if r.IntN(3) > 0 {
			spec.Geoms = append(spec.Geoms, g)
		}
	}
	if r.IntN(3) == 0 && n > 2 {
		spec.Equalities = []dynamics.Equality{{Kind: dynamics.Point, A: n - 1, B: 0}}
	}
	spec.Options.Integrator = dynamics.Integrator(r.IntN(2))
	spec.Options.SubSteps = 1 + r.IntN(3)
	return spec
}

// shake runs a random robot under random bounded controls: nothing may leave the engine that is not a number. A loop of
// random links cannot always be closed: of about one robot in a thousand a step diverges, and must leave a good state.
// No other robot's may.
func shake(t *testing.T, seed uint64, n, count int) {
	r := rand.New(rand.NewPCG(seed, 11))
	spec := anything(r, n)
	m, err := dynamics.New(spec)
	if err != nil {
		t.Fatal(seed, err)
	}
	s, err := dynamics.NewSystem(m)
	if err != nil {
		t.Fatal(seed, err)
	}
	for i := range count {
		if i%10 == 0 {
			for k := range s.Tau {
				s.Tau[k] = 5 * (2*r.Float64() - 1)
			}
		}
		err := s.Step(2e-3)
		if _, ok := errors.AsType[*dynamics.Diverged](err); err != nil && !(ok && len(spec.Equalities) > 0) {
			t.Fatalf("seed %d: %v", seed, err)
		}
		for _, v := range s.V {
			if !(math.Abs(v) < 1e5) {
				t.Fatalf("seed %d: step %d: velocity %g", seed, i, v)
			}
		}
		for b := range m.Bodies() {
			p := s.Pose(b)
			for _, x := range append(p.Position[:], p.Rotation[:]...) {
				if x-x != 0 {
					t.Fatalf("seed %d: step %d: body %d at %v", seed, i, b, p)
				}
			}
		}
		if err != nil {
			return
		}
	}
}

func TestRandomRobots(t *testing.T) {
	for seed := range uint64(70) {
		shake(t, seed, 1+int(seed%14), 250)
	}
}

// What has only damping and friction loses energy; 1e-6 of it is left to the integrator.
func TestEnergyFalls(t *testing.T) {
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 12))
		spec := randomTree(r, 2+r.IntN(8))
		spec.Options.Gravity = [3]float64{}
		spec.Options.Integrator = dynamics.RK4
		for i := range spec.Bodies {
			j := &spec.Bodies[i].Joint
			j.Damping, j.Dry, j.Armature = 0.05+0.1*r.Float64(), 0.02*r.Float64(), 0.01
		}
		s := system(t, spec)
		for i := range s.V {
			s.V[i] = r.NormFloat64()
		}
		s.Moved()
		k, _ := s.Energy()
		first := k
		for range 500 {
			steps(t, s, 1, 1e-3)
			next, _ := s.Energy()
			if next > k*(1+1e-6) {
				t.Fatalf("seed %d: energy rose from %g to %g J at %g s", seed, k, next, s.Time)
			}
			k = next
		}
		if k > 0.99*first {
			t.Errorf("seed %d: energy fell from %g to %g J only", seed, first, k)
		}
	}
}

func FuzzStep(f *testing.F) {
	f.Add(uint64(1), uint8(5))
	f.Add(uint64(99), uint8(30))
	f.Add(uint64(197), uint8(7)) // its loop cannot be closed
	f.Fuzz(func(t *testing.T, seed uint64, n uint8) { shake(t, seed, 1+int(n)%32, 50) })
}

// FuzzSpec builds models from numbers of any kind; what is taken must step.
func FuzzSpec(f *testing.F) {
	f.Add(uint64(1), 1.0, 0.1, uint8(1), int8(0))
	f.Add(uint64(2), math.NaN(), -1.0, uint8(200), int8(-5))
	f.Fuzz(func(t *testing.T, seed uint64, x, y float64, kind uint8, parent int8) {
		r := rand.New(rand.NewPCG(seed, 13))
		spec := anything(r, 4)
		b := &spec.Bodies[r.IntN(4)]
		b.Mass, b.Parent, b.Joint.Kind = x, int(parent), dynamics.JointKind(kind)
		b.COM[r.IntN(3)], b.Inertia[r.IntN(9)] = y, x
		b.Joint.Axis[r.IntN(3)], b.Joint.Stop.Time, b.Position[r.IntN(3)] = y, x, y
		m, err := dynamics.New(spec)
		if err != nil {
			return
		}
		s, err := dynamics.NewSystem(m)
		if err != nil {
			return
		}
		for range 20 {
			if s.Step(1e-3) != nil {
				break
			}
		}
		for i, q := range s.Q {
			if q-q != 0 {
				t.Fatalf("coordinate %d: got %g", i, q)
			}
		}
	})
}

package dynamics_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/halyard-robotics/halyard/sim/dynamics"
)

// settle lets a random forest fall with damping, dry friction and springs in its joints and nothing that drives it, and
// returns the greatest rise of its energy in a step, and its whole fall, both as shares of what it began with.
func settle(t *testing.T, seed uint64, n, count int) (rise, fall float64) {
	r := rand.New(rand.NewPCG(seed, 33))
	spec := randomTree(r, n)
	spec.Options.Integrator = dynamics.RK4
	for i := range spec.Bodies {
		j := &spec.Bodies[i].Joint
		if j.Kind == dynamics.Free {
			continue
		}
		j.Damping, j.Dry, j.Armature = 0.05+0.1*r.Float64(), 0.05*r.Float64(), 0.01
		if j.Kind == dynamics.Hinge {
			j.Stiffness, j.Rest = 2*r.Float64(), r.Float64()-0.5
		}
	}
	s := system(t, spec)
	for i := range s.V {
		s.V[i] = r.NormFloat64()
	}
	s.Moved()
	// All of its own motion, and what a metre of height is worth: the zero of the potential means nothing.
	kinetic, potential := s.Energy()
	size, e := kinetic, kinetic+potential
	for i := range spec.Bodies {
		size += spec.Bodies[i].Mass * 9.81
	}
	start := e
	for range count {
		steps(t, s, 1, 1e-3)
		kinetic, potential = s.Energy()
		rise, e = math.Max(rise, (kinetic+potential-e)/size), kinetic+potential
	}
	return rise, (start - e) / size
}

// Random robots under random controls give numbers only; without controls, damping takes their energy away.
func TestPlanRandom(t *testing.T) {
	for seed := range uint64(40) {
		shake(t, 1000+seed, 1+int(seed%16), 250)
	}
	t.Logf("40 random robots under random controls, 0.5 s each: every value is a number, want the same")
	rise, fall := 0.0, math.Inf(1)
	for seed := range uint64(40) {
		up, down := settle(t, seed, 2+int(seed%9), 1000)
		rise, fall = math.Max(rise, up), math.Min(fall, down)
	}
	holds(t, "40 random robots, damped: rise of energy in a step", rise, 1e-6, "of it")
	holds(t, "40 random robots, damped: least fall, negative", -fall, 0, "of it")
}

func FuzzDamped(f *testing.F) {
	f.Add(uint64(1), uint8(4))
	f.Add(uint64(77), uint8(11))
	f.Fuzz(func(t *testing.T, seed uint64, n uint8) {
		if rise, _ := settle(t, seed, 1+int(n)%12, 100); rise > 1e-6 {
			t.Errorf("energy rose by %g of it in a step", rise)
		}
	})
}

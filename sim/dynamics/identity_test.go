package dynamics_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/halyard-robotics/halyard/sim/dynamics"
)

// RNEA of the accelerations that torques cause gives the torques back; the recursion and the factorisation agree; the
// velocities and the kinetic energy show that the Jacobian and the mass matrix are right.
func TestIdentities(t *testing.T) {
	worst := map[string]float64{}
	note := func(what string, err float64) {
		worst[what] = math.Max(worst[what], err)
		if !(err <= 1e-9) {
			t.Errorf("%s: got an error of %g, want at most 1e-9", what, err)
		}
	}
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 3))
		spec := randomTree(r, 2+r.IntN(12))
		spec.Options.Articulated = -1
		s := system(t, spec)
		spec.Options.Articulated = 1
		other := system(t, spec)
		scramble(r, s)
		for i := range s.Tau {
			s.Tau[i] = 10 * (2*r.Float64() - 1)
		}
		for b := range s.Force {
			if r.IntN(3) == 0 {
				s.Force[b].Force = [3]float64{r.NormFloat64(), r.NormFloat64(), r.NormFloat64()}
				s.Force[b].Torque = [3]float64{r.NormFloat64(), r.NormFloat64(), r.NormFloat64()}
			}
		}
		if err := s.Save(&other.State); err != nil {
			t.Fatal(err)
		}
		nv := len(s.V)
		qdd, aba, tau := make([]float64, nv), make([]float64, nv), make([]float64, nv)
		if err := s.ForwardDynamics(1e-3, qdd); err != nil {
			t.Fatal(seed, err)
		}
		if err := other.ForwardDynamics(1e-3, aba); err != nil {
			t.Fatal(seed, err)
		}
		s.InverseDynamics(qdd, tau)
		size := 1.0
		for i := range qdd {
			size = math.Max(size, math.Abs(qdd[i]))
		}
		for i := range qdd {
			note("aba - crba", math.Abs(aba[i]-qdd[i])/size)
			note("rnea(forward(tau)) - tau", math.Abs(tau[i]-s.Tau[i])/size)
		}
		h := make([]float64, nv*nv)
		s.MassMatrix(h)
		energy := 0.0
		for i, v := range s.V {
			for j, w := range s.V {
				energy += v * w * h[i*nv+j] / 2
			}
		}
		kinetic, _ := s.Energy()
		note("v'Hv/2 - kinetic energy", math.Abs(energy-kinetic)/(1+kinetic))
		jacobians(t, s, note)
	}
	for what, err := range worst {
		t.Logf("%s: at most %.1e", what, err)
	}
}

// jacobians compares J V with the velocity that differences of the pose show.
func jacobians(t *testing.T, s *dynamics.System, note func(string, float64)) {
	m := s.Model()
	nv := len(s.V)
	j := make([]float64, 6*nv)
	local := [3]float64{0.1, -0.2, 0.3}
	point := func(b int) [3]float64 {
		p := s.Pose(b)
		r := rotation(p.Rotation)
		out := p.Position
		for i := range 3 {
			for k := range 3 {
				out[i] += r[i][k] * local[k]
			}
		}
		return out
	}
	before := s.NewState()
	if err := s.Save(before); err != nil {
		t.Fatal(err)
	}
	for b := range m.Bodies() {
		s.Jacobian(j, b, local)
		_, spin := s.Velocity(b)
		linear, _ := s.Velocity(b)
		var jv [6]float64
		for r := range 6 {
			for i, v := range s.V {
				jv[r] += j[r*nv+i] * v
			}
		}
		for r := range 3 {
			note("J v - angular velocity", math.Abs(jv[3+r]-spin[r]))
		}
		// the velocity of the origin, moved to the point
		at, o := point(b), s.Pose(b).Position
		arm := [3]float64{at[0] - o[0], at[1] - o[1], at[2] - o[2]}
		for r := range 3 {
			x, y := (r+1)%3, (r+2)%3
			note("J v - velocity", math.Abs(jv[r]-linear[r]-spin[x]*arm[y]+spin[y]*arm[x]))
		}
		// Central differences of fourth order along the motion, where V is constant: the error is far below 1e-9.
		const h = 1e-3
		sum := [3]float64{}
		for _, d := range [...]struct{ at, weight float64 }{{2, -1.0 / 12}, {1, 8.0 / 12}, {-1, -8.0 / 12},
			{-2, 1.0 / 12}} {
			dynamics.Drift(s, d.at*h)
			p := point(b)
			for r := range 3 {
				sum[r] += d.weight * p[r] / h
			}
			if err := s.Restore(before); err != nil {
				t.Fatal(err)
			}
		}
		for r := range 3 {
			note("J v - differences", math.Abs(jv[r]-sum[r]))
		}
	}
}

// A hinge between two free-floating bodies, far from the origin and fast, and the same nearby: where the world's origin
// is must not matter.
func TestFarAway(t *testing.T) {
	accelerate := func(at float64) []float64 {
		r := rand.New(rand.NewPCG(5, 5))
		spec := randomTree(r, 6)
		spec.Bodies[0].Joint.Kind = dynamics.Free
		s := system(t, spec)
		scramble(r, s)
		for i := range 3 {
			s.Q[i] += at
		}
		s.Moved()
		qdd := make([]float64, len(s.V))
		if err := s.ForwardDynamics(1e-3, qdd); err != nil {
			t.Fatal(err)
		}
		return qdd
	}
	near, far := accelerate(0), accelerate(1e5)
	for i := range near {
		if math.Abs(near[i]-far[i]) > 1e-12*(1+math.Abs(near[i])) {
			t.Errorf("degree of freedom %d: got %g far away, want %g", i, far[i], near[i])
		}
	}
}

func TestOrderDoesNotMatter(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	spec := randomTree(r, 8)
	n := len(spec.Bodies)
	back := spec // the same, children first
	back.Bodies = nil
	for i := range n {
		b := spec.Bodies[n-1-i]
		if b.Parent != dynamics.World {
			b.Parent = n - 1 - b.Parent
		}
		back.Bodies = append(back.Bodies, b)
	}
	s, u := system(t, spec), system(t, back)
	steps(t, s, 200, 1e-3)
	steps(t, u, 200, 1e-3)
	for i := range n {
		p, q := s.Pose(i), u.Pose(n-1-i)
		for k := range 3 {
			near(t, fmt.Sprintf("body %d", i), q.Position[k], p.Position[k], 1e-9)
		}
	}
}

package dynamics_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/halyard-robotics/halyard/sim/collide"
	"github.com/halyard-robotics/halyard/sim/dynamics"
)

var down = [3]float64{0, 0, -9.81}

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

// steps lets n steps of dt pass.
func steps(tb testing.TB, s *dynamics.System, n int, dt float64) {
	tb.Helper()
	for range n {
		if err := s.Step(dt); err != nil {
			tb.Fatal(err)
		}
	}
}

func near(tb testing.TB, what string, got, want, within float64) {
	tb.Helper()
	if !(math.Abs(got-want) <= within) {
		tb.Errorf("%s: got %.9g, want %.9g within %.2g", what, got, want, within)
	}
}

// solid returns the inertia of a box with these half sizes.
func solid(mass float64, h [3]float64) [9]float64 {
	k := mass / 3
	x, y, z := float64(h[0]*h[0]), float64(h[1]*h[1]), float64(h[2]*h[2])
	return [9]float64{0: k * (y + z), 4: k * (x + z), 8: k * (x + y)}
}

// floor is the plane z = 0.
func floor(m collide.Material) collide.Geom {
	return collide.Geom{Shape: collide.Shape{Kind: collide.Plane}, Material: m, Body: dynamics.World,
		Local: collide.Identity()}
}

// crate returns a free box of 1 kg at a place, and its geom as body b.
func crate(b int, half [3]float64, at [3]float64, m collide.Material) (dynamics.Body, collide.Geom) {
	return dynamics.Body{
			Parent: dynamics.World, Position: at, Joint: dynamics.Joint{Kind: dynamics.Free}, Mass: 1,
			Inertia: solid(1, half),
		}, collide.Geom{
			Shape: collide.Shape{Kind: collide.Box, Half: half}, Material: m, Body: b, Local: collide.Identity(),
		}
}

// randomTree returns a forest of n bodies with joints of all kinds, in no special order of kinds or axes.
func randomTree(r *rand.Rand, n int) dynamics.Spec {
	vec := func(size float64) [3]float64 {
		return [3]float64{size * (2*r.Float64() - 1), size * (2*r.Float64() - 1), size * (2*r.Float64() - 1)}
	}
	turn := func() [4]float64 {
		q := [4]float64{r.NormFloat64(), r.NormFloat64(), r.NormFloat64(), r.NormFloat64() + 0.01}
		return q
	}
	spec := dynamics.Spec{Options: dynamics.Options{Gravity: down}}
	for i := range n {
		b := dynamics.Body{
			Parent: r.IntN(i+1) - 1, Position: vec(0.3), Rotation: turn(),
			Joint: dynamics.Joint{Kind: dynamics.JointKind(r.IntN(4)), Anchor: vec(0.1), Axis: vec(1)},
			Mass:  0.2 + r.Float64(), COM: vec(0.1),
		}
		if i == 0 {
			b.Joint.Kind = dynamics.Hinge
		}
		if b.Parent == dynamics.World && r.IntN(2) == 0 {
			b.Joint.Kind = dynamics.Free
		}
		if i%3 == 0 {
			b.Joint.Axis = [...][3]float64{{1, 0, 0}, {0, 2, 0}, {0, 0, 1}, {0, 0, -1}}[r.IntN(4)]
		}
		if r.IntN(2) == 0 {
			b.Joint.Armature = 0.01 * r.Float64()
		}
		// a box in some direction
		q, h := turn(), [3]float64{0.05 + 0.1*r.Float64(), 0.05 + 0.1*r.Float64(), 0.05 + 0.1*r.Float64()}
		b.Inertia = turned(solid(b.Mass, h), q)
		spec.Bodies = append(spec.Bodies, b)
	}
	return spec
}

// rotation returns the matrix of a quaternion of any length, row by row.
func rotation(q [4]float64) (m [3][3]float64) {
	n := math.Sqrt(q[0]*q[0] + q[1]*q[1] + q[2]*q[2] + q[3]*q[3])
	w, x, y, z := q[0]/n, q[1]/n, q[2]/n, q[3]/n
	return [3][3]float64{
		{1 - 2*(y*y+z*z), 2 * (x*y - w*z), 2 * (x*z + w*y)},
		{2 * (x*y + w*z), 1 - 2*(x*x+z*z), 2 * (y*z - w*x)},
		{2 * (x*z - w*y), 2 * (y*z + w*x), 1 - 2*(x*x+y*y)},
	}
}

func turned(a [9]float64, q [4]float64) (b [9]float64) {
	r := rotation(q)
	for i := range 3 {
		for j := range 3 {
			for k := range 3 {
				for l := range 3 {
					b[3*i+j] += r[i][k] * a[3*k+l] * r[j][l]
				}
			}
		}
	}
	return b
}

// scramble puts a system into a random state.
func scramble(r *rand.Rand, s *dynamics.System) {
	m := s.Model()
	for b := range m.Bodies() {
		j := m.Joint(b)
		for i := range j.Coords {
			s.Q[j.Q+i] = 2*r.Float64() - 1
		}
		if j.Coords >= 4 { // the quaternion comes last
			q := s.Q[j.Q+j.Coords-4 : j.Q+j.Coords]
			n := math.Sqrt(q[0]*q[0] + q[1]*q[1] + q[2]*q[2] + q[3]*q[3])
			for i := range q {
				q[i] /= n
			}
		}
	}
	for i := range s.V {
		s.V[i] = 4*r.Float64() - 2
	}
	s.Moved()
}

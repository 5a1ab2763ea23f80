package dynamics_test

import (
	"math"
	"testing"

	"github.com/halyard-robotics/halyard/internal/sim/peers"
	"github.com/halyard-robotics/halyard/sim/dynamics"
)

// pendulum is a rod of 1 m and 2 kg on a hinge about y, hanging down at angle 0.
func pendulum(in dynamics.Integrator) dynamics.Spec {
	return dynamics.Spec{
		Bodies: []dynamics.Body{{
			Name: "rod", Parent: dynamics.World, Joint: dynamics.Joint{Kind: dynamics.Hinge, Axis: [3]float64{0, 1, 0}},
			Mass: 2, COM: [3]float64{0, 0, -0.5}, Inertia: [9]float64{0: 2.0 / 12, 4: 2.0 / 12, 8: 1e-3},
		}},
		Options: dynamics.Options{Gravity: down, Integrator: in},
	}
}

// period measures the time between crossings of the lowest point, to a fraction of a step.
func period(t *testing.T, s *dynamics.System) float64 {
	t.Helper()
	var crossings []float64
	for len(crossings) < 11 {
		q, v, at := s.Q[0], s.V[0], s.Time
		steps(t, s, 1, 1e-3)
		if q > 0 && s.Q[0] <= 0 {
			// the cubic through both ends' positions and velocities
			u := q / (q - s.Q[0])
			for range 20 {
				u2, u3 := u*u, u*u*u
				x := (2*u3-3*u2+1)*q + (u3-2*u2+u)*1e-3*v + (3*u2-2*u3)*s.Q[0] + (u3-u2)*1e-3*s.V[0]
				dx := (6*u2-6*u)*q + (3*u2-4*u+1)*1e-3*v + (6*u-6*u2)*s.Q[0] + (3*u2-2*u)*1e-3*s.V[0]
				u -= x / dx
			}
			crossings = append(crossings, at+u*1e-3)
		}
	}
	return (crossings[10] - crossings[0]) / 10
}

// 4 sqrt(I/(m g l)) K(sin(a/2)), K by the arithmetic-geometric mean.
func TestPendulumPeriod(t *testing.T) {
	for _, a := range []float64{0.1, 1, 2.5} {
		x, y := 1.0, math.Cos(a/2)
		for range 10 {
			x, y = (x+y)/2, math.Sqrt(x*y)
		}
		inertia := 2.0/12 + 2*0.25
		want := 4 * math.Sqrt(inertia/(2*9.81*0.5)) * math.Pi / (2 * x)
		for in, within := range map[dynamics.Integrator]float64{dynamics.RK4: 1e-6, dynamics.Euler: 1e-3} {
			s := system(t, pendulum(in))
			s.Q[0] = a
			got := period(t, s)
			t.Logf("amplitude %g, integrator %d: period off by %.1e", a, in, got/want-1)
			near(t, "period", got/want, 1, within)
		}
	}
}

// The second sense of a hinge, and a slide: a mass on a spring, and free fall.
func TestSlide(t *testing.T) {
	spec := dynamics.Spec{
		Bodies: []dynamics.Body{
			{Parent: dynamics.World, Joint: dynamics.Joint{Kind: dynamics.Slide, Axis: [3]float64{0, 0, 3}}, Mass: 2},
			{Parent: dynamics.World, Joint: dynamics.Joint{Kind: dynamics.Slide, Axis: [3]float64{1, 0, 0},
				Stiffness: 50, Rest: 0.1}, Mass: 2},
		},
		Options: dynamics.Options{Gravity: down, Integrator: dynamics.RK4},
	}
	s := system(t, spec)
	steps(t, s, 1000, 1e-3)
	near(t, "fall", s.Q[0], -9.81/2, 1e-9)
	near(t, "spring", s.Q[1], 0.1-0.1*math.Cos(5), 1e-9)
}

// momenta returns energy, momentum and angular momentum as one list.
func momenta(s *dynamics.System) [7]float64 {
	k, u := s.Energy()
	p, l := s.Momentum()
	return [7]float64{k + u, p[0], p[1], p[2], l[0], l[1], l[2]}
}

func conserved(t *testing.T, s *dynamics.System, n int, within float64) {
	t.Helper()
	start := momenta(s)
	worst := [7]float64{}
	for range n {
		steps(t, s, 1, 1e-3)
		for i, x := range momenta(s) {
			worst[i] = math.Max(worst[i], math.Abs(x-start[i]))
		}
	}
	t.Logf("energy %.6g J within %.1e; momentum within %.1e; angular momentum within %.1e",
		start[0], worst[0], math.Max(worst[1], math.Max(worst[2], worst[3])),
		math.Max(worst[4], math.Max(worst[5], worst[6])))
	for i, e := range worst {
		near(t, [...]string{"energy", "px", "py", "pz", "lx", "ly", "lz"}[i], e, 0, within)
	}
}

// A box that tumbles about its middle axis turns over again and again.
func TestTumblingBox(t *testing.T) {
	s := system(t, dynamics.Spec{
		Bodies: []dynamics.Body{{Parent: dynamics.World, Joint: dynamics.Joint{Kind: dynamics.Free}, Mass: 3,
			Inertia: solid(3, [3]float64{0.15, 0.1, 0.05})}},
		Options: dynamics.Options{Integrator: dynamics.RK4},
	})
	copy(s.V, []float64{1, -0.5, 0.25, 0.01, 6, 0.02})
	s.Moved()
	turned := false
	for range 10 {
		conserved(t, s, 1000, 1e-9)
		turned = turned || s.Pose(0).Rotation[1]*s.Pose(0).Rotation[1] > 0.3
	}
	if !turned {
		t.Error("the box never turned over")
	}
}

// The quad, floating, its legs moved by springs between hip, thigh and shank: nothing pushes it from outside.
func TestFloatingQuad(t *testing.T) {
	spec := peers.Quad()
	spec.Geoms = nil
	spec.Options = dynamics.Options{Integrator: dynamics.RK4}
	for i := 1; i < len(spec.Bodies); i++ {
		spec.Bodies[i].Joint.Stiffness, spec.Bodies[i].Joint.Rest = 0.05, 0.3*float64(i%3)-0.2
	}
	s := system(t, spec)
	copy(s.V, []float64{0.1, 0.2, -0.1, 0.5, -0.3, 0.2})
	s.Moved()
	conserved(t, s, 10_000, 1e-9)

	// and with torques that do work, momenta alone
	start := momenta(s)
	for i := range 2000 {
		for k := 6; k < 18; k++ {
			s.Tau[k] = 0.005 * math.Sin(float64(i*k)*1e-3)
		}
		steps(t, s, 1, 1e-3)
	}
	for i, x := range momenta(s) {
		if i > 0 {
			near(t, "momentum", x, start[i], 1e-9)
		}
	}
}

// A ball joint at the world is a spherical pendulum; its energy and its angular momentum about the vertical stay.
func TestSphericalPendulum(t *testing.T) {
	s := system(t, dynamics.Spec{
		Bodies: []dynamics.Body{{
			Parent: dynamics.World, Position: [3]float64{1, 2, 3}, Joint: dynamics.Joint{Kind: dynamics.Ball},
			Mass: 1, COM: [3]float64{0, 0, -0.5}, Inertia: [9]float64{0: 0.02, 4: 0.03, 8: 0.01},
		}},
		Options: dynamics.Options{Gravity: down, Integrator: dynamics.RK4},
	})
	copy(s.V, []float64{3, 1, 2})
	s.Moved()
	// about the pivot, not the origin
	about := func() (e, lz float64) {
		k, u := s.Energy()
		p, l := s.Momentum()
		return k + u, l[2] - (1*p[1] - 2*p[0])
	}
	e, lz := about()
	steps(t, s, 5000, 1e-3)
	e2, lz2 := about()
	t.Logf("energy off by %.1e J, angular momentum by %.1e", e2-e, lz2-lz)
	near(t, "energy", e2, e, 1e-8)
	near(t, "angular momentum", lz2, lz, 1e-9)
}

// RK4 has order 4: half the step, a sixteenth of the error; Euler order 1.
func TestOrders(t *testing.T) {
	end := func(in dynamics.Integrator, n int) []float64 {
		spec := peers.Chain(3)
		spec.Options.Integrator, spec.Options.MaxTurn = in, -1
		s := system(t, spec)
		steps(t, s, n, 0.5/float64(n))
		return append(append([]float64{}, s.Q...), s.V...)
	}
	truth := end(dynamics.RK4, 16000)
	for in, want := range map[dynamics.Integrator]float64{dynamics.RK4: 16, dynamics.Euler: 2} {
		off := func(n int) (sum float64) {
			for i, x := range end(in, n) {
				sum += (x - truth[i]) * (x - truth[i])
			}
			return math.Sqrt(sum)
		}
		ratio := off(500) / off(1000)
		t.Logf("integrator %d: error ratio %.2f", in, ratio)
		near(t, "ratio of errors", ratio/want, 1, 0.15)
	}
}

// What tumbles about two hinges by more than a radian a step gains energy without end under Euler, but not in parts of
// a radian.
func TestEulerTurn(t *testing.T) {
	gain := func(turn float64) float64 {
		s := system(t, dynamics.Spec{
			Bodies: []dynamics.Body{
				{Parent: dynamics.World, Joint: dynamics.Joint{Kind: dynamics.Hinge, Axis: [3]float64{1, 0, 0}},
					Mass: 0.03, Inertia: [9]float64{0: 1e-5, 4: 1e-5, 8: 1e-6}},
				{Parent: 0, Joint: dynamics.Joint{Kind: dynamics.Hinge, Axis: [3]float64{0, 1, 0}},
					COM:  [3]float64{0, 0, -0.03},
					Mass: 0.2, Inertia: [9]float64{0: 1e-4, 4: 1e-4, 8: 1e-5}},
			},
			Options: dynamics.Options{EulerTurn: turn},
		})
		s.V[0], s.V[1] = 150, 10
		s.Moved()
		begun, _ := s.Energy()
		most := begun
		for range 30 {
			if s.Step(0.01) != nil {
				return math.Inf(1)
			}
			now, _ := s.Energy()
			most = math.Max(most, now)
		}
		return most / begun
	}
	whole, parts := gain(0), gain(1)
	t.Logf("greatest energy as a share of the first: %.3g in whole steps, %.3g in parts", whole, parts)
	if !(parts < 2 && whole > 100) {
		t.Errorf("got %.3g in parts, want below 2, which whole steps are not: %.3g", parts, whole)
	}
}

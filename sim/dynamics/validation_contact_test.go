package dynamics_test

import (
	"math"
	"testing"

	"github.com/halyard-robotics/halyard/internal/sim/peers"
	"github.com/halyard-robotics/halyard/sim/collide"
	"github.com/halyard-robotics/halyard/sim/dynamics"
)

// A block that slides is braked by mu g; a slope holds it up to tan a = mu, and beyond lets it go with
// g (sin a - mu cos a).
func TestPlanFriction(t *testing.T) {
	const mu = 0.5
	for _, in := range both {
		s := system(t, onFloor(in, collide.Material{Friction: mu}, 0))
		steps(t, s, 200, 1e-3)
		s.V[0] = 2
		steps(t, s, 100, 1e-3)
		v := s.V[0]
		steps(t, s, 100, 1e-3)
		holds(t, named("sliding block, mu g", in), math.Abs((v-s.V[0])/0.1/(mu*9.81)-1), 0.01, "of it")

		s = system(t, onFloor(in, collide.Material{Friction: mu}, math.Atan(0.99*mu)))
		steps(t, s, 500, 1e-3)
		from := s.Q[0]
		steps(t, s, 5000, 1e-3)
		holds(t, named("incline at 99 % of mu, creep", in), math.Abs(s.Q[0]-from)/5, 1e-3, "m/s")

		a := math.Atan(1.01 * mu)
		s = system(t, onFloor(in, collide.Material{Friction: mu}, a))
		steps(t, s, 500, 1e-3)
		slow := s.V[0]
		steps(t, s, 1000, 1e-3)
		slides := 9.81 * (math.Sin(a) - mu*math.Cos(a))
		holds(t, named("incline at 101 % of mu slides, acceleration", in), math.Abs((s.V[0]-slow)/slides-1), 0.05,
			"of it")

		a = math.Atan(1.05 * mu)
		s = system(t, onFloor(in, collide.Material{Friction: mu}, a))
		steps(t, s, 500, 1e-3)
		v = s.V[0]
		steps(t, s, 1000, 1e-3)
		want := 9.81 * (math.Sin(a) - mu*math.Cos(a))
		holds(t, named("incline at 105 % of mu, acceleration", in), math.Abs((s.V[0]-v)/want-1), 0.01, "of it")
	}
}

// A sphere that is set sliding rolls in the end with 5/7 of its speed; one that falls bounces as high as its
// restitution says.
func TestPlanSphere(t *testing.T) {
	for _, in := range both {
		s := system(t, ball(in, 0.1, collide.Material{Friction: 0.2}))
		steps(t, s, 200, 1e-3)
		s.V[0] = 3
		steps(t, s, 1500, 1e-3)
		holds(t, named("rolling sphere, 5/7 of its speed", in), math.Abs(s.V[0]/3*7/5-1), 0.01, "of it")

		worst := 0.0
		for _, e := range []float64{0.5, 0.8} {
			s := system(t, ball(in, 1.1, collide.Material{Friction: 0.5, Restitution: e}))
			for s.V[2] <= 0 && s.Time < 1 {
				steps(t, s, 1, 1e-3)
			}
			high := 0.0
			for s.V[2] > 0 && s.Time < 3 {
				high = math.Max(high, s.Q[2])
				steps(t, s, 1, 1e-3)
			}
			worst = math.Max(worst, math.Abs((high-0.1)/(e*e)-1))
		}
		holds(t, named("bounce, height", in), worst, 0.01, "of it")
	}
}

// Crates on one another for 10 s: how much nearer than touching any two are, and whether they come to rest.
func TestPlanStack(t *testing.T) {
	m := collide.Material{Friction: 0.6}
	for _, in := range both {
		for n, row := range map[int]string{5: "stack of 5, ", 10: "stack of 10, "} {
			spec := dynamics.Spec{Geoms: []collide.Geom{floor(m)},
				Options: dynamics.Options{Gravity: down, Integrator: in}}
			for i := range n {
				b, g := crate(i, half, [3]float64{0, 0, half[2] * float64(2*i+1)}, m)
				spec.Bodies, spec.Geoms = append(spec.Bodies, b), append(spec.Geoms, g)
			}
			s := system(t, spec)
			steps(t, s, 10_000, 1e-3)
			sink, top := 0.0, 0.0
			for i := range n {
				z := s.Pose(i).Position[2]
				sink, top = math.Max(sink, top+half[2]-z), z+half[2]
			}
			kinetic, _ := s.Energy()
			holds(t, named(row+"sink of a box", in), sink, 1e-3, "m")
			holds(t, named(row+"kinetic energy", in), kinetic, 1e-6, "J")
		}
	}
}

// A lever under its dry friction stays for a minute; a joint that is driven into its stop at 10 rad/s and 5 N·m does
// not go far beyond.
func TestPlanJoints(t *testing.T) {
	for _, in := range both {
		spec := pendulum(in)
		spec.Bodies[0].Joint.Dry = 5
		s := system(t, spec)
		s.Q[0] = 0.5 // m g l sin(0.5) = 4.70 N·m
		steps(t, s, 60_000, 1e-3)
		holds(t, named("lever under Fc, 60 s", in), math.Abs(s.Q[0]-0.5), 1e-4, "rad")

		spec = pendulum(in)
		spec.Bodies[0].Joint.Limited, spec.Bodies[0].Joint.Limits = true, [2]float64{-0.5, 0.7}
		s = system(t, spec)
		s.V[0], s.Tau[0] = 10, 5
		worst := 0.0
		for range 2000 {
			steps(t, s, 1, 1e-3)
			worst = math.Max(worst, s.Q[0]-0.7)
		}
		holds(t, named("limit, overshoot", in), worst*180/math.Pi, 0.5, "degrees")
	}
}

// The quad compared with what Bullet, DART, MuJoCo and ODE have in common.
func TestPlanQuad(t *testing.T) {
	for _, in := range both {
		spec := peers.Quad()
		spec.Options.Integrator = in
		s := system(t, spec)
		s.Before = peers.Squat
		mean, lowest := 0.0, math.Inf(1)
		for i := range 10_000 {
			steps(t, s, 1, 1e-3)
			if i >= 5000 {
				mean += s.Pose(0).Position[2] / 5000
			}
			for lower := 3; lower <= 12 && i >= 1000; lower += 3 {
				p := s.Pose(lower)
				lowest = math.Min(lowest, p.Position[2]-0.15*rotation(p.Rotation)[2][2]-0.02)
			}
		}
		// how far a value is outside the range of the peers
		beyond := func(x, low, high float64) float64 { return math.Max(0, math.Max(low-x, x-high)) }
		holds(t, named("quad, mean z off 0.275 m", in), math.Abs(mean-0.275), 1e-3, "m")
		holds(t, named("quad, penetration", in), -lowest, 2.5e-3, "m")
		holds(t, named("quad, pitch outside the peers'", in), beyond(s.Q[8], 0.5045, 0.5608), 0.06, "rad")
		holds(t, named("quad, knee outside the peers'", in), beyond(s.Q[9], -0.9721, -0.9308), 0.06, "rad")
	}
}

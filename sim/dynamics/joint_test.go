package dynamics_test

import (
	"math"
	"testing"

	"github.com/halyard-robotics/halyard/sim/dynamics"
)

var both = []dynamics.Integrator{dynamics.Euler, dynamics.RK4}

// A lever whose weight stays under the dry friction does not move; above it, it falls with what is left.
func TestDryFriction(t *testing.T) {
	for _, in := range both {
		spec := pendulum(in)
		spec.Bodies[0].Joint.Dry = 5
		s := system(t, spec)
		s.Q[0] = 0.5 // 9.81 sin(0.5) = 4.70 N·m
		steps(t, s, 60_000, 1e-3)
		t.Logf("integrator %d: crept %.1e rad in 60 s", in, s.Q[0]-0.5)
		near(t, "lever", s.Q[0], 0.5, 1e-4)
		near(t, "friction", friction(s), 9.81*math.Sin(0.5), 1e-3)

		s.Reset()
		s.Q[0] = 1 // 8.25 N·m
		qdd := make([]float64, 1)
		steps(t, s, 10, 1e-3)
		if err := s.ForwardDynamics(1e-3, qdd); err != nil {
			t.Fatal(err)
		}
		near(t, "acceleration", qdd[0], (-9.81*math.Sin(s.Q[0])+5)/(2.0/12+0.5), 1e-6)
		near(t, "friction", friction(s), 5, 1e-9)
	}
}

// Stribeck: at rest it holds up to Static, and once moving it brakes with Dry.
func TestStribeck(t *testing.T) {
	spec := pendulum(dynamics.Euler)
	j := &spec.Bodies[0].Joint
	j.Dry, j.Static, j.Stribeck = 1, 6, 0.05
	s := system(t, spec)
	s.Q[0] = 0.6 // 5.54 N·m
	steps(t, s, 2000, 1e-3)
	near(t, "lever under Static", s.Q[0], 0.6, 1e-5)
	s.Tau[0] = -1
	steps(t, s, 200, 1e-3)
	if s.V[0] > -0.5 {
		t.Errorf("lever above Static: got %g rad/s after 0.2 s, want it to run away", s.V[0])
	}
	near(t, "friction in motion", friction(s), 1, 1e-9)
}

// A joint driven hard against its stop, at speed and by a standing torque.
func TestLimits(t *testing.T) {
	for _, in := range both {
		spec := pendulum(in)
		spec.Options.Gravity = [3]float64{}
		j := &spec.Bodies[0].Joint
		j.Limited, j.Limits = true, [2]float64{-0.5, 0.7}
		s := system(t, spec)
		s.V[0], s.Tau[0] = 10, 5
		worst := 0.0
		for i := range 4000 {
			if i == 2000 {
				s.Tau[0] = -5
			}
			steps(t, s, 1, 1e-3)
			worst = math.Max(worst, math.Max(s.Q[0]-0.7, -0.5-s.Q[0]))
		}
		t.Logf("integrator %d: overshoot %.4f degrees", in, worst*180/math.Pi)
		near(t, "overshoot", worst, 0, 0.5*math.Pi/180)
		near(t, "rest", s.Q[0], -0.5, 1e-3)
		_, f := s.ConstraintForce(0)
		near(t, "force of the stop", f, 5, 1e-2)
		s.Tau[0] = 1
		steps(t, s, 300, 1e-3)
		if s.Q[0] < -0.45 {
			t.Errorf("the stop holds on: got %g rad", s.Q[0])
		}
	}
}

// Damping far beyond what an explicit step would allow (kd dt/I = 15) only brings the joint to rest; a stiff
// controller likewise reaches its goal.
func TestImplicitDamping(t *testing.T) {
	s := system(t, pendulum(dynamics.Euler))
	s.Drive[0].Damping = 1e4
	s.V[0] = 5
	steps(t, s, 10, 1e-3)
	near(t, "damped", s.V[0], 0, 1e-5)
	s.Reset()
	s.Drive[0].Kp, s.Drive[0].Kd, s.Drive[0].Goal = 1e6, 1e3, 0.3
	steps(t, s, 1000, 1e-3)
	near(t, "controlled", s.Q[0], 0.3, 1e-5)
	near(t, "torque of the controller", 1e6*(0.3-s.Q[0]), 9.81*math.Sin(s.Q[0]), 1e-3)
	// a spring alone, 27 times too stiff for an explicit step: k h²/I = 108
	s.Reset()
	s.Drive[0].Stiffness, s.Drive[0].Rest, s.Q[0] = 7.2e7, 0.2, 0.1
	steps(t, s, 1000, 1e-3)
	near(t, "stiff spring", s.Q[0], 0.2, 1e-5)
}

// A followed joint is at its commanded position at the end of every step, and the rest of the tree feels it.
func TestFollow(t *testing.T) {
	for _, in := range both {
		spec := pendulum(in)
		spec.Options.SubSteps = 3
		spec.Bodies = append(spec.Bodies, dynamics.Body{
			Parent: 0, Position: [3]float64{0, 0, -1},
			Joint: dynamics.Joint{Kind: dynamics.Hinge, Axis: [3]float64{0, 1, 0}},
			Mass:  1, COM: [3]float64{0, 0, -0.3}, Inertia: [9]float64{0: 0.01, 4: 0.01, 8: 0.001},
		})
		for _, from := range []int{-1, 1} {
			spec.Options.Articulated = from
			s := system(t, spec)
			for i := 1; i <= 1000; i++ {
				at := 0.01 * float64(i)
				if !s.Follow(0, 0.3*math.Sin(at), 0.3*10*math.Cos(at)*0.1) {
					t.Fatal("follow: refused")
				}
				steps(t, s, 1, 0.01)
				near(t, "position", s.Q[0], 0.3*math.Sin(at), 1e-12)
				near(t, "velocity", s.V[0], 0.3*math.Cos(at), 1e-12)
			}
			if math.Abs(s.Q[1]) < 1e-3 {
				t.Errorf("the carried joint did not move: %g", s.Q[1])
			}
			swing := s.Q[1]
			s.Release(0)
			steps(t, s, 50, 0.01)
			if s.Q[1] == swing || math.Abs(s.Q[0]-0.3*math.Sin(10)) < 1e-3 {
				t.Error("released: the joint stays")
			}
		}
	}
	s := system(t, pendulum(dynamics.Euler))
	if s.Follow(0, math.NaN(), 0) || s.Follow(0, 0, math.Inf(1)) {
		t.Error("follow: NaN or infinity taken")
	}
}

// The carried joint of a followed one does what it does on a base that is accelerated alike: a pendulum on a followed
// slide against the known equation.
func TestFollowedSlide(t *testing.T) {
	spec := dynamics.Spec{
		Bodies: []dynamics.Body{
			{Parent: dynamics.World, Joint: dynamics.Joint{Kind: dynamics.Slide, Axis: [3]float64{1, 0, 0}}, Mass: 100},
			{Parent: 0, Joint: dynamics.Joint{Kind: dynamics.Hinge, Axis: [3]float64{0, 1, 0}}, Mass: 1,
				COM: [3]float64{0, 0, -0.5}, Inertia: [9]float64{4: 0, 0: 0}},
		},
		Options: dynamics.Options{Gravity: down},
	}
	spec.Bodies[1].Joint.Armature = 1e-9
	s := system(t, spec)
	// a steady acceleration of 2 m/s²: it comes to rest, by damping, at the angle whose tangent is 2/9.81
	s.Drive[1].Damping = 0.5
	for i := 1; i <= 10_000; i++ {
		at := 1e-3 * float64(i)
		s.Follow(0, at*at, 2*at)
		steps(t, s, 1, 1e-3)
	}
	near(t, "angle", s.Q[1], math.Atan2(2, 9.81), 1e-3)
}

func TestPush(t *testing.T) {
	s := system(t, pendulum(dynamics.Euler))
	s.Drive[0].Damping = 5
	s.Force[0].Force = [3]float64{3, 0, 0} // at the COM: tan(q) = -F/(m g)
	steps(t, s, 20_000, 1e-3)
	near(t, "angle", s.Q[0], -math.Atan2(3, 2*9.81), 1e-6)
	force, torque := s.Reaction(0)
	near(t, "reaction x", force[0], -3, 1e-5)
	near(t, "reaction z", force[2], 2*9.81, 1e-5)
	near(t, "reaction torque", torque[1], 0, 1e-5)
	linear, _ := s.Acceleration(0)
	near(t, "acceleration", linear[2], 0, 1e-6)
	s.Force[0] = dynamics.Wrench{Torque: [3]float64{0, 2, 0}}
	steps(t, s, 20_000, 1e-3)
	near(t, "angle under a moment", math.Sin(s.Q[0])*9.81, 2, 1e-5)
}

// A four-bar linkage closed by a point equality: the loop holds, and turns by its geometry.
func TestLoop(t *testing.T) {
	hinge := dynamics.Joint{Kind: dynamics.Hinge, Axis: [3]float64{0, 1, 0}}
	bar := func(parent int, at, com [3]float64) dynamics.Body {
		return dynamics.Body{Parent: parent, Position: at, Joint: hinge, Mass: 1, COM: com,
			Inertia: [9]float64{0: 0.01, 4: 0.01, 8: 0.01}}
	}
	spec := dynamics.Spec{
		Bodies: []dynamics.Body{
			bar(dynamics.World, [3]float64{}, [3]float64{0, 0, -0.25}),
			bar(0, [3]float64{0, 0, -0.5}, [3]float64{0.5, 0, 0}),
			bar(dynamics.World, [3]float64{1, 0, 0}, [3]float64{0, 0, -0.25}),
		},
		Equalities: []dynamics.Equality{{Kind: dynamics.Point, A: 1, B: 2, AnchorA: [3]float64{1, 0, 0},
			AnchorB: [3]float64{0, 0, -0.5}}},
		Options: dynamics.Options{Gravity: down},
	}
	for _, in := range both {
		spec.Options.Integrator = in
		s := system(t, spec)
		s.V[0], s.V[1], s.V[2] = 2, -2, 2
		worst := 0.0
		for range 3000 {
			steps(t, s, 1, 1e-3)
			// a parallelogram: both cranks at the same angle
			worst = math.Max(worst, math.Abs(s.Q[0]-s.Q[2]))
		}
		t.Logf("integrator %d: the loop opened by %.1e rad", in, worst)
		near(t, "parallelogram", worst, 0, 1e-3)
		if math.Abs(s.V[0])+math.Abs(s.Q[0]) < 1e-2 {
			t.Error("the linkage does not move")
		}
	}
}

func TestMirrorAndFixed(t *testing.T) {
	for _, in := range both {
		spec := pendulum(in)
		second := spec.Bodies[0]
		second.Position = [3]float64{0, 1, 0}
		spec.Bodies = append(spec.Bodies, second)
		free := dynamics.Body{Parent: dynamics.World, Position: [3]float64{0, 2, -1},
			Joint: dynamics.Joint{Kind: dynamics.Free}, Mass: 0.5, Inertia: solid(0.5, [3]float64{0.1, 0.1, 0.1})}
		spec.Bodies = append(spec.Bodies, free)
		spec.Equalities = []dynamics.Equality{
			{Kind: dynamics.Mirror, A: 0, B: 1, Ratio: -1},
			{Kind: dynamics.Fixed, A: 2, B: 1, AnchorB: [3]float64{0, 1, -1}},
		}
		s := system(t, spec)
		s.V[0], s.V[1] = 1, -1
		s.Tau[0] = 1
		angle, gap := 0.0, 0.0
		for range 3000 {
			steps(t, s, 1, 1e-3)
			angle = math.Max(angle, math.Abs(s.Q[0]+s.Q[1]))
			a, b := s.Pose(2), s.Pose(1)
			for k := range 4 {
				gap = math.Max(gap, math.Abs(a.Rotation[k]-b.Rotation[k]))
			}
		}
		t.Logf("integrator %d: mirror off by %.1e rad, fixed by %.1e", in, angle, gap)
		near(t, "mirror", angle, 0, 2e-3)
		near(t, "fixed", gap, 0, 2e-3)
	}
}

// Welded bodies are one: a pendulum cut in two halves moves as the whole.
func TestWeld(t *testing.T) {
	whole := system(t, pendulum(dynamics.RK4))
	spec := pendulum(dynamics.RK4)
	b := &spec.Bodies[0]
	b.Mass, b.COM, b.Inertia = 1, [3]float64{0, 0, -0.25}, [9]float64{0: 1.0 / 48, 4: 1.0 / 48, 8: 5e-4}
	spec.Bodies = append(spec.Bodies, dynamics.Body{
		// turned, which a rod does not mind
		Parent: 0, Position: [3]float64{0, 0, -0.75}, Rotation: [4]float64{1, 0, 0, 1},
		Mass: 1, Inertia: [9]float64{0: 1.0 / 48, 4: 1.0 / 48, 8: 5e-4},
	})
	halves := system(t, spec)
	whole.Q[0], halves.Q[0] = 1, 1
	steps(t, whole, 2000, 1e-3)
	steps(t, halves, 2000, 1e-3)
	near(t, "angle", halves.Q[0], whole.Q[0], 1e-12)
	p := halves.Pose(1).Position
	near(t, "x of the half", p[0], -0.75*math.Sin(whole.Q[0]), 1e-12)
}

// friction is what dry friction does to the first degree of freedom, N·m or N.
func friction(s *dynamics.System) float64 {
	f, _ := s.ConstraintForce(0)
	return f
}

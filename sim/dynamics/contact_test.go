package dynamics_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/halyard-robotics/halyard/sim/collide"
	"github.com/halyard-robotics/halyard/sim/dynamics"
)

var half = [3]float64{0.1, 0.1, 0.05}

// onFloor is a crate that lies on the floor, gravity tilted by a slope in the x direction.
func onFloor(in dynamics.Integrator, m collide.Material, slope float64) dynamics.Spec {
	b, g := crate(0, half, [3]float64{0, 0, half[2]}, m)
	return dynamics.Spec{
		Bodies: []dynamics.Body{b}, Geoms: []collide.Geom{floor(m), g},
		Options: dynamics.Options{Gravity: [3]float64{9.81 * math.Sin(slope), 0, -9.81 * math.Cos(slope)},
			Integrator: in},
	}
}

// A block that slides is braked by mu g and stops after v²/(2 mu g).
func TestSlidingBlock(t *testing.T) {
	for _, in := range both {
		s := system(t, onFloor(in, collide.Material{Friction: 0.3}, 0))
		steps(t, s, 200, 1e-3)
		from := s.Q[0]
		s.V[0] = 2
		steps(t, s, 100, 1e-3)
		v := s.V[0]
		steps(t, s, 200, 1e-3)
		t.Logf("integrator %d: braked with %.5f m/s², want %.5f", in, (v-s.V[0])/0.2, 0.3*9.81)
		near(t, "deceleration", (v-s.V[0])/0.2/(0.3*9.81), 1, 0.01)
		steps(t, s, 1000, 1e-3)
		near(t, "way", (s.Q[0]-from)/(4/(2*0.3*9.81)), 1, 0.01)
		near(t, "speed at rest", s.V[0], 0, 1e-5)
		var f [3]float64
		for i := range s.Touches() {
			for k, x := range s.Touch(i).Force {
				if g := s.Touch(i).Contact; g.A == 0 { // what the floor feels
					x = -x
				}
				f[k] += x
			}
		}
		near(t, "force of the floor", f[2], 9.81, 1e-3)
	}
}

// A slope holds what is below tan a = mu, and does not hold what is above, which then accelerates with g (sin a - mu
// cos a).
func TestIncline(t *testing.T) {
	const mu = 0.5
	for _, in := range both {
		a := math.Atan(0.95 * mu)
		s := system(t, onFloor(in, collide.Material{Friction: mu}, a))
		steps(t, s, 500, 1e-3)
		from := s.Q[0]
		steps(t, s, 5000, 1e-3)
		creep := (s.Q[0] - from) / 5
		t.Logf("integrator %d: creeps %.2e m/s at 95 %%", in, creep)
		near(t, "creep", creep, 0, 1e-3)

		a = math.Atan(1.05 * mu)
		s = system(t, onFloor(in, collide.Material{Friction: mu}, a))
		steps(t, s, 500, 1e-3)
		v := s.V[0]
		steps(t, s, 1000, 1e-3)
		near(t, "acceleration", (s.V[0]-v)/(9.81*(math.Sin(a)-mu*math.Cos(a))), 1, 0.01)
	}
}

// ball is a free sphere of 0.1 m and 2 kg.
func ball(in dynamics.Integrator, z float64, m collide.Material) dynamics.Spec {
	i := 0.4 * 2 * 0.01
	return dynamics.Spec{
		Bodies: []dynamics.Body{{
			Parent: dynamics.World, Position: [3]float64{0, 0, z}, Joint: dynamics.Joint{Kind: dynamics.Free},
			Mass: 2, Inertia: [9]float64{0: i, 4: i, 8: i},
		}},
		Geoms: []collide.Geom{
			floor(collide.Material{Friction: m.Friction}),
			{Shape: collide.Shape{Kind: collide.Sphere, Radius: 0.1}, Material: m, Body: 0, Local: collide.Identity()},
		},
		Options: dynamics.Options{Gravity: down, Integrator: in},
	}
}

// A sphere that is set sliding ends up rolling with 5/7 of its speed.
func TestRollingSphere(t *testing.T) {
	for _, in := range both {
		s := system(t, ball(in, 0.1, collide.Material{Friction: 0.2}))
		steps(t, s, 200, 1e-3)
		s.V[0] = 3
		steps(t, s, 1500, 1e-3)
		t.Logf("integrator %d: rolls with %.5f of its speed, want %.5f", in, s.V[0]/3, 5.0/7)
		near(t, "speed", s.V[0]/3/(5.0/7), 1, 0.01)
		near(t, "rolling", s.V[4]*0.1, s.V[0], 1e-3)
	}
}

func TestBounce(t *testing.T) {
	for _, in := range both {
		for _, e := range []float64{0, 0.5, 0.8} {
			s := system(t, ball(in, 1.1, collide.Material{Friction: 0.5, Restitution: e}))
			for s.V[2] <= 0 && s.Time < 1 {
				steps(t, s, 1, 1e-3)
			}
			high := 0.0
			for s.V[2] > 0 && s.Time < 3 {
				high = math.Max(high, s.Q[2])
				steps(t, s, 1, 1e-3)
			}
			t.Logf("integrator %d: restitution %g bounces to %.4f m, want %.4f", in, e, high-0.1, e*e)
			if e > 0 {
				near(t, "height", (high-0.1)/(e*e), 1, 0.01)
			} else {
				near(t, "height", high, 0.1, 1e-3)
			}
			steps(t, s, 8000, 1e-3)
			near(t, "rest", s.Q[2], 0.1, 1e-3)
			near(t, "speed at rest", s.V[2], 0, 1e-3)
		}
	}
}

// Torsional friction stops a spinning sphere as given by torsion m g, and rolling friction a rolling one.
func TestTorsionAndRolling(t *testing.T) {
	s := system(t, ball(dynamics.Euler, 0.1, collide.Material{Friction: 0.5, Torsion: 0.01}))
	steps(t, s, 200, 1e-3)
	s.V[5] = 20
	steps(t, s, 100, 1e-3)
	want := 20 - 0.1*0.01*2*9.81/(0.4*2*0.01)
	near(t, "spin", s.V[5]/want, 1, 0.01)

	s = system(t, ball(dynamics.Euler, 0.1, collide.Material{Friction: 0.5, Torsion: 0.01, Rolling: 0.002}))
	steps(t, s, 200, 1e-3)
	s.V[0], s.V[4] = 2, 20
	steps(t, s, 300, 1e-3)
	// m a = -f, I a/r = f r - rolling m g: a = -(rolling g / r) / (1 + 2/5)
	want = 2 - 0.3*0.002*9.81/0.1/1.4
	near(t, "rolling", s.V[0]/want, 1, 0.01)
	steps(t, s, 20_000, 1e-3)
	near(t, "stopped", s.V[0], 0, 1e-4)
}

// Along its grain the crate slides easily, across it holds.
func TestAnisotropicFriction(t *testing.T) {
	m := collide.Material{Friction: 0.5, Direction: [3]float64{0, 1, 0}, Factor: 0.2}
	spec := onFloor(dynamics.Euler, m, 0)
	spec.Geoms[0].Material = collide.Material{Friction: 0.5}
	s := system(t, spec)
	steps(t, s, 200, 1e-3)
	s.V[0], s.V[1] = 2, 0
	steps(t, s, 100, 1e-3)
	near(t, "across the grain", (2-s.V[0])/0.1/(0.5*9.81), 1, 0.01)
	s.Reset()
	steps(t, s, 200, 1e-3)
	s.V[1] = 2
	steps(t, s, 100, 1e-3)
	near(t, "along the grain", (2-s.V[1])/0.1/(0.1*9.81), 1, 0.01)
}

// Friction given as a force limit brakes with exactly that force, for any weight.
func TestForceLimit(t *testing.T) {
	spec := ball(dynamics.Euler, 0.1, collide.Material{Friction: 3, ForceLimit: true})
	spec.Geoms[0].Material = collide.Material{Friction: 3, ForceLimit: true}
	s := system(t, spec)
	steps(t, s, 200, 1e-3)
	s.V[0] = 3
	steps(t, s, 100, 1e-3)
	near(t, "deceleration", (3-s.V[0])/0.1, 3.0/2, 0.02)
}

// With ERP and CFM a contact is the spring and damper that ODE's manual gives: kp = ERP/(h CFM), so a weight sinks by
// m g/kp.
func TestSpringContact(t *testing.T) {
	spec := ball(dynamics.Euler, 0.1, collide.Material{Friction: 0.5})
	const h, erp, cfm = 0.01, 0.3, 1e-4
	spec.Options.Contact = dynamics.Softness{ERP: erp, CFM: cfm}
	s := system(t, spec)
	steps(t, s, 1000, h)
	near(t, "depth", 0.1-s.Q[2], 2*9.81/(erp/(h*cfm)), 1e-7)
}

func TestStack(t *testing.T) {
	for _, in := range both {
		for _, n := range []int{5, 10} {
			m := collide.Material{Friction: 0.6}
			spec := dynamics.Spec{Geoms: []collide.Geom{floor(m)},
				Options: dynamics.Options{Gravity: down, Integrator: in}}
			for i := range n {
				b, g := crate(i, half, [3]float64{0, 0, half[2] * float64(2*i+1)}, m)
				spec.Bodies, spec.Geoms = append(spec.Bodies, b), append(spec.Geoms, g)
			}
			s := system(t, spec)
			sweeps, most, end := 0, 0, 10_000
			if in == dynamics.RK4 {
				end = 2000
			}
			for range end {
				steps(t, s, 1, 1e-3)
				sweeps += s.Sweeps()
				most = max(most, s.Sweeps())
			}
			kinetic, _ := s.Energy()
			worst, side := 0.0, 0.0
			for i := range n {
				p := s.Pose(i).Position
				below := 0.0
				if i > 0 {
					below = s.Pose(i - 1).Position[2] + half[2]
				}
				worst = math.Max(worst, below+half[2]-p[2])
				side = math.Max(side, math.Hypot(p[0], p[1]))
			}
			t.Logf("integrator %d: %d boxes sink %.2e m at most, drift %.1e m sideways, kinetic energy %.1e J, %.1f "+
				"sweeps, at most %d", in, n, worst, side, kinetic, float64(sweeps)/float64(end), most)
			near(t, "sink", worst, 0, 1e-3)
			near(t, "sideways", side, 0, 1e-3)
			near(t, "kinetic energy", kinetic, 0, 1e-6)
		}
	}
}

// A wall of boxes, a pile of spheres in a heap: many bodies at once stay bounded and come to rest.
func TestHeap(t *testing.T) {
	m := collide.Material{Friction: 0.4, Torsion: 0.005, Rolling: 0.001}
	spec := dynamics.Spec{Geoms: []collide.Geom{floor(m)}, Options: dynamics.Options{Gravity: down}}
	for i := range 36 {
		at := [3]float64{0.11 * float64(i%3), 0.11 * float64(i/3%3), 0.1 + 0.21*float64(i/9) + 0.01*float64(i%2)}
		b, g := crate(i, [3]float64{0.05, 0.05, 0.05}, at, m)
		if i%2 == 0 {
			g.Shape = collide.Shape{Kind: collide.Sphere, Radius: 0.06}
		}
		spec.Bodies, spec.Geoms = append(spec.Bodies, b), append(spec.Geoms, g)
	}
	s := system(t, spec)
	steps(t, s, 3000, 1e-3)
	kinetic, _ := s.Energy()
	low := math.Inf(1)
	for i := range 36 {
		low = math.Min(low, s.Pose(i).Position[2])
	}
	t.Logf("kinetic energy %.1e J after 3 s, lowest centre %.4f m, %d contacts, %d dropped", kinetic, low, s.Touches(),
		s.Dropped())
	near(t, "kinetic energy", kinetic, 0, 0.05)
	if low < 0.045 {
		t.Errorf("lowest centre: got %g m, want about 0.05", low)
	}
	if s.Dropped() > 0 {
		t.Errorf("dropped: got %d contacts, want none", s.Dropped())
	}
}

// Two bodies of one robot touch: a claw of two hinges that closes on itself.
func TestSelfContact(t *testing.T) {
	finger := func(x, sign float64) dynamics.Body {
		return dynamics.Body{
			Parent: 0, Position: [3]float64{x, 0, 0},
			Joint: dynamics.Joint{Kind: dynamics.Hinge, Axis: [3]float64{0, sign, 0}},
			Mass:  0.2, COM: [3]float64{0, 0, 0.1}, Inertia: solid(0.2, [3]float64{0.01, 0.01, 0.1}),
		}
	}
	spec := dynamics.Spec{
		Bodies: []dynamics.Body{
			{Parent: dynamics.World, Joint: dynamics.Joint{Kind: dynamics.Free}, Mass: 1, Inertia: solid(1, half)},
			finger(-0.05, 1), finger(0.05, -1),
		},
		Options: dynamics.Options{},
	}
	for b := 1; b <= 2; b++ {
		spec.Geoms = append(spec.Geoms, collide.Geom{
			Shape: collide.Shape{Kind: collide.Sphere, Radius: 0.02}, Material: collide.Material{Friction: 0.5},
			Body: b, Local: collide.At(0, 0, 0.2),
		})
	}
	s := system(t, spec)
	s.Drive[6].Damping, s.Drive[7].Damping = 0.01, 0.01
	s.Tau[6], s.Tau[7] = 0.1, 0.1
	steps(t, s, 3000, 1e-3)
	near(t, "left", math.Sin(s.Q[7]), 0.03/0.2, 2e-3)
	near(t, "both alike", s.Q[7], s.Q[8], 1e-4)
	if s.Touches() != 1 {
		t.Fatalf("touches: got %d, want 1", s.Touches())
	}
	arm := 0.2 * math.Cos(s.Q[7])
	near(t, "pinch", math.Abs(s.Touch(0).Force[0]), 0.1/arm, 1e-2)
	p, _ := s.Momentum()
	near(t, "momentum", math.Hypot(p[0], p[2]), 0, 1e-5) // Euler keeps it to first order
}

// A crate on a lift that is followed feels its acceleration in the very step in which it begins.
func TestLift(t *testing.T) {
	b, g := crate(1, half, [3]float64{0, 0, half[2] + 0.05}, collide.Material{Friction: 0.5})
	spec := dynamics.Spec{
		Bodies: []dynamics.Body{
			{Parent: dynamics.World, Joint: dynamics.Joint{Kind: dynamics.Slide, Axis: [3]float64{0, 0, 1}}, Mass: 5},
			b,
		},
		Geoms: []collide.Geom{
			{Shape: collide.Shape{Kind: collide.Box, Half: [3]float64{0.5, 0.5, 0.05}},
				Material: collide.Material{Friction: 0.5}, Body: 0, Local: collide.Identity()}, g,
		},
		Options: dynamics.Options{Gravity: down},
	}
	s := system(t, spec)
	s.Follow(0, 0, 0)
	steps(t, s, 500, 1e-3)
	lift := func() (f float64) {
		for i := range s.Touches() {
			f -= s.Touch(i).Force[2] // of the lift, which is A
		}
		return f
	}
	near(t, "at rest", lift(), 9.81, 1e-3)
	s.Follow(0, 0.5*2e-3*1e-3, 2e-3) // 2 m/s²
	steps(t, s, 1, 1e-3)
	near(t, "with the lift", lift(), 9.81+2, 0.1)
	near(t, "velocity", s.V[3], 2e-3, 1e-4)
}

// A beam on a hinge whose end lies on the floor: each carries half of the weight.
func TestReactionWithContact(t *testing.T) {
	m := collide.Material{Friction: 0}
	spec := dynamics.Spec{
		Bodies: []dynamics.Body{{
			Parent: dynamics.World, Position: [3]float64{3, 0, 0.05},
			Joint: dynamics.Joint{Kind: dynamics.Hinge, Axis: [3]float64{0, 1, 0}},
			Mass:  2, COM: [3]float64{0.5, 0, 0}, Inertia: solid(2, [3]float64{0.5, 0.02, 0.02}),
		}},
		Geoms: []collide.Geom{
			floor(m), {Shape: collide.Shape{Kind: collide.Sphere, Radius: 0.05}, Material: m, Body: 0,
				Local: collide.At(1, 0, 0)},
		},
		Options: dynamics.Options{Gravity: down},
	}
	s := system(t, spec)
	steps(t, s, 2000, 1e-3)
	f, w := s.Reaction(0)
	near(t, "force of the hinge", f[2], 9.81, 1e-2)
	near(t, "moment of the hinge", w[1], 0, 1e-2)
}

func ExampleSystem_Step() {
	m, err := dynamics.New(dynamics.Spec{
		Bodies: []dynamics.Body{{
			Name: "ball", Parent: dynamics.World, Position: [3]float64{0, 0, 1},
			Joint: dynamics.Joint{Kind: dynamics.Free},
			Mass:  1, Inertia: [9]float64{0: 0.004, 4: 0.004, 8: 0.004},
		}},
		Geoms: []collide.Geom{
			{Shape: collide.Shape{Kind: collide.Plane}, Body: dynamics.World, Local: collide.Identity()},
			{Shape: collide.Shape{Kind: collide.Sphere, Radius: 0.1}, Body: 0, Local: collide.Identity()},
		},
		Options: dynamics.Options{Gravity: [3]float64{0, 0, -9.81}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	s, err := dynamics.NewSystem(m)
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 2000 {
		if err := s.Step(0.001); err != nil {
			fmt.Println(err)
			return
		}
	}
	fmt.Printf("after %.0f s it lies at %.2f m, %d contact\n", s.Time, s.Pose(0).Position[2], s.Touches())
	// Output: after 2 s it lies at 0.10 m, 1 contact
}

// Two balls that deeply penetrate each other separate at most at the speed of Haste. Without Haste they separate with
// the energy of a compressed spring, although no work was done.
func TestHaste(t *testing.T) {
	for haste, most := range map[float64]float64{0: 10, 0.5: 0.5, 0.1: 0.1} {
		spec := dynamics.Spec{Options: dynamics.Options{Contact: dynamics.Softness{ERP: 0.3, CFM: 1e-4, Haste: haste}}}
		for b, x := range []float64{0, 0.02} {
			spec.Bodies = append(spec.Bodies,
				dynamics.Body{Parent: dynamics.World, Joint: dynamics.Joint{Kind: dynamics.Free},
					Position: [3]float64{x, 0, 0}, Mass: 0.5, Inertia: [9]float64{0: 1e-3, 4: 1e-3, 8: 1e-3}})
			spec.Geoms = append(spec.Geoms,
				collide.Geom{Body: b, Shape: collide.Shape{Kind: collide.Sphere, Radius: 0.05}})
		}
		s := system(t, spec)
		fastest := 0.0
		for range 100 {
			steps(t, s, 1, 0.01)
			a, _ := s.Velocity(0)
			b, _ := s.Velocity(1)
			fastest = math.Max(fastest, b[0]-a[0])
		}
		if fastest > most+1e-9 || haste == 0 && fastest < 1 {
			t.Errorf("haste %g: parted at %.3f m/s, want at most %g", haste, fastest, most)
		}
	}
}

package hydro

import (
	"math"
	"testing"

	"github.com/halyard-robotics/halyard/internal/sim/r3"
	"github.com/halyard-robotics/halyard/sim/dynamics"
)

const (
	g  = 9.81
	dt = 1e-3 // the step of the physics
)

// fresh is the water of the originals.
var fresh = Sea{Density: 997}

// dive is a vehicle alone in a sea, z metres up, at rest.
type dive struct {
	*dynamics.System
	*Craft
	sea Sea
}

func load(t testing.TB, name string) *Vehicle {
	t.Helper()
	v, err := Load(name)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func launch(t testing.TB, v *Vehicle, sea Sea, z float64) *dive {
	t.Helper()
	m, err := dynamics.New(dynamics.Spec{Bodies: []dynamics.Body{v.Body()},
		Options: dynamics.Options{Gravity: [3]float64{0, 0, -g}}})
	if err != nil {
		t.Fatal(err)
	}
	s, err := dynamics.NewSystem(m)
	if err != nil {
		t.Fatal(err)
	}
	d := &dive{System: s, Craft: New(v, 0), sea: sea}
	s.Before = func(s *dynamics.System, h float64) { d.Act(s, &d.sea, h) }
	s.Q[2] = z
	s.Moved()
	return d
}

// run lets seconds pass.
func (d *dive) run(t testing.TB, seconds float64) {
	t.Helper()
	for range int(math.Round(seconds / dt)) {
		if err := d.Step(dt); err != nil {
			t.Fatal(err)
		}
	}
}

// tilt turns the vehicle at rest about an axis through its origin.
func (d *dive) tilt(axis r3.Vec, angle float64) {
	q := r3.Spin(axis.Mul(angle)).Array()
	copy(d.Q[3:], q[:])
	d.Moved()
}

// within checks a value to a share of it.
func within(t *testing.T, what string, got, want, share float64) {
	t.Helper()
	t.Logf("%s: %.6g, theory %.6g (%+.3f %%)", what, got, want, 100*(got/want-1))
	if !(math.Abs(got-want) <= share*math.Abs(want)) {
		t.Errorf("%s: got %.6g, want %.6g within %g %%", what, got, want, 100*share)
	}
}

// neutral makes a vehicle as heavy as the water that it displaces.
func neutral(v *Vehicle) *Vehicle {
	w := *v
	w.Hull.Volume = w.Mass / fresh.Density
	return &w
}

// TestHover: the forces at rest are the difference of weight and buoyancy; balanced by the vertical thrusters or by
// trim, the vehicle stays where it is.
func TestHover(t *testing.T) {
	okon := load(t, "okon")
	d := launch(t, okon, fresh, -3)
	d.run(t, dt)
	net := 997*0.0126*g - 12.55*g
	within(t, "okon: buoyancy less weight", d.Force[0].Force[2]-12.55*g, net, 1e-9)
	within(t, "okon: its acceleration", d.V[2]/dt, net/12.55, 0.01)
	for name, z := range map[string]float64{"okon": -3, "bluerov2-heavy": -3} {
		d := launch(t, neutral(load(t, name)), fresh, z)
		d.run(t, 20)
		if way := r3.XYZ(d.Q[0], d.Q[1], d.Q[2]-z).Norm(); way > 1e-6 {
			t.Errorf("%s, neutral: got %g m away after 20 s, want to hover", name, way)
		}
	}
	// 0.5 N of each of two pairs hold a BlueROV that 2 N pull down.
	v := neutral(load(t, "bluerov2-heavy"))
	d = launch(t, v, fresh, -3)
	d.External.Force[2] = -2
	for i := 4; i < 8; i++ {
		d.Input[i] = inverse(&v.Curve, 0.5)
	}
	d.run(t, 60)
	near(t, "held by thrust: speed", d.V[2], 0, 1e-3)
}

// inverse is the input that gives a force.
func inverse(c *Curve, force float64) float64 {
	lo, hi := -1.0, 1.0
	for range 60 {
		if u := (lo + hi) / 2; c.Force(c.Pulse(u)) < force {
			lo = u
		} else {
			hi = u
		}
	}
	return hi
}

func near(t *testing.T, what string, got, want, apart float64) {
	t.Helper()
	if !(math.Abs(got-want) <= apart) {
		t.Errorf("%s: got %.6g, want %.6g within %g", what, got, want, apart)
	}
}

// TestTerminal: thrust and drag in balance, forwards and with Okon's two laws.
func TestTerminal(t *testing.T) {
	// Okon, rising by its 0.12 N: below the switch at 0.068 m/s the linear law.
	v := *load(t, "okon")
	d := launch(t, &v, fresh, -1000)
	d.run(t, 120)
	within(t, "okon: rise", d.V[2], (997*0.0126-12.55)*g/3, 0.01)
	// Full ahead: two thrusters forwards, two backwards, each 30 degrees off. With its centre of drag at the height
	// of the thrusters it does not pitch.
	w := *neutral(&v)
	w.Drag.At[2], w.Hull.Centre[2], w.COM[2] = 0.0937, 0.0937, 0.0937
	d = launch(t, &w, fresh, -1000)
	for _, c := range []struct {
		name  string
		input float64
	}{{"flh", 1}, {"frh", 1}, {"blh", -1}, {"brh", -1}} {
		d.Input[w.Thruster(c.name)] = c.input
	}
	d.run(t, 30)
	ahead := 2 * (w.Curve.Force(1900) - w.Curve.Force(1100)) * math.Cos(math.Pi/6)
	within(t, "okon: ahead", d.V[0], math.Sqrt(ahead/44), 0.01)
	near(t, "okon: no drift", math.Hypot(d.V[1], d.V[2]), 0, 1e-6)

	// Its drag is the same in all directions.
	slant := r3.XYZ(3, 4, 12)
	d = launch(t, &w, fresh, -1000)
	d.External.Force = slant.Array()
	d.run(t, 30)
	within(t, "okon: on a slant", r3.XYZ(d.V[0], d.V[1], d.V[2]).Norm(), math.Sqrt(slant.Norm()/44), 0.01)

	// BlueROV: both laws in sum.
	b := neutral(load(t, "bluerov2-heavy"))
	d = launch(t, b, fresh, -1000)
	d.External.Force = [3]float64{40, 0, 0}
	d.run(t, 30)
	within(t, "bluerov2: surge at 40 N", d.V[0], (-13.7+math.Sqrt(13.7*13.7+4*141*40))/(2*141), 0.01)
	d = launch(t, b, fresh, -1000)
	d.External.Torque = [3]float64{0, 0, 5}
	d.run(t, 30)
	within(t, "bluerov2: yaw at 5 N·m", d.V[5], math.Sqrt(5/1.5), 0.01)
	// And its thrusters: four at 45 degrees.
	d = launch(t, b, fresh, -1000)
	for i := range 4 {
		d.Input[i] = 0.5
	}
	d.run(t, 30)
	f := 4 * b.Curve.Force(1700) * math.Sqrt2 / 2
	within(t, "bluerov2: surge at half input", d.V[0], (-13.7+math.Sqrt(13.7*13.7+4*141*f))/(2*141), 0.01)
	near(t, "bluerov2: thrust", d.Thrust(0), 1.823*9.80665, 1e-6)
}

// TestRighting: without drag a vehicle swings about its centre of buoyancy as a pendulum does, with the water's
// inertia; and Okon, whose drag is more than critical, comes back without swinging.
func TestRighting(t *testing.T) {
	for _, name := range []string{"okon", "bluerov2-heavy"} {
		for axis, what := range []string{"roll", "pitch"} {
			v := *neutral(load(t, name))
			v.Drag = Drag{}
			d := launch(t, &v, fresh, -50)
			const angle = 0.05
			d.tilt(r3.XYZ(float64(1-axis), float64(axis), 0), angle)
			arm := v.Hull.Centre[2] - v.COM[2]
			stiff := v.Mass * g * arm
			inertia := v.Inertia[4*axis] + v.Added[3+axis][3+axis]
			// Its first pass through level is a quarter of the period, to first order between two steps.
			time, last := 0.0, angle
			for time < 60 {
				d.run(t, dt)
				now := 2 * d.Q[4+axis]
				if now <= 0 {
					time += dt * last / (last - now)
					break
				}
				time, last = time+dt, now
			}
			within(t, name+": period of "+what, 4*time, 2*math.Pi*math.Sqrt(inertia/stiff)*(1+angle*angle/16), 0.01)
		}
	}
	okon := neutral(load(t, "okon"))
	d := launch(t, okon, fresh, -50)
	d.tilt(r3.XYZ(1, 0, 0), 0.1)
	d.run(t, 10)
	// Slow: I s'' + c s' + k s = 0 with c = 1.5, from rest.
	k, c, i := 12.55*g*0.002, 1.5, okon.Inertia[0]
	root := math.Sqrt(c*c - 4*k*i)
	p, q := (-c+root)/2/i, (-c-root)/2/i
	want := 0.1 * (p*math.Exp(10*q) - q*math.Exp(10*p)) / (p - q)
	within(t, "okon: roll after 10 s", 2*math.Asin(d.Q[4]), want, 0.01)
}

// TestDiving: a constant pull against quadratic drag: z = (m'/k) ln cosh(t sqrt(F k)/m'), v = sqrt(F/k) tanh.
func TestDiving(t *testing.T) {
	v := *neutral(load(t, "bluerov2-heavy"))
	v.Drag.Linear = [6]float64{}
	d := launch(t, &v, fresh, -5)
	const pull, k, time = 30.0, 190.0, 2.0
	m := v.Mass + v.Added[2][2]
	d.External.Force[2] = -pull
	d.run(t, time)
	x := time * math.Sqrt(pull*k) / m
	within(t, "speed", -d.V[2], math.Sqrt(pull/k)*math.Tanh(x), 0.01)
	within(t, "way", -5-d.Q[2], m/k*math.Log(math.Cosh(x)), 0.01)
}

// TestSurfacing: a light vehicle comes up and swims where what it displaces weighs what it does; Okon where its ramp
// says so. Pushed under, it comes back.
func TestSurfacing(t *testing.T) {
	v := *load(t, "bluerov2-heavy")
	v.Hull.Volume = 1.25 * v.Mass / fresh.Density
	d := launch(t, &v, fresh, -4)
	d.run(t, 60)
	within(t, "share under water", d.Immersed(), 0.8, 0.01)
	// Upright in an even box: its lower side is at 80 % of its height.
	within(t, "draught", 0.254/2-(d.Q[2]+0.01), 0.8*0.254, 0.01)
	near(t, "at rest", math.Abs(d.V[2]), 0, 1e-4)
	d.External.Force[2] = -1000 * 9.81 * 0.001 * 1.25 // a weight of 1.25 l of water
	d.run(t, 60)
	within(t, "share with a weight", d.Immersed(), (v.Mass*g+1000*9.81*0.001*1.25)/(fresh.Density*v.Hull.Volume*g),
		0.01)

	okon := load(t, "okon")
	d = launch(t, okon, fresh, 1) // where the original lets it start
	d.run(t, 0.4)
	within(t, "falls in air", d.V[2], -g*0.4, 0.01)
	d.run(t, 200)
	depth := 0.2 * 12.55 / (997 * 0.0126)
	within(t, "okon: depth of its centre", -(d.Q[2] + 0.083), depth, 0.01)
}

// TestFloat: a box that swims rights itself by its water plane: GM = KB + BM - KG, BM = b²/(12 draught) of a box.
func TestFloat(t *testing.T) {
	v := Vehicle{
		Mass: 50, Inertia: [9]float64{0: 3, 4: 3, 8: 3}, Curve: Curve{Pieces: []Piece{{}}},
		Hull: Hull{Volume: 0.1, Box: [3]float64{1, 0.5, 0.2}, Cells: [3]int{30, 30, 20}},
	}
	sea := Sea{Density: 1000}
	d := launch(t, &v, sea, 0)
	d.tilt(r3.XYZ(1, 0, 0), 0.02)
	d.Act(d.System, &sea, dt)
	within(t, "lift, half under", d.Force[0].Force[2], 50*g, 0.001)
	const draught = 0.1
	gm := draught/2 + 0.25/(12*draught) - 0.1
	within(t, "righting moment", -d.Force[0].Torque[0], 50*g*gm*math.Sin(0.02), 0.01)
	// Out of the water nothing, under it all at the centre.
	for _, c := range []struct{ z, lift float64 }{{2, 0}, {-2, 100 * g}, {0.1001, 0}} {
		d := launch(t, &v, sea, c.z)
		d.Act(d.System, &sea, dt)
		near(t, "lift", d.Force[0].Force[2], c.lift, 1e-9)
	}
}

// TestCurrent: a free vehicle is carried along; a held one has drag.
func TestCurrent(t *testing.T) {
	for _, name := range Names() {
		v := neutral(load(t, name))
		sea := fresh
		sea.Current = [3]float64{0.3, -0.2, 0}
		d := launch(t, v, sea, -10)
		d.run(t, 60)
		for i, c := range sea.Current {
			near(t, name+": carried", d.V[i], c, 0.01*0.36)
		}
	}
	// At rest in a current of 1 m/s, the pull is that of the speed through the water, in the first step and in the
	// last.
	v := neutral(load(t, "bluerov2-heavy"))
	d := launch(t, v, Sea{Density: fresh.Density, Current: [3]float64{0, 1, 0}}, -10)
	if err := d.Step(1e-6); err != nil {
		t.Fatal(err)
	}
	within(t, "pull of a current", d.V[1]/1e-6, 217/(v.Mass+v.Added[1][1]), 0.01)
}

// TestEntry: the water that a falling vehicle takes along is given its speed by the vehicle: nothing is gained.
func TestEntry(t *testing.T) {
	v := *neutral(load(t, "bluerov2-heavy"))
	v.Drag = Drag{}
	d := launch(t, &v, fresh, 1)
	d.Gravity = [3]float64{}
	v.Hull.Volume = 0
	d.V[2] = -3
	d.run(t, 3)
	within(t, "speed after the entry", d.V[2], -3*v.Mass/(v.Mass+v.Added[2][2]), 0.01)
}

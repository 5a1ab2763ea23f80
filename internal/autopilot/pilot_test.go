package autopilot

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/hal"
)

const cycle = 20 * time.Millisecond

func about(x, y, z, deg float64) [4]float64 {
	c, s := math.Cos(deg*math.Pi/360), math.Sin(deg*math.Pi/360)
	return [4]float64{c, x * s, y * s, z * s}
}

func newPilot(t *testing.T, l *hal.Layout, c Config) *Pilot {
	t.Helper()
	p, err := New(l, c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// apart is the angle between two attitudes, degrees.
func apart(a, b [4]float64) float64 {
	dot := 0.0
	for i := range a {
		dot += a[i] * b[i]
	}
	return 2 * math.Acos(math.Min(1, math.Abs(dot))) * 180 / math.Pi
}

// TestStable: attitude within 2 degrees and depth within 5 cm, held in a current, for any cycle time and any mounting
// of the IMU.
func TestStable(t *testing.T) {
	for _, k := range []struct {
		name    string
		target  [4]float64
		depth   float64
		current [3]float64
		cycle   time.Duration
		mounted float64
	}{
		{"heading", about(0, 0, 1, 90), 1, [3]float64{}, cycle, 0},
		{"the shorter way", about(0, 0, 1, -170), 1, [3]float64{}, cycle, 0},
		{"the other sign of the same", unit([4]float64{-about(0, 0, 1, 60)[0], 0, 0, -about(0, 0, 1, 60)[3]}), 1,
			[3]float64{}, cycle, 0},
		{"all axes", unit(hal.Pose{Rotation: about(0, 0, 1, 40)}.Times(
			hal.Pose{Rotation: about(0.6, 0.8, 0, 25)}).Rotation), 2, [3]float64{}, cycle, 0},
		{"in a current", about(0, 0, 1, 30), 3, [3]float64{0.2, -0.1, 0}, cycle, 0},
		{"a quick rig, a turned imu", about(0, 0, 1, 90), 1, [3]float64{}, 5 * time.Millisecond, 2},
		{"a slow rig", about(0, 0, 1, 45), 1, [3]float64{}, 30 * time.Millisecond, 0},
	} {
		t.Run(k.name, func(t *testing.T) {
			l := rover(k.mounted)
			p, b := newPilot(t, l, Config{}), newPlant(l)
			b.current = k.current
			p.Arm()
			p.SetTargets(Targets{Attitude: k.target, Depth: k.depth})
			way := apart(b.attitude, k.target)
			b.fly(t, p, 25*time.Second, k.cycle, func(at time.Duration) {
				if d := apart(b.attitude, k.target); d > way+5 {
					t.Fatalf("after %v: %g degrees from the target, %g at first: the long way round", at, d, way)
				}
			})
			b.fly(t, p, 10*time.Second, k.cycle, func(at time.Duration) {
				if d := apart(b.attitude, k.target); d > 2 {
					t.Fatalf("after %v: %g degrees from the target, want at most 2", at, d)
				}
				if d := -b.position[2]; math.Abs(d-k.depth) > 0.05 {
					t.Fatalf("after %v: depth %g, want %g within 5 cm", at, d, k.depth)
				}
			})
		})
	}
}

// TestPeriod: the control law runs at 50 Hz for any cycle time, and its output is held between runs.
func TestPeriod(t *testing.T) {
	for _, k := range []struct{ cycle, want time.Duration }{
		{5 * time.Millisecond, cycle}, {cycle, cycle}, {7 * time.Millisecond, 21 * time.Millisecond},
		{30 * time.Millisecond, 30 * time.Millisecond},
	} {
		l := rover(0)
		p, b := newPilot(t, l, Config{}), newPlant(l)
		p.Arm()
		p.SetTargets(Targets{Attitude: about(0, 0, 1, 90), Depth: 1})
		last, changed := 0.0, time.Duration(0)
		b.fly(t, p, time.Second, k.cycle, func(at time.Duration) {
			if u := b.duties[4]; u != last {
				if at-changed != k.want && last != 0 {
					t.Errorf("a cycle of %v: a step after %v, want %v", k.cycle, at-changed, k.want)
				}
				last, changed = u, at
			}
		})
	}
}

// TestVelocity: thrust along the body's axes goes there, and 0 m switches the depth hold off.
func TestVelocity(t *testing.T) {
	for i, name := range []string{"forward", "left", "up"} {
		l := rover(0)
		p, b := newPilot(t, l, Config{}), newPlant(l)
		p.Arm()
		v := Targets{Attitude: [4]float64{1}}
		v.Velocity[i] = 0.5
		p.SetTargets(v)
		b.fly(t, p, 5*time.Second, cycle, nil)
		for k, x := range b.position {
			if k == i && x < 0.5 || k != i && math.Abs(x) > 0.1 {
				t.Errorf("%s: got position %.2f, want it to lead that way", name, b.position)
			}
		}
	}
}

// TestAcro: each rate is reached within two seconds and held over full turns against the righting moment, while the
// others stay at zero.
func TestAcro(t *testing.T) {
	for axis := range 3 {
		l := rover(0)
		p, b := newPilot(t, l, Config{}), newPlant(l)
		p.SetMode(Acro)
		p.Arm()
		want := Targets{}
		want.Rates[axis] = 0.4
		p.SetTargets(want)
		off := 0.0
		b.fly(t, p, 30*time.Second, cycle, func(at time.Duration) {
			for k, x := range b.rates {
				if at > 2*time.Second {
					off = math.Max(off, math.Abs(x-want.Rates[k]))
				}
			}
		})
		if !(off < 0.012) {
			t.Errorf("axis %d: got %.4f rad/s off, want less than 0.012", axis, off)
		}
	}
}

func TestManualAndArming(t *testing.T) {
	l := rover(0)
	p, b := newPilot(t, l, Config{}), newPlant(l)
	run := func() []float64 {
		b.fly(t, p, cycle, cycle, nil)
		return b.duties
	}
	none := make([]float64, 8)
	if p.Mode() != Stable || p.Armed() || !slices.Equal(run(), none) {
		t.Errorf("at first: got %v, armed %v, %v; want stable, disarmed, nothing", p.Mode(), p.Armed(), b.duties)
	}
	p.SetMode(Manual)
	p.SetDuties([]float64{1, 1, 1, 1, 1, 1, 1, 1})
	p.Arm()
	if !slices.Equal(run(), none) {
		t.Errorf("duties of before arming: got %v, want none", b.duties)
	}
	want := []float64{0.1, -0.2, 0.3, 1, -1, 0, 0.5, -0.5}
	p.SetDuties([]float64{0.1, -0.2, 0.3, 7, -7, math.NaN(), 0.5, -0.5})
	if !slices.Equal(run(), want) || !slices.Equal(p.Duties(nil), run()) {
		t.Errorf("manual: got %v, want %v until the next SetDuties", b.duties, want)
	}
	p.SetMode(Acro)
	p.SetDuties(want)
	p.SetMode(Manual)
	if !slices.Equal(run(), none) {
		t.Errorf("another mode between: got %v, want none", b.duties)
	}
	p.SetDuties(want)
	p.Disengage()
	if !slices.Equal(run(), none) || p.Armed() {
		t.Errorf("at rest: got %v, want none", b.duties)
	}
	if want := (Targets{Attitude: [4]float64{1}, Depth: 1}); p.Targets() != want {
		t.Errorf("targets: got %+v, want %+v", p.Targets(), want)
	}
}

// TestBlind: an unknown or outdated attitude stops the thrusters; an unknown depth stops only depth control.
func TestBlind(t *testing.T) {
	l := rover(0)
	p, b := newPilot(t, l, Config{}), newPlant(l)
	p.Arm()
	p.SetTargets(Targets{Attitude: about(0, 0, 1, 90), Depth: 5})
	moves := func(what string, horizontal, vertical bool) {
		t.Helper()
		inputs := make([]float64, 8)
		b.frame.Time += cycle
		if !p.Update(b.frame, inputs, cycle) {
			t.Fatalf("%s: it flies no more", what)
		}
		if (inputs[0] != 0) != horizontal || (inputs[4] != 0) != vertical {
			t.Errorf("%s: got %.2f, want horizontal %v, vertical %v", what, inputs, horizontal, vertical)
		}
	}
	b.measure(0)
	moves("all known", true, true)
	imu, depth := &b.frame.Status[8], &b.frame.Status[9]
	depth.Err, depth.Time = errors.New("silent"), b.frame.Time
	moves("a young depth", true, true)
	b.frame.Time += time.Second
	moves("an old depth", true, false)
	imu.Err, imu.Time = errors.New("silent"), b.frame.Time-stale
	moves("an old imu", false, false)
	imu.Err, depth.Err = nil, nil
	moves("well again", true, true)
	b.frame.Measured[1] = math.NaN()
	moves("no attitude", false, false)
	b.measure(b.frame.Time)
	b.frame.Measured[10] = math.NaN()
	moves("no depth", true, false)
}

// TestZero: after it the same place is the start, for estimates and for the law.
func TestZero(t *testing.T) {
	l := rover(0)
	p, b := newPilot(t, l, Config{}), newPlant(l)
	b.attitude, b.position = about(0, 0, 1, 70), [3]float64{0, 0, -4}
	b.measure(0)
	p.Zero(b.frame.Measured)
	e := p.Estimate(b.frame.Measured)
	if apart(e.Attitude, [4]float64{1}) > 1e-6 || e.Depth != 0 || e.Pressure != 0 || e.Position[2] != 0 {
		t.Errorf("got %+v, want nothing", e)
	}
	p.Arm()
	p.SetTargets(Targets{Attitude: about(0, 0, 1, 10), Depth: 1})
	b.fly(t, p, 25*time.Second, cycle, nil)
	if d := apart(b.attitude, about(0, 0, 1, 80)); d > 2 || math.Abs(b.position[2]+5) > 0.05 {
		t.Errorf("flown to 10° and 1 m: got %g° off and z %g, want 80° and -5 of the world", d, b.position[2])
	}
}

// TestEstimate: imu measurements in its own axes are converted to the body's and the world's.
func TestEstimate(t *testing.T) {
	l := rover(0)
	l.Sensors[0].Mount = hal.Pose{Rotation: about(0, 0, 1, 90)}
	l.Sensors[1].Mount.Position = [3]float64{0, 0, 0.3}
	l.Sensors = append(l.Sensors, hal.Sensor{Name: "truth", Kind: "pose", First: len(l.Outputs), Count: 13})
	p := newPilot(t, l, Config{})
	m := make([]float64, 24)
	at := unit(about(0, 0, 1, 30))
	q := hal.Pose{Rotation: at}.Times(l.Sensors[0].Mount).Rotation
	copy(m, q[:])
	copy(m[4:], []float64{0, -1, 0})      // about the sensor's -y, which is the body's x
	copy(m[7:], []float64{0, -2, 9.81})   // and along it
	m[10] = 9800                          // 1 m
	copy(m[11:], []float64{7, 8, -9, 1})  // the pose knows where, the imu knows the rest
	copy(m[21:], []float64{0, 0, 0, 0.5}) // it disagrees about the rates
	e := p.Estimate(m)
	along := [3]float64{2 * math.Cos(math.Pi/6), 2 * math.Sin(math.Pi/6), 0}
	near := func(what string, got, want [3]float64) {
		for i := range got {
			if math.Abs(got[i]-want[i]) > 1e-9 {
				t.Errorf("%s: got %g, want %g", what, got, want)
				return
			}
		}
	}
	near("rates", e.Rates, [3]float64{1, 0, 0})
	near("acceleration", e.Acceleration, along)
	near("position", e.Position, [3]float64{7, 8, -9})
	if apart(e.Attitude, at) > 1e-6 || math.Abs(e.Depth-1.3) > 1e-9 || e.Pressure != 9800 {
		t.Errorf("got %+v, want 30°, and 1.3 m for a sensor 0.3 m above", e)
	}
	// with only a pose
	l.Sensors = l.Sensors[2:]
	copy(m[14:], at[:])
	copy(m[21:], []float64{0, 0, 2})
	e = newPilot(t, l, Config{}).Estimate(m)
	near("rates of a pose", e.Rates, [3]float64{0, 0, 2})
	if apart(e.Attitude, at) > 1e-6 || e.Depth != 9 || e.Pressure != 9*9800 {
		t.Errorf("a pose: got %+v, want 30° and 9 m", e)
	}
}

// TestAngularAcceleration: it is the change of the rates about the world's axes.
func TestAngularAcceleration(t *testing.T) {
	l := rover(0)
	p, b := newPilot(t, l, Config{}), newPlant(l)
	b.attitude = about(0, 0, 1, 90)
	in := make([]float64, 8)
	for i, rate := range []float64{0, 0.1} {
		b.rates = [3]float64{rate, 0, 0}
		b.measure(time.Duration(i+1) * cycle)
		p.Update(b.frame, in, cycle)
	}
	if a := p.Estimate(b.frame.Measured).AngularAcceleration; math.Abs(a[1]-5) > 1e-9 || math.Abs(a[0]) > 1e-9 {
		t.Errorf("got %g, want 0 5 0", a)
	}
}

func TestNew(t *testing.T) {
	for _, k := range []struct {
		name   string
		change func(*hal.Layout, *Config)
		want   string
	}{
		{"too few thrusters", func(l *hal.Layout, c *Config) { l.Actuators = l.Actuators[:7] },
			"got 7 that take a duty, want 8"},
		{"no duty", func(l *hal.Layout, c *Config) { l.Actuators[2].Goal[hal.DutyMode] = hal.None }, "got 7"},
		{"no sensor", func(l *hal.Layout, c *Config) { l.Sensors = l.Sensors[1:] }, "neither imu nor pose"},
		{"another sensor", func(l *hal.Layout, c *Config) { c.Pressure = "keel" }, `no sensor "keel"`},
		{"too few channels", func(l *hal.Layout, c *Config) { l.Sensors[0].Count = 9 }, "neither"},
		{"gains", func(l *hal.Layout, c *Config) { c.Tuning = &Tuning{Yaw: Gains{Limit: -1}} }, "yaw.limit: got -1"},
		{"water", func(l *hal.Layout, c *Config) { c.PascalPerMetre = -1 }, "Pa/m"},
	} {
		l, c := rover(0), Config{}
		k.change(l, &c)
		if _, err := New(l, c); hal.KindOf(err) != hal.Invalid || !strings.Contains(err.Error(), k.want) {
			t.Errorf("%s: got %v, want %q", k.name, err, k.want)
		}
	}
	if _, err := New(rover(0), Config{IMU: "imu", Pressure: "depth"}); err != nil {
		t.Errorf("named sensors: got %v", err)
	}
}

// TestSameBits: two pilots that see the same do the same.
func TestSameBits(t *testing.T) {
	run := func() (all [][8]float64) {
		l := rover(0)
		p, b := newPilot(t, l, Config{}), newPlant(l)
		p.Arm()
		p.SetTargets(Targets{Attitude: about(0, 0, 1, 50), Depth: 2})
		b.fly(t, p, 5*time.Second, cycle, func(time.Duration) { all = append(all, [8]float64(b.duties)) })
		return all
	}
	if !slices.Equal(run(), run()) {
		t.Error("the same flight twice: got other duties, want the same")
	}
}

func TestFlyDoesNotAllocate(t *testing.T) {
	l := rover(0)
	p, b := newPilot(t, l, Config{}), newPlant(l)
	p.Arm()
	b.measure(0)
	inputs := make([]float64, 8)
	if n := testing.AllocsPerRun(100, func() { p.Update(b.frame, inputs, cycle) }); n != 0 {
		t.Errorf("got %v allocations, want 0", n)
	}
}

func BenchmarkFly(b *testing.B) {
	l := rover(0)
	p, err := New(l, Config{})
	if err != nil {
		b.Fatal(err)
	}
	plant, inputs := newPlant(l), make([]float64, 8)
	p.Arm()
	plant.measure(0)
	b.ReportAllocs()
	for b.Loop() {
		p.Update(plant.frame, inputs, cycle)
	}
}

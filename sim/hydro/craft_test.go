package hydro

import (
	"math"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/internal/sim/exact"
	"github.com/halyard-robotics/halyard/internal/sim/r3"
)

// TestCurve compares the curves with the values they come from.
func TestCurve(t *testing.T) {
	okon, rov := load(t, "okon").Curve, load(t, "bluerov2-heavy").Curve
	const kgf = 9.80665
	for _, c := range []struct {
		name         string
		curve        *Curve
		input, force float64
	}{
		{"okon", &okon, 1, 6.182687427}, {"okon", &okon, -1, -4.75241252}, {"okon", &okon, 7, 6.182687427},
		{"okon", &okon, 0, 0}, {"okon", &okon, 0.07, 0}, {"okon", &okon, -0.07, 0}, {"okon", &okon, math.NaN(), 0},
		{"okon", &okon, 0.07001, 0.0306},
		{"t200", &rov, 1, 5.245 * kgf}, {"t200", &rov, -1, -4.07 * kgf}, {"t200", &rov, math.Inf(-1), -4.07 * kgf},
		{"t200", &rov, 0.07, 0}, {"t200", &rov, -0.07, 0}, {"t200", &rov, 0.75, 3.42 * kgf},
		{"t200", &rov, -0.25, -0.48 * kgf},
		{"t200 between", &rov, 0.725, (3.107 + 3.42) / 2 * kgf},
	} {
		near(t, c.name, c.curve.Force(c.curve.Pulse(c.input)), c.force, 1e-4)
	}
	// Blue Robotics' public table at 16 V, kgf by the pulse's microseconds, whole.
	for pulse, force := range map[float64]float64{1100: -4.07, 1148: -3.52, 1200: -2.71, 1248: -2.08, 1300: -1.44,
		1352: -0.90, 1400: -0.48,
		1440: -0.18, 1460: -0.07, 1468: -0.036, 1472: 0, 1500: 0, 1528: 0, 1532: 0.041, 1540: 0.077, 1560: 0.218,
		1580: 0.399, 1600: 0.603,
		1620: 0.817, 1660: 1.279, 1700: 1.823, 1740: 2.431, 1780: 3.107, 1800: 3.420, 1840: 4.255, 1860: 4.649,
		1880: 5.012, 1900: 5.245} {
		near(t, "t200 table", rov.Force(pulse), force*kgf, 1e-9)
	}
	// The public tables of 14 and 20 V, by the power of the supply.
	s := load(t, "bluerov2-heavy").Supply
	near(t, "14 V", s.scale(14)*5.245, 4.52, 0.03)
	near(t, "14 V, backwards", s.scale(14)*4.07, 3.52, 0.03)
	near(t, "20 V", s.scale(20)*5.245, 6.7, 0.05)
	near(t, "no supply", s.scale(0), 0, 0)
	near(t, "less than none", s.scale(math.NaN()), 0, 0)
	near(t, "okon's thrust does not depend on a supply", load(t, "okon").Supply.scale(0), 1, 0)
}

// TestThruster: lag, supply and the surface.
func TestThruster(t *testing.T) {
	v := neutral(load(t, "bluerov2-heavy"))
	d := launch(t, v, fresh, -5)
	d.Input[4] = 0.5
	full := v.Curve.Force(1700)
	for range 80 { // one time constant
		d.Act(d.System, &fresh, dt)
	}
	share := 1 - math.Exp(-1)
	near(t, "after one time constant", d.Thrust(4), full*share*share, 1e-9)
	for range 2000 {
		d.Act(d.System, &fresh, dt)
	}
	near(t, "steady", d.Thrust(4), full, 1e-6)
	d.Input[5] = -0.5
	for range 2000 {
		d.Act(d.System, &fresh, dt)
	}
	near(t, "backwards", d.Thrust(5), v.Curve.Force(1300), 1e-6)
	d.Volts = 12
	for range 2000 {
		d.Act(d.System, &fresh, dt)
	}
	near(t, "at 12 V", d.Thrust(4), full*math.Pow(0.75, 1.1), 1e-6)
	d.Volts = 0
	for range 4000 {
		d.Act(d.System, &fresh, dt)
	}
	near(t, "without power", d.Thrust(4), 0, 1e-12)
	// The propeller is at 0.064 m and 0.1 m across.
	d.Volts = 16
	for _, c := range []struct{ z, share float64 }{{-0.2, 1}, {-0.064, 0.5}, {-0.039, 0.25}, {0, 0}, {1, 0}} {
		d.Q[2] = c.z
		for range 2000 {
			d.Act(d.System, &fresh, dt)
		}
		near(t, "at the surface", d.Thrust(4), c.share*full, 1e-6)
	}
	okon := launch(t, load(t, "okon"), fresh, -0.094)
	okon.Input[0] = 1
	okon.Act(okon.System, &fresh, dt)
	near(t, "okon, just under", okon.Thrust(0), 6.182687427, 1e-9)
	okon.Q[2] = -0.093
	okon.Act(okon.System, &fresh, dt)
	near(t, "okon, just above", okon.Thrust(0), 0, 0)
}

// TestFrames: what the thrusters do together reports that the axes were taken over rightly: forward, left, up, and
// turns.
func TestFrames(t *testing.T) {
	sum := func(v *Vehicle, push map[string]float64) (force, torque r3.Vec) {
		for name, f := range push {
			th := &v.Thrusters[v.Thruster(name)]
			d := r3.Pack(th.Direction).Mul(f)
			force = force.Add(d)
			torque = torque.Add(r3.Pack(th.At).Sub(r3.Pack(v.COM)).Cross(d))
		}
		return force, torque
	}
	okon, rov := load(t, "okon"), load(t, "bluerov2-heavy")
	for _, c := range []struct {
		name  string
		v     *Vehicle
		push  map[string]float64
		which string // of force x y z and torque x y z, what is to be positive; all but pitch of the rest is small
	}{
		// Okon's mixer of the original: forward, right, and "yaw", which turns left.
		{"okon forward", okon, map[string]float64{"flh": 1, "frh": 1, "blh": -1, "brh": -1}, "x"},
		{"okon left", okon, map[string]float64{"flh": -1, "frh": 1, "blh": -1, "brh": 1}, "y"},
		{"okon yaw", okon, map[string]float64{"flh": -1, "frh": 1, "blh": 1, "brh": -1}, "Z"},
		{"okon up", okon, map[string]float64{"flv": 1, "frv": 1, "blv": 1, "brv": 1}, "z"},
		{"okon roll to the right", okon, map[string]float64{"flv": 1, "frv": -1, "blv": 1, "brv": -1}, "X"},
		{"bluerov2 forward", rov, map[string]float64{"t1": 1, "t2": 1, "t3": 1, "t4": 1}, "x"},
		{"bluerov2 left", rov, map[string]float64{"t1": 1, "t2": -1, "t3": -1, "t4": 1}, "y"},
		{"bluerov2 yaw", rov, map[string]float64{"t1": 1, "t2": -1, "t3": 1, "t4": -1}, "Z"},
		{"bluerov2 up", rov, map[string]float64{"t5": 1, "t6": 1, "t7": 1, "t8": 1}, "z"},
		{"bluerov2 roll to the right", rov, map[string]float64{"t5": -1, "t6": 1, "t7": -1, "t8": 1}, "X"},
		{"bluerov2 pitch down", rov, map[string]float64{"t5": -1, "t6": -1, "t7": 1, "t8": 1}, "Y"},
	} {
		f, w := sum(c.v, c.push)
		for i, x := range [...]float64{f.X, f.Y, f.Z, w.X, w.Y, w.Z} {
			axis := "xyzXYZ"[i : i+1]
			switch {
			case axis == c.which:
				if x < 0.3 {
					t.Errorf("%s: %s: got %g, want it positive", c.name, axis, x)
				}
			case math.Abs(x) > 0.16: // the levers of thrusters that are not at the height and middle of the mass
				t.Errorf("%s: %s: got %g, want about 0", c.name, axis, x)
			}
		}
	}
}

// swim is a second of everything: falling in, thrust, turns, a current.
func swim(t testing.TB, d *dive, n int) uint64 {
	for i := range n {
		for k := range d.Input {
			d.Input[k] = exact.Sin(float64(i*(k+1)) / 200)
		}
		if err := d.Step(dt); err != nil {
			t.Fatal(err)
		}
	}
	return d.Hash()
}

// TestSameBits: equal states have equal futures, run by run and after a restore; the hash is that of every machine.
func TestSameBits(t *testing.T) {
	want := map[string]uint64{"bluerov2-heavy": goldenROV, "okon": goldenOkon}
	for _, name := range Names() {
		sea := fresh
		sea.Current = [3]float64{0.2, 0.1, 0}
		v := load(t, name)
		a, b := launch(t, v, sea, 0.3), launch(t, v, sea, 0.3)
		if x, y := swim(t, a, 1500), swim(t, b, 1500); x != y || x != want[name] {
			t.Errorf("%s: got %#x and %#x, want %#x", name, x, y, want[name])
		}
		state, craft := a.System.NewState(), a.Craft.NewState()
		if err := a.System.Save(state); err != nil {
			t.Fatal(err)
		}
		a.Craft.Save(craft)
		after := swim(t, a, 500)
		if err := a.System.Restore(state); err != nil {
			t.Fatal(err)
		}
		a.Craft.Restore(craft)
		if got := swim(t, a, 500); got != after {
			t.Errorf("%s: after a restore: got %#x, want %#x", name, got, after)
		}
		a.System.Reset()
		a.Craft.Reset()
		a.Q[2] = 0.3
		if got := swim(t, a, 1500); got != want[name] {
			t.Errorf("%s: after a reset: got %#x, want %#x", name, got, want[name])
		}
	}
}

// The hashes of TestSameBits on amd64; every machine is to have them.
const (
	goldenROV  = 0x8d5cabf175295fa0
	goldenOkon = 0xfd87236d0f550e47
)

func TestAllocations(t *testing.T) {
	for _, name := range Names() {
		d := launch(t, load(t, name), fresh, -0.05)
		craft := d.Craft.NewState()
		if n := testing.AllocsPerRun(100, func() {
			if err := d.Step(dt); err != nil {
				t.Fatal(err)
			}
			d.Craft.Save(craft)
			d.Craft.Restore(craft)
		}); n > 0 {
			t.Errorf("%s: got %g allocations a step, want 0", name, n)
		}
	}
}

// BenchmarkStep is a ROV at full work in steps of 1 ms; the bound is the engine's step of the same body without a
// craft, and ratio how much of its speed is left.
func BenchmarkStep(b *testing.B) {
	for _, c := range []struct {
		name string
		z    float64
	}{{"okon", -3}, {"bluerov2-heavy", -3}, {"bluerov2-heavy", 0}} {
		where := c.name
		if c.z == 0 {
			where += " at the surface"
		}
		b.Run(where, func(b *testing.B) {
			start := func(craft bool) *dive {
				d := launch(b, neutral(load(b, c.name)), fresh, c.z)
				if !craft {
					d.Before = nil
				}
				for i := range d.Input {
					d.Input[i] = 0.3
				}
				return d
			}
			// A tenth of a second in turns, from the same place each time.
			lap := func(d *dive) time.Duration {
				d.System.Reset()
				d.Q[2] = c.z
				begin := time.Now()
				d.run(b, 0.1)
				return time.Since(begin)
			}
			bare, full := start(false), start(true)
			var alone, both time.Duration
			for b.Loop() {
				alone += lap(bare)
				both += lap(full)
			}
			rate := float64(100*b.N) / both.Seconds()
			b.ReportMetric(rate, "steps/s")
			b.ReportMetric(rate/1000, "x-real-time")
			b.ReportMetric(alone.Seconds()/both.Seconds(), "ratio")
			b.ReportMetric(0, "ns/op")
		})
	}
}

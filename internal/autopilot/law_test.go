package autopilot

import (
	"math"
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard/hal"
)

func TestPID(t *testing.T) {
	full := Gains{P: 2, I: 3, D: 0.5, WindupCap: 0.25, Gain: 10, Limit: 1000}
	for _, k := range []struct {
		name   string
		gains  Gains
		errors []float64 // 0.1 s apart
		want   float64
	}{
		{"p", Gains{P: 2, Gain: 1, Limit: 10}, []float64{3}, 6},
		{"gain", Gains{P: 2, Gain: -2, Limit: 100}, []float64{3}, -12},
		{"limit", Gains{P: 2, Gain: 1, Limit: 5}, []float64{-3}, -5},
		{"i", Gains{I: 1, WindupCap: 9, Gain: 1, Limit: 9}, []float64{1, 1, 2}, 0.4},
		{"windup", Gains{I: 1, WindupCap: 0.2, Gain: 1, Limit: 9}, []float64{9, 9, -1}, 0.1},
		{"no kick at first", Gains{D: 1, Gain: 1, Limit: 9}, []float64{5}, 0},
		{"d", Gains{D: 1, Gain: 1, Limit: 99}, []float64{5, 4}, -10},
		{"all", full, []float64{1, 2}, 10 * (4 + 3*0.25 + 5)},
		{"an unknown error restarts the integral", full, []float64{1, math.NaN(), 2}, 10 * (4 + 3*0.2)},
		{"not known", full, []float64{1, math.NaN()}, 0},
		{"infinite", Gains{P: MaxParameter, Gain: MaxParameter, Limit: 1}, []float64{math.Inf(1)}, 1},
		{"no limit is no output", Gains{P: 1, Gain: 1}, []float64{1}, 0},
	} {
		var p pid
		got := 0.0
		for _, e := range k.errors {
			got = p.step(&k.gains, e, 0.1)
		}
		if math.Abs(got-k.want) > 1e-9 {
			t.Errorf("%s: got %g, want %g", k.name, got, k.want)
		}
	}
}

func TestTuningCheck(t *testing.T) {
	if tuning := OkonTuning(); tuning.Check() != nil {
		t.Errorf("Okon's: got %v, want none", tuning.Check())
	}
	for _, k := range []struct {
		set  func(*Tuning)
		want string
	}{
		{func(t *Tuning) { t.Roll.P = math.NaN() }, "roll.p: got NaN"},
		{func(t *Tuning) { t.Pitch.WindupCap = -0.5 }, "pitch.windupCap: got -0.5"},
		{func(t *Tuning) { t.Depth.Limit = -1 }, "depth.limit: got -1"},
		{func(t *Tuning) { t.YawSpeed.D = 1e7 }, "yawSpeed.d: got 1e+07"},
		{func(t *Tuning) { t.RollSpeed.Gain = math.Inf(-1) }, "rollSpeed.gain: got -Inf"},
	} {
		tuning := OkonTuning()
		k.set(&tuning)
		if err := tuning.Check(); err == nil || !strings.Contains(err.Error(), k.want) {
			t.Errorf("got %v, want %q", err, k.want)
		}
	}
}

// TestCurve: the thrust follows the original's curve over the duty, up to full duty.
func TestCurve(t *testing.T) {
	b, c := &plant{newtons: OkonMixer().Curve}, OkonMixer().Curve
	for _, share := range []float64{-1, -0.5, -0.1, -0.02, 0.02, 0.1, 0.5, 1} {
		if got, want := b.thrust(c.Duty(share)), share*c.Full; math.Abs(got-want) > 1e-3 {
			t.Errorf("%g: got %g N, want %g", share, got, want)
		}
	}
	more := c
	more.Full = 50
	linear := Curve{}
	for _, k := range []struct {
		c           *Curve
		share, want float64
	}{
		{&c, 0, 0}, {&c, math.NaN(), 0}, {&more, 1, 1}, {&more, -1, -1}, {&linear, 0.3, 0.3}, {&linear, -4, -1},
		{&Curve{Full: 1, Forward: [3]float64{1, 0, 9}}, 1, 0},
	} {
		if got := k.c.Duty(k.share); got != k.want {
			t.Errorf("%g of %+v: got %g, want %g", k.share, *k.c, got, k.want)
		}
	}
}

// TestMixer: each single demand moves or turns the vehicle along or about its own axis, in the right direction.
func TestMixer(t *testing.T) {
	m := OkonMixer()
	m.Curve = Curve{}
	up := [3]float64{0, 0, 1}
	for i, d := range []Demand{{Forward: 0.1}, {Left: 0.1}, {Up: 0.1}, {Roll: 0.1}, {Pitch: 0.1}, {Yaw: 0.1}} {
		out := make([]float64, 8)
		m.Mix(&d, up, out)
		got := wrench(out)
		for k, v := range got {
			if k == i && v < 0.04 || k != i && k < 3 && math.Abs(v) > 1e-6 {
				t.Errorf("%+v: got force and torque %.3f, want its own axis alone", d, got)
			}
		}
	}
	// however it lies, a heave pushes straight up with the strength of two thrusters
	for _, q := range [][4]float64{{1}, about(1, 0, 0, 50), about(0, 1, 0, -80), unit([4]float64{1, 2, 3, 4}),
		about(1, 0, 0, 180)} {
		lying, out := hal.Pose{Rotation: q}, make([]float64, 8)
		m.Mix(&Demand{Heave: 0.2}, lying.Inverse().Turn(up), out)
		got := wrench(out)
		world := lying.Turn([3]float64(got[:3]))
		if math.Hypot(world[0], world[1]) > 1e-6 || math.Abs(world[2]-0.4) > 1e-6 {
			t.Errorf("heave at %.2f: got %.3f, want 0.4 upwards", q, world)
		}
	}
	// too much is less of everything
	out := make([]float64, 8)
	m.Mix(&Demand{Yaw: 1, Forward: 3}, up, out)
	for i, want := range []float64{0.5, 1, -0.5, -1, 0, 0, 0, 0} {
		if math.Abs(out[i]-want) > 1e-12 {
			t.Errorf("too much: got %.2f, want thruster %d at %g", out, i, want)
		}
	}
}

// wrench is the force and the torque about the origin of thrusters that push with out newtons, in hal's axes.
func wrench(out []float64) (w [6]float64) {
	for i, m := range mounts {
		at, along := body(m[0]), body(m[1])
		for k := range 3 {
			a, b := (k+1)%3, (k+2)%3
			w[k] += along[k] * out[i]
			w[3+k] += (at[a]*along[b] - at[b]*along[a]) * out[i]
		}
	}
	return w
}

// FuzzLaw: duties are within -1..1 for any measurement, setpoint and tuning.
func FuzzLaw(f *testing.F) {
	f.Add(uint8(2), 1.0, 0.0, 0.0, 0.0, 0.1, 1.0, 0.02, 10.0)
	f.Add(uint8(1), 0.0, 1.0, 1e300, -1e300, math.Inf(1), math.NaN(), 1e-300, 1e6)
	f.Fuzz(func(t *testing.T, mode uint8, w, x, rate, depth, target, velocity, dt, gain float64) {
		l := law{mixer: OkonMixer(), tuning: OkonTuning()}
		l.tuning.Yaw.P, l.tuning.YawSpeed.D, l.tuning.Depth.I = gain, gain, -gain
		if l.tuning.Check() != nil {
			return
		}
		l.targets = Targets{Attitude: [4]float64{w, target, x, velocity}, Rates: [3]float64{target},
			Velocity: [3]float64{velocity, target}, Depth: target}.bounded()
		e := Estimate{Attitude: unit([4]float64{w, x, 0.5, target}), Rates: [3]float64{rate, depth, x}, Depth: depth}
		out := make([]float64, 8)
		for range 3 {
			l.step(Mode(mode%3), &e, dt, out)
			for _, u := range out {
				if !(math.Abs(u) <= 1) {
					t.Fatalf("got %v, want within -1..1", out)
				}
			}
		}
	})
}

package kinematics

import (
	"math"
	"math/rand/v2"
	"testing"
)

// truth is a body that turns, and what perfect sensors on it feel.
type truth struct{ q [4]float64 }

func (b *truth) sense() (acceleration, field [3]float64) {
	return turnBack(b.q, [3]float64{0, 0, standardGravity}), turnBack(b.q, [3]float64{20, 0, -45})
}

// axis is the rotation by angle about an axis.
func axis(angle, x, y, z float64) [4]float64 {
	s, c := math.Sincos(angle / 2)
	u, _ := unit([3]float64{x, y, z})
	return normal([4]float64{c, s * u[0], s * u[1], s * u[2]})
}

// apart is the angle between two attitudes, rad.
func apart(a, b [4]float64) float64 {
	d := math.Abs(a[0]*b[0] + a[1]*b[1] + a[2]*b[2] + a[3]*b[3])
	return 2 * math.Acos(math.Min(1, d))
}

var nothing = [3]float64{math.NaN(), math.NaN(), math.NaN()}

// The first sample is believed: in any attitude, upside down and with an axis straight up too.
func TestAttitudeBegins(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for i := range 1000 {
		b := truth{axis(r.Float64()*2*math.Pi, r.NormFloat64(), r.NormFloat64(), r.NormFloat64())}
		switch i {
		case 0:
			b.q = [4]float64{1}
		case 1:
			b.q = axis(math.Pi, 1, 0, 0)
		case 2:
			b.q = axis(-math.Pi/2, 0, 1, 0) // x straight up
		}
		a := NewAttitude(AttitudeConfig{})
		acc, field := b.sense()
		a.Update([3]float64{}, acc, field, 0)
		if e := apart(a.Quaternion(), b.q); !(e < 1e-6) {
			t.Fatalf("with a field: got %v, want %v: %g rad apart", a.Quaternion(), b.q, e)
		}
		a.Reset()
		a.Update([3]float64{}, acc, nothing, 0)
		if tilt := norm(plus(turn(a.Quaternion(), acc), [3]float64{0, 0, standardGravity}, -1)); !(tilt < 1e-6) {
			t.Fatalf("without: got %v, %g m/s² off upright", a.Quaternion(), tilt)
		}
	}
}

// Perfect gyros alone keep the attitude through any turning; the integration is exact for a constant rate.
func TestAttitudeTurns(t *testing.T) {
	a, b := NewAttitude(AttitudeConfig{}), truth{axis(0.5, 1, 2, 3)}
	acc, field := b.sense()
	a.Update([3]float64{}, acc, field, 0)
	rates := [3]float64{2, -1, 3}
	const dt = 0.01
	for range 10000 {
		b.q = advance(b.q, rates, dt)
		a.Update(rates, nothing, nothing, dt)
	}
	// 100 s at 3.74 rad/s about one axis, in closed form.
	want := advance(axis(0.5, 1, 2, 3), rates, 100)
	if e := apart(a.Quaternion(), want); !(e < 1e-6) {
		t.Errorf("after 100 s: %g rad off", e)
	}
}

// From 60 degrees off it comes back, with a time constant of about 1/Gain, and finds the gyros' offsets.
func TestAttitudeConverges(t *testing.T) {
	for _, c := range []struct {
		name  string
		start [4]float64
		field bool
		slow  bool // a tilted compass misleads the heading for a while
	}{{"roll", axis(math.Pi/3, 1, 0, 0), true, true}, {"heading", axis(math.Pi/3, 0, 0, 1), true, false},
		{"pitch, no field", axis(-math.Pi/3, 0, 1, 0), false, false}} {
		t.Run(c.name, func(t *testing.T) {
			a, b := NewAttitude(AttitudeConfig{Drift: -1}), truth{[4]float64{1}}
			a.q = c.start
			sample := func(drift [3]float64) {
				acc, field := b.sense()
				if !c.field {
					field = nothing
				}
				a.Update(drift, acc, field, 0.002)
			}
			for range 1500 {
				sample([3]float64{})
			}
			// d(angle)/dt = -Gain·sin(angle): tan(angle/2) falls as exp(-t).
			want := 2 * math.Atan(math.Tan(math.Pi/6)*math.Exp(-3))
			if e := apart(a.Quaternion(), b.q); math.Abs(e-want) > 0.01*want && !c.slow {
				t.Errorf("after 3 s: %g rad off, want %g", e, want)
			}
			a.config.Drift = 0.1
			drift := [3]float64{0.02, -0.05, 0.03}
			if !c.field {
				drift[2] = 0 // drift about the vertical is not observable without a magnetometer
			}
			for range 100_000 {
				sample(drift)
			}
			if e := apart(a.Quaternion(), b.q); !(e < 1e-3) {
				t.Errorf("with drifting gyros: %g rad off", e)
			}
			if d := norm(plus(a.Drift(), drift, -1)); !(d < 1e-3) {
				t.Errorf("drift: got %v, want %v", a.Drift(), drift)
			}
		})
	}
}

// What is no gravity and what is no number changes nothing but by the gyros; iron tilts no horizon.
func TestAttitudeDoubts(t *testing.T) {
	a, b := NewAttitude(AttitudeConfig{}), truth{axis(0.3, 0, 1, 0)}
	acc, field := b.sense()
	a.Update([3]float64{}, nothing, field, 0.01)
	if a.Quaternion() != ([4]float64{}) {
		t.Error("without gravity: got an attitude")
	}
	a.Update([3]float64{}, acc, field, 0)
	was := a.Quaternion()
	inf := math.Inf(1)
	for _, bad := range [][3]float64{{}, nothing, {0, 0, 2}, {0, 60, 0}, {inf, 0, 0}} {
		a.Update([3]float64{}, bad, [3]float64{}, 0.01)
	}
	a.Update(nothing, acc, field, 0.01)
	a.Update([3]float64{1, 1, 1}, acc, field, -1)
	if e := apart(a.Quaternion(), was); !(e < 1e-9) {
		t.Errorf("got %v, want %v", a.Quaternion(), was)
	}
	for range 2000 { // a magnet from the side
		a.Update([3]float64{}, acc, [3]float64{5, 300, -20}, 0.01)
	}
	up := turnBack(a.Quaternion(), [3]float64{0, 0, standardGravity})
	if e := norm(plus(up, acc, -1)); !(e < 0.02) {
		t.Errorf("near a magnet: %g m/s² off upright", e)
	}
}

// A noisy sensor of a phone's quality on a body that rolls and pitches: within a degree at all times.
func TestAttitudeFollows(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	a, b := NewAttitude(AttitudeConfig{}), truth{[4]float64{1}}
	noisy := func(v [3]float64, by float64) [3]float64 {
		return [3]float64{v[0] + by*r.NormFloat64(), v[1] + by*r.NormFloat64(), v[2] + by*r.NormFloat64()}
	}
	const dt = 0.005
	worst := 0.0
	for k := range 12000 {
		s := float64(k) * dt
		rates := [3]float64{1.5 * math.Cos(3*s), 0.8 * math.Sin(2*s), 0.4 * math.Cos(s)}
		acc, field := b.sense()
		a.Update(noisy(plus(rates, [3]float64{0.01, -0.01, 0.02}, 1), 0.005), noisy(acc, 0.1), noisy(field, 0.5), dt)
		if s > 30 {
			worst = math.Max(worst, apart(a.Quaternion(), b.q))
		}
		b.q = advance(b.q, rates, dt)
	}
	if !(worst < math.Pi/180) {
		t.Errorf("worst of 30 s: %.3g degrees", worst*180/math.Pi)
	}
	if n := testing.AllocsPerRun(100, func() {
		a.Update([3]float64{1}, [3]float64{0, 0, 9}, [3]float64{1}, dt)
	}); n != 0 {
		t.Errorf("got %g allocations", n)
	}
}

func BenchmarkAttitude(b *testing.B) {
	a := NewAttitude(AttitudeConfig{})
	for range b.N {
		a.Update([3]float64{0.1, 0.2, 0.3}, [3]float64{1, 2, 9}, [3]float64{20, 1, -40}, 0.005)
	}
}

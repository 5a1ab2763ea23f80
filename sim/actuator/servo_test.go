package actuator

import (
	"math"
	"testing"

	"github.com/halyard-robotics/halyard/hal"
)

const degree = math.Pi / 180

func servo(t testing.TB, name string) *Servo {
	k, ok := Lookup(name)
	if !ok {
		t.Fatalf("no servo %q", name)
	}
	return NewServo(k)
}

// at puts an enabled servo of the given name to a position goal.
func at(t testing.TB, name string, goal float64) *Servo {
	s := servo(t, name)
	s.Enable, s.GoalPosition = true, goal
	return s
}

// A pendulum with torque off within the bound of its friction stays exactly where it is; beyond it, it falls.
func TestStictionHolds(t *testing.T) {
	for _, name := range []string{"ax-12a", "mx-64", "xl330-m288", "xm430-w350"} {
		s := servo(t, name)
		s.Load = Load{Mass: 0.1, Length: 0.1}
		weight := 0.1 * 0.1 * StandardGravity
		var dry float64
		for _, c := range []struct {
			share float64 // of the angle at which weight equals friction
			falls bool
		}{{0.9, false}, {1.2, true}} {
			// The bound itself grows with the load: look for where they cross.
			limit := 0.0
			for a := 0.001; a < 1.5; a += 0.001 {
				if dry, _ = s.Spec.Friction.Bound(0, -weight*math.Sin(a), 0); weight*math.Sin(a) > dry {
					limit = a
					break
				}
			}
			if limit == 0 {
				s.Load.Mass *= 2
				limit = 1.5
				continue
			}
			start := limit * c.share
			s.Reset(start)
			run(s, 10000)
			if moved := s.Position != start; moved != c.falls {
				t.Errorf("%s at %.3f of %.3f rad: got %g after 10 s, want it to fall: %v", name, start, limit,
					s.Position, c.falls)
			}
		}
	}
}

// The shaft of a servo that holds still is pushed to and fro; the way it gives is the backlash.
func TestBacklash(t *testing.T) {
	for _, width := range []float64{0, 0.25 * degree, 1 * degree} {
		s := servo(t, "xm430-w350")
		s.Load = Load{Inertia: 0.001, Damping: 0.5, Backlash: width}
		var ends [2]float64
		for i, push := range []float64{0.03, -0.03} { // less than the friction of the gear
			s.External = push
			run(s, 1000)
			ends[i] = s.Position
		}
		if got := ends[0] - ends[1]; math.Abs(got-width) > 1e-6 {
			t.Errorf("width %g rad: got %g", width, got)
		}
		// The gear carries the load along all the same, half the width behind.
		s.External, s.Load.Damping = 0, 0
		s.Enable, s.GoalPosition = true, 0.5
		run(s, 2000)
		if got := s.Position; math.Abs(got-0.5) > 0.012+width {
			t.Errorf("width %g rad: got %g rad, want 0.5", width, got)
		}
		if lead := math.Abs(s.Position - s.gearPosition); lead > width/2+1e-12 {
			t.Errorf("width %g rad: gear and load are %g apart", width, lead)
		}
	}
}

// Momentum is kept when the load meets the gear, and nothing is lost or won inside the dead zone.
func TestBacklashMomentum(t *testing.T) {
	k, _ := Lookup("xm430-w350")
	bare := *k
	bare.Friction = Friction{Model: 1}
	s := NewServo(&bare)
	s.Load = Load{Inertia: 0.02, Backlash: 0.1}
	s.Velocity = 1 // of the load; the gear stands
	run(s, 40)
	if s.gearVelocity != 0 || math.Abs(s.Velocity-1) > 1e-12 {
		t.Errorf("before they meet: load %g, gear %g rad/s", s.Velocity, s.gearVelocity)
	}
	run(s, 100)
	want := 0.02 / (0.02 + bare.Armature)
	if math.Abs(s.Velocity-want) > 1e-9 || s.gearVelocity != s.Velocity {
		t.Errorf("after they met: load %g, gear %g rad/s, want %g", s.Velocity, s.gearVelocity, want)
	}
}

// The pendulum without friction swings with its period in closed form: 4 sqrt(J/mgl) K(sin(a/2)).
func TestPendulumPeriod(t *testing.T) {
	k, _ := Lookup("ax-12a")
	free := *k
	free.Friction, free.Armature = Friction{Model: 1}, 1e-9
	s := NewServo(&free)
	s.Load = Load{Mass: 0.3, Length: 0.2}
	s.Reset(1)
	// K by the arithmetic-geometric mean.
	a, b := 1.0, math.Cos(0.5)
	for range 6 {
		a, b = (a+b)/2, math.Sqrt(a*b)
	}
	want := 4 * math.Sqrt(0.2/StandardGravity) * math.Pi / (2 * a)
	const dt = 1e-4
	var crossings []float64
	for i := 1; len(crossings) < 21; i++ {
		was := s.Position
		s.Step(dt)
		if was > 0 && s.Position <= 0 {
			crossings = append(crossings, (float64(i)-s.Position/(s.Position-was))*dt)
		}
	}
	if got := (crossings[20] - crossings[0]) / 20; math.Abs(got/want-1) > 1e-3 {
		t.Errorf("period: got %g s, want %g", got, want)
	}
}

// Tiny inertias, greatest gains, 1 ms: no motion grows, and a finer step gives the same motion.
func TestStepIsStable(t *testing.T) {
	for _, name := range Names() {
		s := at(t, name, 1)
		run(s, 3000)
		if math.Abs(s.Position-1) > 0.06 || math.Abs(s.Velocity) > 0.5 {
			t.Errorf("%s: got %g rad at %g rad/s, want rest at 1", name, s.Position, s.Velocity)
		}
		coarse, fine := at(t, name, 1), at(t, name, 1)
		worst := 0.0
		for range 400 {
			run(coarse, 1)
			for range 10 {
				fine.Step(ms / 10)
			}
			worst = math.Max(worst, math.Abs(coarse.Position-fine.Position))
		}
		if worst > 0.1 {
			t.Errorf("%s: 1 ms and 0.1 ms differ by %g rad", name, worst)
		}
	}
}

func TestEncoder(t *testing.T) {
	for _, c := range []struct {
		servo           string
		position, ticks float64
	}{
		{"ax-12a", 0, 512}, {"ax-12a", 149.8 * degree, 1023}, {"ax-12a", -150.1 * degree, 0},
		{"ax-12a", 160 * degree, 1023}, {"ax-12a", 179 * degree, 1023}, // the dead sector reports its nearer end
		{"ax-12a", 181 * degree, 0}, {"ax-12a", 205 * degree, 0}, {"ax-12a", 360 * degree, 512},
		{"ax-12a", -179 * degree, 0},
		{"xl-320", 90 * degree, 819}, {"mx-28", 0, 2048}, {"mx-28", 180 * degree, 4096},
		{"mx-28", -360 * degree, -2048},
		{"xm430-w350", 0.0007, 2048}, {"xm430-w350", 0.0008, 2049}, {"xm430-w350", 720 * degree, 2048 + 8192},
	} {
		s := servo(t, c.servo)
		s.Reset(c.position)
		if got := math.Round(s.MeasuredPosition()*s.Spec.TicksPerTurn/(2*math.Pi) +
			s.Spec.CentreTicks); got != c.ticks {
			t.Errorf("%s at %g rad: got %g ticks, want %g", c.servo, c.position, got, c.ticks)
		}
	}
}

func TestNoise(t *testing.T) {
	s := servo(t, "xm430-w350")
	s.Noise, s.Random = 0.02, 42
	var sum, square float64
	const n = 20000
	for range n {
		s.Step(ms)
		m := s.MeasuredPosition()
		if again := s.MeasuredPosition(); again != m {
			t.Fatal("two readings in one step differ")
		}
		sum += m
		square += m * m
	}
	if mean := sum / n; math.Abs(mean) > 0.001 {
		t.Errorf("mean: got %g rad", mean)
	}
	if sd := math.Sqrt(square / n); math.Abs(sd-0.02) > 0.001 {
		t.Errorf("standard deviation: got %g rad, want 0.02", sd)
	}
	// splitmix64's published first value for seed 0.
	var state uint64
	if got := Uniform(&state); got != float64(uint64(0xE220A8397B1DCDAF)>>11)*0x1p-53 {
		t.Errorf("stream: got %v", got)
	}
}

// The sag is the current times the resistance; too much of it restarts the servo, which then has torque off.
func TestSupply(t *testing.T) {
	s := onDuty(servo(t, "xm430-w350").Spec, 1)
	s.Load = Load{Min: -0.001, Max: 0.001}
	s.Supply = NewSupply(12, 0.5)
	run(s, 200)
	amps := 12 / (s.Spec.R + 0.5)
	if want := 12 - 0.5*(amps+s.Spec.Standby); math.Abs(s.Volts()-want) > 0.05 {
		t.Errorf("stalled: got %g V, want %g", s.Volts(), want)
	}
	s.Supply.Resistance = 10
	run(s, 200)
	if s.Restarts != 1 || s.Enable {
		t.Errorf("brown-out: got %d restarts, enable %v", s.Restarts, s.Enable)
	}
	if math.Abs(s.Volts()-12) > 0.5 {
		t.Errorf("after the restart: got %g V, want the voltage without load", s.Volts())
	}
}

func TestAlarms(t *testing.T) {
	// Held fast at full drive: overload after a second, torque off.
	s := at(t, "ax-12a", 2)
	s.Load = Load{Min: -0.001, Max: 0.001}
	run(s, 990)
	if s.Alarm != 0 || !s.Enable {
		t.Errorf("before a second: got alarm %v, enable %v", s.Alarm, s.Enable)
	}
	run(s, 20)
	if s.Alarm != AlarmOverload || s.Enable {
		t.Errorf("after a second: got alarm %v, enable %v", s.Alarm, s.Enable)
	}
	s.ClearAlarm()
	s.Enable, s.Limit = true, 0.7 // this is no overload
	run(s, 3000)
	if s.Alarm != 0 || !s.Enable {
		t.Errorf("at 0.7 of the torque: got alarm %v, enable %v", s.Alarm, s.Enable)
	}
	// But it gets hot, and cools down.
	for i := 0; s.Alarm == 0 && i < 600; i++ {
		run(s, 1000)
	}
	if s.Alarm != AlarmHeat || s.Enable || s.Temperature < s.Spec.MaxTemperature {
		t.Errorf("after minutes: got alarm %v at %g °C, enable %v", s.Alarm, s.Temperature, s.Enable)
	}
	hot := s.Temperature
	run(s, 60000)
	if !(s.Temperature < hot && s.Temperature > Ambient) || s.Alarm != AlarmHeat {
		t.Errorf("a minute later: got %g °C, alarm %v, want below %g and latched", s.Temperature, s.Alarm, hot)
	}
	s.Reset(0)
	s.Supply = NewSupply(15, 0)
	run(s, 1)
	if s.Alarm != AlarmVoltage {
		t.Errorf("at 15 V: got alarm %v", s.Alarm)
	}
	s.Supply = NewSupply(12, 0)
	if run(s, 1); s.Alarm != 0 {
		t.Errorf("at 12 V: got alarm %v", s.Alarm)
	}
	if got := (AlarmHeat | AlarmOverload).String(); got != "heat, overload" {
		t.Errorf("in words: got %q", got)
	}
}

func TestFollow(t *testing.T) {
	s := at(t, "xm430-w350", 1)
	run(s, 10)
	s.Follow(ms, 0.25, 0.5)
	if s.Position != 0.25 || s.Velocity != 0.5 {
		t.Errorf("got %g rad at %g rad/s", s.Position, s.Velocity)
	}
	if s.Current <= 0 {
		t.Errorf("current: got %g A, want the servo to pull to its goal", s.Current)
	}
}

// No command makes the state infinite or NaN.
func TestNonsense(t *testing.T) {
	bad := []float64{math.NaN(), math.Inf(1), math.Inf(-1), 1e300, -1e300}
	for _, name := range []string{"ax-12a", "mx-28", "xl330-m288", "xm430-w350"} {
		for m := hal.PositionMode; m < hal.NumModes; m++ {
			s := at(t, name, 0.3)
			s.Load.Inertia = 0.001
			s.Mode = m
			for _, v := range bad {
				s.GoalPosition, s.GoalVelocity, s.GoalCurrent, s.GoalDuty = v, v, v, v
				run(s, 50)
			}
			for _, v := range []float64{s.Position, s.Velocity, s.Current, s.Duty, s.Temperature,
				s.MeasuredPosition()} {
				if math.IsNaN(v) || math.IsInf(v, 0) {
					t.Fatalf("%s in mode %v: got %+v", name, m, s)
				}
			}
		}
	}
}

func TestNoAllocation(t *testing.T) {
	for _, name := range []string{"ax-12a", "mx-64", "xl330-m288", "xm430-w350"} {
		s := at(t, name, 1)
		s.Load, s.Noise = Load{Mass: 0.2, Length: 0.1, Backlash: 0.01}, 0.001
		s.ProfileVelocity, s.ProfileAcceleration = 2, 10
		if n := testing.AllocsPerRun(100, func() { s.GoalPosition = -s.GoalPosition; s.Step(ms) }); n != 0 {
			t.Errorf("%s: a step allocates %g times", name, n)
		}
	}
}

// On one core of a shared 2-core EPYC VM: 270 ns (AX, whose encoder has a dead sector), 190 ns (MX, M3), 210 ns (MX,
// M6) and 90 ns (X, M3) a step.
func BenchmarkStep(b *testing.B) {
	for _, name := range []string{"ax-12a", "mx-28", "mx-64", "xm430-w350"} {
		b.Run(name, func(b *testing.B) {
			s := at(b, name, 1)
			s.Load = Load{Mass: 0.2, Length: 0.1}
			for i := 0; b.Loop(); i++ {
				if i%500 == 0 {
					s.GoalPosition = -s.GoalPosition
				}
				s.Step(ms)
			}
		})
	}
}

// A servo behind a gear moves as one of its own shaft whose load is what the gear makes of it: its law, motor, friction
// and ticks.
func TestGeared(t *testing.T) {
	for _, name := range []string{"xl430-w250", "xm430-w350", "mx-64", "ax-12a", "sts3215", "cybergear"} {
		for _, ratio := range []float64{0.5, 2} {
			spec, _ := Lookup(name)
			behind, shaft := NewServo(spec.Geared(ratio)), NewServo(spec)
			inertia := 0.3 * spec.Armature
			behind.Load, shaft.Load = Load{Inertia: inertia * ratio * ratio}, Load{Inertia: inertia}
			worst, moved := 0.0, 0.0
			for _, mode := range []hal.Mode{hal.PositionMode, hal.VelocityMode} {
				if !spec.Modes[mode] {
					continue
				}
				for n := range 2000 {
					goal, push := 0.5*math.Sin(0.004*float64(n)), 0.1*spec.StallTorque*math.Cos(0.003*float64(n))
					behind.Enable, behind.Mode, behind.GoalPosition, behind.GoalVelocity, behind.External = true, mode,
						goal/ratio, goal/ratio, push*ratio
					shaft.Enable, shaft.Mode, shaft.GoalPosition, shaft.GoalVelocity, shaft.External = true, mode, goal,
						goal, push
					behind.Step(0.001)
					shaft.Step(0.001)
					worst = math.Max(worst, math.Abs(ratio*behind.Position-shaft.Position))
					moved = math.Max(moved, math.Abs(shaft.Position))
				}
			}
			if !(moved > 0.1) || worst > 0.003 {
				t.Errorf("%s, %g: got shafts %.4f rad apart in a motion of %.3f", name, ratio, worst, moved)
			}
		}
	}
}

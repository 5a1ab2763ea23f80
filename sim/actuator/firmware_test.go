package actuator

import (
	"math"
	"testing"

	"github.com/halyard-robotics/halyard/hal"
)

// held is a servo whose shaft cannot move, so that the control law is seen alone.
func held(t testing.TB, name string) *Servo {
	s := servo(t, name)
	s.Load = Load{Min: -1e-9, Max: 1e-9}
	s.Enable, s.Shutdown = true, 0
	return s
}

// The AX's drive over the error, in ticks: nothing in the margin, the punch at its edge, all at the end of the slope.
func TestCompliance(t *testing.T) {
	tick := 2 * math.Pi / ticks10Bits
	punch := 32 / 1023.0
	for _, c := range []struct {
		margin, slope, ticks, duty float64
	}{
		{1, 32, 0, 0}, {1, 32, 1, 0}, {1, 32, -1, 0},
		{1, 32, 2, punch + (1-punch)/32}, {1, 32, -17, -(punch + (1-punch)/2)},
		{1, 32, 33, 1}, {1, 32, 200, 1}, {1, 32, -200, -1},
		{10, 64, 10, 0}, {10, 64, 42, punch + (1-punch)/2}, {0, 128, 64, punch + (1-punch)/2},
	} {
		s := held(t, "ax-12a")
		s.Gains.MarginCW, s.Gains.MarginCCW, s.Gains.SlopeCW, s.Gains.SlopeCCW = c.margin, c.margin, c.slope, c.slope
		s.GoalPosition = c.ticks * tick
		run(s, 3)
		if math.Abs(s.Duty-c.duty) > 1e-9 {
			t.Errorf("margin %g slope %g, %g ticks: got duty %g, want %g", c.margin, c.slope, c.ticks, s.Duty, c.duty)
		}
	}
	// The torque limit is a limit of the duty.
	s := held(t, "ax-12a")
	s.GoalPosition, s.Limit = 2, 0.3
	if run(s, 3); s.Duty != 0.3 {
		t.Errorf("torque limit 0.3: got duty %g", s.Duty)
	}
	s.Limit = 0
	if run(s, 3); s.Duty != 0 || s.Current != 0 {
		t.Errorf("torque limit 0: got duty %g, %g A", s.Duty, s.Current)
	}
}

// The P, I and D registers as the e-Manual scales them, on an error of 20 ticks.
func TestPID(t *testing.T) {
	const e = 20.0 // ticks
	rad := e * 2 * math.Pi / 4096
	for _, c := range []struct {
		servo string
		gains Gains
		after int // ms
		duty  float64
	}{
		{"xm430-w350", Gains{P: 800}, 5, 800 / 128.0 * e / 885},
		{"xl330-m288", Gains{P: 400}, 5, 400 / 256.0 * e / 885},
		{"xm430-w350", Gains{P: 800, I: 655.36}, 101, (800/128.0*e + 0.01*e*100) / 885},
		{"mx-28", Gains{P: 32}, 5, 0.158 * 32 * rad},
		{"mx-28", Gains{P: 8, I: 10}, 1001, 0.158 * rad * (8 + 8*10*1000/2048.0)},
		{"mx-28", Gains{P: 8, Punch: 102.3}, 5, 0.158*8*rad + 0.1},
		{"xl-320", Gains{P: 32}, 5, 0.05048 * 32 * rad},
	} {
		s := held(t, c.servo)
		s.Gains = c.gains
		s.GoalPosition = rad
		run(s, c.after)
		if math.Abs(s.Duty-c.duty) > 1e-6 {
			t.Errorf("%s %+v: got duty %g, want %g", c.servo, c.gains, s.Duty, c.duty)
		}
	}
	// D brakes: the same swing with it overshoots less.
	over := func(d float64) float64 {
		s := at(t, "xm430-w350", 0)
		s.Gains = Gains{P: 3000, D: d}
		s.Load.Inertia, s.GoalPosition = 0.05, 0.3
		most := 0.0
		for range 1000 {
			run(s, 1)
			most = math.Max(most, s.Position-0.3)
		}
		return most
	}
	if without, with := over(0), over(4000); !(with < without*0.7) {
		t.Errorf("overshoot: got %g with D and %g without", with, without)
	}
}

// Feed-forward of the velocity takes most of the lag away.
func TestFeedForward(t *testing.T) {
	lag := func(ff float64) float64 {
		s := at(t, "xm430-w350", 3)
		s.ProfileVelocity, s.Gains.FF1 = 2, ff
		run(s, 800)
		return s.TrajectoryPosition - s.Position
	}
	if without, with := lag(0), lag(1000); !(with < without/3 && with > -without/3) {
		t.Errorf("lag: got %g with feed-forward and %g without", with, without)
	}
}

// Profiles against their closed forms: when they end, how fast they are, that they end at the goal and at rest.
func TestProfile(t *testing.T) {
	for _, c := range []struct {
		name                   string
		goal, v, a, q0, v0     float64
		timed                  bool
		duration, peak, midway float64 // s, rad/s, position at half time; NaN = not checked
	}{
		{"step", 1, 0, 0, 0, 0, false, 0, 0, 1},
		{"acceleration alone is a step", 1, 0, 5, 0, 0, false, 0, 0, 1},
		{"rectangle", 2, 0.5, 0, 0, 0, false, 4, 0.5, 1},
		{"rectangle back", -2, 0.5, 0, 0, 0, false, 4, 0.5, -1},
		{"trapezoid", 2, 1, 2, 0, 0, false, 2.5, 1, 1}, // 2 rad / 1 + 1/2 s
		{"triangle", 0.5, 10, 2, 0, 0, false, 1, 1, 0.25},
		{"from speed", 2, 1, 2, 0, 1, false, 2.25, 1, math.NaN()},
		// brakes to 1 in 0.5 s over 0.75 rad
		{"too fast at first", 2, 1, 2, 0, 2, false, 1.25 + 0.5 + 0.25, 2, math.NaN()},
		{"turns back", 0, 1, 2, 0, 1, false, 0.5 + 2*math.Sqrt(0.25/2), 1, math.NaN()},
		{"timed trapezoid", 3, 2, 0.5, 0, 0, true, 2, 2, 1.5}, // 3 rad / (2 s - 0.5 s)
		{"timed triangle", 1, 2, 5, 0, 0, true, 2, 1, 0.5},    // the ramp is half of the time at most
		{"timed rectangle", 1, 2, 0, 0, 0, true, 2, 0.5, 0.5},
	} {
		var p profile
		p.plan(c.goal, c.v, c.a, c.timed, c.q0, c.v0)
		if got := p.span[0] + p.span[1] + p.span[2]; math.Abs(got-c.duration) > 1e-9 {
			t.Errorf("%s: duration: got %g s, want %g", c.name, got, c.duration)
		}
		peak, last := 0.0, c.q0
		const dt = 1e-3
		for i := 0; !p.done(); i++ {
			q, v, _ := p.advance(dt)
			peak = math.Max(peak, math.Abs(v))
			if math.Abs(q-last) > 2.1*dt*math.Max(1, math.Max(c.v0, c.peak)) {
				t.Fatalf("%s: jumps from %g to %g", c.name, last, q)
			}
			last = q
			if math.Abs(p.at-c.duration/2) < dt/2 && math.Abs(q-c.midway) > 2*dt*c.peak {
				t.Errorf("%s: midway: got %g rad, want %g", c.name, q, c.midway)
			}
		}
		if math.Abs(peak-c.peak) > 0.005 {
			t.Errorf("%s: peak: got %g rad/s, want %g", c.name, peak, c.peak)
		}
		if q, v, a := p.advance(dt); q != c.goal || v != 0 || a != 0 {
			t.Errorf("%s: end: got %g rad, %g rad/s, %g rad/s²", c.name, q, v, a)
		}
	}
}

// A servo takes the time of its profile, and a new goal in flight is taken up without a jump.
func TestServoProfile(t *testing.T) {
	s := at(t, "xm430-w350", 2)
	s.ProfileVelocity, s.ProfileAcceleration = 1, 2
	run(s, 1250)
	if !s.Moving || math.Abs(s.TrajectoryPosition-1) > 1e-9 {
		t.Errorf("half way: got moving %v, trajectory %g rad", s.Moving, s.TrajectoryPosition)
	}
	run(s, 1230)
	if !s.ProfileOngoing() {
		t.Error("20 ms before its end the profile is over")
	}
	run(s, 40)
	if s.ProfileOngoing() {
		t.Error("20 ms after its end the profile goes on")
	}
	if run(s, 300); math.Abs(s.Position-2) > 0.03 || s.Moving {
		t.Errorf("at rest: got %g rad, moving %v", s.Position, s.Moving)
	}
	s.GoalPosition = 0
	run(s, 700)
	v := s.TrajectoryVelocity
	s.GoalPosition = 1.9
	run(s, 1)
	if math.Abs(s.TrajectoryVelocity-v) > 0.01 {
		t.Errorf("a new goal in flight: velocity jumps from %g to %g", v, s.TrajectoryVelocity)
	}
	// The moving speed of an AX is a rectangle.
	ax := at(t, "ax-12a", 1)
	ax.ProfileVelocity = 0.5
	run(ax, 1000)
	if math.Abs(ax.TrajectoryPosition-0.5) > 1e-6 || math.Abs(ax.Position-0.5) > 0.06 {
		t.Errorf("ax-12a after 1 s at 0.5 rad/s: trajectory %g, position %g", ax.TrajectoryPosition, ax.Position)
	}
}

func TestVelocityMode(t *testing.T) {
	for _, name := range []string{"mx-28", "xl430-w250", "xm430-w350", "xh540-w270"} {
		s := at(t, name, 0)
		s.Load.Inertia = 0.002
		s.Mode, s.GoalVelocity = hal.VelocityMode, 1.5
		s.ProfileAcceleration = 3
		run(s, 250)
		if math.Abs(s.TrajectoryVelocity-0.75) > 1e-9 {
			t.Errorf("%s: ramp: got %g rad/s after 250 ms, want 0.75", name, s.TrajectoryVelocity)
		}
		run(s, 2750)
		if math.Abs(s.Velocity-1.5) > 0.015 {
			t.Errorf("%s: got %g rad/s, want 1.5", name, s.Velocity)
		}
	}
	// The AX's wheel is a share of the voltage.
	s := held(t, "ax-12a")
	s.Mode, s.GoalVelocity = hal.VelocityMode, s.Spec.NoLoadSpeed/4
	if run(s, 2); s.Duty != 0.25 {
		t.Errorf("ax-12a: got duty %g, want 0.25", s.Duty)
	}
}

func TestCurrent(t *testing.T) {
	s := held(t, "xm430-w350")
	s.Mode, s.GoalCurrent = hal.TorqueMode, 0.8
	if run(s, 2); s.Current != 0.8 || math.Abs(s.Duty-0.8*s.Spec.R/12) > 1e-12 || s.MeasuredCurrent() != 0.8 {
		t.Errorf("0.8 A: got %g A, duty %g", s.Current, s.Duty)
	}
	// The limit holds in torque mode and, below 1, in position mode: current-based position control.
	s.Limit = 0.1
	if run(s, 2); math.Abs(s.Current-0.1*s.Spec.MaxCurrent) > 1e-12 {
		t.Errorf("limit 0.1: got %g A, want %g", s.Current, 0.1*s.Spec.MaxCurrent)
	}
	s.Mode, s.GoalPosition = hal.PositionMode, 3
	if run(s, 3); math.Abs(s.Current-0.1*s.Spec.MaxCurrent) > 1e-9 {
		t.Errorf("position, limit 0.1: got %g A, want %g", s.Current, 0.1*s.Spec.MaxCurrent)
	}
	s.Limit = 1
	if run(s, 3); math.Abs(s.Current-12/s.Spec.R) > 1e-9 {
		t.Errorf("position, no limit: got %g A, want %g", s.Current, 12/s.Spec.R)
	}
	s.DutyLimit = 0.25
	if run(s, 3); s.Duty != 0.25 {
		t.Errorf("goal PWM 0.25: got duty %g", s.Duty)
	}
	// A current source has no speed of its own: without a load it runs to where the voltage ends.
	free := at(t, "xm430-w350", 0)
	free.Mode, free.GoalCurrent = hal.TorqueMode, 1
	run(free, 3000)
	if math.Abs(free.Duty-1) > 1e-9 || math.Abs(free.Velocity/free.Spec.NoLoadSpeed-1) > 0.03 {
		t.Errorf("without a load: got duty %g at %g rad/s", free.Duty, free.Velocity)
	}
	// The XL330 regulates what the supply gives: duty²·V - kt·ω·duty = (R + droop·duty²)·I.
	xl := held(t, "xl330-m288")
	xl.Mode, xl.GoalCurrent = hal.TorqueMode, -0.4
	if run(xl, 2); math.Abs(xl.MeasuredCurrent()+0.4) > 1e-9 ||
		math.Abs(xl.Duty*xl.Duty*5-xl.Spec.resistance(xl.Duty)*0.4) > 1e-9 {
		t.Errorf("xl330: got %g A on the supply, %g A in the winding, duty %g", xl.MeasuredCurrent(), xl.Current,
			xl.Duty)
	}
}

func TestGoalRange(t *testing.T) {
	for _, c := range []struct {
		servo          string
		extended       bool
		goal, want, by float64
	}{
		// into the dead sector, blind
		{"ax-12a", false, 9, 149.85 * degree, 0.1}, {"ax-12a", false, -9, -150.15 * degree, 0.1},
		{"xm430-w350", false, 9, 2047 * 2 * math.Pi / 4096, 0.02}, {"xm430-w350", true, 9, 9, 0.02},
		{"mx-28", true, -9, -9, 0.02},
	} {
		s := at(t, c.servo, c.goal)
		s.Extended = c.extended
		run(s, 6000)
		if math.Abs(s.Position-c.want) > c.by {
			t.Errorf("%s to %g rad, extended %v: got %g, want %g", c.servo, c.goal, c.extended, s.Position, c.want)
		}
	}
}

// Switching on begins at the present position; the mode too may change in motion without a kick from old state.
func TestSwitching(t *testing.T) {
	s := servo(t, "xm430-w350")
	s.Gains.I = 5000
	s.Reset(1)
	s.Enable, s.GoalPosition = true, 0
	s.ProfileVelocity = 0.5
	run(s, 1)
	if math.Abs(s.TrajectoryPosition-1) > 0.002 {
		t.Errorf("at torque-on: trajectory at %g rad, want 1", s.TrajectoryPosition)
	}
	run(s, 500)
	s.Enable = false
	run(s, 1)
	if s.Duty != 0 || s.Current != 0 || s.Torque != 0 {
		t.Errorf("off: got duty %g, %g A, %g N·m", s.Duty, s.Current, s.Torque)
	}
	s.Enable, s.Mode, s.GoalVelocity = true, hal.VelocityMode, 0
	run(s, 500)
	if math.Abs(s.Velocity) > 0.01 || s.integral*s.integral > 100 {
		t.Errorf("hold by velocity: got %g rad/s, integral %g", s.Velocity, s.integral)
	}
}

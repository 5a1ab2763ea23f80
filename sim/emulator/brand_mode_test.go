package emulator_test

import (
	"errors"
	"math"
	"testing"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/sim/actuator"
	"github.com/halyard-robotics/halyard/sim/emulator"
)

// A servo goes from position to speed to duty and back; in no change does it run away, and nothing is kept of the mode
// when the power goes.
func TestFeetechModes(t *testing.T) {
	d := driveFeetech(t, "sts3215", 2, emulator.Timing{}, nil)
	d.cycles(100, to(2100))
	d.cycles(100, servo.Goal{Enable: true, Mode: hal.VelocityMode, Velocity: 2, Limit: 1})
	for i := range d.servos {
		if v := d.State(i).Velocity; math.Abs(v-2) > 0.3 || d.register(i, "operating_mode") != 1 {
			t.Errorf("speed: servo %d: got %.2f rad/s in mode %d, want 2 in 1", i+1, v, d.register(i, "operating_mode"))
		}
	}
	// A limit works in every mode.
	d.cycles(1, servo.Goal{Enable: true, Mode: hal.VelocityMode, Velocity: 2, Limit: 0.5})
	if got := d.register(0, "torque_limit"); got != 500 {
		t.Errorf("limit: got %d, want 500", got)
	}
	d.cycles(50, servo.Goal{Enable: true, Mode: hal.DutyMode, Duty: -0.3, Limit: 1})
	for i := range d.servos {
		if v := d.State(i).Velocity; v > -0.5 || math.Abs(d.State(i).Effort+0.3) > 0.01 {
			t.Errorf("duty: servo %d: got %.2f rad/s and effort %.2f, want it backwards with -0.3", i+1, v,
				d.State(i).Effort)
		}
	}
	d.cycles(20, servo.Goal{Enable: true, Mode: hal.NoMode, Limit: 1})
	at := d.State(0).Position
	d.cycles(50, servo.Goal{Enable: true, Mode: hal.NoMode, Limit: 1})
	if now := d.State(0).Position; math.Abs(now-at) > 30 {
		t.Errorf("hold after a duty: moved from %.0f to %.0f", at, now)
	}
	d.cycles(200, to(2000))
	d.follows("position again", 2000, 20)
	// Written with the lock closed: the EEPROM still has the factory default.
	d.plant("brownout servo 1 for=50ms")
	d.cycles(10, servo.Goal{})
	if got := d.register(0, "operating_mode"); got != 0 {
		t.Errorf("after a power loss: mode %d, want 0", got)
	}
}

// A servo that is a wheel by its EEPROM and lost its power while it was limp is not driven as what it was before.
func TestFeetechModeIsAskedBeforeTorque(t *testing.T) {
	d := driveFeetech(t, "sts3215", 1, emulator.Timing{}, func(cfg *servo.ChainConfig) { cfg.Health = -1 })
	preset(t, d.servos[0], "operating_mode", 1)
	d.cycles(50, to(2100)) // as a joint, only in its RAM
	d.cycles(5, servo.Goal{})
	d.plant("brownout servo 1 for=5ms")
	d.cycles(2, servo.Goal{})
	if got := d.register(0, "operating_mode"); got != 1 {
		t.Fatalf("mode after the power loss: got %d, want 1", got)
	}
	for range 50 {
		d.cycles(1, servo.Goal{Enable: true, Mode: hal.NoMode, Limit: 1})
		if v := d.servos[0].Actuator().Velocity; math.Abs(v) > 0.05 {
			t.Fatalf("told to hold, it runs: %.2f rad/s", v)
		}
	}
	d.cycles(100, to(2150))
	d.follows("as a joint", 2150, 20)
}

// A servo that stands outside of its own limits would leap to them with its first goal: it keeps torque off, says so,
// and is given torque when it was turned back. The other goes on.
func TestOutsideOfLimitsStaysLimp(t *testing.T) {
	for _, c := range []struct {
		model string
		open  func(t *testing.T, model string, n int) *rostered
	}{{"sts3215", openFeetech}, {"scs0009", openFeetech}, {"lx-16a", openHiwonder}, {"krs-2552", openKondo}} {
		d := c.open(t, c.model, 2)
		u := d.Units(0)
		d.cycles(5, servo.Goal{})
		out := 0.04 * u.TicksPerTurn // Kondo believes nothing farther
		if c.model == "krs-2552" {
			out = 250
		}
		act := d.servos[0].Actuator()
		move := func(ticks float64) { act.Reset((ticks - u.CentreTicks) * 2 * math.Pi / u.TicksPerTurn) }
		edge := u.MaxTicks
		// it was opened with other limits: open it again
		if d.servos[0].Preset("max_position", int64(u.CentreTicks+200)) {
			edge = u.CentreTicks + 200
			if err := d.Open(); err != nil {
				t.Fatal(err)
			}
		}
		move(edge + out)
		d.cycles(10, servo.Goal{})
		before := act.Position
		d.cycles(20, to(u.CentreTicks))
		if !errors.Is(d.fault(0), servo.ErrOutOfLimits) || act.Enable || act.Position != before {
			t.Errorf("%s: outside: got %v, torque %v, moved %g rad", c.model, d.fault(0), act.Enable,
				act.Position-before)
		}
		if d.fault(1) != nil || !d.State(1).Torque {
			t.Errorf("%s: the other: got %v, torque %v", c.model, d.fault(1), d.State(1).Torque)
		}
		move(edge - out)
		d.cycles(5, servo.Goal{})
		d.cycles(20, servo.Goal{Enable: true, Mode: hal.NoMode, Limit: 1})
		if d.fault(0) != nil || !act.Enable {
			t.Errorf("%s: turned back: got %v, torque %v", c.model, d.fault(0), act.Enable)
		}
	}
}

// An overload leaves the protective torque until a goal the other way, or the torque switched off, as halyard reset
// does; what the chain writes meanwhile raises no limit.
func TestFeetechOverload(t *testing.T) {
	for _, model := range []string{"sts3215", "scs0009"} {
		d := driveFeetech(t, model, 2, emulator.Timing{}, nil)
		middle, protective := d.Units(0).CentreTicks, float64(d.register(0, "protective_torque"))/100
		d.cycles(100, to(middle+50))
		act := d.servos[0].Actuator()
		trip := func(goal float64) {
			t.Helper()
			d.cycles(1, to(goal))
			act.Alarm |= actuator.AlarmOverload
			d.cycles(20, to(goal))
			if s := d.State(0); s.Alarm != servo.AlarmOverload || !s.Torque || d.fault(0) != nil ||
				act.Limit != protective || d.State(1).Alarm != 0 {
				t.Errorf("%s: tripped: got %v with torque %v, %v, limit %g; want overload and limit %g", model, s.Alarm,
					s.Torque, d.fault(0), act.Limit, protective)
			}
		}
		trip(middle + 90)
		d.cycles(20, to(middle-50))
		if s := d.State(0); s.Alarm != 0 || act.Limit != 1 {
			t.Errorf("%s: the other way: got %v, limit %g", model, s.Alarm, act.Limit)
		}
		trip(middle - 90)
		clear := d.Chain.(*servo.GenericChain).ClearAlarm
		if err := clear(0); err != nil || act.Enable || !errors.Is(d.fault(0), servo.ErrLatched) {
			t.Errorf("%s: cleared: got %v, torque %v, %v", model, err, act.Enable, d.fault(0))
		}
		d.cycles(5, servo.Goal{})
		d.cycles(150, to(middle+50))
		d.follows(model+": enabled again", middle+50, 20)
		if s := d.State(0); s.Alarm != 0 || act.Limit != 1 {
			t.Errorf("%s: enabled again: got %v, limit %g", model, s.Alarm, act.Limit)
		}
	}
}

func TestFeetechAlarms(t *testing.T) {
	for _, c := range []struct {
		name  string
		cause func(a *actuator.Servo)
		cure  func(a *actuator.Servo)
		want  servo.Alarm
		fatal bool
	}{
		{"heat", func(a *actuator.Servo) { a.Temperature = 95 }, func(a *actuator.Servo) { a.Reset(a.Position) },
			servo.AlarmHeat, true},
		{"voltage", func(a *actuator.Servo) { a.Supply = actuator.NewSupply(3.5, 0) },
			func(a *actuator.Servo) { a.Supply = nil }, servo.AlarmVoltage, false},
	} {
		// Without the look in turn: the alarm itself must ask for one.
		d := driveFeetech(t, "sts3215", 2, emulator.Timing{}, func(cfg *servo.ChainConfig) { cfg.Health = -1 })
		d.cycles(50, to(2100))
		act := d.servos[0].Actuator()
		c.cause(act)
		d.cycles(20, to(2100))
		s := d.State(0)
		if s.Alarm != c.want || d.State(1).Alarm != 0 || s.Torque == c.fatal ||
			errors.Is(d.fault(0), servo.ErrLatched) != c.fatal {
			t.Errorf("%s: got %v with torque %v, %v; the other %v", c.name, s.Alarm, s.Torque, d.fault(0),
				d.State(1).Alarm)
		}
		clear := d.Chain.(*servo.GenericChain).ClearAlarm
		if c.fatal {
			// Enabling again does not help while it is there, nor does clearing.
			d.cycles(5, servo.Goal{})
			d.cycles(20, to(2100))
			if err := clear(0); err == nil || d.State(0).Torque {
				t.Errorf("%s: cleared %v while it lasts, torque %v", c.name, err, d.State(0).Torque)
			}
		}
		c.cure(act)
		d.cycles(5, servo.Goal{})
		// Nor is it driven again before it was cleared.
		if d.cycles(20, to(2100)); c.fatal && (d.State(0).Torque || act.Enable) {
			t.Errorf("%s: driven before it was cleared", c.name)
		}
		d.cycles(5, servo.Goal{})
		if err := clear(0); err != nil {
			t.Errorf("%s: clear: %v", c.name, err)
		}
		d.cycles(150, to(2100))
		d.follows(c.name+" cured", 2100, 20)
		if s.Alarm != 0 {
			t.Errorf("%s cured: got %v", c.name, s.Alarm)
		}
		clear(0)
		clear(0)
		if err := clear(0); hal.KindOf(err) != hal.Unsafe {
			t.Errorf("%s: cleared too often: got %v", c.name, err)
		}
	}
}

func TestHiwonderModesAndAlarms(t *testing.T) {
	d := openHiwonder(t, "lx-16a", 2)
	d.cycles(100, to(520))
	d.cycles(60, servo.Goal{Enable: true, Mode: hal.DutyMode, Duty: 0.2, Limit: 1})
	if d.register(0, "motor_mode") != 1 || d.register(0, "goal_pwm") != 200 || d.State(0).Position < 540 {
		t.Errorf("duty: got mode %d, speed %d, at %.0f", d.register(0, "motor_mode"), d.register(0, "goal_pwm"),
			d.State(0).Position)
	}
	d.cycles(150, to(480))
	d.follows("position again", 480, 8)
	d.servos[1].Actuator().Temperature = 95
	d.cycles(40, to(480))
	if s := d.State(1); s.Alarm != servo.AlarmHeat || s.Torque || !errors.Is(d.fault(1), servo.ErrLatched) {
		t.Errorf("hot: got %v, torque %v, %v", s.Alarm, s.Torque, d.fault(1))
	}
	if d.State(0).Alarm != 0 || d.fault(0) != nil {
		t.Errorf("the other: got %v, %v", d.State(0).Alarm, d.fault(0))
	}
}

// A goal that the servo did not receive is sent again, even if it is unchanged.
func TestHiwonderRepeatsGoals(t *testing.T) {
	d := openHiwonder(t, "lx-16a", 1)
	d.cycles(50, to(500))
	d.plant("intermittent servo 1 p=1 for=15ms")
	d.cycles(60, to(560))
	d.follows("a lost goal", 560, 8)
}

// ICS does not report a power loss; a servo lost for long enough does not keep its torque.
func TestKondoSettings(t *testing.T) {
	d := openKondo(t, "krs-2552", 2)
	preset(t, d.servos[0], "heat_limit", 120) // hotter than this already
	d.cycles(60, to(8000))
	if d.servos[0].Actuator().Enable {
		t.Error("a servo beyond its heat limit is driven")
	}
	if math.Abs(d.State(1).Position-8000) > 60 {
		t.Errorf("the other: got %.0f, want 8000", d.State(1).Position)
	}
}

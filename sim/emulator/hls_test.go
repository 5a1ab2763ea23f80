package emulator_test

import (
	"math"
	"testing"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/sim/emulator"
)

// An HLS goes from position to speed to torque and back. Its effort is a current, in the torque mode the goal, in all
// others bounded by the limit's share of the stall current.
func TestHLSModes(t *testing.T) {
	d := driveFeetech(t, "hls3930", 2, emulator.Timing{Reply: emulator.DefaultReply}, nil)
	d.cycles(150, to(2300))
	d.follows("position", 2300, 20)
	if got := d.register(0, "goal_current"); got != 431 {
		t.Errorf("limit 1: got %d, want the 431 counts of 2.8 A", got)
	}
	d.cycles(100, servo.Goal{Enable: true, Mode: hal.VelocityMode, Velocity: 2, Limit: 0.5})
	for i := range d.servos {
		if v := d.State(i).Velocity; math.Abs(v-2) > 0.3 || d.register(i, "operating_mode") != 1 ||
			d.register(i, "goal_current") != 216 {
			t.Errorf("speed: servo %d: got %.2f rad/s in mode %d with current %d, want 2 in 1 with 216", i+1, v,
				d.register(i, "operating_mode"), d.register(i, "goal_current"))
		}
	}
	// A blocked motor has the commanded current, of either sign, and no more than the limit.
	for i := range d.servos {
		d.servos[i].Actuator().Load.Inertia = 1e3
	}
	for _, c := range []struct{ effort, limit, want float64 }{{0.65, 1, 0.65}, {-0.65, 1, -0.65}, {2.6, 0.5, 1.4},
		{-99, 1, -2.8}} {
		d.cycles(60, servo.Goal{Enable: true, Mode: hal.TorqueMode, Effort: c.effort, Limit: c.limit})
		for i := range d.servos {
			if got := d.State(i).Effort; math.Abs(got-c.want) > 0.02 || d.register(i, "operating_mode") != 2 {
				t.Errorf("torque %g A, limit %g: servo %d: got %.3f A in mode %d, want %g in 2", c.effort, c.limit, i+1,
					got, d.register(i, "operating_mode"), c.want)
			}
		}
	}
	for i := range d.servos {
		d.servos[i].Actuator().Load.Inertia = 1e-4
		d.servos[i].Actuator().Reset(0)
	}
	d.cycles(20, servo.Goal{Enable: true, Mode: hal.TorqueMode, Limit: 1})
	if got := d.register(0, "goal_current"); got != 0 {
		t.Errorf("no torque: got %d, want 0", got)
	}
	d.cycles(200, to(2000))
	d.follows("position again", 2000, 20)
	// After a power loss the values of the EEPROM apply: position mode, and the protection current.
	d.plant("brownout servo 1 for=50ms")
	d.cycles(10, servo.Goal{})
	if mode, amps := d.register(0, "operating_mode"), d.register(0, "goal_current"); mode != 0 || amps != 1000 {
		t.Errorf("after a power loss: mode %d, current %d, want 0 and 1000", mode, amps)
	}
}

// Differences of an HLS from an STS, by its memory table and its users.
func TestHLSAnswers(t *testing.T) {
	s := newFeetech(t, "hls2915", 1, "shadow_id", 9)
	r := newRig(t, emulator.Timing{}, s)
	r.want("FF FF 01 04 02 00 05 F3", "FF FF 01 07 00 03 2D 00 0A 1B A2")
	// Its second id writes and never answers.
	r.want("FF FF 09 02 01 F3", "")
	r.want("FF FF 09 04 03 29 32 94", "")
	if got := r.register(0, "goal_acceleration"); got != 50 {
		t.Errorf("second id: got acceleration %d, want 50", got)
	}
	// The present position becomes 2048, or a given value: only by the instruction.
	s.Actuator().Reset(0.5)
	r.want("FF FF 01 04 03 28 80 4F", "FF FF 01 02 00 FC")
	if got := r.register(0, "homing_offset"); got != 0 {
		t.Errorf("torque 128: got offset %d, want 0", got)
	}
	for _, c := range []struct {
		request string
		want    int64
	}{{"FF FF 01 02 0B F1", 2048}, {"FF FF 01 04 0B 00 04 EB", 1024}} {
		r.want(c.request, "FF FF 01 02 00 FC")
		if got := r.register(0, "present_position"); got != c.want {
			t.Errorf("calibrated: got %d, want %d", got, c.want)
		}
	}
	// Torque 2 damps: a hand's push turns it slower than a limp one.
	coast := func(torque string) float64 {
		s.Actuator().Reset(0)
		r.ask(torque)
		s.Actuator().Velocity = 5
		r.pass(20e6)
		return s.Actuator().Velocity
	}
	limp, damped := coast("FF FF 01 04 03 28 00 CF"), coast("FF FF 01 04 03 28 02 CD")
	if got := r.register(0, "torque_enable"); got != 2 || math.Abs(damped) >= math.Abs(limp) {
		t.Errorf("damping: got torque %d, %.2f rad/s left, limp %.2f", got, damped, limp)
	}
	// At no current it is limp, though its torque is on.
	r.ask("FF FF 01 04 03 28 01 CE")
	r.ask("FF FF 01 05 03 2C 00 00 CA")
	if !s.Actuator().Enable || s.Actuator().Limit != 0 {
		t.Errorf("no current: enabled %v with limit %g, want on with 0", s.Actuator().Enable, s.Actuator().Limit)
	}
}

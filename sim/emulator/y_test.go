package emulator_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/dynamixel"
	"github.com/halyard-robotics/halyard/sim/actuator"
	"github.com/halyard-robotics/halyard/sim/emulator"
)

// The bytes of the maker's own examples in the e-Manual: LED by indirect data, goal position by four of them, the bus
// watchdog.
func TestYExamples(t *testing.T) {
	r := newRig(t, emulator.Timing{}, newServo(t, "ym070-210-r099", 1, "return_delay", 0))
	led := func(v int) string { return tohex(request(dynamixel.Write, 634, byte(v))) }
	ok := "FFFFFD000104005500A10C"
	// Example 1: indirect address 1 to LED(513).
	r.want(tohex(request(dynamixel.Write, 256, 0x01, 0x02)), ok)
	r.want(led(1), ok)
	if r.register(0, "led") != 1 {
		t.Error("led by indirect data: got off")
	}
	r.want(led(0), ok)
	if r.register(0, "led") != 0 {
		t.Error("led by indirect data: got on")
	}
	// Example 2: four addresses from 2 on to Goal Position(532), then 250961 as one write to 635.
	for i := range 4 {
		r.write(0, fmt.Sprintf("indirect_address_%d", 2+i), int64(532+i))
	}
	r.want(tohex(request(dynamixel.Write, 635, 0x51, 0xD4, 0x03, 0x00)), ok)
	if got := r.register(0, "goal_position"); got != 250961 {
		t.Errorf("goal by indirect data: got %d, want 250961", got)
	}
	// The watchdog's example, in eight steps.
	r.write(0, "operating_mode", 1)
	r.write(0, "torque_enable", 1)
	r.write(0, "goal_velocity", 50)
	r.write(0, "bus_watchdog", 100)
	r.pass(1900 * time.Millisecond)
	if got := r.register(0, "bus_watchdog"); got != 100 {
		t.Errorf("1.9 s: got watchdog %d, want 100", got)
	}
	r.pass(300 * time.Millisecond)
	if got := r.register(0, "bus_watchdog"); got != -1 {
		t.Errorf("2.2 s: got watchdog %d, want -1", got)
	}
	if got := r.write(0, "goal_velocity", 150); got != 0x84 { // data range, with the alert bit
		t.Errorf("goal while tripped: got error %02X, want 84", got)
	}
	if code := r.register(0, "error_code"); code != 18 || r.register(0, "torque_enable") != 1 ||
		r.register(0, "error_code_history_1") != 18 {
		t.Errorf("tripped: got code %d, torque %d", code, r.register(0, "torque_enable"))
	}
	r.write(0, "bus_watchdog", 0)
	if got := r.write(0, "goal_velocity", 150); got != 0 || r.register(0, "error_code") != 0 {
		t.Errorf("goal after 0: got error %02X, code %d", got, r.register(0, "error_code"))
	}
}

// request is an instruction to servo 1 by address.
func request(op dynamixel.Op, addr uint16, data ...byte) []byte {
	return dynamixel.AppendInstruction2(nil, &dynamixel.Instruction{ID: 1, Op: op, Addr: addr, Data: data})
}

func TestYRules(t *testing.T) {
	r := newRig(t, emulator.Timing{}, newServo(t, "ym070-210-a051", 1, "return_delay", 0))
	want := func(name string, v int64, code int) {
		t.Helper()
		if got := r.write(0, name, v); got != code {
			t.Errorf("%s = %d: got error %02X, want %02X", name, v, got, code)
		}
	}
	want("goal_position", 262145, 6) // beyond its limit
	want("goal_current", 2081, 4)
	want("current_limit", 1000, 0)
	want("goal_current", 1001, 6)
	want("profile_velocity", 3922, 6)
	want("operating_mode", 4, 4)
	want("protocol_type", 1, 4)
	want("controller_state", 0, 7)
	want("homing_offset", -5000, 0)
	if got := r.register(0, "present_position"); got != -5000 {
		t.Errorf("homing offset: got %d, want -5000", got)
	}
	// The brake opens in 20 ms, goals are taken 200 ms later.
	want("goal_position", -5000, 0)
	want("torque_enable", 1, 0)
	want("goal_position", 0, 1)
	want("torque_enable", 0, 1)
	if got := r.register(0, "controller_state"); got != 4 {
		t.Errorf("torque on: got state %d, want 4", got)
	}
	want("operating_mode", 1, 7) // EEPROM under torque
	want("indirect_address_1", 513, 7)
	want("hybrid_save", 1, 4)
	want("profile_velocity", 3000, 0) // hybrid: not kept
	want("profile_acceleration", 3000, 0)
	r.pass(220 * time.Millisecond)
	want("goal_position", 200000, 0)
	if got := r.register(0, "controller_state"); got != 5 {
		t.Errorf("running: got state %d, want 5", got)
	}
	r.pass(150 * time.Millisecond)
	if r.register(0, "moving_status")&4 == 0 {
		t.Fatal("got at rest, want in motion")
	}
	// It slows down in 200 ms; its register shows the command at once.
	want("torque_enable", 0, 0)
	if got, on := r.register(0, "controller_state"), r.register(0, "torque_enable"); got != 6 || on != 0 {
		t.Errorf("torque off: got state %d, register %d, want 6, 0", got, on)
	}
	want("torque_enable", 1, 1)
	r.pass(230 * time.Millisecond)
	if v := r.servos[0].Actuator().Velocity; math.Abs(v) > 0.02 || r.register(0, "controller_state") != 2 {
		t.Errorf("stopped: got %g rad/s, state %d", v, r.register(0, "controller_state"))
	}
	want("velocity_p_gain", 20000, 0) // hybrid: kept
	at := r.register(0, "present_position")
	r.servos[0].Actuator().Position += 3 * 2 * math.Pi // turned by hand, without power
	r.execute(2, dynamixel.Instruction{ID: 1, Op: dynamixel.Reboot})
	r.pass(time.Second)
	if p, v := r.register(0, "profile_velocity"), r.register(0, "velocity_p_gain"); p != 3921 || v != 20000 {
		t.Errorf("hybrid after power: got %d, %d, want 3921, 20000", p, v)
	}
	if got := r.register(0, "present_position"); math.Abs(float64(got-at-3*524288)) > 50 {
		t.Errorf("turns after power: got %d, want %d", got, at+3*524288)
	}
	// Turns are cleared to within one of the motor; that restarts it.
	if st, ok := r.execute(2, dynamixel.Instruction{ID: 1, Op: dynamixel.Clear, Data: []byte("\x01DXL\x22")}); !ok ||
		st.Error != 0 {
		t.Errorf("clear: got %+v, %v", st, ok)
	}
	r.pass(time.Second)
	if got := r.register(0, "present_position") + 5000; got < 0 || got > 524288/51 {
		t.Errorf("turns cleared: got %d, want within a turn of the motor", got)
	}
	// An electronic gear that is not the real one changes the unit of positions.
	r = newRig(t, emulator.Timing{}, newServo(t, "ym070-210-a051", 1, "gear_numerator", 1))
	place(r.servos[0], 1000)
	if got := r.register(0, "present_position"); math.Abs(float64(got-51*1000)) > 51 {
		t.Errorf("gear 1: got %d, want about 51000", got)
	}
}

// The codes of the emulated causes, their effects, and how they are cleared.
func TestYErrorsOfTheServo(t *testing.T) {
	clear := dynamixel.Instruction{ID: 1, Op: dynamixel.Clear, Data: []byte("\x02ERCL")}
	for _, c := range []struct {
		code   int64
		torque int64
		cause  func(r *rig, a *actuator.Servo)
		gone   func(r *rig, a *actuator.Servo)
	}{
		{1, 0, func(r *rig, a *actuator.Servo) { at(r.servos[0], 33) },
			func(r *rig, a *actuator.Servo) { at(r.servos[0], 24) }},
		{2, 0, func(r *rig, a *actuator.Servo) { at(r.servos[0], 15) },
			func(r *rig, a *actuator.Servo) { at(r.servos[0], 24) }},
		{4, 0, func(r *rig, a *actuator.Servo) { a.Temperature = 61 },
			func(r *rig, a *actuator.Servo) { a.Temperature = 40 }},
		{5, 0, func(r *rig, a *actuator.Servo) { a.Alarm |= actuator.AlarmOverload }, nil},
		{19, 1, func(r *rig, a *actuator.Servo) { a.Velocity = 40 },
			func(r *rig, a *actuator.Servo) { a.Velocity = 0 }},
		{20, 1, func(r *rig, a *actuator.Servo) {
			a.Position = 3.5
			r.pass(time.Millisecond)
		}, func(r *rig, a *actuator.Servo) { a.Reset(0) }},
	} {
		r := newRig(t, emulator.Timing{},
			newServo(t, "ym070-210-r099", 1, "return_delay", 0, "position_limit_threshold", 1000))
		a := r.servos[0].Actuator()
		r.write(0, "torque_enable", 1)
		r.pass(5 * time.Millisecond)
		c.cause(r, a)
		if e := r.write(0, "led", 1); e != 0x80 || r.register(0, "error_code") != c.code ||
			r.register(0, "torque_enable") != c.torque {
			t.Errorf("code %d: got error %02X, code %d, torque %d", c.code, e, r.register(0, "error_code"),
				r.register(0, "torque_enable"))
			continue
		}
		state, refused := int64(5), 0x84
		if c.torque == 0 {
			state, refused = 8, 0x80
			if e := r.write(0, "torque_enable", 1); e != 0x81 {
				t.Errorf("code %d: torque on: got error %02X, want 81", c.code, e)
			}
		}
		if got := r.register(0, "controller_state"); got != state {
			t.Errorf("code %d: got state %d, want %d", c.code, got, state)
		}
		if e := r.write(0, "goal_position", 10); e != refused {
			t.Errorf("code %d: goal: got error %02X, want %02X", c.code, e, refused)
		}
		if c.gone != nil {
			if c.torque == 0 {
				if st, _ := r.execute(2, clear); st.Error != 0x81 {
					t.Errorf("code %d: clear with the cause there: got %02X, want 81", c.code, st.Error)
				}
			}
			c.gone(r, a)
		}
		if st, _ := r.execute(2, clear); st.Error != 0 || r.register(0, "error_code") != 0 ||
			r.register(0, "error_code_history_1") != c.code {
			t.Errorf("code %d: clear: got %02X, code %d, history %d", c.code, st.Error, r.register(0, "error_code"),
				r.register(0, "error_code_history_1"))
		}
	}
	// An encoder's error is not cleared.
	r := newRig(t, emulator.Timing{}, newServo(t, "ym070-210-r099", 1, "return_delay", 0))
	r.servos[0].Actuator().Alarm |= actuator.AlarmEncoder
	if st, _ := r.execute(2, clear); st.Error != 0x81 || r.register(0, "error_code") != 13 {
		t.Errorf("encoder: clear: got %02X, code %d, want 81, 13", st.Error, r.register(0, "error_code"))
	}
}

// The driver on the emulated servo, in each mode: nothing moves at torque-on, goals are followed, and it stops.
func TestYChain(t *testing.T) {
	// each gear, size and brake
	for _, model := range []string{"ym070-210-m001", "ym070-210-r051", "ym070-210-a099", "ym080-230-b001",
		"ym080-230-r099"} {
		t.Run(model, func(t *testing.T) {
			d := drive(t, model, 2)
			place(d.servos[0], 20000)
			place(d.servos[1], 20000)
			for i := range d.servos { // left by another program
				d.write(i, "velocity_offset", 1000)
			}
			d.cycles(20, false, 0)
			d.towards(60, servo.Goal{Enable: true, Mode: hal.NoMode, Limit: 1})
			d.follows(20000, 60)
			d.cycles(900, true, 60000)
			d.follows(60000, 600)
			v := 0.3 * d.servos[0].Actuator().Spec.NoLoadSpeed
			d.towards(150, servo.Goal{Enable: true, Mode: hal.VelocityMode, Velocity: v, Limit: 1})
			if got := d.chain.State(0).Velocity; math.Abs(got/v-1) > 0.05 {
				t.Errorf("velocity: got %g, want %g rad/s", got, v)
			}
			// It gives the current, until it is faster than it may be.
			d.towards(150, servo.Goal{Mode: hal.TorqueMode, Limit: 1})
			d.towards(70, servo.Goal{Enable: true, Mode: hal.TorqueMode, Effort: -0.6, Limit: 1})
			if st := d.chain.State(0); math.Abs(st.Effort+0.6) > 0.05 || !st.Torque {
				t.Errorf("torque: got %g A, torque %v, %v, want -0.6 A", st.Effort, st.Torque, d.chain.Fault(0))
			}
			for i, err := range d.chain.Halt() {
				if err != nil || d.register(i, "torque_enable") != 0 {
					t.Errorf("halt: servo %d: got %v", i+1, err)
				}
			}
			d.towards(60, servo.Goal{Mode: hal.PositionMode, Limit: 1})
			if d.servos[0].Actuator().Enable || d.register(0, "controller_state") != 2 {
				t.Errorf("halt: got driven %v in state %d", d.servos[0].Actuator().Enable,
					d.register(0, "controller_state"))
			}
		})
	}
}

// An overload is named, latched, cleared by the error clear instruction, and torque comes back without a motion.
func TestYChainClears(t *testing.T) {
	d := drive(t, "ym070-210-r051", 1)
	d.cycles(300, true, 20000)
	d.follows(20000, 600)
	d.servos[0].Actuator().Alarm |= actuator.AlarmOverload
	d.cycles(10, true, 20000)
	if err := d.chain.Fault(0); !errors.Is(err, servo.ErrLatched) || !strings.Contains(err.Error(), "overload") ||
		d.chain.State(0).Alarm != servo.AlarmOverload {
		t.Fatalf("overload: got %v, alarm %v", err, d.chain.State(0).Alarm)
	}
	d.servos[0].Actuator().Alarm = 0
	d.cycles(10, false, 0)
	if err := d.chain.ClearAlarm(0); err != nil {
		t.Fatal(err)
	}
	at := d.chain.State(0).Position
	d.towards(60, servo.Goal{Enable: true, Mode: hal.NoMode, Limit: 1})
	d.follows(at, 60)
	// One whose cause is still there stays, and says so.
	d.servos[0].Actuator().Temperature = 70
	d.cycles(10, true, 20000)
	if err := d.chain.ClearAlarm(0); err == nil || d.register(0, "error_code") != 4 {
		t.Errorf("still hot: got %v, code %d", err, d.register(0, "error_code"))
	}
}

// Without packets from the host the watchdog stops the servo within its time; it starts again only after Enable was
// false once.
func TestYChainWatchdog(t *testing.T) {
	d := drive(t, "ym070-210-r099", 1)
	d.towards(100, servo.Goal{Enable: true, Mode: hal.VelocityMode, Velocity: 1, Limit: 1})
	if d.servos[0].Actuator().Velocity < 0.9 {
		t.Fatalf("got %g rad/s", d.servos[0].Actuator().Velocity)
	}
	d.pass(600 * time.Millisecond)
	if v := d.servos[0].Actuator().Velocity; math.Abs(v) > 0.02 {
		t.Errorf("silent host: got %g rad/s, want 0", v)
	}
	d.towards(20, servo.Goal{Enable: true, Mode: hal.VelocityMode, Velocity: 1, Limit: 1})
	if v := d.servos[0].Actuator().Velocity; math.Abs(v) > 0.02 || d.chain.Fault(0) == nil ||
		!strings.Contains(d.chain.Fault(0).Error(), "watchdog") {
		t.Errorf("host back: got %g rad/s, %v", v, d.chain.Fault(0))
	}
	d.towards(60, servo.Goal{Limit: 1, Mode: hal.VelocityMode})
	d.towards(60, servo.Goal{Enable: true, Mode: hal.VelocityMode, Velocity: 1, Limit: 1})
	if v := d.servos[0].Actuator().Velocity; v < 0.9 || d.chain.Fault(0) != nil {
		t.Errorf("enabled again: got %g rad/s, %v", v, d.chain.Fault(0))
	}
}

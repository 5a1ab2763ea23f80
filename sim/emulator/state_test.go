package emulator_test

import (
	"math"
	"testing"
	"time"

	emudynamixel "github.com/halyard-robotics/halyard/internal/emulator/dynamixel"
	"github.com/halyard-robotics/halyard/servo/dynamixel"
	"github.com/halyard-robotics/halyard/sim/actuator"
	"github.com/halyard-robotics/halyard/sim/emulator"
	"github.com/halyard-robotics/halyard/sim/emulator/wire"
)

func TestShutdownOfAX(t *testing.T) {
	const overload = 1 << 5
	r := newRig(t, emulator.Timing{}, newServo(t, "ax-12a", 1, "torque_enable", 1))
	a := r.servos[0].Actuator()
	a.Alarm |= actuator.AlarmOverload
	st, _ := r.execute(1, dynamixel.Instruction{ID: 1, Op: dynamixel.Ping})
	if got := [2]int64{r.register(0, "torque_enable"), r.register(0, "torque_limit")}; st.Error != overload ||
		got != [2]int64{} || a.Enable {
		t.Errorf("overload: got error %02X, torque and limit %v, driven %v", st.Error, got, a.Enable)
	}
	// A goal does not bring the torque back; the torque limit does.
	if e := r.write(0, "goal_position", 600); e != overload || r.register(0, "torque_enable") != 0 {
		t.Errorf("a goal while shut down: error %02X, torque %d", e, r.register(0, "torque_enable"))
	}
	r.write(0, "torque_limit", 1023)
	if e := r.write(0, "torque_enable", 1); e != 0 || !a.Enable {
		t.Errorf("after recovery: error %02X, driven %v", e, a.Enable)
	}
	// An alarm that the mask leaves out is shown and nothing more.
	at(r.servos[0], 5)
	if e := r.write(0, "led", 1); e != 1 || !a.Enable {
		t.Errorf("low voltage: got error %02X, driven %v, want 01, true", e, a.Enable)
	}
	at(r.servos[0], 12)
	if e := r.write(0, "led", 1); e != 0 {
		t.Errorf("voltage back: got error %02X", e)
	}
}

func TestHardwareErrorOfX(t *testing.T) {
	r := newRig(t, emulator.Timing{}, newServo(t, "xm430-w350", 1, "torque_enable", 1, "goal_position", 1000))
	a := r.servos[0].Actuator()
	a.Alarm |= actuator.AlarmOverload
	if e := r.write(0, "led", 1); e != 0x80 || r.register(0, "hardware_error") != 1<<5 ||
		r.register(0, "torque_enable") != 0 || a.Enable {
		t.Errorf("overload: got error %02X, status %02X, torque %d, driven %v", e,
			r.register(0, "hardware_error"), r.register(0, "torque_enable"), a.Enable)
	}
	a.ClearAlarm() // the cause is over, the error stays
	if e := r.write(0, "torque_enable", 1); e != 0x81 || a.Enable {
		t.Errorf("torque on while latched: got error %02X, driven %v, want 81, false", e, a.Enable)
	}
	if st, ok := r.execute(2, dynamixel.Instruction{ID: 1, Op: dynamixel.Reboot}); !ok || st.Error != 0x80 {
		t.Errorf("reboot: got %v %+v", ok, st)
	}
	if e := r.write(0, "torque_enable", 1); e != 0 || !a.Enable || r.register(0, "hardware_error") != 0 ||
		r.register(0, "goal_position") != 2048 {
		t.Errorf("after reboot: error %02X, driven %v, goal %d", e, a.Enable, r.register(0, "goal_position"))
	}
	// Limits that are registers are the servo's own.
	preset(t, r.servos[0], "temperature_limit", 40)
	a.Temperature = 41
	if e := r.write(0, "led", 1); e != 0x80 || r.register(0, "hardware_error") != 1<<2 {
		t.Errorf("41 °C of 40: got error %02X, status %02X", e, r.register(0, "hardware_error"))
	}
}

func TestBusWatchdog(t *testing.T) {
	r := newRig(t, emulator.Timing{}, newServo(t, "xm430-w350", 1, "operating_mode", 1, "torque_enable", 1))
	r.write(0, "bus_watchdog", 5) // 100 ms
	r.write(0, "goal_velocity", 100)
	a := r.servos[0].Actuator()
	for range 10 { // talked to, it keeps going
		r.pass(80 * time.Millisecond)
		r.execute(2, dynamixel.Instruction{ID: 1, Op: dynamixel.Ping})
	}
	if r.register(0, "bus_watchdog") != 5 || a.GoalVelocity == 0 {
		t.Fatalf("tripped while talked to: register %d, goal %g", r.register(0, "bus_watchdog"), a.GoalVelocity)
	}
	r.pass(120 * time.Millisecond)
	if r.register(0, "bus_watchdog") != -1 || a.GoalVelocity != 0 {
		t.Fatalf("after 120 ms: register %d, goal %g, want -1, 0", r.register(0, "bus_watchdog"), a.GoalVelocity)
	}
	if e := r.write(0, "goal_velocity", 50); e != 4 {
		t.Errorf("a goal while tripped: got error %d, want 4", e)
	}
	r.write(0, "bus_watchdog", 0)
	if e := r.write(0, "goal_velocity", 50); e != 0 || a.GoalVelocity == 0 {
		t.Errorf("after release: error %d, goal %g", e, a.GoalVelocity)
	}
}

func TestIndirectAddresses(t *testing.T) {
	r := newRig(t, emulator.Timing{}, newServo(t, "xm430-w350", 1))
	// The goal's four bytes and the LED through the window, back to front in two parts; then the present position.
	for i, to := range []int64{116, 117, 118, 119, 65, 132, 133, 134, 135} {
		r.write(0, "indirect_address_"+string(rune('1'+i)), to)
	}
	st, ok := r.execute(2, dynamixel.Instruction{ID: 1, Op: dynamixel.Write, Addr: 224, Data: []byte{0xE8, 3, 0, 0, 1}})
	if !ok || st.Error != 0 || r.register(0, "goal_position") != 1000 || r.register(0, "led") != 1 {
		t.Errorf("write: got %v %+v, goal %d, led %d", ok, st, r.register(0, "goal_position"), r.register(0, "led"))
	}
	place(r.servos[0], 1234)
	st, _ = r.execute(2, dynamixel.Instruction{ID: 1, Op: dynamixel.Read, Addr: 224, Size: 9})
	if tohex(st.Data) != "E8030000"+"01"+"D2040000" {
		t.Errorf("read: got % X", st.Data)
	}
	// The rules of the registers behind the window hold, and half a register is half a register.
	for _, x := range []struct {
		addr uint16
		data []byte
		want byte
	}{{229, []byte{0, 0, 0, 0}, 7}, {224, []byte{0, 0}, 5}, {224, []byte{0, 0, 0, 0x7F, 0}, 4}} {
		if st, _ := r.execute(2, dynamixel.Instruction{ID: 1, Op: dynamixel.Write, Addr: x.addr,
			Data: x.data}); st.Error != x.want {
			t.Errorf("%d % X: got error %d, want %d", x.addr, x.data, st.Error, x.want)
		}
	}
}

func TestPowerLossAndStartup(t *testing.T) {
	brownout := wire.Fault{Kind: wire.PowerLoss, Target: wire.All, P: 1, For: 10 * time.Millisecond}
	for _, x := range []struct {
		startup int
		gain    int64
		torque  int64
	}{{0, 800, 0}, {1, 800, 1}, {2, 123, 0}} {
		r := newRig(t, emulator.Timing{}, newServo(t, "xm430-w350", 1, "startup", x.startup, "homing_offset", 100))
		r.write(0, "position_p_gain", 123)
		r.execute(2, dynamixel.Instruction{ID: 1, Op: dynamixel.Backup, Data: []byte("\x01CTRL")})
		r.write(0, "torque_enable", 1)
		if err := r.bus.Fault(brownout); err != nil {
			t.Fatal(err)
		}
		a := r.servos[0].Actuator()
		if a.Enable {
			t.Error("driven without power")
		}
		if _, ok := r.execute(2, dynamixel.Instruction{ID: 1, Op: dynamixel.Ping}); ok &&
			r.line.Now() < 10*time.Millisecond {
			t.Error("answers without power")
		}
		r.pass(20 * time.Millisecond)
		got := [4]int64{r.register(0, "position_p_gain"), r.register(0, "torque_enable"),
			r.register(0, "homing_offset"), r.register(0, "goal_position")}
		if want := [4]int64{x.gain, x.torque, 100, 2148}; got != want {
			t.Errorf("startup %d: gain, torque, offset, goal: got %v, want %v", x.startup, got, want)
		}
	}
	// The actuator's own brown-outs count too.
	r := newRig(t, emulator.Timing{}, newServo(t, "ax-12a", 1, "led", 1, "torque_enable", 1))
	r.servos[0].Actuator().Restarts++
	r.pass(time.Millisecond)
	if r.register(0, "led") != 0 || r.register(0, "torque_enable") != 0 {
		t.Error("registers outlived a brown-out")
	}
}

func TestBootTakesItsTime(t *testing.T) {
	r := newRig(t, emulator.Timing{Boot: 200 * time.Millisecond}, newServo(t, "xm430-w350", 1))
	ping := dynamixel.Instruction{ID: 1, Op: dynamixel.Ping}
	r.execute(2, dynamixel.Instruction{ID: 1, Op: dynamixel.Reboot})
	if _, ok := r.execute(2, ping); ok {
		t.Error("answers while it boots")
	}
	r.pass(200 * time.Millisecond)
	if _, ok := r.execute(2, ping); !ok {
		t.Error("silent after it has booted")
	}
}

func TestRealtimeTickAndMoving(t *testing.T) {
	r := newRig(t, emulator.Timing{}, newServo(t, "xm430-w350", 1, "torque_enable", 1, "profile_velocity", 100))
	r.pass(1500 * time.Millisecond)
	if got := r.register(0, "realtime_tick"); got != 1500 {
		t.Errorf("tick: got %d, want 1500", got)
	}
	r.write(0, "goal_position", 3000)
	r.pass(100 * time.Millisecond)
	if m, s := r.register(0, "moving"), r.register(0, "moving_status"); m != 1 || s&3 != 2 || s>>4 != 1 {
		t.Errorf("under way: moving %d, status %02X", m, s)
	}
	r.pass(2 * time.Second)
	if m, s := r.register(0, "moving"), r.register(0, "moving_status"); m != 0 || s&3 != 1 {
		t.Errorf("there: moving %d, status %02X", m, s)
	}
	if p := r.register(0, "present_position"); math.Abs(float64(p-3000)) > 20 {
		t.Errorf("position: got %d, want 3000", p)
	}
}

// The truth of a mounting, homing offset, drive mode and turns, as positions that the registers show; and back: the
// goal that is what the registers show must be where the joint stands.
func TestTruth(t *testing.T) {
	turn := 2 * math.Pi
	for _, x := range []struct {
		name, model string
		truth       emulator.GroundTruth
		presets     []any
		angle       float64
		want        int64
	}{
		{"nominal", "xm430-w350", emulator.GroundTruth{}, nil, turn / 8, 2560},
		{"another zero", "xm430-w350", emulator.GroundTruth{ZeroTicks: 1000, Direction: 1, Gear: 1}, nil, turn / 8,
			1512},
		{"mirrored", "xm430-w350", emulator.GroundTruth{ZeroTicks: 2048, Direction: -1, Gear: 1}, nil, turn / 8, 1536},
		{"geared", "xm430-w350", emulator.GroundTruth{ZeroTicks: 2048, Direction: 1, Gear: 2}, nil, turn / 8, 3072},
		{"homing", "xm430-w350", emulator.GroundTruth{}, []any{"homing_offset", 500}, 0, 2548},
		{"homing beyond the mode's bound", "xm430-w350", emulator.GroundTruth{}, []any{"homing_offset", 2000}, 0, 3072},
		{"homing, extended", "xm430-w350", emulator.GroundTruth{}, []any{"operating_mode", 4, "homing_offset", 2000}, 0,
			4048},
		{"reversed", "xm430-w350", emulator.GroundTruth{}, []any{"drive_mode", 1}, turn / 8, 1536},
		{"ax", "ax-12a", emulator.GroundTruth{}, nil, 0, 512},
		{"ax mirrored", "ax-12a", emulator.GroundTruth{ZeroTicks: 512, Direction: -1, Gear: 1}, nil, turn / 8,
			512 - 153},
		{"ax in its dead sector", "ax-12a", emulator.GroundTruth{}, nil, 2.8, 1023},
		{"ax in its dead sector, other end", "ax-12a", emulator.GroundTruth{}, nil, -2.8, 0},
		{"mx multi-turn", "mx-28", emulator.GroundTruth{},
			[]any{"cw_angle_limit", 4095, "resolution_divider", 2, "multi_turn_offset", 100}, 0, 1124},
	} {
		m := dynamixel.ModelByName(x.model)
		spec, _ := actuator.Lookup(x.model)
		a := actuator.NewServo(spec)
		s := emudynamixel.New(m, 1, a, x.truth)
		preset(t, s, x.presets...)
		a.Reset(x.angle)
		got, _ := s.Register("present_position")
		if got != x.want {
			t.Errorf("%s: got %d, want %d", x.name, got, x.want)
		}
		s.Preset("goal_position", got)
		if goal := a.GoalPosition; math.Abs(goal-x.angle) > turn/512 && x.angle < 2.7 && x.angle > -2.7 {
			t.Errorf("%s: the goal %d is %g rad, want %g", x.name, got, goal, x.angle)
		}
	}
}

// Every reversal of the counting direction also reverses goals, speeds and measurements.
func TestDirectionsAgree(t *testing.T) {
	mirrored := emulator.GroundTruth{ZeroTicks: 2048, Direction: -1, Gear: 1}
	for _, x := range []struct {
		name, model string
		truth       emulator.GroundTruth
		presets     []any
		goal        string
		want        float64 // sense of the actuator's speed for a positive goal
	}{
		{"nominal", "xm430-w350", emulator.GroundTruth{}, []any{"operating_mode", 1}, "goal_velocity", 1},
		{"mirrored", "xm430-w350", mirrored, []any{"operating_mode", 1}, "goal_velocity", -1},
		{"reversed", "xm430-w350", emulator.GroundTruth{}, []any{"operating_mode", 1, "drive_mode", 1}, "goal_velocity",
			-1},
		{"both", "xm430-w350", mirrored, []any{"operating_mode", 1, "drive_mode", 1}, "goal_velocity", 1},
		{"duty, mirrored", "xm430-w350", mirrored, []any{"operating_mode", 16}, "goal_pwm", -1},
		{"current, mirrored", "xm430-w350", mirrored, []any{"operating_mode", 0}, "goal_current", -1},
		{"wheel, mirrored", "mx-28", mirrored, []any{"ccw_angle_limit", 0}, "moving_speed", -1},
	} {
		spec, _ := actuator.Lookup(x.model)
		s := emudynamixel.New(dynamixel.ModelByName(x.model), 1, actuator.NewServo(spec), x.truth)
		preset(t, s, append(x.presets, x.goal, 200, "torque_enable", 1)...)
		a := s.Actuator()
		for range 300 {
			a.Step(0.001)
		}
		shown, _ := s.Register("present_velocity")
		if a.Velocity*x.want <= 0.1 || shown <= 0 {
			t.Errorf("%s: a goal of +200 turns the joint by %+.2f rad/s and shows %d", x.name, a.Velocity, shown)
		}
	}
	// Margins and slopes of AX are per sense of turning too.
	spec, _ := actuator.Lookup("ax-12a")
	s := emudynamixel.New(dynamixel.ModelByName("ax-12a"), 1, actuator.NewServo(spec),
		emulator.GroundTruth{ZeroTicks: 512, Direction: -1, Gear: 1})
	preset(t, s, "cw_compliance_slope", 64, "ccw_compliance_margin", 5)
	if g := s.Actuator().Gains; g.SlopeCCW != 64 || g.MarginCW != 5 {
		t.Errorf("mirrored slopes: got %+v", g)
	}
}

func TestGearedSpeeds(t *testing.T) {
	spec, _ := actuator.Lookup("xm430-w350")
	s := emudynamixel.New(dynamixel.ModelByName("xm430-w350"), 1, actuator.NewServo(spec),
		emulator.GroundTruth{ZeroTicks: 2048, Direction: 1, Gear: 2})
	preset(t, s, "operating_mode", 1, "goal_velocity", 100)
	a := s.Actuator()
	if want := 50 * 0.229 * 2 * math.Pi / 60; math.Abs(a.GoalVelocity-want) > 1e-6 {
		t.Errorf("goal: got %g rad/s, want %g", a.GoalVelocity, want)
	}
	a.Velocity = a.GoalVelocity
	if got, _ := s.Register("present_velocity"); got != 100 {
		t.Errorf("shown: got %d, want 100", got)
	}
}

func TestTorqueLimitStartsFromMaxTorque(t *testing.T) {
	r := newRig(t, emulator.Timing{}, newServo(t, "mx-28", 1))
	r.write(0, "max_torque", 400)
	r.execute(1, dynamixel.Instruction{ID: 1, Op: dynamixel.Reboot})
	if got := r.register(0, "torque_limit"); got != 400 {
		t.Errorf("got %d, want 400", got)
	}
}

func TestClearForgetsTurns(t *testing.T) {
	r := newRig(t, emulator.Timing{}, newServo(t, "xm430-w350", 1, "operating_mode", 4))
	place(r.servos[0], 2048+3*4096)
	if got := r.register(0, "present_position"); got != 2048+3*4096 {
		t.Errorf("extended: got %d", got)
	}
	if st, ok := r.execute(2, dynamixel.Instruction{ID: 1, Op: dynamixel.Clear, Data: []byte("\x01DXL\x22")}); !ok ||
		st.Error != 0 {
		t.Fatalf("clear: got %v %+v", ok, st)
	}
	if got := r.register(0, "present_position"); got != 2048 {
		t.Errorf("after clear: got %d, want 2048", got)
	}
	// While moving it is refused.
	r.servos[0].Actuator().Velocity = 3
	if st, _ := r.execute(2, dynamixel.Instruction{ID: 1, Op: dynamixel.Clear,
		Data: []byte("\x01DXL\x22")}); st.Error != 1 {
		t.Errorf("moving: got error %d, want 1", st.Error)
	}
}

func TestShadowIDIsObeyedInSilence(t *testing.T) {
	r := newRig(t, emulator.Timing{}, newServo(t, "xm430-w350", 1, "shadow_id", 7))
	if st, ok := r.execute(2, dynamixel.Instruction{ID: 7, Op: dynamixel.Write, Addr: 65, Data: []byte{1}}); ok ||
		r.register(0, "led") != 1 {
		t.Errorf("got %v %+v, led %d", ok, st, r.register(0, "led"))
	}
}

func TestMeasuredValues(t *testing.T) {
	s := newServo(t, "xm430-w350", 1)
	a := s.Actuator()
	a.Velocity, a.Current, a.Duty, a.Temperature = -1, 0.5, -0.25, 44.4
	at(s, 11.16)
	for name, want := range map[string]int64{
		"present_velocity": -42, "present_current": 186, "present_pwm": -221, "present_temperature": 44,
		"present_voltage": 112,
	} {
		if got, _ := s.Register(name); got != want {
			t.Errorf("%s: got %d, want %d", name, got, want)
		}
	}
	x := newServo(t, "ax-12a", 1)
	x.Actuator().Duty = -0.5
	r := newRig(t, emulator.Timing{}, x)
	// Bit 10 is the sign: 512 counts clockwise.
	r.want("FF FF 01 04 02 28 02 CE", "FF FF 01 04 00 00 06 F4")
}

package emulator_test

import (
	"math"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo/dynamixel"
	"github.com/halyard-robotics/halyard/sim/actuator"
	"github.com/halyard-robotics/halyard/sim/emulator"
)

// Every access rule as one line: what has been set before, what is written, and the error byte that answers.
func TestAccessRules2(t *testing.T) {
	for _, x := range []struct {
		name     string
		presets  []any
		register string
		value    int64
		want     int
	}{
		{"a goal", nil, "goal_position", 1000, 0},
		{"read only", nil, "present_position", 1, 7},
		{"read only EEPROM", nil, "model_number", 1, 7},
		{"EEPROM, torque off", nil, "return_delay", 0, 0},
		{"EEPROM, torque on", []any{"torque_enable", 1}, "return_delay", 0, 7},
		{"RAM, torque on", []any{"torque_enable", 1}, "position_p_gain", 100, 0},
		{"below the range", nil, "goal_position", -1048576, 4},
		{"above the range", nil, "torque_enable", 2, 4},
		{"unknown baud rate", nil, "baud_rate", 8, 4},
		{"unknown mode", nil, "operating_mode", 2, 4},
		{"known mode", nil, "operating_mode", 16, 0},
		{"ID 253", nil, "id", 253, 4},
		{"goal above max_position", []any{"max_position", 3000}, "goal_position", 3001, 6},
		{"goal below min_position", []any{"min_position", 100}, "goal_position", 99, 6},
		{"goal of the extended mode", []any{"operating_mode", 4}, "goal_position", -900000, 0},
		{"goal beyond the mode", nil, "goal_position", 4096, 6},
		{"velocity beyond its limit", []any{"velocity_limit", 200}, "goal_velocity", -201, 6},
		{"current beyond its limit", []any{"current_limit", 300}, "goal_current", 301, 6},
		{"PWM beyond its limit", []any{"pwm_limit", 400}, "goal_pwm", 401, 6},
		{"goal after the watchdog", []any{"bus_watchdog", -1}, "goal_position", 1000, 4},
		{"gain after the watchdog", []any{"bus_watchdog", -1}, "position_p_gain", 1000, 0},
		{"the watchdog's release", []any{"bus_watchdog", -1}, "bus_watchdog", 0, 0},
	} {
		r := newRig(t, emulator.Timing{}, newServo(t, "xm430-w350", 1, x.presets...))
		before := r.register(0, x.register)
		if got := r.write(0, x.register, x.value); got != x.want {
			t.Errorf("%s: %s = %d: got error %d, want %d", x.name, x.register, x.value, got, x.want)
		}
		if after := r.register(0, x.register); x.want != 0 && after != before {
			t.Errorf("%s: %s: refused and yet %d", x.name, x.register, after)
		} else if x.want == 0 && after != x.value {
			t.Errorf("%s: %s: got %d, want %d", x.name, x.register, after, x.value)
		}
	}
}

func TestAccessRules1(t *testing.T) {
	const angle, span = 1 << 1, 1 << 3
	for _, x := range []struct {
		name, model string
		presets     []any
		register    string
		value       int64
		want        int
	}{
		{"a goal", "ax-12a", nil, "goal_position", 300, 0},
		{"read only", "ax-12a", nil, "present_position", 1, span},
		{"out of range", "ax-12a", nil, "punch", 31, span},
		{"beyond the encoder", "ax-12a", nil, "goal_position", 1024, span},
		{"beyond the angle limit", "ax-12a", []any{"ccw_angle_limit", 800}, "goal_position", 801, angle},
		{"no joint speed below 0", "ax-12a", nil, "moving_speed", -5, span},
		{"wheel speed", "ax-12a", []any{"ccw_angle_limit", 0}, "moving_speed", -5, 0},
		{"EEPROM with torque on", "ax-12a", []any{"torque_enable", 1}, "return_delay", 0, 0},
		{"EEPROM locked", "ax-12a", []any{"lock", 1}, "return_delay", 0, span},
		{"RAM locked", "ax-12a", []any{"lock", 1}, "led", 1, 0},
		{"unlocking", "ax-12a", []any{"lock", 1}, "lock", 0, span},
		{"multi-turn goal", "mx-28", []any{"cw_angle_limit", 4095, "ccw_angle_limit", 4095}, "goal_position", -20000,
			0},
		{"joint goal below 0", "mx-28", nil, "goal_position", -1, span},
		{"resolution divider 5", "mx-28", nil, "resolution_divider", 5, span},
	} {
		r := newRig(t, emulator.Timing{}, newServo(t, x.model, 1, x.presets...))
		before := r.register(0, x.register)
		if got := r.write(0, x.register, x.value); got != x.want {
			t.Errorf("%s: %s = %d: got error %02X, want %02X", x.name, x.register, x.value, got, x.want)
		}
		if after := r.register(0, x.register); (x.want == 0) != (after == x.value) || x.want != 0 && after != before {
			t.Errorf("%s: %s: got %d after %d", x.name, x.register, after, before)
		}
	}
}

// Writes by address: lengths, gaps and middles of registers.
func TestWritesByAddress(t *testing.T) {
	for _, x := range []struct {
		name string
		in   dynamixel.Instruction
		want byte
	}{
		{"two registers at once", dynamixel.Instruction{Op: dynamixel.Write, Addr: 108, Data: make([]byte, 8)}, 0},
		{"half a register", dynamixel.Instruction{Op: dynamixel.Write, Addr: 116, Data: []byte{0, 8}}, 5},
		{"the middle of a register", dynamixel.Instruction{Op: dynamixel.Write, Addr: 117, Data: []byte{0, 8, 0}}, 7},
		{"no register", dynamixel.Instruction{Op: dynamixel.Write, Addr: 66, Data: []byte{0}}, 7},
		{"beyond the table", dynamixel.Instruction{Op: dynamixel.Write, Addr: 5000, Data: []byte{0}}, 7},
		{"over the end", dynamixel.Instruction{Op: dynamixel.Write, Addr: 661, Data: []byte{0, 0}}, 7},
		{"one good, one read only", dynamixel.Instruction{Op: dynamixel.Write, Addr: 116, Data: make([]byte, 6)}, 7},
		{"read beyond the table", dynamixel.Instruction{Op: dynamixel.Read, Addr: 660, Size: 3}, 7},
		{"read nothing", dynamixel.Instruction{Op: dynamixel.Read, Addr: 132, Size: 0}, 5},
		{"action without registration", dynamixel.Instruction{Op: dynamixel.Action}, 2},
		{"unknown instruction", dynamixel.Instruction{Op: 0x77}, 2},
		{"wrong letters of clear", dynamixel.Instruction{Op: dynamixel.Clear, Data: []byte("\x01DXX\x22")}, 2},
		{"unknown reset", dynamixel.Instruction{Op: dynamixel.FactoryReset, Data: []byte{3}}, 4},
		{"restore without a backup", dynamixel.Instruction{Op: dynamixel.Backup, Data: []byte("\x02CTRL")}, 1},
		{"registering what would be refused",
			dynamixel.Instruction{Op: dynamixel.RegWrite, Addr: 132, Data: make([]byte, 4)}, 7},
	} {
		r := newRig(t, emulator.Timing{}, newServo(t, "xm430-w350", 1))
		x.in.ID = 1
		st, ok := r.execute(2, x.in)
		if !ok || st.Error != x.want || st.Error != 0 && len(st.Data) > 0 {
			t.Errorf("%s: got %v %+v, want error %d", x.name, ok, st, x.want)
		}
	}
	// A gap between registers takes anything and reads as zero.
	r := newRig(t, emulator.Timing{}, newServo(t, "xm430-w350", 1))
	if st, ok := r.execute(2, dynamixel.Instruction{ID: 1, Op: dynamixel.Read, Addr: 64, Size: 6}); !ok ||
		tohex(st.Data) != "000000000200" {
		t.Errorf("read over a gap: got %v % X", ok, st.Data)
	}
}

func TestStatusReturnLevels(t *testing.T) {
	ping := dynamixel.Instruction{ID: 1, Op: dynamixel.Ping}
	read := dynamixel.Instruction{ID: 1, Op: dynamixel.Read, Addr: 0, Size: 1}
	write := dynamixel.Instruction{ID: 1, Op: dynamixel.Write, Data: []byte{1}}
	for model, led := range map[string]uint16{"ax-12a": 25, "xm430-w350": 65} {
		for level, want := range [][3]bool{{true, false, false}, {true, true, false}, {true, true, true}} {
			r := newRig(t, emulator.Timing{}, newServo(t, model, 1, "status_return", level))
			write.Addr = led
			protocol := dynamixel.ModelByName(r.servos[0].Name()).Protocol
			var got [3]bool
			for i, in := range []dynamixel.Instruction{ping, read, write} {
				_, got[i] = r.execute(protocol, in)
			}
			if got != want {
				t.Errorf("%s, level %d: ping, read, write answered: got %v, want %v", model, level, got, want)
			}
			if r.register(0, "led") != 1 {
				t.Errorf("%s, level %d: the write was not obeyed", model, level)
			}
		}
	}
}

func TestBroadcastsAreObeyedInSilence(t *testing.T) {
	r := newRig(t, emulator.Timing{}, newServo(t, "xm430-w350", 1), newServo(t, "xm430-w350", 2))
	for _, in := range []dynamixel.Instruction{
		{Op: dynamixel.Write, Addr: 65, Data: []byte{1}},
		{Op: dynamixel.Read, Addr: 0, Size: 2},
		{Op: dynamixel.FactoryReset, Data: []byte{0xFF}}, // all but this: not taken from a broadcast
	} {
		in.ID = dynamixel.Broadcast
		if st, ok := r.execute(2, in); ok {
			t.Errorf("%v: got %+v, want silence", in.Op, st)
		}
	}
	for i := range r.servos {
		if r.register(i, "led") != 1 || r.register(i, "id") != int64(i+1) {
			t.Errorf("servo %d: led %d, id %d", i+1, r.register(i, "led"), r.register(i, "id"))
		}
	}
}

func TestFactoryResets(t *testing.T) {
	for _, x := range []struct {
		option   byte
		id, baud int64
	}{{0xFF, 1, 1}, {1, 9, 1}, {2, 9, 3}} {
		r := newRig(t, emulator.Timing{}, newServo(t, "xm430-w350", 9, "max_position", 2000, "led", 1))
		if st, ok := r.execute(2, dynamixel.Instruction{ID: 9, Op: dynamixel.FactoryReset,
			Data: []byte{x.option}}); !ok || st.Error != 0 || st.ID != 9 {
			t.Errorf("option %02X: got %v %+v", x.option, ok, st)
		}
		got := [4]int64{r.register(0, "id"), r.register(0, "baud_rate"), r.register(0, "max_position"),
			r.register(0, "led")}
		if want := [4]int64{x.id, x.baud, 4095, 0}; got != want {
			t.Errorf("option %02X: id, baud, limit, led: got %v, want %v", x.option, got, want)
		}
	}
}

func TestIDAndBaudRateChangeAfterTheAnswer(t *testing.T) {
	r := newRig(t, emulator.Timing{}, newServo(t, "xm430-w350", 1))
	if st, ok := r.execute(2, dynamixel.Instruction{ID: 1, Op: dynamixel.Write, Addr: 7, Data: []byte{5}}); !ok ||
		st.ID != 1 {
		t.Errorf("ID: got %v %+v, want an answer of 1", ok, st)
	}
	if _, ok := r.execute(2, dynamixel.Instruction{ID: 1, Op: dynamixel.Ping}); ok {
		t.Error("the old ID still answers")
	}
	if _, ok := r.execute(2, dynamixel.Instruction{ID: 5, Op: dynamixel.Write, Addr: 8, Data: []byte{1}}); !ok {
		t.Error("baud rate: no answer at the old one")
	}
	ping := dynamixel.Instruction{ID: 5, Op: dynamixel.Ping}
	if _, ok := r.execute(2, ping); ok {
		t.Error("the old baud rate still answers")
	}
	r.line.SetBaud(57600)
	if _, ok := r.execute(2, ping); !ok {
		t.Error("silent at the new baud rate")
	}
}

func TestAWrongRateAtTheHostIsGarbage(t *testing.T) {
	r := newRig(t, emulator.Timing{}, newServo(t, "xm430-w350", 1))
	ping := dynamixel.AppendInstruction2(nil, &dynamixel.Instruction{ID: 1, Op: dynamixel.Ping})
	r.line.Write(ping)
	r.line.SetBaud(57600) // too late for the question, too early for the answer
	got := r.listen(20 * time.Millisecond)
	parser := dynamixel.NewParser(2, dynamixel.FromServos)
	parser.Feed(got)
	var k dynamixel.Packet
	if len(got) == 0 || parser.Next(&k) {
		t.Errorf("got % X, want bytes without sense", got)
	}
	for _, baud := range []int{1_250_000, 800_000} {
		r.line.SetBaud(baud)
		if _, ok := r.execute(2, dynamixel.Instruction{ID: 1, Op: dynamixel.Ping}); ok {
			t.Errorf("%d baud: understood", baud)
		}
	}
	// UARTs tolerate 3 % of deviation.
	r.line.SetBaud(1_020_000)
	if _, ok := r.execute(2, dynamixel.Instruction{ID: 1, Op: dynamixel.Ping}); !ok {
		t.Error("2 % off: silent")
	}
}

func TestTorqueByGoal(t *testing.T) {
	for _, x := range []struct {
		model   string
		presets []any
		want    int64
	}{{"ax-12a", nil, 1}, {"mx-28", nil, 1}, {"xm430-w350", nil, 0}, {"xm430-w350", []any{"drive_mode", 8}, 1},
		{"xl-320", nil, 0}} {
		r := newRig(t, emulator.Timing{}, newServo(t, x.model, 1, x.presets...))
		if e := r.write(0, "goal_position", 600); e != 0 {
			t.Errorf("%s: error %d", x.model, e)
		}
		if got := r.register(0, "torque_enable"); got != x.want || r.servos[0].Actuator().Enable != (x.want == 1) {
			t.Errorf("%s %v: torque after a goal: got %d, want %d", x.model, x.presets, got, x.want)
		}
	}
}

func TestOperatingModeStartsAfresh(t *testing.T) {
	r := newRig(t, emulator.Timing{}, newServo(t, "xm430-w350", 1,
		"position_p_gain", 123, "profile_velocity", 50, "goal_pwm", 100, "goal_velocity", 77, "goal_position", 100))
	if e := r.write(0, "operating_mode", 1); e != 0 {
		t.Fatalf("error %d", e)
	}
	for name, want := range map[string]int64{
		"position_p_gain": 800, "profile_velocity": 0, "goal_pwm": 885, "goal_velocity": 0, "goal_position": 2048,
	} {
		if got := r.register(0, name); got != want {
			t.Errorf("%s: got %d, want %d", name, got, want)
		}
	}
}

// The effect of the registers of every mode on the actuator.
func TestModesDriveTheActuator(t *testing.T) {
	const unit = 0.229 * 2 * math.Pi / 60
	for _, x := range []struct {
		model   string
		presets []any
		mode    hal.Mode
		goal    func(a *actuator.Servo) float64
		want    float64
	}{
		{"xm430-w350", []any{"operating_mode", 3, "goal_position", 3072}, hal.PositionMode,
			func(a *actuator.Servo) float64 { return a.GoalPosition }, math.Pi / 2},
		{"xm430-w350", []any{"operating_mode", 4, "goal_position", 2048 + 4096}, hal.PositionMode,
			func(a *actuator.Servo) float64 { return a.GoalPosition }, 2 * math.Pi},
		{"xm430-w350", []any{"operating_mode", 1, "goal_velocity", -100}, hal.VelocityMode,
			func(a *actuator.Servo) float64 { return a.GoalVelocity }, -100 * unit},
		{"xm430-w350", []any{"operating_mode", 0, "goal_current", 100}, hal.TorqueMode,
			func(a *actuator.Servo) float64 { return a.GoalCurrent }, 0.269},
		{"xm430-w350", []any{"operating_mode", 16, "goal_pwm", -885}, hal.DutyMode,
			func(a *actuator.Servo) float64 { return a.GoalDuty }, -1},
		{"xm430-w350", []any{"operating_mode", 5, "goal_current", 1193 / 2}, hal.PositionMode,
			func(a *actuator.Servo) float64 { return a.Limit }, 596. / 1193},
		{"xm430-w350", []any{"profile_velocity", 100}, hal.PositionMode,
			func(a *actuator.Servo) float64 { return a.ProfileVelocity }, 100 * unit},
		{"xm430-w350", []any{"drive_mode", 4, "profile_velocity", 1500}, hal.PositionMode,
			func(a *actuator.Servo) float64 { return a.ProfileVelocity }, 1.5},
		{"xm430-w350", []any{"drive_mode", 1, "operating_mode", 1, "goal_velocity", 100}, hal.VelocityMode,
			func(a *actuator.Servo) float64 { return a.GoalVelocity }, -100 * unit},
		{"xm430-w350", []any{"position_d_gain", 77}, hal.PositionMode,
			func(a *actuator.Servo) float64 { return a.Gains.D }, 77},
		{"ax-12a", []any{"goal_position", 1023}, hal.PositionMode,
			func(a *actuator.Servo) float64 { return a.GoalPosition }, 511 * 300 * math.Pi / 180 / 1023},
		{"ax-12a", []any{"torque_limit", 0}, hal.PositionMode, func(a *actuator.Servo) float64 { return a.Limit }, 0},
		{"ax-12a", []any{"ccw_compliance_slope", 64}, hal.PositionMode,
			func(a *actuator.Servo) float64 { return a.Gains.SlopeCCW }, 64},
		{"ax-12a", []any{"ccw_angle_limit", 0, "moving_speed", -1023}, hal.DutyMode,
			func(a *actuator.Servo) float64 { return a.GoalDuty }, -1},
		{"mx-28", []any{"ccw_angle_limit", 0, "moving_speed", 100}, hal.VelocityMode,
			func(a *actuator.Servo) float64 { return a.GoalVelocity }, 100 * 0.114 * 2 * math.Pi / 60},
		{"xl-320", []any{"operating_mode", 1, "moving_speed", 1023}, hal.DutyMode,
			func(a *actuator.Servo) float64 { return a.GoalDuty }, 1},
	} {
		a := newServo(t, x.model, 1, append(x.presets, "torque_enable", 1)...).Actuator()
		if got := x.goal(a); !a.Enable || a.Mode != x.mode ||
			math.Abs(got-x.want) > 1e-3*math.Max(1, math.Abs(x.want)) {
			t.Errorf("%s %v: got %v %v %g, want %v %g", x.model, x.presets, a.Enable, a.Mode, got, x.mode, x.want)
		}
	}
}

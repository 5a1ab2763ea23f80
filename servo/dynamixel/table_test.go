package dynamixel

import (
	"math"
	"testing"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/servotest"
)

// documented are the model numbers of the e-Manual.
func documented() map[string]uint16 {
	return map[string]uint16{
		"ax-12a": 12, "mx-28": 29, "mx-64": 310, "mx-106": 320, "mx-28-2": 30, "mx-64-2": 311, "mx-106-2": 321,
		"xl-320": 350, "xl330-m077": 1190, "xl330-m288": 1200, "xl430-w250": 1060, "xc430-w150": 1070,
		"xm430-w350": 1020, "xm430-w210": 1030, "xm540-w150": 1130, "xm540-w270": 1120,
		"xh430-w350": 1000, "xh430-w210": 1010, "xh540-w150": 1110, "xh540-w270": 1100,
		"xc330-t181": 1210, "xc330-t288": 1220, "xc330-m181": 1230, "xc330-m288": 1240, "xc430-w240": 1080,
		"2xl430-w250": 1090,
		"xh430-v350":  1040, "xh430-v210": 1050, "xw540-t260": 1170, "xw540-t140": 1180,
		"ym070-210-m001": 4000, "ym070-210-b001": 4010, "ym070-210-r051": 4020, "ym070-210-r099": 4030,
		"ym070-210-a051": 4040, "ym070-210-a099": 4050,
		"ym080-230-m001": 4120, "ym080-230-b001": 4130, "ym080-230-r051": 4140, "ym080-230-r099": 4150,
		"ym080-230-a051": 4160, "ym080-230-a099": 4170,
	}
}

func TestModels(t *testing.T) {
	want := documented()
	if len(Models()) != len(want) {
		t.Errorf("models: got %d, want %d", len(Models()), len(want))
	}
	for name, number := range want {
		m := ModelByName(name)
		if m == nil {
			t.Errorf("%s: got no model", name)
			continue
		}
		if m.Number != number || modelByNumber(number, m.Protocol) != m {
			t.Errorf("%s: number: got %d, want %d, found again", name, m.Number, number)
		}
	}
	if ModelByName("ax-18") != nil || modelByNumber(12, 2) != nil {
		t.Errorf("unknown models: got one, want none")
	}
}

func TestTables(t *testing.T) {
	for _, m := range Models() {
		end := uint16(0)
		for i := range m.Registers {
			r := &m.Registers[i]
			switch {
			case r.Addr < end:
				t.Errorf("%s: %s at %d: overlaps what ends at %d", m.Name, r.Name, r.Addr, end)
			case r.Size != 1 && r.Size != 2 && r.Size != 4:
				t.Errorf("%s: %s: size: got %d, want 1, 2 or 4", m.Name, r.Name, r.Size)
			// The areas of the Y table alternate.
			case r.Access == EEPROM && r.Addr >= m.RAMStart && m.ErrorCodes == nil, r.Access == RAM &&
				r.Addr < m.RAMStart:
				t.Errorf("%s: %s at %d: wrong side of %d", m.Name, r.Name, r.Addr, m.RAMStart)
			case r.Min > r.Max || r.Default < r.Min || r.Default > r.Max:
				t.Errorf("%s: %s: default: got %d, want %d..%d", m.Name, r.Name, r.Default, r.Min, r.Max)
			case (r.Scale == 0) != (r.Unit == ""):
				t.Errorf("%s: %s: scale %g and unit %q do not go together", m.Name, r.Name, r.Scale, r.Unit)
			case m.Register(r.Name) != r || m.RegisterAt(r.Addr+r.Size-1) != r:
				t.Errorf("%s: %s: not found by name and address, or named twice", m.Name, r.Name)
			}
			for _, v := range []int64{r.Min, r.Default, r.Max} {
				b := r.Append(nil, v)
				if got := r.Decode(b); len(b) != int(r.Size) || got != v {
					t.Errorf("%s: %s: %d as bytes: got % X and back %d", m.Name, r.Name, v, b, got)
				}
			}
			end = r.Addr + r.Size
		}
		if n := m.Register("model_number"); n == nil || n.Addr != 0 || n.Default != int64(m.Number) {
			t.Errorf("%s: model_number: got %+v", m.Name, n)
		}
		checkModel(t, m)
	}
}

// needed are the registers that the chain, the client and the emulator rely on.
func needed(m *Model) []string {
	list := []string{"id", "baud_rate", "return_delay", "status_return", "temperature_limit", "min_voltage",
		"max_voltage",
		"torque_enable", "goal_position", "present_position", "present_velocity", "present_voltage",
		"present_temperature"}
	if m.ErrorCodes == nil {
		list = append(list, "shutdown", "moving")
	}
	if m.RAMStart == 24 {
		return append(list, "cw_angle_limit", "ccw_angle_limit", "moving_speed", "torque_limit", "max_torque",
			"present_load", "punch")
	}
	status := "hardware_error"
	if m.ErrorCodes != nil {
		list, status = append(list, "controller_state", "pwm_offset", "current_offset", "velocity_offset",
			"gear_numerator", "gear_denominator"), "error_code"
	}
	list = append(list, "operating_mode", status, "bus_watchdog", "goal_pwm", "goal_velocity", "profile_velocity",
		"profile_acceleration", "pwm_limit", "velocity_limit", "min_position", "max_position", "homing_offset")
	if m.CurrentControl {
		return append(list, "goal_current", "current_limit", "present_current")
	}
	return append(list, "present_load")
}

func checkModel(t *testing.T, m *Model) {
	t.Helper()
	for _, name := range needed(m) {
		if m.Register(name) == nil {
			t.Errorf("%s: %s: missing", m.Name, name)
		}
	}
	u := m.Units()
	if !u.Modes[hal.PositionMode] || u.Modes[hal.TorqueMode] != m.CurrentControl {
		t.Errorf("%s: modes: got %v", m.Name, u.Modes)
	}
	if !(u.MaxEffort > 0) || !(u.MaxVelocity > 0) || !(u.TorqueConstant > 0) ||
		!(u.MinTicks < u.CentreTicks && u.CentreTicks < u.MaxTicks) {
		t.Errorf("%s: units: got %+v", m.Name, u)
	}
	for _, b := range m.Bauds {
		code, ok := m.BaudCode(b.Rate)
		if !ok || code != b.Code || m.Rate(code) != b.Rate {
			t.Errorf("%s: baud %d: got code %d, %v, want %d", m.Name, b.Rate, code, ok, b.Code)
		}
	}
	if _, ok := m.BaudCode(123); ok || m.Protocol == 2 && m.Rate(10) != 0 {
		t.Errorf("%s: unknown baud: got a code or rate, want none", m.Name)
	}
	for _, in := range m.Indirect {
		first, last := m.RegisterAt(in.Addr), m.RegisterAt(in.Data+in.Count-1)
		if first == nil || last == nil || first.Default != int64(in.Data) || last.Size != 1 {
			t.Errorf("%s: indirect table at %d: got %+v, %+v", m.Name, in.Addr, first, last)
		}
	}
}

func TestConversions(t *testing.T) {
	for _, c := range []struct {
		model, register string
		raw             int64
		want            float64
		bytes           string
	}{
		{"ax-12a", "present_position", 512, 0, "00 02"},
		{"ax-12a", "present_position", 1023, 511. / 1023 * 300 * math.Pi / 180, "FF 03"},
		{"ax-12a", "present_load", -512, -512. / 1023, "00 06"},
		{"ax-12a", "moving_speed", 100, 100 * 0.111 * 2 * math.Pi / 60, "64 00"},
		{"mx-28", "goal_position", -28672, -(28672 + 2048) * 2 * math.Pi / 4096, "00 90"},
		{"mx-64", "present_current", 2148, 0.45, "64 08"},
		{"xm430-w350", "present_current", -100, -0.269, "9C FF"},
		{"xm430-w350", "goal_velocity", -100, -2.398082, "9C FF FF FF"},
		{"xm430-w350", "profile_acceleration", 1, 0.374508, "01 00 00 00"},
		{"xm430-w350", "bus_watchdog", -1, -0.02, "FF"},
		{"xl330-m288", "goal_current", 1750, 1.75, "D6 06"},
		{"xl-320", "present_velocity", -1, -0.0116239, "01 04"},
		{"xl430-w250", "present_load", -1000, -1, "18 FC"},
	} {
		r := ModelByName(c.model).Register(c.register)
		if got := r.SI(c.raw); math.Abs(got-c.want) > 1e-6 {
			t.Errorf("%s: %s: SI of %d: got %g, want %g", c.model, c.register, c.raw, got, c.want)
		}
		if got := r.Raw(c.want); got != c.raw {
			t.Errorf("%s: %s: raw of %g: got %d, want %d", c.model, c.register, c.want, got, c.raw)
		}
		if got := r.Decode(servotest.Hex(t, c.bytes)); got != c.raw {
			t.Errorf("%s: %s: decode %s: got %d, want %d", c.model, c.register, c.bytes, got, c.raw)
		}
	}
	r := ModelByName("ax-12a").Register("goal_position")
	if lo, hi, none := r.Raw(-100), r.Raw(math.Inf(1)), r.Raw(math.NaN()); lo != 0 || hi != 1023 || none != 512 {
		t.Errorf("goal_position clips: got %d, %d, %d, want 0, 1023, 512", lo, hi, none)
	}
}

func TestAlarms(t *testing.T) {
	for _, c := range []struct {
		model string
		bits  byte
		want  servo.Alarm
	}{
		{"ax-12a", 0x24, servo.AlarmHeat | servo.AlarmOverload},
		{"ax-12a", 0x50, 0}, // checksum and instruction are faults of a packet
		{"mx-28", 0x03, servo.AlarmVoltage | servo.AlarmRange},
		{"xm430-w350", 0x3D, servo.AlarmVoltage | servo.AlarmHeat | servo.AlarmEncoder | servo.AlarmShock | servo.AlarmOverload},
		{"xl-320", 0x01, servo.AlarmOverload},
	} {
		if got := ModelByName(c.model).Alarms(c.bits); got != c.want {
			t.Errorf("%s: alarms of %02X: got %v, want %v", c.model, c.bits, got, c.want)
		}
	}
}

func TestSettings(t *testing.T) {
	for _, c := range []struct {
		model, register string
		want            bool
	}{
		{"ax-12a", "punch", true}, {"ax-12a", "cw_compliance_slope", true}, {"ax-12a", "goal_position", false},
		{"xm430-w350", "position_p_gain", true}, {"xm430-w350", "profile_velocity", true},
		{"xm430-w350", "torque_enable", false},
		{"xm430-w350", "operating_mode", false}, {"xm430-w350", "indirect_data_1", false},
		{"xm430-w350", "status_return", true},
	} {
		if got := ModelByName(c.model).Register(c.register).Setting(); got != c.want {
			t.Errorf("%s: %s: setting: got %v, want %v", c.model, c.register, got, c.want)
		}
	}
}

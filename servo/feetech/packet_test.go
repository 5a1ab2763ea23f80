package feetech

import (
	"bytes"
	"testing"

	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/servotest"
)

func TestRegisters(t *testing.T) {
	for _, c := range []struct {
		model, register string
		value           int64
		bytes           string
		si              float64
	}{
		{"sts3215", "goal_velocity", -1000, "E8 83", -1000 * speed4096.Scale},
		{"sts3215", "homing_offset", -100, "64 08", -100 * steps4096.Scale},
		{"sts3215", "present_load", -500, "F4 05", -0.5},
		{"sts3215", "goal_time", -300, "2C 05", -0.3},
		{"sts3215", "goal_position", 3072, "00 0C", 1024 * steps4096.Scale},
		{"hls2915", "homing_offset", -3132, "3C 8C", -3132 * steps4096.Scale}, // as one was read
		{"hls2915", "goal_current", -450, "C2 81", -2.925},
		{"hls3930", "goal_velocity", 100, "64 00", 100 * speedHLS.Scale},
		{"hls3950", "model_number", 4618, "0A 12", 4618},
		{"hls3915", "model_number", 5130, "0A 14", 5130},
		{"scs0009", "goal_position", 512, "02 00", 0},
		{"scs0009", "model_number", 1284, "05 04", 1284},
	} {
		r := ModelByName(c.model).Register(c.register)
		got := r.Append(nil, c.value)
		if !bytes.Equal(got, servotest.Hex(t, c.bytes)) || r.Decode(got) != c.value {
			t.Errorf("%s %s: %d: got % X, want %s", c.model, c.register, c.value, got, c.bytes)
		}
		if si := r.SI(c.value); si < c.si-1e-9 || si > c.si+1e-9 {
			t.Errorf("%s %s: %d: got %g, want %g", c.model, c.register, c.value, si, c.si)
		}
	}
}

// Every table is whole: no two registers overlap, defaults lie in their range, and what the chain reads is there.
func TestTables(t *testing.T) {
	for _, m := range Models() {
		taken := map[uint16]string{}
		for i := range m.Registers {
			r := &m.Registers[i]
			for a := r.Addr; a < r.Addr+r.Size; a++ {
				if taken[a] != "" {
					t.Errorf("%s: %s and %s overlap at %d", m.Name, taken[a], r.Name, a)
				}
				taken[a] = r.Name
			}
			if r.Default < r.Min || r.Default > r.Max {
				t.Errorf("%s: %s: default %d is outside of %d..%d", m.Name, r.Name, r.Default, r.Min, r.Max)
			}
			if r.Access != servo.ReadOnly && (r.Addr >= m.RAMStart) == (r.Access == servo.EEPROM) {
				t.Errorf("%s: %s at %d: access %d does not fit the RAM from %d on", m.Name, r.Name, r.Addr, r.Access,
					m.RAMStart)
			}
		}
		if byte(m.Registers[2].Default) != byte(m.Series)&1 {
			t.Errorf("%s: byte order %d, want its series' %d", m.Name, m.Registers[2].Default, m.Series)
		}
		if m.Number != 0 && modelByNumber(m.Number) != m {
			t.Errorf("%s: not found by its number", m.Name)
		}
		var d device
		d.init(&servo.ServoConfig{Model: m})
		if d.position.Addr != stateAt || d.celsius.Addr != stateAt+stateSize-1 || d.error.Addr != healthEnd-1 ||
			d.torque.Addr != setupAt+setupSize-1 {
			t.Errorf("%s: the spans of the cycle do not fit its table", m.Name)
		}
		if code, ok := m.BaudCode(57600); !ok || code != 6 || m.Rate(7) != 38400 || m.Rate(9) != 0 {
			t.Errorf("%s: baud codes: got %d for 57600", m.Name, code)
		}
	}
	if ModelByName("sts9999") != nil || modelByNumber(0) != nil {
		t.Error("found a model that does not exist")
	}
	if Alarms(0x2F) != servo.AlarmVoltage|servo.AlarmEncoder|servo.AlarmHeat|servo.AlarmShock|servo.AlarmOverload ||
		AlarmByte(Alarms(0x2F)) != 0x2F {
		t.Errorf("alarms: got %v", Alarms(0x2F))
	}
}

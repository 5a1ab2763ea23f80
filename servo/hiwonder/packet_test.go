package hiwonder

import (
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard/internal/wire/hiwonderwire"
	"github.com/halyard-robotics/halyard/servo/servotest"
)

// Every command's bytes are registers, each of one command alone, and the numbers are those of the document: reading is
// one above writing, but for what is only read and for the offset.
func TestTable(t *testing.T) {
	m := ModelByName("lx-16a")
	seen := map[byte]string{}
	for _, c := range Commands() {
		for _, n := range []byte{c.Write, c.Read} {
			if n != 0 && seen[n] != "" {
				t.Errorf("command %d: both %s and %s", n, seen[n], c.Name)
			}
			seen[n] = c.Name
		}
		if c.Write != 0 && c.Read != c.Write+1 && c.Write != hiwonderwire.AdjustOffset {
			t.Errorf("%s: %d is read by %d", c.Name, c.Write, c.Read)
		}
	}
	for i := range m.Registers {
		r := &m.Registers[i]
		c := commandOf(r)
		if c == nil || r.Addr+r.Size > c.Addr+c.Size {
			t.Errorf("%s: no command has it whole", r.Name)
		}
		if r.Default < r.Min || r.Default > r.Max {
			t.Errorf("%s: default %d is outside of %d..%d", r.Name, r.Default, r.Min, r.Max)
		}
	}
	if ModelByName("lx-15") != nil || m.Register("x") != nil || len(Models()) != len(catalogue) {
		t.Error("found what is not there")
	}
	if _, ok := m.BaudCode(1000000); ok {
		t.Error("1000000: got a rate of the servo, want none")
	}
}

// hardware.md, section 3.1: the commands by number, the LEN of what tells and of what asks, and what they carry. LEN
// counts itself, the command and the checksum.
func TestCommands(t *testing.T) {
	for _, c := range []struct {
		write, length, read byte
		registers           string
	}{
		{1, 7, 2, "goal_position goal_time"}, {7, 7, 8, "registered_position registered_time"}, {13, 4, 14, "id"},
		{17, 4, 19, "angle_offset"},
		{20, 7, 21, "min_position max_position"}, {22, 7, 23, "min_voltage max_voltage"},
		{24, 4, 25, "temperature_limit"},
		{0, 4, 26, "present_temperature"}, {0, 5, 27, "present_voltage"}, {0, 5, 28, "present_position"},
		{29, 7, 30, "motor_mode goal_pwm"},
		{31, 4, 32, "torque_enable"}, {33, 4, 34, "led"}, {35, 4, 36, "led_error"},
	} {
		for _, name := range strings.Fields(c.registers) {
			got := commandOf(ModelByName("lx-16a").Register(name))
			if got.Write != c.write || got.Read != c.read || got.Size+3 != uint16(c.length) {
				t.Errorf("%s: got %d, %d and LEN %d; want %d, %d and %d", name, got.Write, got.Read, got.Size+3,
					c.write, c.read, c.length)
			}
		}
	}
	for _, n := range []byte{hiwonderwire.MoveStart, hiwonderwire.MoveStop, hiwonderwire.SaveOffset} {
		if p := hiwonderwire.AppendPacket(nil, &hiwonderwire.Packet{ID: 1, Command: n}); p[3] != 3 {
			t.Errorf("command %d: got LEN %d, want 3", n, p[3])
		}
	}
	for _, err := range servotest.Compare(ModelByName("lx-16a").Registers, `
- 1 id eeprom - 0..253
- 1 angle_offset eeprom 0 -125..125 0.00418879 rad # int8
- 2 min_position eeprom 0 0..1000 0.00418879 rad
- 2 max_position eeprom 1000 0..1000 0.00418879 rad
- 2 min_voltage eeprom - 4500..12000 1e-3 V
- 2 max_voltage eeprom - 4500..12000 1e-3 V
- 1 temperature_limit eeprom - 50..100 1 °C
- 1 led ram 0 0..1 # 0 is on
- 1 led_error eeprom - 0..7 # 1 temperature, 2 voltage, 4 stall
- 1 motor_mode ram 0 0..1
- 2 goal_pwm ram 0 -1000..1000 1e-3 1
- 1 torque_enable ram 0 0..1
- 2 goal_position ram - 0..1000 0.00418879 rad # 240 degrees
- 2 goal_time ram 0 0..30000 1e-3 s
- 2 registered_position ram - 0..1000 0.00418879 rad
- 2 registered_time ram 0 0..30000 1e-3 s
- 1 present_temperature r - - 1 °C
- 2 present_voltage r - - 1e-3 V
- 2 present_position r - -32768..32767 0.00418879 rad # may be negative
`) {
		t.Error(err)
	}
}

package hiwonder

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/servotest"
)

// packetCases are hardware.md's, section 3.1, both ways.
func packetCases() []struct {
	name, bytes string
	packet      Packet
} {
	return []struct {
		name, bytes string
		packet      Packet
	}{
		{"move 1 to 500 in 1000 ms", "55 55 01 07 01 F4 01 E8 03 16", Packet{1, 1, []byte{0xF4, 1, 0xE8, 3}}},
		{"read position", "55 55 01 03 1C DF", Packet{1, 28, nil}},
		{"500", "55 55 01 05 1C F4 01 E8", Packet{1, 28, []byte{0xF4, 1}}},
		{"read id of all", "55 55 FE 03 0E F0", Packet{Broadcast, 14, nil}},
		{"stop", "55 55 01 03 0C EF", Packet{1, MoveStop, nil}},
		{"motor mode +500", "55 55 01 07 1D 01 00 F4 01 E4", Packet{1, 29, []byte{1, 0, 0xF4, 1}}},
		{"load on", "55 55 01 04 1F 01 DA", Packet{1, 31, []byte{1}}},
		{"read volts", "55 55 01 03 1B E0", Packet{1, 27, nil}},
		{"7400 mV", "55 55 01 05 1B E8 1C DA", Packet{1, 27, []byte{0xE8, 0x1C}}},
		{"read temperature", "55 55 01 03 1A E1", Packet{1, 26, nil}},
		{"30 °C", "55 55 01 04 1A 1E C2", Packet{1, 26, []byte{30}}},
		{"offset -10", "55 55 01 04 11 F6 F3", Packet{1, adjustOffset, []byte{0xF6}}},
		{"header in the data", "55 55 01 05 1C 55 55 33", Packet{1, 28, []byte{0x55, 0x55}}},
	}
}

func TestPackets(t *testing.T) {
	var k Packet
	for _, c := range packetCases() {
		want := servotest.Hex(t, c.bytes)
		if got := AppendPacket(nil, &c.packet); !bytes.Equal(got, want) {
			t.Errorf("%s: encoded: got % X, want % X", c.name, got, want)
		}
		p := NewParser()
		p.Feed(want)
		if !p.Next(&k) || fmt.Sprint(k) != fmt.Sprint(c.packet) || p.Garbage+p.BadChecksum != 0 {
			t.Errorf("%s: decoded: got %v, want %v", c.name, k, c.packet)
		}
	}
}

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
		if c.Write != 0 && c.Read != c.Write+1 && c.Write != adjustOffset {
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
	for _, n := range []byte{MoveStart, MoveStop, SaveOffset} {
		if p := AppendPacket(nil, &Packet{1, n, nil}); p[3] != 3 {
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

// FuzzParser checks on any stream: no panic, the same packets whether fed whole or byte by byte, and that what decodes
// encodes to the bytes it came from.
func FuzzParser(f *testing.F) {
	for _, c := range packetCases() {
		f.Add(servotest.Hex(f, c.bytes))
		f.Add(append([]byte{0x55, 0x55, 1}, servotest.Hex(f, c.bytes)...))
	}
	f.Fuzz(func(t *testing.T, stream []byte) {
		servotest.Framing(t, stream, func() (*servo.Framer, func() ([]byte, any)) {
			p := NewParser()
			return &p.Framer, func() ([]byte, any) {
				var k Packet
				if !p.Next(&k) {
					return nil, nil
				}
				return AppendPacket(nil, &k), k
			}
		})
	})
}

package hiwonderwire

import (
	"bytes"
	"fmt"
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
		{"offset -10", "55 55 01 04 11 F6 F3", Packet{1, AdjustOffset, []byte{0xF6}}},
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

package kondowire

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/servotest"
)

// packetCases are the commands of the document and their answers, both ways.
func packetCases() []struct {
	name   string
	side   Side
	bytes  string
	packet Packet
} {
	return []struct {
		name   string
		side   Side
		bytes  string
		packet Packet
	}{
		{"1 to 7500", FromHost, "81 3A 4C", At(1, 7500)},
		{"there", FromServos, "01 3A 4C", At(1, 7500)},
		{"0 to 3500, the least", FromHost, "80 1B 2C", At(0, 3500)},
		{"31 to 11500", FromHost, "9F 59 6C", At(31, 11500)},
		{"0 free", FromHost, "80 00 00", At(0, 0)},
		{"read stretch of 2", FromHost, "A2 01", Packet{Read, 2, Stretch, 0}},
		{"60", FromServos, "22 01 3C", Packet{Read, 2, Stretch, 60}},
		{"write speed of 3", FromHost, "C3 02 40", Packet{Write, 3, Speed, 64}},
		{"written", FromServos, "43 02 40", Packet{Write, 3, Speed, 64}},
		{"read id", FromHost, "FF 00 00 00", Packet{ID, 31, 0, 0}},
		{"set id", FromHost, "E5 01 01 01", Packet{ID, 5, 1, 0}},
		{"id 5", FromServos, "E5", Packet{ID, 5, 0, 0}},
	}
}

func TestPackets(t *testing.T) {
	var k Packet
	for _, c := range packetCases() {
		want := servotest.Hex(t, c.bytes)
		if got := AppendPacket(nil, &c.packet, c.side); !bytes.Equal(got, want) {
			t.Errorf("%s: encoded: got % X, want % X", c.name, got, want)
		}
		p := NewParser(c.side)
		p.Feed(want)
		if !p.Next(&k) || k != c.packet || p.Garbage+p.BadChecksum != 0 {
			t.Errorf("%s: decoded: got %v, want %v", c.name, k, c.packet)
		}
	}
	for _, v := range []int{0, 1, 127, 128, 3500, 7500, 16383} {
		if k := At(4, v); k.Value() != v || k.A > 0x7F || k.B > 0x7F {
			t.Errorf("position %d: got %d in %02X %02X", v, k.Value(), k.A, k.B)
		}
	}
}

// A host's command that breaks off is dropped when the next one begins.
func TestParserResynchronises(t *testing.T) {
	p := NewParser(FromHost)
	p.Feed(servotest.Hex(t, "81 3A 82 00 00 7F A1 03"))
	var got []Packet
	var k Packet
	for p.Next(&k) {
		got = append(got, k)
	}
	if want := []Packet{At(2, 0), {Read, 1, Current, 0}}; fmt.Sprint(got) != fmt.Sprint(want) || p.Garbage != 3 {
		t.Errorf("got %v and %d bytes of garbage, want %v and 3", got, p.Garbage, want)
	}
}

// FuzzParser checks on any stream: no panic, the same packets whether fed whole or byte by byte, and that what decodes
// encodes to bytes that are in it.
func FuzzParser(f *testing.F) {
	for _, c := range packetCases() {
		f.Add(servotest.Hex(f, c.bytes))
		f.Add(append([]byte{0x81, 0x3A}, servotest.Hex(f, c.bytes)...))
	}
	f.Fuzz(func(t *testing.T, stream []byte) {
		for _, side := range []Side{FromServos, FromHost} {
			servotest.Framing(t, stream, func() (*servo.Framer, func() ([]byte, any)) {
				p := NewParser(side)
				return &p.Framer, func() ([]byte, any) {
					var k Packet
					if !p.Next(&k) {
						return nil, nil
					}
					return AppendPacket(nil, &k, side), k
				}
			})
		}
	})
}

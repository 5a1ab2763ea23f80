package feetechwire

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/servotest"
)

// packetCase is one packet both ways. The bytes are those of hardware.md, section 2, and of Feetech's documents.
type packetCase struct {
	name   string
	side   Side
	bytes  string
	packet Packet
}

func packetCases() []packetCase {
	return []packetCase{
		{"ping 1", FromHost, "FF FF 01 02 01 FB", Packet{1, byte(Ping), nil}},
		{"its answer", FromServos, "FF FF 01 02 00 FC", Packet{1, 0, nil}},
		{"read model", FromHost, "FF FF 01 04 02 03 02 F3", Packet{1, byte(Read), []byte{3, 2}}},
		{"777", FromServos, "FF FF 01 04 00 09 03 EE", Packet{1, 0, []byte{9, 3}}},
		{"read position", FromHost, "FF FF 01 04 02 38 02 BE", Packet{1, byte(Read), []byte{56, 2}}},
		{"2048", FromServos, "FF FF 01 04 00 00 08 F2", Packet{1, 0, []byte{0, 8}}},
		{"1304", FromServos, "FF FF 01 04 00 18 05 DD", Packet{1, 0, []byte{0x18, 5}}},
		{"set id", FromHost, "FF FF FE 04 03 05 01 F4", Packet{Broadcast, byte(Write), []byte{5, 1}}},
		{"unlock", FromHost, "FF FF 01 04 03 37 00 C0", Packet{1, byte(Write), []byte{55, 0}}},
		{"lock", FromHost, "FF FF 01 04 03 37 01 BF", Packet{1, byte(Write), []byte{55, 1}}},
		{"middle", FromHost, "FF FF 01 04 03 28 80 4F", Packet{1, byte(Write), []byte{40, 128}}},
		{"WritePosEx(1, 1001, 2400, 50)", FromHost, "FF FF 01 0A 03 29 32 E9 03 00 00 60 09 41",
			Packet{1, byte(Write), []byte{41, 50, 0xE9, 3, 0, 0, 0x60, 9}}},
		{"sync write", FromHost, "FF FF FE 12 83 2A 06 01 00 08 00 00 E8 03 02 00 08 00 00 E8 03 53",
			Packet{Broadcast, byte(SyncWrite), []byte{42, 6, 1, 0, 8, 0, 0, 0xE8, 3, 2, 0, 8, 0, 0, 0xE8, 3}}},
		{"sync read", FromHost, "FF FF FE 06 82 38 08 01 02 36",
			Packet{Broadcast, byte(SyncRead), []byte{56, 8, 1, 2}}},
		{"wheel speed -1000", FromHost, "FF FF 01 05 03 2E E8 83 5D", Packet{1, byte(Write), []byte{46, 0xE8, 0x83}}},
		{"offset -100", FromHost, "FF FF 01 05 03 1F 64 08 6B", Packet{1, byte(Write), []byte{31, 0x64, 8}}},
		{"SCS goal 512", FromHost, "FF FF 01 05 03 2A 02 00 CA", Packet{1, byte(Write), []byte{42, 2, 0}}},
		{"header in the data", FromServos, "FF FF 01 04 00 FF FF FC", Packet{1, 0, []byte{0xFF, 0xFF}}},
		{"all alarms", FromServos, "FF FF 01 02 2F CD", Packet{1, 0x2F, nil}},
	}
}

func TestPackets(t *testing.T) {
	var k Packet // reused, so that stale fields are caught
	for _, c := range packetCases() {
		want := servotest.Hex(t, c.bytes)
		if got := AppendPacket(nil, &c.packet); !bytes.Equal(got, want) {
			t.Errorf("%s: encoded: got % X, want % X", c.name, got, want)
		}
		p := NewParser(c.side)
		p.Feed(want)
		if !p.Next(&k) || fmt.Sprint(k) != fmt.Sprint(c.packet) || p.Garbage+p.BadChecksum != 0 {
			t.Errorf("%s: decoded: got %v, want %v", c.name, k, c.packet)
		}
	}
}

// The shorthands make the same bytes.
func TestShorthands(t *testing.T) {
	check := func(name string, got []byte, want string) {
		t.Helper()
		if !bytes.Equal(got, servotest.Hex(t, want)) {
			t.Errorf("%s: got % X, want %s", name, got, want)
		}
	}
	check("read", AppendRead(nil, 1, 56, 2), "FF FF 01 04 02 38 02 BE")
	check("write", AppendWrite(nil, 1, 55, []byte{1}), "FF FF 01 04 03 37 01 BF")
	g := BeginGroup(nil, SyncWrite, 42, 6)
	g.Add(1, []byte{0, 8, 0, 0, 0xE8, 3})
	g.Add(2, []byte{0, 8, 0, 0, 0xE8, 3})
	check("sync write", g.End(), "FF FF FE 12 83 2A 06 01 00 08 00 00 E8 03 02 00 08 00 00 E8 03 53")
	// Behind what is there already.
	g = BeginGroup([]byte{7}, SyncRead, 56, 8)
	g.Add(1, nil)
	g.Add(2, nil)
	check("sync read", g.End(), "07 FF FF FE 06 82 38 08 01 02 36")
}

func TestOpNames(t *testing.T) {
	for _, op := range []Op{Ping, Read, Write, RegWrite, Action, Reset, Calibrate, SyncRead, SyncWrite} {
		if strings.HasPrefix(op.String(), "instruction") {
			t.Errorf("%02X has no name", byte(op))
		}
	}
	if got := Op(0x77).String(); got != "instruction 77" {
		t.Errorf("got %q", got)
	}
}

// FuzzParser checks on any stream: no panic, the same packets whether fed whole or byte by byte, and that what decodes
// encodes to the bytes it came from.
func FuzzParser(f *testing.F) {
	for _, c := range packetCases() {
		f.Add(servotest.Hex(f, c.bytes))
		f.Add(append([]byte{0xFF, 0xFF, 1}, servotest.Hex(f, c.bytes)...))
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
					return AppendPacket(nil, &k), k
				}
			})
		}
	})
}

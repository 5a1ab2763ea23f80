package vescwire

import (
	"bytes"
	"math"
	"testing"

	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/servotest"
)

// packetCases are packets as others have recorded them or, where "computed", as comm/packet.c makes them.
func packetCases() []struct{ name, bytes, payload string } {
	return []struct{ name, bytes, payload string }{
		{"get values", "02 01 04 40 84 03", "04"},
		{"firmware", "02 01 00 00 00 03", "00"},
		{"current 0, computed", "02 05 06 00 00 00 00 CD 85 03", "06 00 00 00 00"},
		{"start and end marks in the payload, computed", "02 04 02 03 02 03 E2 39 03", "02 03 02 03"},
	}
}

func TestPackets(t *testing.T) {
	// The CRC's published check value.
	if got := checksum([]byte("123456789")); got != 0x31C3 {
		t.Errorf("crc: got %04X, want 31C3", got)
	}
	for _, c := range packetCases() {
		want, payload := servotest.Hex(t, c.bytes), servotest.Hex(t, c.payload)
		if got := AppendPacket(nil, payload); !bytes.Equal(got, want) {
			t.Errorf("%s: encoded: got % X, want % X", c.name, got, want)
		}
		p := NewParser()
		p.Feed(want)
		if got := p.Next(); !bytes.Equal(got, payload) || p.Garbage+p.BadChecksum != 0 {
			t.Errorf("%s: decoded: got % X, want % X", c.name, got, payload)
		}
	}
	// Around the lengths at which the head changes.
	for _, n := range []int{1, 255, 256, MaxPayload} {
		payload := bytes.Repeat([]byte{3}, n)
		p := NewParser()
		p.Feed(append([]byte{2, 3, 0xFF}, AppendPacket(nil, payload)...))
		p.Feed([]byte{0, 0, 0, 0})
		if got := p.Next(); n > 1 && !bytes.Equal(got, payload) && p.Garbage == 0 {
			t.Errorf("%d bytes: got %d", n, len(got))
		}
	}
	// No packet: empty, too long, long without need.
	for _, bad := range []string{"02 00 00 00 03", "03 02 01", "03 00 05 01 02 03 04 05 00 00 03", "02 01 04 40 84 04",
		"02 01 04 40 85 03"} {
		p := NewParser()
		p.Feed(servotest.Hex(t, bad))
		if got := p.Next(); got != nil {
			t.Errorf("%s: got % X", bad, got)
		}
	}
}

func TestValues(t *testing.T) {
	// Every field at once, the old firmware's and the new's.
	var v, got Values
	for f := range v {
		v[f] = float64(f) + 1
	}
	v[CurrentQ], v[Duty], v[ERPM], v[Tacho], v[PosNow] = -12.34, -0.5, -21000, -77, 359.5
	all := uint32(1<<NumFields - 1)
	payload := v.Append([]byte{byte(GetValues)}, all)
	if mask, err := got.Parse(payload); err != nil || mask != all || got != v {
		t.Errorf("all: got %v %x, %v, want %v", got, mask, err, v)
	}
	upTo := 1 + Size(1<<(FaultCode+1)-1)
	if mask, err := got.Parse(payload[:upTo]); err != nil || mask != 1<<(FaultCode+1)-1 || !math.IsNaN(got[PosNow]) ||
		got[Tacho] != -77 {
		t.Errorf("old firmware: got %v %x, %v", got, mask, err)
	}
	// A VESC at rest: 24.9 °C, 12.1 V, no fault, 360 degrees, id 2.
	mask := Mask(TempFET, Volts, FaultCode, PosNow, ControllerID)
	short := servotest.Hex(t, "32 00 03 81 01 00 F9 00 79 00 15 75 2A 00 02")
	if m, err := got.Parse(short); err != nil || m != mask || got[TempFET] != 24.9 || got[Volts] != 12.1 ||
		got[PosNow] != 360 || got[ControllerID] != 2 {
		t.Errorf("selective: got %v %x, %v", got, m, err)
	}
	for _, bad := range []string{"", "04", "32", "32 00 00 00 01", "32 00 00 00 01 00", "05 00 00 00 00"} {
		if _, err := got.Parse(servotest.Hex(t, bad)); err == nil && bad != "04" {
			t.Errorf("%q: got %v", bad, got)
		}
	}
	v[TempFET] = 1e9
	if b := v.Append(nil, Mask(TempFET)); !bytes.Equal(b, []byte{0x7F, 0xFF}) {
		t.Errorf("too hot to say: got % X", b)
	}
}

func TestSet(t *testing.T) {
	for _, c := range []struct {
		command Command
		v       float64
		bytes   string
	}{
		{SetDuty, 0.2, "05 00 00 4E 20"}, {SetCurrent, -1.5, "06 FF FF FA 24"}, {SetRPM, 3000, "08 00 00 0B B8"},
		{SetPos, 180, "09 0A BA 95 00"}, {SetCurrentBrake, 2, "07 00 00 07 D0"},
	} {
		want := servotest.Hex(t, c.bytes)
		if got := AppendSet(nil, c.command, c.v); !bytes.Equal(got, want) {
			t.Errorf("%d %v: got % X, want % X", c.command, c.v, got, want)
		}
		if k, v, ok := ParseSet(want); k != c.command || v != c.v || !ok {
			t.Errorf("% X: got %d %v %v", want, k, v, ok)
		}
	}
	if got := AppendSet(nil, SetDuty, math.NaN()); !bytes.Equal(got, servotest.Hex(t, "05 00 00 00 00")) {
		t.Errorf("NaN: got % X", got)
	}
	if _, _, ok := ParseSet(servotest.Hex(t, "04 00 00 00 00")); ok {
		t.Error("get values: got a goal")
	}
}

// FuzzParser checks on any stream: no panic, the same packets whether fed whole or byte by byte, what decodes encodes
// to the bytes it came from, and no payload that breaks the values.
func FuzzParser(f *testing.F) {
	for _, c := range packetCases() {
		f.Add(servotest.Hex(f, c.bytes))
		f.Add(append([]byte{2, 3, 4}, servotest.Hex(f, c.bytes)...))
	}
	var v Values
	f.Add(AppendPacket(nil, v.Append([]byte{byte(GetValues)}, 1<<NumFields-1)))
	f.Fuzz(func(t *testing.T, stream []byte) {
		servotest.Framing(t, stream, func() (*servo.Framer, func() ([]byte, any)) {
			p := NewParser()
			return &p.Framer, func() ([]byte, any) {
				payload := p.Next()
				if payload == nil {
					return nil, nil
				}
				return AppendPacket(nil, payload), payload
			}
		})
		var v Values
		v.Parse(stream)
		ParseSet(stream)
	})
}

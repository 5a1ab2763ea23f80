package lidar

import (
	"bytes"
	"encoding/hex"
	"math"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/halyard-robotics/halyard/internal/wire/lidarwire"
)

func wire(t testing.TB, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// telegramCase is one telegram both ways. The bytes are those of hardware.md, section 5.1.
type telegramCase struct {
	name    string
	bytes   string
	address byte
	body    string
}

func telegramCases() []telegramCase {
	return []telegramCase{
		{"status", "02 00 01 00 31 15 12", 0, "31"},
		{"type", "02 00 01 00 3A 1E 12", 0, "3A"},
		{"reset", "02 00 01 00 10 34 12", 0, "10"},
		{"get settings", "02 00 01 00 74 50 12", 0, "74"},
		{"one scan", "02 00 02 00 30 01 31 18", 0, "3001"},
		{"stream", "02 00 02 00 20 24 34 08", 0, "2024"},
		{"request", "02 00 02 00 20 25 35 08", 0, "2025"},
		{"9600", "02 00 02 00 20 42 52 08", 0, "2042"},
		{"19200", "02 00 02 00 20 41 51 08", 0, "2041"},
		{"38400", "02 00 02 00 20 40 50 08", 0, "2040"},
		{"500000", "02 00 02 00 20 48 58 08", 0, "2048"},
		{"install", "02 00 0A 00 20 00 53 49 43 4B 5F 4C 4D 53 BE C5", 0,
			"2000" + hex.EncodeToString([]byte(lidarwire.SICKPassword))},
		{"180 by 1", "02 00 05 00 3B B4 00 64 00 97 49", 0, "3BB4006400"},
		{"180 by 1/2", "02 00 05 00 3B B4 00 32 00 3B 1F", 0, "3BB4003200"},
		{"100 by 1", "02 00 05 00 3B 64 00 64 00 1D 0F", 0, "3B64006400"},
		{"100 by 1/2", "02 00 05 00 3B 64 00 32 00 B1 59", 0, "3B64003200"},
		{"100 by 1/4", "02 00 05 00 3B 64 00 19 00 E7 72", 0, "3B64001900"},
		{"mode done", "02 80 03 00 A0 00 10 16 0A", 0x80, "A00010"},
		{"variant done", "02 80 07 00 BB 01 B4 00 64 00 10 5B 30", 0x80, "BB01B400640010"},
		{"scan", "02 80 0A 00 B0 03 40 E8 03 E9 03 EA 03 10 CF DC", 0x80, "B00340E803E903EA0310"},
	}
}

func TestTelegrams(t *testing.T) {
	for _, c := range telegramCases() {
		want, body := wire(t, c.bytes), wire(t, c.body)
		if got := lidarwire.AppendSICK(nil, c.address, body); !bytes.Equal(got, want) {
			t.Errorf("%s: encoded: got % X, want % X", c.name, got, want)
		}
		p := lidarwire.NewSICKParser(c.address)
		p.Feed(want)
		if got := p.Body(); !bytes.Equal(got, body) || p.Garbage+p.BadChecksum != 0 {
			t.Errorf("%s: decoded: got % X, want % X", c.name, got, body)
		}
		// The opposite direction is not decoded: a host that receives its own echo must not take it for a reply.
		other := lidarwire.NewSICKParser(c.address ^ 0x80)
		other.Feed(want)
		if got := other.Body(); got != nil {
			t.Errorf("%s: decoded as the other side's: % X", c.name, got)
		}
	}
}

func TestSICKScan(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		name   string
		body   string
		bits   uint
		want   []float64
		status byte
		err    string
	}{
		{"mm", "B00340E803E903EA0310", 13, []float64{1, 1.001, 1.002}, 0x10, ""},
		{"cm with flags of fields", "B00200 E8E3 0100 90", 13, []float64{10, 0.01}, 0x90, ""},
		{"dm", "B00180 0A00 10", 13, []float64{1}, 0x10, ""},
		{"errors of 8 m", "B00640 F71F F81F FA1F FE1F FF1F F61F 10", 13, []float64{inf, nan, nan, nan, nan, 8.182},
			0x10, ""},
		{"errors of 16 m", "B00240 F73F FF3F 10", 14, []float64{inf, nan}, 0x10, ""},
		{"errors of 32 m", "B00340 F77F FF7F F71F 10", 15, []float64{inf, nan, 8.183}, 0x10, ""},
		{"with the number of the scan", "B00340E803E903EA03 07 10", 13, []float64{1, 1.001, 1.002}, 0x10, ""},
		{"with that of the telegram, too", "B00340E803E903EA03 07 2A 10", 13, []float64{1, 1.001, 1.002}, 0x10, ""},
		{"too long", "B00140E803 01 02 03 10", 13, []float64{0}, 0, "1 values in 9 bytes"},
		{"part", "B00160 0100 10", 13, []float64{0}, 0, "a part"},
		{"too few", "B00240 0100 10", 13, []float64{0, 0}, 0, "2 values in 6 bytes"},
		{"another count", "B00140 0100 10", 13, []float64{0, 0}, 0, "want 2 values"},
		{"no unit", "B001C0 0100 10", 13, []float64{0}, 0, "unit 3"},
		{"another telegram", "A00010", 13, []float64{0}, 0, "want a telegram B0"},
	} {
		got := make([]float64, len(c.want))
		status, err := lidarwire.DecodeSICKScan(wire(t, c.body), c.bits, got)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: got %v, want %q", c.name, err, c.err)
			}
			continue
		}
		for i := range got {
			if err != nil || status != c.status || math.Abs(got[i]-c.want[i]) > 1e-12 ||
				math.IsNaN(got[i]) != math.IsNaN(c.want[i]) {
				t.Errorf("%s: got %v %02X %v, want %v %02X", c.name, got, status, err, c.want, c.status)
				break
			}
		}
	}
	if got := lidarwire.AppendSICKScan(nil, []uint16{1000, 1001, 1002}, 1, 0x10); !bytes.Equal(got,
		wire(t, "B00340E803E903EA0310")) {
		t.Errorf("encoded: got % X", got)
	}
}

// The places of the fields of a status: hardware.md, section 5.1.
func TestSICKStatus(t *testing.T) {
	body := make([]byte, 1+lidarwire.SICKStatusLen)
	body[0] = 0xB1
	copy(body[1:], "V02.30 ")
	copy(body[124:], "X01.27 ")
	for i, v := range map[int]byte{8: 0x24, 9: 1, 18: 2, 102: 6, 107: 180, 109: 50, 116: 1, 117: 0x80, 119: 1, 120: 3,
		122: 1, 123: 1} {
		body[i] = v
	}
	want := SICKState{Version: "V02.30", Boot: "X01.27", Mode: 0x24, Defect: true, Variant: 2, Angle: 180,
		Resolution: 50, Baud: 0x8001,
		KeepsBaud: true, Address: 3, MeasuringMode: 6, Unit: 1, Laser: true}
	if got, err := decodeSICKStatus(body); err != nil || got != want {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
	for _, bad := range [][]byte{nil, body[:lidarwire.SICKStatusLen-1], append([]byte{0xB0}, body[1:]...)} {
		if got, err := decodeSICKStatus(bad); err == nil {
			t.Errorf("% X: got %+v", bad[:min(len(bad), 4)], got)
		}
	}
}

func TestSICKResync(t *testing.T) {
	good := wire(t, "02 80 0A 00 B0 03 40 E8 03 E9 03 EA 03 10 CF DC")
	bad := bytes.Clone(good)
	bad[9] ^= 4
	stream := bytes.Join([][]byte{{lidarwire.SICKAck, 2, 0x80}, good, bad, good[:7], good, {lidarwire.SICKNak},
		{2, 0x80, 0xFF, 0x7F},
		good}, nil)
	for _, step := range []int{1, 5, len(stream)} {
		p, n, r, buf := lidarwire.NewSICKParser(0x80), 0, iotest.HalfReader(bytes.NewReader(stream)), make([]byte, step)
		for {
			k, err := r.Read(buf)
			for piece := buf[:k]; len(piece) > 0; {
				piece = piece[p.Feed(piece):]
				for b := p.Body(); b != nil; b = p.Body() {
					n++
				}
			}
			if err != nil {
				break
			}
		}
		if n != 3 || p.BadChecksum == 0 {
			t.Errorf("step %d: got %d telegrams and %d bad, want 3", step, n, p.BadChecksum)
		}
	}
}

func TestNewSICK(t *testing.T) {
	for _, s := range []SICKSettings{{Baud: 57600}, {Angle: 90}, {Resolution: 25}, {Resolution: 33}, {Reach: 9}} {
		s.Line = noLine
		if d, err := NewSICK(s); err == nil {
			t.Errorf("%+v: got %+v, want an error", s, d)
		}
	}
	if _, err := NewSICK(SICKSettings{}); err == nil {
		t.Error("no line: got no error")
	}
	d, err := NewSICK(SICKSettings{Line: noLine})
	if f := d.Geometry(); err != nil || f.Count != 361 || math.Abs(f.First+float64(f.Count-1)*f.Step/2) > 1e-9 {
		t.Errorf("got %+v %v", f, err)
	}
}

func FuzzSICK(f *testing.F) {
	for _, c := range telegramCases() {
		f.Add(wire(f, c.bytes))
	}
	dst := make([]float64, 3)
	f.Fuzz(func(t *testing.T, in []byte) {
		p := lidarwire.NewSICKParser(0x80)
		for rest := in; len(rest) > 0; {
			rest = rest[p.Feed(rest):]
			for b := p.Body(); b != nil; b = p.Body() {
				if got := lidarwire.AppendSICK(nil, 0x80, b); !bytes.Contains(in, got) {
					t.Fatalf("% X: encodes to % X", b, got)
				}
				if _, err := lidarwire.DecodeSICKScan(b, 13, dst); err == nil {
					for _, v := range dst {
						if v < 0 {
							t.Fatalf("% X: got %v", b, dst)
						}
					}
				}
				decodeSICKStatus(b)
			}
		}
	})
}

package servo

import (
	"bytes"
	"encoding/hex"
	"math"
	"strings"
	"testing"
)

// canCases are frames in the formats of candump and of the socket.
func canCases() []struct {
	text, bytes string
	frame       CANFrame
} {
	return []struct {
		text, bytes string
		frame       CANFrame
	}{
		{"123#0102", "23 01 00 00 02 00 00 00 01 02 00 00 00 00 00 00",
			CANFrame{ID: 0x123, Len: 2, Data: [8]byte{1, 2}}},
		{"009#R", "09 00 00 40 00 00 00 00 00 00 00 00 00 00 00 00", CANFrame{ID: 9, Remote: true}},
		{"1200FD01#0570000001000000", "01 FD 00 92 08 00 00 00 05 70 00 00 01 00 00 00",
			CANFrame{ID: 0x1200FD01, Extended: true, Len: 8, Data: [8]byte{5, 0x70, 0, 0, 1}}},
		{"7FF#", "FF 07 00 00 00 00 00 00 00 00 00 00 00 00 00 00", CANFrame{ID: MaxCAN}},
		// A bus-off, as the controller reports it.
		{"040#0000000000000000", "40 00 00 20 08 00 00 00 00 00 00 00 00 00 00 00",
			CANFrame{ID: 0x40, Error: true, Len: 8}},
	}
}

func canBytes(t testing.TB, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestCANFrames(t *testing.T) {
	f := CANFrame{ID: 1, Len: 8, Data: [8]byte{9, 9, 9, 9, 9, 9, 9, 9}} // all of it must be overwritten
	for _, c := range canCases() {
		want := canBytes(t, c.bytes)
		if got := AppendCAN(nil, &c.frame); !bytes.Equal(got, want) {
			t.Errorf("%s: got % X, want % X", c.text, got, want)
		}
		if err := ParseCAN(want, &f); err != nil || f != c.frame || f.String() != c.text {
			t.Errorf("%s: got %v %+v, %v", c.text, &f, f, err)
		}
	}
	for _, bad := range []string{"", "00", "00 08 00 00 00 00 00 00 00 00 00 00 00 00 00 00",
		"01 00 00 00 09 00 00 00 00 00 00 00 00 00 00 00"} {
		if err := ParseCAN(canBytes(t, bad), &f); err == nil {
			t.Errorf("%q: got a frame", bad)
		}
	}
}

func TestCANValues(t *testing.T) {
	var f CANFrame
	f.SetFloat(0, -1.5)
	if !math.IsNaN(f.Float(4)) || f.Word(4) != 0 {
		t.Error("beyond the end: got a value")
	}
	f.SetWord(4, 0xDEADBEEF)
	if f.Float(0) != -1.5 || f.Word(4) != 0xDEADBEEF || f.Len != 8 {
		t.Errorf("got %v %#x in %+v", f.Float(0), f.Word(4), f)
	}
}

func FuzzParseCAN(f *testing.F) {
	for _, c := range canCases() {
		f.Add(canBytes(f, c.bytes))
	}
	f.Fuzz(func(t *testing.T, p []byte) {
		var one, again CANFrame
		if ParseCAN(p, &one) != nil {
			return
		}
		if err := ParseCAN(AppendCAN(nil, &one), &again); err != nil || again != one {
			t.Fatalf("% X: got %+v, then %+v, %v", p, one, again, err)
		}
	})
}

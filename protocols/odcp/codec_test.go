package odcp

import (
	"encoding/hex"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
)

// cases are every datagram of the document, as bytes and as a value. They drive decoding, encoding and the fuzz seeds.
var cases = []struct {
	name, bytes string
	value       Datagram
}{
	{"connect", "05", Datagram{Command: initCommunication}},
	{"connect ack", "06 0f000000 01000000", Datagram{initCommunicationAck, []int32{15, 1}}},
	{"disconnect", "07", Datagram{Command: endCommunication}},
	{"disconnect ack", "08", Datagram{Command: endCommunicationAck}},
	{"set", "64 00020000 ff030000", Datagram{setMotors, []int32{512, 1023}}},
	{"set nothing", "64", Datagram{Command: setMotors}},
	{"set out of range", "64 ffffffff 00000080 ffffff7f",
		Datagram{setMotors, []int32{-1, math.MinInt32, math.MaxInt32}}},
	{"get", "96", Datagram{Command: getMotors}},
	{"settings", "97 00000000 ff030000", Datagram{motorSettings, []int32{0, 1023}}},
}

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func same(a, b *Datagram) bool { return a.Command == b.Command && slices.Equal(a.Values, b.Values) }

func TestDecode(t *testing.T) {
	var d Datagram // the same for all, so that a stale value would be seen
	for _, c := range cases {
		for _, tail := range []string{"", "78", "780000"} { // a terminator or a torn int changes nothing
			b := append(unhex(t, c.bytes), unhex(t, tail)...)
			if err := decode(b, &d); err != nil || !same(&d, &c.value) {
				t.Errorf("%s: decode %x: got %+v, %v, want %+v", c.name, b, d, err, c.value)
			}
		}
	}
}

func TestEncode(t *testing.T) {
	for _, c := range cases {
		want := append([]byte{0xee}, unhex(t, c.bytes)...)
		if got := Append([]byte{0xee}, &c.value); !slices.Equal(got, want) {
			t.Errorf("%s: encode: got %x, want %x", c.name, got, want)
		}
	}
}

func TestRefused(t *testing.T) {
	var d Datagram
	for _, c := range []struct {
		name string
		b    []byte
		want error
	}{
		{"nothing", nil, ErrTruncated},
		{"no such command", []byte{120}, ErrUnknown},
		{"oversized", append([]byte{byte(setMotors)}, make([]byte, MaxDatagram)...), ErrOversized},
	} {
		if err := decode(c.b, &d); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, err, c.want)
		}
	}
}

func TestScale(t *testing.T) {
	for _, c := range []struct {
		normalised float64
		want       int32
	}{
		{-1, 0}, {1, 1023}, {0.000977517, 512}, {0, 512}, {-0.000977517, 511}, {0.786901, 914},
		{-7, 0}, {7, 1023}, {math.Inf(1), 1023}, {math.NaN(), -1},
	} {
		if got := Angle(c.normalised); got != c.want {
			t.Errorf("angle %v: got %d, want %d", c.normalised, got, c.want)
		}
	}
	if got := Torque(0.173021); got != 177 {
		t.Errorf("torque: got %d, want 177", got)
	}
	for v := range int32(Greatest + 1) {
		if got := Angle(NormalisedAngle(v)); got != v {
			t.Errorf("there and back: got %d, want %d", got, v)
		}
	}
	if got := NormalisedAngle(4000); got != 1 {
		t.Errorf("beyond the range: got %v, want 1", got)
	}
}

// FuzzDecode: for any input, decode reads only within the datagram; a decoded datagram survives encode and decode.
func FuzzDecode(f *testing.F) {
	for _, c := range cases {
		f.Add(unhex(f, c.bytes))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var d, again Datagram
		if decode(b, &d) != nil {
			return
		}
		if len(d.Values) > len(b)/4 {
			t.Fatalf("%d values from %d bytes", len(d.Values), len(b))
		}
		if err := decode(Append(nil, &d), &again); err != nil || !same(&d, &again) {
			t.Fatalf("got %+v, %v, want %+v", again, err, d)
		}
	})
}

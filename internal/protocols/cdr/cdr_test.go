package cdr_test

import (
	"bytes"
	"encoding/hex"
	"reflect"
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard/internal/protocols/cdr"
)

type inner struct {
	A uint8
	B float64
}

type all struct {
	Seq   uint32 `field:",ros1"`
	Flag  bool
	I8    int8
	I16   int16
	U16   uint16
	I32   int32
	I64   int64
	U64   uint64
	F32   float32
	Text  string `ros:"<=4"`
	Bytes []byte
	Fixed [3]uint8
	Few   []float64 `ros:"<=2"`
	Names []string
	Parts []inner
	Pair  [2]inner
	Empty struct{}
}

type empty struct{}

// cases drive decode, encode and the seeds of the fuzz target.
var cases = []struct {
	name        string
	value       any
	little, big string
}{
	{"empty", &empty{}, "0001000000", "0000000000"},
	{"double after byte", &inner{1, 1}, "00010000" + "0100000000000000" + "000000000000f03f",
		"00000000" + "0100000000000000" + "3ff0000000000000"},
	{"all", &all{Flag: true, I8: -1, I16: -2, U16: 3, I32: -4, I64: 5, U64: 6, F32: 1, Text: "ab", Bytes: []byte{7, 8},
		Fixed: [3]uint8{1, 2, 3}, Few: []float64{}, Names: []string{"", "x"}, Parts: []inner{{1, 2}},
		Pair: [2]inner{{3, 0}, {4, 0}}},
		"00010000" + "01fffeff0300" + "0000fcffffff" + "00000000" + "0500000000000000" + "0600000000000000" +
			"0000803f" + "03000000616200" + "00" + "020000000708" + "010203" + "000000" + "00000000" +
			"02000000" + "0100000000" + "000000" + "020000007800" + "0000" + "01000000" +
			"01" + "000000" + "0000000000000040" +
			"03" + "00000000000000" + "0000000000000000" + "04" + "00000000000000" + "0000000000000000" + "00", ""},
}

func TestTable(t *testing.T) {
	for _, c := range cases {
		codec, err := cdr.Compile(c.value)
		if err != nil {
			t.Fatal(err)
		}
		if got := hex.EncodeToString(codec.Append(nil, c.value)); got != c.little {
			t.Errorf("%s:\ngot  %s\nwant %s", c.name, got, c.little)
		}
		for _, b := range [][]byte{codec.Append(nil, c.value), codec.AppendBig(nil, c.value)} {
			if c.big != "" && b[1] == 0 && hex.EncodeToString(b) != c.big {
				t.Errorf("%s: big endian: got %x, want %s", c.name, b, c.big)
			}
			back := reflect.New(reflect.TypeOf(c.value).Elem()).Interface()
			if err := codec.Decode(append(b, 0, 0, 0), back); err != nil || !reflect.DeepEqual(back, c.value) {
				t.Errorf("%s: got %+v, %v, want %+v", c.name, back, err, c.value)
			}
			for n := range b { // cut anywhere: an error, never a panic
				if err := codec.Decode(b[:n], back); err == nil {
					t.Errorf("%s: cut at %d: got no error", c.name, n)
				}
			}
		}
	}
}

func TestRefused(t *testing.T) {
	codec, _ := cdr.Compile(all{})
	for want, text := range map[string]string{
		"XCDR1":                  "0007000000000000",
		"ends too early":         "0001",
		"at most the message's":  "00010000" + strings.Repeat("00", 40) + "ffffff7f",
		"without its zero byte":  "00010000" + strings.Repeat("00", 36) + "0200000061626364",
		"a string of 5 bytes":    "00010000" + strings.Repeat("00", 36) + "060000006162636465000000",
		"3 elements, want at mo": "00010000" + strings.Repeat("00", 48) + "03000000" + strings.Repeat("00", 24),
	} {
		b, err := hex.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		if err := codec.Decode(b, &all{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	for _, v := range []any{nil, 3, struct{ M map[string]int }{}, struct{ N int }{}} {
		if _, err := cdr.Compile(v); err == nil {
			t.Errorf("%T: got no error", v)
		}
	}
}

func TestNoAllocation(t *testing.T) {
	v := cases[2].value
	codec, _ := cdr.Compile(v)
	b := codec.Append(nil, v)
	if n := testing.AllocsPerRun(100, func() { b = codec.Append(b[:0], v) }); n != 0 {
		t.Errorf("got %g allocations, want 0", n)
	}
}

// FuzzDecode reads any bytes; what it reads is written and read again the same.
func FuzzDecode(f *testing.F) {
	codec, _ := cdr.Compile(all{})
	for _, c := range cases {
		any, _ := cdr.Compile(c.value)
		f.Add(any.Append(nil, c.value))
		f.Add(any.AppendBig(nil, c.value))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var v, again all
		if codec.Decode(b, &v) != nil {
			return
		}
		first := codec.Append(nil, &v)
		if err := codec.Decode(first, &again); err != nil || !bytes.Equal(codec.Append(nil, &again), first) {
			t.Errorf("%x: got %+v, %v, then %+v", b, v, err, again)
		}
	})
}

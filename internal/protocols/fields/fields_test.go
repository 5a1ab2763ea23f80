package fields

import (
	"encoding/hex"
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"
)

type header struct {
	Seq     uint32 `field:"seq,ros1"`
	Stamp   Time   `field:"stamp"`
	FrameID string `field:"frame_id"`
}

func (header) TypeName() string { return "std_msgs/Header" }

type point struct {
	X float64 `field:"x"`
	Y float64 `field:"y,known"`
}

func (point) TypeName() string { return "test/Point" }

type all struct {
	Header header    `field:"header"`
	On     bool      `field:"on"`
	Level  uint8     `field:"level"`
	Turns  int16     `field:"turns"`
	Ranges []float32 `field:"ranges"`
	Pair   [2]int16  `field:"pair"`
	Data   []byte    `field:"data"`
	Names  []string  `field:"names"`
	Points []point   `field:"points"`
}

func (all) TypeName() string { return "test/All" }

// cases drive encoding, decoding and the fuzz seeds.
var cases = []struct {
	name    string
	style   Style
	message all
	json    string
	cbor    string // hex
}{
	{"zero", ROS2, all{Ranges: []float32{}, Data: []byte{}, Names: []string{}, Points: []point{}},
		`{"header":{"stamp":{"sec":0,"nanosec":0},"frame_id":""},"on":false,"level":0,"turns":0,"ranges":[],"pair":[0,0],"data":"","names":[],"points":[]}`,
		"a9 66686561646572 a2 657374616d70 a2 63736563 00 676e616e6f736563 00 686672616d655f6964 60 626f6e f4 " +
			"656c6576656c 00 657475726e73 00 6672616e676573 d855 40 6470616972 d84d 44 00000000 6464617461 40 " +
			"656e616d6573 80 66706f696e7473 80"},
	{"filled", ROS1, all{Header: header{7, Time{1, 500}, "laser"}, On: true, Level: 255, Turns: -300,
		Ranges: []float32{1, 0.1, float32(math.NaN())}, Pair: [2]int16{1, -2}, Data: []byte("ABC"),
		Names: []string{"a\n\"é"}, Points: []point{{1e-7, 2.5}, {3, math.NaN()}}},
		`{"header":{"seq":7,"stamp":{"secs":1,"nsecs":500},"frame_id":"laser"},"on":true,"level":255,"turns":-300,"ranges":[1,0.1,null],"pair":[1,-2],"data":"QUJD","names":["a\n\"é"],"points":[{"x":1e-07,"y":2.5},{"x":3}]}`,
		"a9 66686561646572 a3 63736571 07 657374616d70 a2 6473656373 01 656e73656373 1901f4 686672616d655f6964 " +
			"656c61736572 626f6e f5 656c6576656c 18ff 657475726e73 39012b 6672616e676573 d855 4c 0000803f cdcccc3d " +
			"0000c07f 6470616972 d84d 44 0100feff 6464617461 43414243 656e616d6573 81 65 610a22c3a9 66706f696e7473 " +
			"82 a2 6178 fb3e7ad7f29abcaf48 6179 fb4004000000000000 a1 6178 fb4008000000000000"},
}

func TestCases(t *testing.T) {
	for _, c := range cases {
		if got := string(AppendJSON(nil, &c.message, c.style)); got != c.json {
			t.Errorf("%s: JSON: got\n%s, want\n%s", c.name, got, c.json)
		}
		if got := hex.EncodeToString(AppendCBOR(nil, c.message, c.style)); got != strings.ReplaceAll(c.cbor, " ", "") {
			t.Errorf("%s: CBOR: got\n%s, want\n%s", c.name, got, strings.ReplaceAll(c.cbor, " ", ""))
		}
		in, err := Parse([]byte(c.json))
		if err != nil {
			t.Fatal(err)
		}
		got := all{Header: header{Seq: 99}, Names: []string{"stale"}}
		if _, err := Decode(in, &got, c.style, Time{}); err != nil {
			t.Errorf("%s: decode: %v", c.name, err)
		}
		for i := range got.Points { // a field that was left out is 0
			if math.IsNaN(c.message.Points[i].Y) {
				got.Points[i].Y = math.NaN()
			}
		}
		if a, b := AppendCBOR(nil, got, c.style), AppendCBOR(nil, c.message, c.style); string(a) != string(b) {
			t.Errorf("%s: decode: got %+v, want %+v", c.name, got, c.message)
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	for in, want := range map[string]string{
		`{"nowhere":1}`:                "Message type test/All does not have a field nowhere",
		`{"header":{"seq":1}}`:         "Message type test/All does not have a field header.seq",
		`{"on":1}`:                     "test/All message requires a bool for field on, but got a number",
		`{"level":256}`:                "test/All message requires a uint8 for field level, but got a number",
		`{"level":-1}`:                 "test/All message requires a uint8 for field level, but got a number",
		`{"turns":1.5}`:                "test/All message requires a int16 for field turns, but got a number",
		`{"turns":null}`:               "test/All message requires a int16 for field turns, but got a null",
		`{"ranges":"x"}`:               "test/All message requires a float32[] for field ranges, but got a string",
		`{"ranges":[1e300]}`:           "test/All message requires a float32 for field ranges, but got a number",
		`{"pair":[1]}`:                 "test/All message requires a int16[2] for field pair, but got a array",
		`{"data":"***"}`:               "test/All message requires a uint8[] for field data, but got a string",
		`{"names":[1]}`:                "test/All message requires a string for field names, but got a number",
		`{"points":[[]]}`:              "test/All message requires a test/Point for field points, but got a array",
		`{"header":{"stamp":{"s":1}}}`: "Message type test/All does not have a field header.stamp.s",
		`{"header":{"stamp":{"sec":[]}}}`: "test/All message requires a int32 for field header.stamp.sec, but got a " +
			"array",
	} {
		m, err := Parse([]byte(in))
		if err != nil {
			t.Fatal(err)
		}
		var got all
		if _, err := Decode(m, &got, ROS2, Time{}); err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", in, err, want)
		}
	}
	if _, err := Decode("text", &all{}, ROS2, Time{}); err == nil ||
		err.Error() != "Expected a JSON object for type test/All but received a string" {
		t.Errorf("a string: got %v", err)
	}
}

func TestDecodeDefaults(t *testing.T) {
	m, _ := Parse([]byte(`{"header":{"stamp":"now"},"on":true,"points":[{}]}`))
	var got all
	missing, err := Decode(m, &got, ROS2, Time{3, 4})
	if want := []string{"points.x", "level", "turns", "ranges", "pair", "data", "names"}; err != nil ||
		!reflect.DeepEqual(missing, want) {
		t.Errorf("got missing %q, %v, want %q", missing, err, want)
	}
	if got.Header.Stamp != (Time{3, 4}) {
		t.Errorf("now: got %v", got.Header.Stamp)
	}
	m, _ = Parse([]byte(`{"header":{"stamp":{"secs":1,"nsecs":2}}}`)) // a ROS 1 client's time, to ROS 2
	if Decode(m, &got, ROS2, Time{}); got.Header.Stamp != (Time{1, 2}) {
		t.Errorf("secs: got %v", got.Header.Stamp)
	}
}

func TestParseRefuses(t *testing.T) {
	for _, in := range []string{"", "[]", "1", "{", "{}{}", "{\"a\":\"\xff\"}", strings.Repeat(`{"a":`, 33) + "1" +
		strings.Repeat("}", 33)} {
		if m, err := Parse([]byte(in)); err == nil {
			t.Errorf("%.20q: got %v, want it refused", in, m)
		}
	}
	if _, err := Parse([]byte(`{"a":"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[\"{{{"}`)); err != nil {
		t.Errorf("brackets in a string: got %v", err)
	}
}

// TestWireNames: the names of fields without one in their tag.
func TestWireNames(t *testing.T) {
	type names struct {
		X, ID, FrameID, PointStride, IDOfFrame int
		Kind                                   int `field:"type"`
	}
	var got []string
	for _, f := range Of(reflect.TypeFor[names](), ROS2) {
		got = append(got, f.Name)
	}
	if want := "x id frame_id point_stride id_of_frame type"; strings.Join(got, " ") != want {
		t.Errorf("got %q, want %s", got, want)
	}
}

func TestNames(t *testing.T) {
	var got []string
	for _, f := range Of(reflect.TypeFor[all](), ROS1) {
		got = append(got, fullName(f.Type, ROS1))
	}
	if want := "std_msgs/Header bool uint8 int16 float32[] int16[2] uint8[] string[] test/Point[]"; strings.Join(got,
		" ") != want {
		t.Errorf("got %v, want %s", got, want)
	}
	if n, _ := Name(timeType, ROS2); n != "builtin_interfaces/Time" || At(1500*time.Millisecond) != (Time{1, 5e8}) ||
		At(-1) != (Time{}) {
		t.Errorf("time: got %s, %v", n, At(1500*time.Millisecond))
	}
}

// FuzzDecode reads anything into a message; what is read is written so that it is read back the same.
func FuzzDecode(f *testing.F) {
	for _, c := range cases {
		f.Add([]byte(c.json))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		in, err := Parse(b)
		if err != nil {
			return
		}
		var m, again all
		if _, err := Decode(in, &m, ROS2, Time{}); err != nil {
			return
		}
		first := AppendJSON(nil, m, ROS2)
		if !json.Valid(first) {
			t.Fatalf("got no JSON: %s", first)
		}
		in, err = Parse(first)
		if err == nil {
			_, err = Decode(in, &again, ROS2, Time{})
		}
		if err != nil || string(AppendJSON(nil, again, ROS2)) != string(first) {
			t.Fatalf("got %s, %v, want %s", AppendJSON(nil, again, ROS2), err, first)
		}
	})
}

package okon

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

// wire is every type of packet, as bytes and as a value: it drives decoding, encoding and the fuzz seeds.
var wire = []struct {
	hex   string
	value Packet
}{
	{"a0 00 07000000 7b22464c48223a", Packet{SetMotors, 0, []byte(`{"FLH":`)}},
	{"a1 01 00000000", Packet{ArmMotors, serverEcho, nil}},
	{"a2 00 00000000", Packet{DisarmMotors, 0, nil}},
	{"a3 00 06000000 737461626c65", Packet{SetControlMode, 0, []byte("stable")}},
	{"a4 02 00000000", Packet{SetAcro, DoNotLog, nil}},
	{"a5 03 02000000 7b7d", Packet{SetStable, serverEcho | DoNotLog, []byte("{}")}},
	{"a6 00 00000000", Packet{SetPID, 0, nil}},
	{"b0 02 00000000", Packet{GetSensors, DoNotLog, nil}},
	{"b1 00 00000000", Packet{GetDepth, 0, nil}},
	{"b2 00 03000000 ffd8ff", Packet{GetDepthBytes, 0, []byte{0xff, 0xd8, 0xff}}},
	{"b3 00 00000000", Packet{GetVideoBytes, 0, nil}},
	{"b4 00 00000000", Packet{GetVideo, 0, nil}},
	{"c0 00 00000000", Packet{SetSim, 0, nil}},
	{"c1 80 00000000", Packet{Ack, test, nil}},
	{"c3 00 00000000", Packet{SetOrientation, 0, nil}},
	{"c4 00 00000000", Packet{ResetSim, 0, nil}},
	{"c5 00 07000000 313636382e3132", Packet{Ping, 0, []byte("1668.12")}},
	{"c6 00 02000000 5b5d", Packet{GetCheckpoints, 0, []byte("[]")}},
	{"c7 00 04000000 4e475a31", Packet{HitNoGo, 0, []byte("NGZ1")}},
	{"c8 00 0c000000 7b226964223a22465a31227d", Packet{HitFinish, 0, []byte(`{"id":"FZ1"}`)}},
	{"c9 00 03000000 415031", Packet{CheckAction, 0, []byte("AP1")}},
	{"ca 00 00000000", Packet{failure, 0, nil}},
	{"de 02 00000000", Packet{GetDetections, DoNotLog, nil}},
	{"42 ff 00000000", Packet{Type(0x42), 0xff, nil}},
}

func unhex(t testing.TB, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestCodec(t *testing.T) {
	var p Packet // reused, so that remains of one packet show in the next
	for _, k := range wire {
		b := unhex(t, k.hex)
		if got := Append(nil, k.value); !bytes.Equal(got, b) {
			t.Errorf("%v: got %x, want %x", k.value.Type, got, b)
		}
		for n := range b {
			if took, err := decode(b[:n], maxRequest, &p); took != 0 || err != nil {
				t.Errorf("%v: %d bytes of it: took %d, %v", k.value.Type, n, took, err)
			}
		}
		took, err := decode(append(b, 1, 2), maxRequest, &p)
		if took != len(b) || err != nil || p.Type != k.value.Type || p.Flag != k.value.Flag ||
			!bytes.Equal(p.Data, k.value.Data) {
			t.Errorf("%x: got %v, %d, %v; want %v", b, p, took, err, k.value)
		}
	}
	for _, k := range []struct {
		hex  string
		want error
	}{
		{"a5 00 ffffffff", errLength}, {"a5 00 00000080", errLength}, {"a5 00 01400000", errLength}, {"ff", errIllegal},
		{"ff 00 00000000", errIllegal},
	} {
		if took, err := decode(unhex(t, k.hex), maxRequest, &p); took != 0 || !errors.Is(err, k.want) {
			t.Errorf("%s: got %d, %v; want %v", k.hex, took, err, k.want)
		}
	}
	if GetDetections.String() != "GET_DETE" || Type(0x42).String() != "0x42" || illegal.String() != "0xFF" {
		t.Errorf("names: got %v, %v, %v", GetDetections, Type(0x42), illegal)
	}
}

// TestPackets: the same packets, however the connection cuts them; its memory is that of the longest.
func TestPackets(t *testing.T) {
	var all []byte
	for range 50 {
		for _, k := range wire {
			all = Append(all, k.value)
		}
	}
	long := Packet{Ping, 0, bytes.Repeat([]byte("x"), maxRequest)}
	all = Append(Append(all, long), wire[0].value)
	for name, cut := range map[string]func(io.Reader) io.Reader{
		"whole": func(r io.Reader) io.Reader { return r }, "bytes": iotest.OneByteReader, "halves": iotest.HalfReader,
		"errors with data": iotest.DataErrReader,
	} {
		r := packets{from: cut(bytes.NewReader(all)), limit: maxRequest}
		var p Packet
		for i := range 50*len(wire) + 2 {
			want := wire[0].value
			if i < 50*len(wire) {
				want = wire[i%len(wire)].value
			} else if i == 50*len(wire) {
				want = long
			}
			if err := r.next(&p); err != nil || p.Type != want.Type || !bytes.Equal(p.Data, want.Data) {
				t.Fatalf("%s: packet %d: got %v, %v; want %v", name, i, p, err, want)
			}
			if i == 10 && len(r.buf) != smallest {
				t.Errorf("%s: got %d bytes of memory for short packets, want %d", name, len(r.buf), smallest)
			}
		}
		if err := r.next(&p); err != io.EOF || len(r.buf) > headerSize+maxRequest {
			t.Errorf("%s: at the end: got %v and %d bytes of memory", name, err, len(r.buf))
		}
	}
}

func TestShapes(t *testing.T) {
	s := Sensors{Rot: Vector{-9.81e-16, 180, 5.269e-7}, RotSpeed: Vector{1, 2, 3}, Accel: Vector{0, 0.084, 0},
		RotAccel: Vector{6.2e-11, 0, float32(math.NaN())}, Baro: Baro{11115.315}}
	for _, angular := range []bool{false, true} {
		var back Sensors
		text := appendSensors(nil, &s, angular)
		if err := json.Unmarshal(text, &back); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		want := s
		want.RotAccel.Z = 0
		if angular {
			want.RotAccel, want.AngularAccel = Vector{}, want.RotAccel
		}
		if back != want {
			t.Errorf("%s: got %+v, want %+v", text, back, want)
		}
	}
	m := Motors{FLH: 1, FLV: 2, BLV: 3, BLH: 4, FRH: 5, FRV: 6, BRV: 7, BRH: 8}
	if d := m.duties(); !slices.Equal(d, []float64{1, 5, 4, 8, 2, 6, 3, 7}) || motorsOf(d) != m {
		t.Errorf("motors: got %v and %+v", d, motorsOf(d))
	}
	for _, k := range []struct{ data, want string }{
		{"AP1", "AP1"}, {`"AP1"`, "AP1"}, {`{"id":"AP1"}`, "AP1"}, {`{"id":1}`, `{"id":1}`},
		{`{"x":"AP1"}`, `{"x":"AP1"}`}, {"", ""}, {"12", "12"},
	} {
		if got := word([]byte(k.data), "id"); got != k.want {
			t.Errorf("word of %s: got %s, want %s", k.data, got, k.want)
		}
	}
	if got := string(appendFault(nil, "why", bytes.Repeat([]byte{'"'}, 999))); len(got) != len(
		`{"info":"why","fromClient":""}`)+2*256 {
		t.Errorf("a long fault: got %d bytes", len(got))
	}
}

// FuzzDecode: a decoded packet encodes to the same bytes, and no byte is read twice or beyond the end.
func FuzzDecode(f *testing.F) {
	for _, k := range wire {
		f.Add(unhex(f, k.hex))
	}
	f.Add([]byte{0xff})
	f.Add([]byte{0xa5, 0, 0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, b []byte) {
		r := packets{from: iotest.HalfReader(bytes.NewReader(b)), limit: maxRequest}
		var p Packet
		var again []byte
		for r.next(&p) == nil {
			again = Append(again, p)
		}
		if !bytes.HasPrefix(b, again) || len(r.buf) > headerSize+maxRequest {
			t.Fatalf("%x: got %x and %d bytes of memory", b, again, len(r.buf))
		}
	})
}

// FuzzJSON: texts of clients end in settings that a robot can follow, or in an error.
func FuzzJSON(f *testing.F) {
	sets := []Type{SetMotors, SetControlMode, SetAcro, SetStable, SetPID}
	for _, k := range hostile {
		// 255, an undefined index, where the type is not in sets
		f.Add(byte(slices.Index(sets, k.Type)), []byte(k.data))
	}
	f.Add(byte(5), []byte(`{"rot":{"x":0,"y":90,"z":0},"pos":{"x":1,"y":-0.9,"z":-2.7}}`))
	f.Add(byte(6), []byte(`{"quality":30}`))
	f.Add(byte(4), []byte(startPIDs+speedPIDs))
	f.Add(byte(3), []byte(`{"rot":{"x":1,"y":2,"z":3},"vel":{"x":1,"y":0,"z":0},"depth":1.5}`))
	f.Add(byte(2), []byte(`{"rotSpeed":{"x":0.5},"vel":{"z":1}}`))
	s := newSettingsServer(f)
	f.Fuzz(func(t *testing.T, kind byte, data []byte) {
		p := Packet{Type: append(sets, SetOrientation, SetSim)[kind%7], Data: data}
		c := &session{server: s}
		if p.Type == SetOrientation || p.Type == SetSim {
			if err := c.set(&p); err == nil && len(data) < 2 {
				t.Fatalf("%v %q: it was done", p.Type, data)
			}
			body := s.robot.Placer.(*rover)
			body.happened() // or its notes grow without end
			at, quality := body.pose, s.robot.Pictures.Quality()
			for _, v := range append(at.Position[:], at.Rotation[:]...) {
				if math.IsNaN(v) || math.IsInf(v, 0) || quality < 0 || quality > 100 {
					t.Fatalf("%v %q: got %+v, quality %d", p.Type, data, at, quality)
				}
			}
		} else if apply, err := c.parse(&p); err == nil {
			if err := apply(); err != nil {
				t.Fatalf("%v %q: %v", p.Type, data, err)
			}
		}
		tuning, targets := s.setting.pilot.Tuning(), s.setting.pilot.Targets()
		if err := tuning.Check(); err != nil {
			t.Fatal(err)
		}
		for _, v := range append(targets.Attitude[:], append(targets.Velocity[:], targets.Depth)...) {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				t.Fatalf("%v %q: got targets %+v", p.Type, data, targets)
			}
		}
		var back any
		if text := appendFault(nil, string(data), data); json.Unmarshal(text, &back) != nil {
			t.Fatalf("%q: got %s, want JSON", data, text)
		}
		if text := appendEcho(nil, data); json.Unmarshal(text, &back) != nil {
			t.Fatalf("%q: got %s, want JSON", data, text)
		}
	})
}

package simloid

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
)

// commands are every command, as a line and as a value. They drive decoding, encoding and the fuzz seeds.
var commands = []struct {
	line  string
	value Command
}{
	{"UX 0.5 -1 1e-07", Command{Verb: UX, Values: []float64{0.5, -1, 1e-7}}},
	{"UX ", Command{Verb: UX}},
	{"UA 0.5", Command{Verb: UA, Values: []float64{0.5}}},
	{"UI 2 0.1", Command{Verb: ui, Index: 2, Values: []float64{0.1}}},
	{"PX 0.2 0.4", Command{Verb: PX, Values: []float64{0.2, 0.4}}},
	{"PA 0.3", Command{Verb: PA, Values: []float64{0.3}}},
	{"PI 1 1", Command{Verb: PI, Index: 1, Values: []float64{1}}},
	{"TX 0.5 1", Command{Verb: tx, Values: []float64{0.5, 1}}},
	{"TA 0.5", Command{Verb: TA, Values: []float64{0.5}}},
	{"TI 0 0.1", Command{Verb: ti, Values: []float64{0.1}}},
	{"FX 1 2 3 4 5 6", Command{Verb: fx, Values: []float64{1, 2, 3, 4, 5, 6}}},
	{"FA 1 2 3", Command{Verb: fa, Values: []float64{1, 2, 3}}},
	{"FI 3 0.2 0.4 0.6", Command{Verb: FI, Index: 3, Values: []float64{0.2, 0.4, 0.6}}},
	{"IM 3 0.2 0.4 0.6", Command{Verb: im, Index: 3, Values: []float64{0.2, 0.4, 0.6}}},
	{"GRAVITY ON", Command{Verb: GravityOn}},
	{"GRAVITY OFF", Command{Verb: GravityOff}},
	{"RESET", Command{Verb: Reset}},
	{"SAVE", Command{Verb: Save}},
	{"RESTORE", Command{Verb: Restore}},
	{"NEWTIME", Command{Verb: newTime}},
	{"RECORD", Command{Verb: record}},
	{"PAUSE", Command{Verb: pause}},
	{"DONE", Command{Verb: done}},
	{"EXIT", Command{Verb: exit}},
	{"MODEL 31 2 0.5 1", Command{Verb: Model, Index: 31, Values: []float64{0.5, 1}}},
	{"MODEL 31 0", Command{Verb: Model, Index: 31}},
	{"MOTOR 2 12 1.5", Command{Verb: Motor, Values: []float64{12, 1.5}}},
	{"SENSORS POOR", Command{Verb: SensorsPoor}},
	{"SENSORS GOOD", Command{Verb: SensorsGood}},
	{"FIXED 4", Command{Verb: Fixed, Index: 4}},
	{"DESCRIPTION", Command{Verb: Description}},
	{"INTERLACED MODE", Command{Verb: Interlaced}},
	{"SEQUENTIAL MODE", Command{Verb: Sequential}},
	{"ACK", Command{Verb: Ack}},
}

// tolerated are lines that mean the same as another one.
var tolerated = []struct{ line, same string }{
	{"UA 0.5 and more", "UA 0.5"},
	{"UA \t 0.5\r", "UA 0.5"},
	{"UI 2 0.1 7", "UI 2 0.1"},
	{"RESETTLE", "RESET"},
	{"DONE and dusted", "DONE"},
	{"GRAVITY ONCE", "GRAVITY ON"},
	{"MODEL 31", "MODEL 31 0"},
	{"ACKNOWLEDGED", "ACK"},
	{"DONE\r", "DONE"},
}

func plain(c Command) Command {
	if len(c.Values) == 0 {
		c.Values = nil
	}
	return c
}

func TestDecode(t *testing.T) {
	var c Command // the same for all, so that a stale field would be seen
	seen := map[Verb]bool{}
	for _, k := range commands {
		if err := decode([]byte(k.line), Later, &c); err != nil || !reflect.DeepEqual(plain(c), k.value) {
			t.Errorf("%q: got %+v, %v, want %+v", k.line, c, err, k.value)
		}
		err := decode([]byte(k.line), Document, &c)
		if later := syntax[k.value.Verb-1].later; later && !errors.Is(err, ErrUnknown) || !later && err != nil {
			t.Errorf("%q in the document's dialect: got %v", k.line, err)
		}
		seen[k.value.Verb] = true
	}
	if len(seen) != int(numVerbs)-1 {
		t.Errorf("verbs: got %d, want %d", len(seen), numVerbs-1)
	}
	for _, k := range tolerated {
		var want Command
		if err := errors.Join(decode([]byte(k.line), Later, &c), decode([]byte(k.same), Later, &want)); err != nil ||
			!reflect.DeepEqual(plain(c), plain(want)) {
			t.Errorf("%q: got %+v, %v, want %+v", k.line, c, err, want)
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	var c Command
	for line, want := range map[string]error{
		"": ErrUnknown, " ": ErrUnknown, "UX": ErrUnknown, "ux 1": ErrUnknown, "UB 1": ErrUnknown, " DONE": ErrUnknown,
		"done": ErrUnknown, "GRAVITY": ErrUnknown, "GRAVITY off": ErrUnknown, "\x00\xff": ErrUnknown, "IM": ErrUnknown,
		"UA ": ErrFormat, "UA x": ErrFormat, "UA nan": ErrFormat, "UX 1 inf": ErrFormat, "UX 1 2 -Inf 4": ErrFormat,
		"UX 1e999": ErrFormat, "UI 1": ErrFormat, "UI -1 1": ErrFormat, "UI 0.5 1": ErrFormat,
		"UI 99999999999 1": ErrFormat,
		"FA 1 2":           ErrFormat, "FI 1 2 3": ErrFormat, "IM 0 1 nan 2": ErrFormat, "MODEL": ErrFormat,
		"MODEL x":     ErrFormat,
		"MODEL 1 2 3": ErrFormat, "MODEL 1 999999 3": ErrFormat, "MOTOR": ErrFormat, "MOTOR 1": ErrFormat,
		"FIXED": ErrFormat,
	} {
		if err := decode([]byte(line), Later, &c); !errors.Is(err, want) || len(c.Values) != 0 && line != "UI 1" &&
			line[0] != 'F' && line[0] != 'M' {
			t.Errorf("%q: got %v %v, want %v", line, c.Values, err, want)
		}
	}
}

func TestEncode(t *testing.T) {
	for _, k := range commands {
		if got, want := string(Append([]byte("x"), &k.value)), "x"+k.line+"\n"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if got := string(Append(nil, &Command{})); got != "\n" {
		t.Errorf("no command: got %q, want a newline", got)
	}
}

// pendulum and wildcat are robots 90 and 31 of the original.
func pendulum() Traits {
	return Traits{Bodies: 2, Accels: 1, Names: []string{"base", "lever"},
		Joints: []Joint{{Name: "joint0", Low: -1, High: 1, Default: 0.5}}}
}

func wildcat() Traits {
	degrees := func(v float64) float64 { return v * math.Pi / 180 / math.Pi }
	t := Traits{Bodies: 13, Accels: 1, Names: []string{"body", "lfsh", "rfsh", "lhsh", "rhsh", "lflu", "rflu", "lfll",
		"rfll",
		"lhlu", "rhlu", "lhll", "rhll"}}
	for i, j := range []struct {
		name              string
		low, high, middle float64
	}{
		{"shoulder_roll", -90, 90, 10}, {"hip_roll", -90, 90, 10}, {"shoulder_pitch", -90, 90, -30},
		{"elbow_pitch", 0, 120, 60}, {"hip_pitch", -90, 90, -60}, {"knee_pitch", 0, 120, 60},
	} {
		for k, side := range []string{"L_", "R_"} {
			t.Joints = append(t.Joints, Joint{Name: side + j.name, Mirrored: k == 1, Partner: 2*i + 1 - k,
				Low: degrees(j.low), High: degrees(j.high), Default: degrees(j.middle)})
		}
	}
	return t
}

// TestTraitsOfOriginal compares with the original's traits, byte for byte.
func TestTraitsOfOriginal(t *testing.T) {
	for id, traits := range map[int]Traits{90: pendulum(), 31: wildcat()} {
		file := filepath.Join("..", "..", "..", "shared", "data", "simloid", "traits", fmt.Sprintf("%d.traits", id))
		want, err := os.ReadFile(file)
		if err != nil {
			t.Skipf("no recording of the original here: %v", err)
		}
		if got := AppendTraits(nil, &traits, Document); string(got) != string(want) {
			t.Errorf("%d: got\n%swant\n%s", id, got, want)
		}
		var back Traits
		n, err := decodeTraits(want, &back, Document)
		if back.Names = traits.Names; err != nil || n != len(want) || len(back.Joints) != len(traits.Joints) {
			t.Errorf("%d: got %d joints, %d bytes, %v, want %d bytes", id, len(back.Joints), n, err, len(want))
		}
		if again := AppendTraits(nil, &back, Document); string(again) != string(want) {
			t.Errorf("%d: decoded and encoded: got\n%s", id, again)
		}
	}
}

// TestRecordedTraits decodes the original's traits of all its robots.
func TestRecordedTraits(t *testing.T) {
	files, _ := filepath.Glob(filepath.Join("..", "..", "..", "shared", "data", "simloid", "traits", "*.traits"))
	if len(files) == 0 {
		t.Skip("no recordings of the original here")
	}
	var traits Traits
	for _, file := range files {
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if n, err := decodeTraits(want, &traits, Document); err != nil || n != len(want) {
			t.Errorf("%s: got %d bytes, %v, want %d", file, n, err, len(want))
		} else if got := AppendTraits(nil, &traits, Document); string(got) != string(want) {
			t.Errorf("%s: got\n%swant\n%s", file, got, want)
		}
	}
}

// frames are traits and statuses as bytes and as values.
var traitFrames = []struct {
	bytes   string
	dialect Dialect
	value   Traits
}{
	{"2 1 1\n0 0 0 -1.000000e+00 1.000000e+00 5.000000e-01 joint0\n", Document,
		Traits{Bodies: 2, Accels: 1, Joints: []Joint{{Name: "joint0", Low: -1, High: 1, Default: 0.5}}}},
	{"2 1 0\n0 0 0 -1.000000e+00 1.000000e+00 0.000000e+00 j\n0 base\n1 lever\n", Later,
		Traits{Bodies: 2, Joints: []Joint{{Name: "j", Low: -1, High: 1}}, Names: []string{"base", "lever"}}},
	{"0 2 0\n0 0 1 -2.500000e-01 1.000000e+00 0.000000e+00 a\n1 1 0 -1.000000e+00 1.000000e+00 0.000000e+00 a\n",
		Document,
		Traits{Joints: []Joint{{Name: "a", Partner: 1, Low: -0.25, High: 1},
			{Name: "a", Mirrored: true, Low: -1, High: 1}}}},
}

func TestTraits(t *testing.T) {
	var got Traits
	for _, k := range traitFrames {
		if b := AppendTraits(nil, &k.value, k.dialect); string(b) != k.bytes {
			t.Errorf("encode: got %q, want %q", b, k.bytes)
		}
		n, err := decodeTraits([]byte(k.bytes+"0.01"), &got, k.dialect)
		if got.Names = slices.Clip(got.Names); len(got.Names) == 0 {
			got.Names = nil
		}
		if err != nil || n != len(k.bytes) || !reflect.DeepEqual(got, k.value) {
			t.Errorf("decode: got %+v, %d, %v, want %+v, %d", got, n, err, k.value, len(k.bytes))
		}
		for n := range k.bytes {
			if _, err := decodeTraits([]byte(k.bytes[:n]), &got, k.dialect); !errors.Is(err, ErrTruncated) {
				t.Errorf("first %d bytes: got %v, want %v", n, err, ErrTruncated)
			}
		}
	}
	for _, b := range []string{"\n", "1 1\n", "1 65 1\n", "-1 1 1\n", "1 1 1\n1 0 0 0 0 0 x\n",
		"1 1 1\n0 0 1 0 0 0 x\n",
		"1 1 1\n0 2 0 0 0 0 x\n", "1 1 1\n0 0 0 0 0 0\n", "1 1 1\n0 0 0 nan 0 0 x\n", "99999999 1 1\n", "hello\n"} {
		if _, err := decodeTraits([]byte(b), &got, Document); !errors.Is(err, ErrFormat) {
			t.Errorf("%q: got %v, want %v", b, err, ErrFormat)
		}
	}
}

var statusFrames = []struct {
	bytes   string
	dialect Dialect
	value   Status
}{
	{"0.010000 0.000458 -0.000031 0.000458 -0.000122 0.124481 0.000000 0.250000 0.375000 0.000000 0.000000 -0.500000\n",
		Document,
		Status{Time: 0.01, Position: []float64{0.000458}, Velocity: []float64{-0.000031},
			Accel:  [][3]float64{{0.000458, -0.000122, 0.124481}},
			Bodies: []BodyState{{[3]float64{0, 0.25, 0.375}, [3]float64{0, 0, -0.5}}}}},
	{"12.340000 1.000000 -1.000000 0.250000 ", Later,
		Status{Time: 12.34, Position: []float64{1}, Velocity: []float64{-1}, Current: []float64{0.25}}},
}

// empty is a status of the size of s.
func empty(s *Status) *Status {
	t := Traits{Bodies: len(s.Bodies), Accels: len(s.Accel), Joints: make([]Joint, len(s.Position))}
	d := Document
	if s.Current != nil {
		d = Later
	}
	e := newStatus(&t, d)
	if len(e.Accel) == 0 {
		e.Accel = nil
	}
	if len(e.Bodies) == 0 {
		e.Bodies = nil
	}
	return e
}

func TestStatus(t *testing.T) {
	for _, k := range statusFrames {
		if b := AppendStatus(nil, &k.value); string(b) != k.bytes {
			t.Errorf("encode: got %q, want %q", b, k.bytes)
		}
		got := empty(&k.value)
		numbers := k.bytes[:len(k.bytes)-1]
		// the next frame may follow at once
		for _, b := range []string{k.bytes, numbers + "\n", numbers + " ", numbers + " 0.02", "\n" + k.bytes} {
			n, err := decodeStatus([]byte(b), got)
			if want := len(b) - len(b[len(k.bytes):]); b[0] != '\n' && n != want || err != nil ||
				!reflect.DeepEqual(*got, k.value) {
				t.Errorf("decode %q: got %+v, %d, %v, want %+v, %d", b, got, n, err, k.value, want)
			}
		}
		for n := range k.bytes {
			if _, err := decodeStatus([]byte(k.bytes[:n]), got); !errors.Is(err, ErrTruncated) {
				t.Errorf("first %d bytes: got %v, want %v", n, err, ErrTruncated)
			}
		}
		for _, b := range []string{"0.01\n0.1 0.2\n", "x 1 2", "0.01  1 2", "0.01 inf 1 "} {
			if _, err := decodeStatus([]byte(b), got); !errors.Is(err, ErrFormat) {
				t.Errorf("%q: got %v, want %v", b, err, ErrFormat)
			}
		}
	}
}

func TestCodecDoesNotAllocate(t *testing.T) {
	traits := wildcat()
	out, in := newStatus(&traits, Later), newStatus(&traits, Later)
	line := []byte("UX 0.1 0.2 0.3 0.4 0.5 0.6 0.7 0.8 0.9 1 -0.1234567890123 -0.2")
	c := Command{Values: make([]float64, 0, maxValues)}
	b := make([]byte, 0, maxFrame)
	if n := testing.AllocsPerRun(100, func() {
		b = AppendStatus(b[:0], out)
		if _, err := decodeStatus(b, in); err != nil {
			t.Fatal(err)
		}
		if err := decode(line, Document, &c); err != nil {
			t.Fatal(err)
		}
		b = Append(b[:0], &c)
	}); n != 0 {
		t.Errorf("got %v allocations, want 0", n)
	}
}

// FuzzDecode: a decoded command survives encode and decode, and its numbers are finite.
func FuzzDecode(f *testing.F) {
	for _, k := range commands {
		f.Add([]byte(k.line))
	}
	for _, k := range tolerated {
		f.Add([]byte(k.line))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var c, again Command
		if decode(b, Later, &c) != nil {
			return
		}
		for _, v := range c.Values {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				t.Fatalf("%q: got %v", b, c.Values)
			}
		}
		out := Append(nil, &c)
		if err := decode(out[:len(out)-1], Later, &again); err != nil || !reflect.DeepEqual(plain(again), plain(c)) {
			t.Fatalf("%q became %q: got %+v, %v, want %+v", b, out, again, err, c)
		}
	})
}

// FuzzFrames: for any bytes of a server, the decoders read only within them and accept at most the bounds.
func FuzzFrames(f *testing.F) {
	for _, k := range traitFrames {
		f.Add([]byte(k.bytes))
	}
	for _, k := range statusFrames {
		f.Add([]byte(k.bytes))
	}
	traits := pendulum()
	status := newStatus(&traits, Later)
	f.Fuzz(func(t *testing.T, b []byte) {
		var got, again Traits
		if n, err := decodeTraits(b, &got, Later); n > len(b) || len(got.Joints) > MaxJoints ||
			len(got.Names) > MaxBodies {
			t.Fatalf("%q: got %+v, %d, %v", b, got, n, err)
		} else if err == nil {
			out := AppendTraits(nil, &got, Later)
			if _, err := decodeTraits(out, &again, Later); err != nil ||
				string(AppendTraits(nil, &again, Later)) != string(out) {
				t.Fatalf("%q became %q: %v", b, out, err)
			}
		}
		if n, err := decodeStatus(b, status); n > len(b) || err == nil && n == 0 {
			t.Fatalf("%q: got %d, %v", b, n, err)
		}
	})
}

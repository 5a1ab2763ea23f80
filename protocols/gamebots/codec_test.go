package gamebots

import (
	"bytes"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/halyard-robotics/halyard/hal"
)

// messages are lines, their parsed pairs (segment index, name, value), and the encoded line.
var messages = []struct {
	name, line string
	kind       string
	pairs      []string
	out        string // "" = as line
}{
	{"a command of the manual", "DRIVE {Left 1.0} {Right -1.0}", "DRIVE", []string{"0 Left=1.0", "1 Right=-1.0"}, ""},
	{"no segments", "GETSTARTPOSES", "GETSTARTPOSES", nil, ""},
	{"a combined group", "SEN {Type Sonar} {Name F1 Range 4.4690} {Name F2 Range 1.9387}", "SEN",
		[]string{"0 Type=Sonar", "1 Name=F1", "1 Range=4.4690", "2 Name=F2", "2 Range=1.9387"}, ""},
	{"a name that is a word elsewhere", "SEN {Name Touch Touch False}", "SEN",
		[]string{"0 Name=Touch", "0 Touch=False"}, ""},
	{"Player's blanks for commas", "INIT {Location 1.5 -2.0 0.3}", "INIT", []string{"0 Location=1.5 -2.0 0.3"},
		"INIT {Location 1.5,-2.0,0.3}"},
	{"the tutorial's blanks after commas", "MIS {Part A Location -0.0000, -0.0000, 0.0280 Orientation 0, 0, 0}", "MIS",
		[]string{"0 Part=A", "0 Location=-0.0000, -0.0000, 0.0280", "0 Orientation=0, 0, 0"},
		"MIS {Part A Location -0.0000,-0.0000,0.0280 Orientation 0,0,0}"},
	{"no blanks between segments", "drive{Left 1}{Right 2}", "drive", []string{"0 Left=1", "1 Right=2"},
		"drive {Left 1} {Right 2}"},
	{"blanks everywhere", " \tSET  { Type  Odometry } {Opcode RESET }  ", "SET",
		[]string{"0 Type=Odometry", "1 Opcode=RESET"},
		"SET {Type Odometry} {Opcode RESET}"},
	{"empty segments", "DRIVE {} {Left 1} { }", "DRIVE", []string{"1 Left=1"}, "DRIVE {Left 1}"},
	{"a name alone", "DRIVE {Light}", "DRIVE", []string{"0 Light="}, ""},
	{"UDK's segments", "SEN {Time 0.0100} {Type Sonar} {Name F1} {Range 1.5000}", "SEN",
		[]string{"0 Time=0.0100", "1 Type=Sonar", "2 Name=F1", "3 Range=1.5000"}, ""},
	{"a GPS", "SEN {Type GPS} {Name GPS1} {Latitude 47,40.3323,N} {Fix 1}", "SEN",
		[]string{"0 Type=GPS", "1 Name=GPS1", "2 Latitude=47,40.3323,N", "3 Fix=1"}, ""},
	{"the later links", "MISPKG {Name Cam1} {Link 1} {Value 0.5} {Order 0} {Link 2} {Value 0.1}", "MISPKG",
		[]string{"0 Name=Cam1", "1 Link=1", "2 Value=0.5", "3 Order=0", "4 Link=2", "5 Value=0.1"}, ""},
	{"an ACT", "ACT {Name Arm} {Link 1} {Value 0.5}", "ACT", []string{"0 Name=Arm", "1 Link=1", "2 Value=0.5"}, ""},
	{"a list", "SEN {Range 1.0,2.0,3.0}", "SEN", []string{"0 Range=1.0,2.0,3.0"}, ""},
}

func TestMessages(t *testing.T) {
	var m Message // one for all lines, so that remains of the last line show
	for _, k := range messages {
		t.Run(k.name, func(t *testing.T) {
			if err := Parse([]byte(k.line), &m); err != nil {
				t.Fatal(err)
			}
			if string(m.Type) != k.kind {
				t.Errorf("type: got %q, want %q", m.Type, k.kind)
			}
			var got []string
			for _, p := range m.Pairs {
				got = append(got, string('0'+rune(p.Segment))+" "+string(p.Name)+"="+string(p.Value))
			}
			if strings.Join(got, ";") != strings.Join(k.pairs, ";") {
				t.Errorf("got %q, want %q", got, k.pairs)
			}
			out := k.out
			if out == "" {
				out = k.line
			}
			if got := string(m.Append(nil)); got != out+"\r\n" {
				t.Errorf("out: got %q, want %q", got, out)
			}
		})
	}
}

var notMessages = []string{"", "   ", "{Left 1}", "}", "DRIVE {Left 1", "DRIVE Left 1", "DRIVE {Left {1}}", "DRIVE }",
	"DRIVE {Left 1}}",
	"SEN " + strings.Repeat("{A 1}", maxPairs+1)}

func TestNotMessages(t *testing.T) {
	var m Message
	for _, line := range notMessages {
		if err := Parse([]byte(line), &m); !errors.Is(err, ErrFormat) {
			t.Errorf("%.40q: got %v, want %v", line, err, ErrFormat)
		}
	}
}

// FuzzMessage: nothing panics, parsed messages keep their bounds, and an encoded message parses to the same pairs.
func FuzzMessage(f *testing.F) {
	for _, k := range messages {
		f.Add(k.line)
	}
	for _, line := range notMessages {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		if strings.ContainsAny(line, "\r\n") {
			return
		}
		var m, again Message
		if Parse([]byte(line), &m) != nil {
			return
		}
		m.Numbers("Location", nil)
		out := m.Append(nil)
		if err := Parse(bytes.TrimSuffix(out, []byte("\r\n")), &again); err != nil {
			t.Fatalf("%q went out as %q: %v", line, out, err)
		}
		if twice := again.Append(nil); !bytes.Equal(out, twice) {
			t.Fatalf("%q went out as %q and then as %q", line, out, twice)
		}
	})
}

func TestNumbers(t *testing.T) {
	for _, k := range []struct {
		v        float64
		decimals int
		want     string
	}{
		{0, 4, "0.0000"}, {1, 4, "1.0000"}, {2.50985, 4, "2.5098"}, {math.Pi, 4, "3.1415"}, {-0.00001, 4, "-0.0000"},
		{math.Copysign(0, -1), 4, "0.0000"}, {0.0005, 4, "0.0005"}, {0.005, 4, "0.0050"}, {0.05, 4, "0.0500"},
		{4.35, 4, "4.3500"},
		{0.29, 2, "0.29"}, {0.999999, 4, "0.9999"}, {0.99999999999, 4, "1.0000"}, {-1.23456, 4, "-1.2345"},
		{61.2, 2, "61.20"}, {62.019, 2, "62.01"},
		{7.6, 0, "7"}, {1.57, 1, "1.5"}, {math.NaN(), 4, "NaN"}, {math.Inf(1), 2, "1000000000000.00"},
		{math.Inf(-1), 2, "-1000000000000.00"},
	} {
		if got := string(appendNumber(nil, k.v, k.decimals)); got != k.want {
			t.Errorf("%v: got %s, want %s", k.v, got, k.want)
		}
	}
	// a parsed number is encoded unchanged
	for i := range 10000 {
		want := string(appendNumber(nil, float64(i)/1e4, 4))
		v, err := number([]byte(want))
		if got := string(appendNumber(nil, v, 4)); got != want || err != nil {
			t.Fatalf("%s came back as %s (%v)", want, got, err)
		}
	}
	for _, bad := range []string{"", "nan", "inf", "-Inf", "0x10", "1_0", "1e999", "one", "--1", "1,2"} {
		if v, err := number([]byte(bad)); err == nil {
			t.Errorf("%q: got %g, want an error", bad, v)
		}
	}
}

func TestLines(t *testing.T) {
	text := "A\r\n\n\rB {x 1}\n\rC\rD\n" + strings.Repeat("{", 3*maxLine) + "\nE\r\nF without an end"
	for name, r := range map[string]io.Reader{"whole": strings.NewReader(text),
		"byte by byte": iotest.OneByteReader(strings.NewReader(text))} {
		in := lines(r.Read, maxLine)
		var got []string
		long := 0
		for {
			line, err := nextLine(&in)
			if errors.Is(err, errLong) {
				long++
				continue
			}
			if err != nil {
				break
			}
			got = append(got, string(line))
		}
		if want := "A|B {x 1}|C|D|E"; strings.Join(got, "|") != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
		if long != 3 {
			t.Errorf("%s: got %d buffers of a line that is too long, want 3", name, long)
		}
	}
}

// TestAxes: a turn to the right about the vertical is positive on the wire and negative in hal; there and back.
func TestAxes(t *testing.T) {
	right := turned(hal.Pose{}, [3]float64{0, 0, 1}, -0.5)
	if a := angles(right.Rotation); math.Abs(a[2]-0.5) > 1e-12 || math.Abs(a[0])+math.Abs(a[1]) > 1e-12 {
		t.Errorf("a turn to the right by 0.5: got %v", a)
	}
	down := turned(hal.Pose{}, [3]float64{0, 1, 0}, 0.5) // about hal's y, to the left: the nose goes down
	if a := angles(down.Rotation); math.Abs(a[1]+0.5) > 1e-12 {
		t.Errorf("nose down by 0.5: got %v, want pitch -0.5 (J670: nose up is positive)", a)
	}
	for _, a := range [][3]float64{{0.1, -0.2, 0.3}, {-3, 1.5, 3}, {1, 0, -2}} {
		back := angles(attitude(a))
		for i := range a {
			if math.Abs(back[i]-a[i]) > 1e-9 {
				t.Errorf("%v came back as %v", a, back)
			}
		}
		// hal's own composition gives the same: yaw, then pitch, then roll
		p := turned(turned(turned(hal.Pose{}, [3]float64{0, 0, 1}, -a[2]), [3]float64{0, 1, 0}, -a[1]), [3]float64{1},
			a[0])
		if back := angles(p.Rotation); math.Abs(back[0]-a[0])+math.Abs(back[1]-a[1])+math.Abs(back[2]-a[2]) > 1e-9 {
			t.Errorf("%v composed is %v", a, back)
		}
	}
	for _, k := range []struct {
		axis [3]float64
		at   int
		sign float64
	}{{[3]float64{1}, 0, 1}, {[3]float64{-1}, 0, -1}, {[3]float64{0, 1}, 1, -1}, {[3]float64{0, -1}, 1, 1},
		{[3]float64{0, 0, 1}, 2, -1}, {[3]float64{0, 0, -1}, 2, 1}} {
		if at, sign := nearest(k.axis); at != k.at || sign != k.sign {
			t.Errorf("%v: got %d, %g, want %d, %g", k.axis, at, sign, k.at, k.sign)
		}
	}
}

func TestHits(t *testing.T) {
	var q Hits
	for i := range 2 * maxHits {
		q.Put(Hit{Tag: i})
		q.Put(Hit{Tag: i, ID: "again"})
	}
	got := q.drain(nil)
	if len(got) != maxHits || got[0].Tag != maxHits || got[0].ID != "again" {
		t.Errorf("got %d from %+v, want the last %d, each once", len(got), got[0], maxHits)
	}
	if got = q.drain(got); len(got) != 0 {
		t.Errorf("taken twice: got %d", len(got))
	}
}

// Append appends m as one line with its end: one blank between words, and commas without blanks between numbers.
func (m *Message) Append(dst []byte) []byte {
	t := text{b: append(dst, m.Type...)}
	for i, p := range m.Pairs {
		if i > 0 && m.Pairs[i-1].Segment != p.Segment {
			t.close()
		}
		if i == 0 || m.Pairs[i-1].Segment != p.Segment {
			t.open()
		}
		t.name(string(p.Name))
		for rest, first := p.Value, true; ; first = false {
			var w []byte
			if w, rest = word(rest); len(w) == 0 {
				t.b = bytes.TrimRight(t.b, " ") // of a name without a value
				break
			}
			if last := t.b[len(t.b)-1]; !first && last != ',' && w[0] != ',' {
				t.b = append(t.b, ',')
			}
			t.b = append(t.b, w...)
		}
	}
	if len(m.Pairs) > 0 {
		t.close()
	}
	return t.end()
}

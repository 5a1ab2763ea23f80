package lidar

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard/internal/wire/lidarwire"
)

// Values of the specification: hardware.md, section 5.2.
func TestSCIPValues(t *testing.T) {
	for _, c := range []struct {
		text string
		v    int
	}{{"CB", 1234}, {"1Dh", 5432}, {"m2@0", 16000000}, {"00", 0}, {"oo", 4095}} {
		if got := lidarwire.AppendSCIPValue(nil, c.v, len(c.text)); string(got) != c.text {
			t.Errorf("%d: got %q, want %q", c.v, got, c.text)
		}
		if got, ok := lidarwire.DecodeSCIPValue([]byte(c.text)); !ok || got != c.v {
			t.Errorf("%q: got %d, want %d", c.text, got, c.v)
		}
	}
	for _, bad := range []string{"/0", "0p", "\x80\x80"} {
		if v, ok := lidarwire.DecodeSCIPValue([]byte(bad)); ok {
			t.Errorf("%q: got %d", bad, v)
		}
	}
	for status, sum := range map[string]byte{"00": 'P', "99": 'b', "02": 'R', "0E": 'e'} {
		if got := lidarwire.SCIPSum([]byte(status)); got != sum {
			t.Errorf("sum of %q: got %c, want %c", status, got, sum)
		}
	}
}

// blockCase is one answer, as text both ways.
type blockCase struct {
	name, text           string
	echo, status, fields string
}

func blockCases() []blockCase {
	return []blockCase{
		{"quit", "QT\n00P\n\n", "QT", "00", ""},
		{"laser is on", "BM\n02R\n\n", "BM", "02", ""},
		{"unknown", "XX\n0Ee\n\n", "XX", "0E", ""},
		{"parameters", "PP\n00P\nMODL:URG-04LX(Hokuyo Automatic Co.,Ltd.);N\nDMIN:20;4\nARES:1024;\\\n\n", "PP", "00",
			"DMIN=20 ARES=1024"},
		{"all parameters", "PP\n00P\nMODL:URG-04LX(Hokuyo Automatic " +
			"Co.,Ltd.);N\nDMIN:20;4\nDMAX:5600;_\nARES:1024;\\\nAMIN:44;7\nAMAX:725;o\n" +
			"AFRT:384;6\nSCAN:600;e\n\n", "PP", "00", "DMIN=20 DMAX=5600 ARES=1024 AMIN=44 AMAX=725 AFRT=384 SCAN=600"},
		{"versions", "VV\n00P\nVEND:Hokuyo Automatic Co.,Ltd.;[\nFIRM:3.1.00(18/Jan./2007);`\nPROT:SCIP " +
			"2.0;N\nSERI:H0614967;V\n\n",
			"VV", "00", "FIRM=3.1.00(18/Jan./2007) SERI=H0614967"},
		{"SCIP 1.1", "QT\nE\n\n", "QT", "E", ""},
		{"SCIP 1.1 is left", "SCIP2.0\n0\n\n", "SCIP2.0", "0", ""},
		{"behind an echo", "QT\nQT\n00P\n\n", "QT", "00", ""},
		{"behind noise", "\x00\xffz\nQT\n00P\n\n", "QT", "00", ""},
	}
}

func TestSCIPBlocks(t *testing.T) {
	var k SCIPBlock
	for _, c := range blockCases() {
		for step := 1; step <= len(c.text); step += 3 {
			p, n := NewSCIPParser(), 0
			for rest := []byte(c.text); len(rest) > 0; {
				piece := rest[:min(step, len(rest))]
				rest = rest[p.Feed(piece):]
				for p.Next(&k) {
					if n++; string(k.Echo) != c.echo || string(k.Status) != c.status {
						t.Errorf("%s: got %q %q, want %q %q", c.name, k.Echo, k.Status, c.echo, c.status)
					}
					for _, f := range strings.Fields(c.fields) {
						key, want, _ := strings.Cut(f, "=")
						if got, ok := k.Field(key); !ok || got != want {
							t.Errorf("%s: %s: got %q, want %q", c.name, key, got, want)
						}
					}
				}
			}
			if n != 1 || p.Garbage != 0 {
				t.Errorf("%s by %d: got %d blocks, %d garbage", c.name, step, n, p.Garbage)
			}
		}
	}
	if got := lidarwire.AppendSCIP(nil, "QT", lidarwire.SCIPOK); string(got) != "QT\n00P\n\n" {
		t.Errorf("encoded: got %q", got)
	}
	if got := lidarwire.AppendSCIPFields(nil, "PP", "DMIN:20",
		"ARES:1024"); string(got) != "PP\n00P\nDMIN:20;4\nARES:1024;\\\n\n" {
		t.Errorf("encoded: got %q", got)
	}
	// A field with a wrong checksum is ignored; a block without an end is discarded.
	p := NewSCIPParser()
	p.Feed([]byte("PP\n00P\nDMIN:20;5\n\n"))
	if p.Next(&k); true {
		if v, ok := k.Field("DMIN"); ok {
			t.Errorf("wrong sum: got %q", v)
		}
	}
	long := bytes.Repeat([]byte("x"), 3*scipMaxLine)
	for rest := append(long, "\n\nQT\n00P\n\n"...); len(rest) > 0; {
		rest = rest[p.Feed(rest):]
		for p.Next(&k) {
		}
	}
	if string(k.Status) != lidarwire.SCIPOK || p.Garbage == 0 {
		t.Errorf("behind a line without end: got %q, %d garbage", k.Status, p.Garbage)
	}
}

// Scans of every length around a line's end go both ways; one wrong character anywhere is seen.
func TestSCIPScans(t *testing.T) {
	for _, size := range []int{2, 3} {
		for _, n := range []int{1, 21, 22, 32, 33, 43, 682} {
			values, want, got := make([]int, n), make([]float64, n), make([]float64, n)
			for i := range values {
				values[i] = (i * 37) % 4000
				if want[i] = float64(values[i]) / 1000; values[i] < 20 {
					want[i] = math.NaN()
				}
			}
			text := lidarwire.AppendSCIPScan(nil, "MD0044072501000", lidarwire.SCIPData, 123456, values, size)
			p, k := NewSCIPParser(), SCIPBlock{}
			p.Feed(text)
			if !p.Next(&k) {
				t.Fatalf("%d by %d: no block", n, size)
			}
			m := &HokuyoModel{MinRange: 20, MaxRange: 5600}
			ms, err := k.Scan(size, m, got)
			if err != nil || ms != 123456 || fmt.Sprint(got) != fmt.Sprint(want) {
				t.Fatalf("%d by %d: got %d %v %v, want %v", n, size, ms, got, err, want)
			}
			for _, wrong := range []int{n - 1, n + 1} {
				if wrong > 0 {
					if _, err := k.Scan(size, m, make([]float64, wrong)); err == nil {
						t.Errorf("%d by %d as %d: got no error", n, size, wrong)
					}
				}
			}
			for i := bytes.IndexByte(k.Lines, '\n') + 1; i < len(k.Lines); i++ {
				for bit := range 8 {
					k.Lines[i] ^= 1 << bit
					if _, err := k.Scan(size, m, got); err == nil {
						t.Fatalf("%d by %d: byte %d bit %d: a flip is not seen", n, size, i, bit)
					}
					k.Lines[i] ^= 1 << bit
				}
			}
		}
	}
}

// What is no range: each family has its own code for no echo, and two characters end at 4095.
func TestSCIPVoid(t *testing.T) {
	for _, c := range []struct {
		model  string
		size   int
		values []int
		want   string
	}{
		{"URG-04LX", 3, []int{0, 1, 6, 19, 20, 4095, 5600, 5601}, "[NaN NaN NaN NaN 0.02 4.095 5.6 +Inf]"},
		{"URG-04LX", 2, []int{0, 19, 20, 4094, 4095}, "[NaN NaN 0.02 4.094 +Inf]"},
		{"UTM-30LX", 3, []int{0, 1, 2, 5, 22, 23, 60000, 60001}, "[NaN +Inf NaN NaN NaN 0.023 60 +Inf]"},
		{"UST-10LX", 3, []int{1, 21, 30000, 65533}, "[NaN 0.021 30 +Inf]"},
	} {
		m, err := HokuyoModelOf(c.model)
		if err != nil {
			t.Fatal(err)
		}
		p, k, got := NewSCIPParser(), SCIPBlock{}, make([]float64, len(c.values))
		// The clock goes round at 24 bits: that is no fault of a scan.
		p.Feed(lidarwire.AppendSCIPScan(nil, "MD0044072501000", lidarwire.SCIPData, 1<<24-1, c.values, c.size))
		if !p.Next(&k) {
			t.Fatalf("%s: no block", c.model)
		}
		if ms, err := k.Scan(c.size, &m, got); err != nil || ms != 1<<24-1 || fmt.Sprint(got) != c.want {
			t.Errorf("%s by %d: got %v at %d, %v, want %s", c.model, c.size, got, ms, err, c.want)
		}
	}
}

// What comes in the stream in place of a scan.
func TestSCIPInstead(t *testing.T) {
	m, err := HokuyoModelOf("URG-04LX")
	if err != nil {
		t.Fatal(err)
	}
	h, err := NewHokuyo(HokuyoSettings{Line: noLine, Model: m, First: 384, Last: 385})
	if err != nil {
		t.Fatal(err)
	}
	scan := lidarwire.AppendSCIPScan(nil, h.command, lidarwire.SCIPData, 5, []int{1000, 2000}, 3)
	for _, c := range []struct {
		status, want string
	}{{lidarwire.SCIPOK, ""}, {lidarwire.SCIPResumed, ""}, {"21", "verify an error"}, {"50", "in trouble"},
		{"0B", "no room"}} {
		_, err := h.parse(lidarwire.AppendSCIP(nil, h.command, c.status))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("status %s: got %v, want %q", c.status, err, c.want)
		}
		if got, err := h.parse(scan); err != nil || !got || h.scan[1] != 2 {
			t.Errorf("behind status %s: got %v, %v, %v", c.status, got, h.scan, err)
		}
	}
}

// Every status that the specification names has a name.
func TestSCIPMeanings(t *testing.T) {
	for _, c := range []struct{ command, status, want string }{
		{"MD0044072501000", "01", "first step"}, {"MS0044072501000", "07", "count of scans"},
		{"GD0044072501", "04", "out of range"},
		{"GS0044072501", "05", "before the first"}, {"GD0044072501", "10", "laser is off"},
		{"MD0044072501000", "21", "verify"},
		{"MD0044072501000", "49", "verify"}, {"MD0044072501000", "50", "trouble"}, {"MD0044072501000", "97", "trouble"},
		{"BM", "01", "defective"}, {"BM", "02", "on already"}, {"SS019200", "03", "already"},
		{"SS012345", "02", "out of range"},
		{"TM1", "04", "not being set"}, {"XX", "0A", "no answer"}, {"XX", "0E", "undefined"}, {"XX", "0I", "updated"},
	} {
		if got := scipMeaning(c.command, c.status); !strings.Contains(got, c.want) {
			t.Errorf("%s to %s: got %q, want %q", c.status, c.command, got, c.want)
		}
	}
	for _, c := range [][2]string{{"MD0044072501000", "98"}, {"MD0044072501000", "08"}, {"QT", "01"}, {"BM", "0J"},
		{"B", "01"}, {"BM", "0"}, {"BM", ""}} {
		if got := scipMeaning(c[0], c[1]); got != "" {
			t.Errorf("%s to %s: got %q, want nothing", c[1], c[0], got)
		}
	}
}

func TestNewHokuyo(t *testing.T) {
	m, err := HokuyoModelOf("URG-04LX")
	if err != nil {
		t.Fatal(err)
	}
	h, err := NewHokuyo(HokuyoSettings{Line: noLine, Model: m, First: 44, Last: 725, Cluster: 1})
	if err != nil || h.command != "MD0044072501000" || h.geometry.Count != 682 ||
		math.Abs(h.geometry.First+119.53*degree) > 1e-4 {
		t.Errorf("got %q %+v %v", h.command, h.geometry, err)
	}
	for _, s := range []HokuyoSettings{{}, {Model: m, First: 43, Last: 700}, {Model: m, First: 700, Last: 100},
		{Model: m, Cluster: 100}, {Model: m, Baud: 9600}, {Model: m, Skip: 10}} {
		s.Line = noLine
		if h, err := NewHokuyo(s); err == nil {
			t.Errorf("%+v: got %+v, want an error", s, h)
		}
	}
	if _, err := HokuyoModelOf("URG-05"); err == nil {
		t.Error("unknown model: got no error")
	}
}

// A sum of eight bytes at a time is the sum, of lines of any length and content.
func TestSCIPSum(t *testing.T) {
	var line []byte
	for i := range 700 {
		sum := byte(0)
		for _, c := range line {
			sum += c
		}
		if got, want := lidarwire.SCIPSum(line), sum&0x3F+0x30; got != want {
			t.Fatalf("%d bytes: got %c, want %c", i, got, want)
		}
		line = append(line, byte(255-i*i))
	}
}

func FuzzSCIP(f *testing.F) {
	for _, c := range blockCases() {
		f.Add([]byte(c.text))
	}
	f.Add(lidarwire.AppendSCIPScan(nil, "MD0044072501000", lidarwire.SCIPData, 123456, []int{1000, 5, 2000}, 3))
	dst := make([]float64, 3)
	f.Fuzz(func(t *testing.T, in []byte) {
		whole, cut := "", ""
		for _, step := range []int{max(1, len(in)), 1} {
			var k SCIPBlock
			p, out := NewSCIPParser(), &whole
			if step == 1 {
				out = &cut
			}
			for rest := in; len(rest) > 0; {
				rest = rest[p.Feed(rest[:min(step, len(rest))]):]
				for p.Next(&k) {
					*out += fmt.Sprintf("%q %q %q;", k.Echo, k.Status, k.Lines)
					k.Field("DMIN")
					for _, size := range []int{2, 3} {
						if _, err := k.Scan(size, &HokuyoModel{MinRange: 20, MaxRange: 5600}, dst); err == nil &&
							!(dst[0] >= 0 || math.IsNaN(dst[0])) {
							t.Fatalf("got %v", dst)
						}
					}
				}
			}
		}
		if whole != cut && len(in) <= scipMaxLine {
			t.Fatalf("whole %s, cut %s", whole, cut)
		}
	})
}

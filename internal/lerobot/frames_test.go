package lerobot

import (
	"bytes"
	"image"
	"image/color"
	"image/jpeg"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard/internal/record"
	"github.com/halyard-robotics/halyard/internal/teleop"
)

// grey is a JPEG of one shade.
func grey(t *testing.T, width, height int, shade uint8) []byte {
	t.Helper()
	p := image.NewRGBA(image.Rect(0, 0, width, height))
	for i := range p.Pix {
		p.Pix[i] = shade
	}
	p.Set(0, 0, color.RGBA{shade, shade, shade, 255})
	var b bytes.Buffer
	if err := jpeg.Encode(&b, p, nil); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// made is an episode of a second at 100 Hz, with a picture every 40 ms, which goes through change.
func made(change func(*take)) *take {
	t := &take{Episode: teleop.Episode{Task: "pick up", Outcome: teleop.MarkSuccess}, shots: make([][]shot, 1)}
	for i := range 101 {
		at := 5 + float64(i)*0.01
		v := []float64{float64(i) / 100}
		t.samples = append(t.samples, sample{at, v, v, v})
	}
	for i := range 30 {
		t.shots[0] = append(t.shots[0], shot{4.99 + float64(i)*0.04, []byte{byte(i)}})
	}
	if change != nil {
		change(t)
	}
	return t
}

var elbow = []joint{{"arm", record.Joint{Name: "elbow", Goal: 0, Measured: true, Min: -2, Max: 2}}}

// TestResample: what an episode may lack, and how its frames come about.
func TestResample(t *testing.T) {
	nan := math.NaN()
	cut := func(from, to int) func(*take) {
		return func(t *take) { t.samples = append(t.samples[:from], t.samples[to:]...) }
	}
	for _, c := range []struct {
		name   string
		change func(*take)
		frames int
		want   string // of the fault, or the notes
	}{
		{"whole", nil, 31, ""},
		{"small gap", cut(50, 55), 31, "1 gaps of up to 0.060 s"},
		{"gap", cut(50, 65), 0, "a gap of 0.160 s after 0.490 s"},
		{"lost orders", func(t *take) { t.lost = 1 }, 0, "lost 1 orders"},
		{"dropped cycles", func(t *take) { t.dropped = 3 }, 0, "3 cycles"},
		{"no picture", func(t *take) { t.shots[0] = nil }, 0, "no picture"},
		{"late picture", func(t *take) { t.shots[0] = t.shots[0][6:] }, 24, "begins 0.230 s later"},
		{"camera lost", func(t *take) { t.shots[0] = t.shots[0][:10] }, 0, "no picture for"},
		{"not measured", func(t *take) { t.samples[3].measured = []float64{nan} }, 0, "elbow was not measured"},
		{"not asked", func(t *take) {
			for i := range t.samples {
				t.samples[i].asked = []float64{nan}
			}
		}, 31, "elbow was not asked"},
		{"too short", func(t *take) { t.samples = t.samples[:1] }, 0, "1 cycles"},
	} {
		r, err := resample(made(c.change), elbow, []string{"arm/eye"}, 30, Radians)
		got, n := "", 0
		if err != nil {
			got = err.Error()
		} else {
			got, n = strings.Join(r.notes, "; "), len(r.frames)
		}
		if n != c.frames || !strings.Contains(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%s: got %d frames, %q, want %d, %q", c.name, n, got, c.frames, c.want)
		}
	}
	r, _ := resample(made(nil), elbow, []string{"arm/eye"}, 30, Radians)
	for k, f := range r.frames {
		at := float64(k) / 30
		if want := math.Floor(at*100+1e-4) / 100; math.Abs(f.action[0]-want) > 1e-9 {
			t.Errorf("frame %d: got the sample at %g, want %g", k, f.action[0], want)
		}
		if want := byte(math.Floor((at+0.01)/0.04 + 1e-4)); f.shots[0][0] != want {
			t.Errorf("frame %d: got picture %d, want %d, the last before it", k, f.shots[0][0], want)
		}
	}
	if r.oldest > 0.04 || r.oldest < 0.03 {
		t.Errorf("oldest picture: got %g", r.oldest)
	}
}

// TestPictures: they are in the frames as they were recorded, their sizes in info.json, their shades in the statistics.
func TestPictures(t *testing.T) {
	d := &dataset{Options: Options{Rate: 30, Units: Degrees}, dir: filepath.Join(t.TempDir(), "set"), joints: elbow,
		cameras: []string{"arm/eye"}, names: []string{"elbow.pos"}, sizes: make([][2]int, 1), shades: make([]shades, 1)}
	one := made(func(t2 *take) {
		for i := range t2.shots[0] {
			t2.shots[0][i].data = grey(t, 48, 32, 51)
		}
	})
	r := &Recording{File: "run.mcap"}
	if err := d.episode(r, 1, one); err != nil {
		t.Fatal(err)
	}
	other := made(func(t2 *take) {
		for i := range t2.shots[0] {
			t2.shots[0][i].data = grey(t, 32, 32, 51)
		}
	})
	if err := d.episode(r, 2, other); err != nil || !strings.Contains(d.results[1].Note, "32x32 pixels, want 48x32") {
		t.Fatalf("got %+v, %v", d.results, err)
	}
	if err := d.end(); err != nil {
		t.Fatal(err)
	}
	if f := d.info().Features["observation.images.eye"]; f.DType != "image" || f.Shape[0] != 32 || f.Shape[1] != 48 {
		t.Errorf("got %+v", f)
	}
	s := d.shades[0].stat()
	for k, name := range s.names {
		want := 0.2
		if name == "std" {
			want = 0
		}
		for c := range 3 {
			if math.Abs(s.values[k][c]-want) > 0.01 {
				t.Errorf("%s of channel %d: got %g, want %g", name, c, s.values[k][c], want)
			}
		}
	}
	if s.count != 31 {
		t.Errorf("got %d pictures", s.count)
	}
}

// TestStat against numpy's values of the same numbers.
func TestStat(t *testing.T) {
	s := statOf([][]float32{{4, 1, 3, 2, 10}})
	want := []float64{1, 10, 4, 3.1622776601683795, 1.04, 1.4, 3, 7.6, 9.76}
	for i, v := range want {
		if math.Abs(s.values[i][0]-v) > 1e-12 {
			t.Errorf("%s: got %v, want %v", s.names[i], s.values[i][0], v)
		}
	}
}

func TestUnits(t *testing.T) {
	gripper := joint{"arm", record.Joint{Name: "gripper", Min: -0.2, Max: 1.8}}
	slide := joint{"arm", record.Joint{Name: "lift", Min: 0, Max: 0.5, Slide: true}}
	for _, c := range []struct {
		u    Units
		j    *joint
		v    float64
		want float64
	}{
		{Degrees, &elbow[0], math.Pi / 2, 90}, {Range, &elbow[0], 1, 50}, {Range, &elbow[0], -3, -100},
		{Radians, &elbow[0], 1, 1}, {Degrees, &gripper, 0.8, 50}, {Range, &gripper, 3, 100}, {Radians, &gripper, 3, 3},
		{Degrees, &slide, 0.25, 250}, {Range, &slide, 0.25, 0},
	} {
		if got := c.u.of(c.j, c.v); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s of %s: got %g, want %g", c.u, c.j.Name, got, c.want)
		}
	}
}

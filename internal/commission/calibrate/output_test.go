package calibrate

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/calibration"
	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/commission"
)

// watcher is a person who sees what an output does, and answers the last prompt.
type watcher struct {
	out    *bytes.Buffer
	us     float64 // last width
	answer func(prompt string, us float64) string
	rest   []byte
}

func (w *watcher) Read(b []byte) (int, error) {
	if len(w.rest) == 0 {
		text := w.out.String()
		w.rest = []byte(w.answer(text[strings.LastIndex(text, "\n")+1:], w.us) + "\n")
	}
	n := copy(b[:1], w.rest)
	w.rest = w.rest[n:]
	return n, nil
}

func (w *watcher) drive(us float64) error { w.us = us; return nil }

// A thruster with a planted dead band, direction and force is calibrated from what a person sees.
func TestThrusterSession(t *testing.T) {
	low, high := 1463.0, 1521.0
	force := func(us float64) float64 { // turned the other way round
		switch {
		case us > high:
			return (us - high) * 0.13
		case us < low:
			return (low - us) * 0.1
		}
		return 0
	}
	g, out := guide(t, t.TempDir(), "", configs.Options{Body: "emulated"})
	w := &watcher{out: out}
	w.answer = func(prompt string, us float64) string {
		switch {
		case strings.Contains(prompt, "did it turn?"):
			return map[bool]string{true: "y", false: "n"}[force(us) > 0]
		case strings.Contains(prompt, "push along"):
			return "n"
		case strings.Contains(prompt, "f measures"):
			return "f"
		case strings.Contains(prompt, "newtons"):
			return fmt.Sprint(force(us))
		case strings.Contains(prompt, "Seconds at neutral"):
			return "4.5"
		case strings.Contains(prompt, "oscilloscope"):
			return "1550"
		}
		return ""
	}
	g.In = commission.NewAsker(w)
	old := calibration.NominalThruster("t1", calibration.Channel{Model: "pca9685", Channel: 1}, nil)
	old.Mode = hal.DutyMode
	made, err := g.thruster(context.Background(), old, w.drive)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if math.Abs(made.DeadBand[0]-low) > sureBand || math.Abs(made.DeadBand[1]-high) > sureBand ||
		made.Direction != -1 || made.Arming != 4500*time.Millisecond {
		t.Errorf("got dead band %v, direction %d, arming %v, want %g..%g, -1, 4.5 s", made.DeadBand, made.Direction,
			made.Arming, low, high)
	}
	for _, us := range []float64{1150, 1300, 1490, 1700, 1850} {
		want := force(us)
		if us > 1500 {
			want = -want
		}
		if got := made.Value(time.Duration(us * 1000)); math.Abs(got-want) > 0.3 {
			t.Errorf("%g us: got %.2f N, want %.2f", us, got, want)
		}
	}
	if !strings.Contains(out.String(), "oscillator: 24193548") {
		t.Errorf("got %s, want the oscillator's frequency", out)
	}

	w.answer = func(string, float64) string { return "n" } // one that never turns
	if _, err := g.thruster(context.Background(), old, w.drive); hal.KindOf(err) != hal.Absent {
		t.Errorf("got %v, want that it does not turn", err)
	}
}

// A hobby servo with a planted table, mounted the other way round, gets it.
func TestHobbyServoSession(t *testing.T) {
	g, out := guide(t, t.TempDir(), "", configs.Options{Body: "emulated"})
	angle := func(us float64) float64 { return -(us - 1480) * 0.09 }
	w := &watcher{out: out}
	w.answer = func(prompt string, us float64) string {
		if strings.Contains(prompt, "degrees") {
			return fmt.Sprint(angle(us))
		}
		return ""
	}
	g.In = commission.NewAsker(w)
	made, err := g.hobbyServo(context.Background(),
		calibration.NominalServo("leg", calibration.Channel{Model: "maestro", Channel: 2}, -0.8, 0.8), w.drive)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, us := range []float64{1000, 1200, 1500, 1900} {
		if got := made.Value(time.Duration(us*1000)) / degree; made.Direction != -1 || math.Abs(got-angle(us)) > 0.1 {
			t.Errorf("%g us: got %.2f degrees, direction %d, want %.2f, -1", us, got, made.Direction, angle(us))
		}
	}
}

// The sessions drive the emulated boards of an underwater vehicle and of a hexapod, and write the files of their
// channels. A session whose input ends writes none.
func TestOutputOfEmulated(t *testing.T) {
	for _, c := range []struct{ config, output, answers, want string }{
		{"rov", "t1", "\n" + "y\ny\ny\ny\ny\ny\ny\n" + "y\ny\ny\ny\ny\ny\ny\n" + "n\n\n\n\n\n", "dead band 1500..1500"},
		{"hobby-hexapod", "", "\n0\n-20\n-40\n20\n40\n\n\n", "direction 1"},
	} {
		dir := t.TempDir()
		o := configs.Options{Body: "emulated", Set: []string{"clock.mode=lockstep"}}
		name := c.output
		if name == "" {
			conf, err := configs.Load(c.config, o)
			if err != nil {
				t.Fatal(err)
			}
			for n, j := range conf.Agents[0].Hardware.Joints {
				if j.Channel != nil && (name == "" || n < name) {
					name = n
				}
			}
		}
		g, out := guide(t, dir, c.answers, o)
		g.Config = c.config
		if err := g.Output(context.Background(), name); err != nil {
			t.Fatalf("%s: %v\n%s", c.config, err, out)
		}
		p, err := calibration.LoadPulse(filepath.Join(dir, name+".yaml"))
		if err != nil || p.Method != calibration.ByManual || !strings.Contains(out.String(), c.want) {
			t.Errorf("%s: got %v, %v and %s, want a file made by hand and %q", c.config, p, err, out, c.want)
		}
		dir = t.TempDir()
		g, _ = guide(t, dir, "\n", o)
		g.Config = c.config
		if err := g.Output(context.Background(), name); err == nil {
			t.Errorf("%s: got no error, want that the input ended", c.config)
		}
		if all, _ := filepath.Glob(filepath.Join(dir, "*")); len(all) > 0 {
			t.Errorf("%s: got %v written, want nothing", c.config, all)
		}
		if err := g.Output(context.Background(), "nose"); hal.KindOf(err) != hal.Invalid ||
			!strings.Contains(err.Error(), name) {
			t.Errorf("%s: got %v, want the outputs there are", c.config, err)
		}
	}
}

package identify

import (
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/sim/actuator"
)

func example() *Servo {
	k, _ := actuator.Lookup("xl330-m288")
	s := &Servo{Model: k.Name, Spec: *k, Bench: Bench{0.01, -0.0015, 0, 0.02},
		Date: time.Date(2026, 11, 23, 10, 0, 0, 0, time.UTC)}
	s.Spec.Kt, s.Spec.R, s.Spec.Droop, s.Spec.Armature, s.Spec.PositionGain = 0.38, 3.4, 1.9, 0.00165, 0.0029
	s.Spec.Friction = actuator.Friction{Model: 4, Kb: 0.006, Ks: 0.0147, Kv: 4.6e-05, Kl: 0.114, Kls: 0.098, Dqs: 0.59,
		Alpha: 1}
	s.Intervals = []Interval{{"kt", 0.38, 0.37, 0.39}, {"Kl", 0.114, 0, 0.3}}
	s.NotSeparable = []Inseparable{{[]string{"mass", "R"}, "a heavier load: it \"looks\" alike"}}
	s.Latency = Latency{-0.0002, -0.0005, 1e-05, true}
	s.Play = Interval{"play", 0.01, 0.009, 0.011}
	s.Candidates = []Candidate{{"M4 + droop", 12, 0.02, 0.03}, {"M1", 7, 0.05, math.NaN()}}
	s.Recordings = []Result{{File: "dir/a.json", Error: 0.01, Most: 0.2}}
	s.Prior = &Prior{10.8, 0.52, 0.1, "a sheet"}
	s.Band, s.Over = 0.04, Reach{4.2, 0.48, 0.9, [2]float64{400, 800}, [2]float64{7.4, 7.4}, true}
	return s
}

// A servo file gives the servo that was written, and reads without a fault.
func TestServoFile(t *testing.T) {
	s := example()
	path := filepath.Join(t.TempDir(), "xl330.yaml")
	if err := s.Save(path); err != nil {
		t.Fatal(err)
	}
	got, err := ReadServo(path)
	if err != nil {
		t.Fatal(err)
	}
	got.Spec.Fit = s.Spec.Fit // what it is from is the file now
	if got.Band != s.Band || got.Over != s.Over || *got.Prior != *s.Prior {
		t.Errorf("got band %g, reach %+v, prior %+v", got.Band, got.Over, got.Prior)
	}
	if got.Model != s.Model || got.Spec != s.Spec || got.Bench != s.Bench || !got.Date.Equal(s.Date) {
		t.Errorf("got %+v, want %+v", got, s)
	}
	for _, line := range []string{"\nnot_separable:\n  - parameters: [mass, R]\n", "\n  kt: [0.37, 0.39]\n",
		"  Kv: 0.000046\n", "method: register}"} {
		if !strings.Contains(string(s.Encode()), line) {
			t.Errorf("no %q in\n%s", line, s.Encode())
		}
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*")); len(left) != 1 {
		t.Errorf("got files %v, want one", left)
	}
}

// badServos are servo files that are refused, with the path of the fault.
var badServos = []struct{ name, change, to, want string }{
	{"unknown servo", "servo: xl330-m288", "servo: xl330-m289", `servo: got "xl330-m289"`},
	{"no resistance", "  R: 3.4 # ohm\n", "", "motor.R"},
	{"negative", "armature: 0.00165", "armature: -0.00165", "motor.armature: got -0.00165"},
	{"not a number", "kt: 0.38", "kt: .nan", "motor.kt"},
	{"unknown model", "model: M4", "model: M7", "friction.model: got"},
	{"unknown key", "  Kl: 0.114\n", "  Kl: 0.114\n  Kx: 1\n", "friction.Kx"},
	{"calibration", "servo: xl330-m288\n", "joint: elbow\nservo: {model: ax-12a, id: 7}\n", "joint"},
}

func TestBadServoFiles(t *testing.T) {
	good := string(example().Encode())
	for _, c := range badServos {
		bad := strings.Replace(good, c.change, c.to, 1)
		if bad == good {
			t.Fatalf("%s: nothing to change", c.name)
		}
		if s, err := ParseServo([]byte(bad), "a.yaml"); err == nil || s != nil ||
			!strings.Contains(err.Error(), c.want) || hal.KindOf(err) != hal.Invalid {
			t.Errorf("%s: got %v, want an error with %q", c.name, err, c.want)
		}
	}
	if _, err := ReadServo(filepath.Join(t.TempDir(), "none.yaml")); hal.KindOf(err) != hal.Invalid {
		t.Errorf("no file: got %v", err)
	}
	if err := example().Save(filepath.Join(t.TempDir(), "none", "a.yaml")); hal.KindOf(err) != hal.Invalid {
		t.Errorf("no folder: got %v", err)
	}
}

func FuzzParseServo(f *testing.F) {
	good := string(example().Encode())
	f.Add([]byte(good))
	for _, c := range badServos {
		f.Add([]byte(strings.Replace(good, c.change, c.to, 1)))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := ParseServo(data, "fuzz.yaml")
		if err != nil {
			return
		}
		servo := actuator.NewServo(&s.Spec)
		servo.Enable, servo.GoalPosition = true, 1
		servo.Load.Inertia = 0.01
		for range 50 {
			servo.Step(0.001)
		}
		if math.IsNaN(servo.Position) || math.IsInf(servo.Position, 0) {
			t.Fatalf("a servo of a good file is at %g rad: %+v", servo.Position, s.Spec)
		}
		again, err := ParseServo(s.Encode(), "again.yaml")
		if err != nil || again.Model != s.Model {
			t.Fatalf("written again: %v", err)
		}
	})
}

func TestKnown(t *testing.T) {
	for _, name := range []string{"xl330-m288", "sts3250"} {
		if s, err := Known(name); err != nil || s.Spec.Name != name {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if _, err := Known("xl330-m28"); err == nil || !strings.Contains(err.Error(), "xl330-m288") {
		t.Errorf("xl330-m28: got %v", err)
	}
	for model, want := range map[string]bool{"xl330.yaml": true, "a/b.YML": true, "xl330-m288": false, "": false} {
		if IsFile(model) != want {
			t.Errorf("%q: is a file: %v", model, !want)
		}
	}
}

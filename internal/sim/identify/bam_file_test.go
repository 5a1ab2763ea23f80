package identify

import (
	"slices"
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard/sim/actuator"
)

// bamM4 has the keys of BAM's parameter files and other numbers.
const bamM4 = `{"kt": 0.38, "R": 3.4, "armature": 0.0019, "q_offset": 0.028, "friction_base": 0.0088, "friction_stribeck": 0.001,
 "load_friction_base": 0.068, "load_friction_stribeck": 0.0738, "dtheta_stribeck": 2.5, "alpha": 0.76, "friction_viscous": 0.0046, "model": "m4", "actuator": "xl330"}`

func TestParametersOfBAM(t *testing.T) {
	s, err := ParseBAM([]byte(bamM4), "m4.json", "")
	if err != nil {
		t.Fatal(err)
	}
	want := actuator.Friction{Model: 4, Kb: 0.0088, Ks: 0.001, Kv: 0.0046, Kl: 0.068, Kls: 0.0738, Dqs: 2.5,
		Alpha: 0.76}
	if s.Model != "xl330-m288" || s.Spec.Kt != 0.38 || s.Spec.R != 3.4 || s.Spec.Friction != want ||
		s.Bench.ArmOffset != 0.028 || s.Spec.Droop != 0 {
		t.Errorf("got %s %+v, want the values of the file", s.Model, s.Spec)
	}
	again, err := ParseServo(s.Encode(), "servo.yaml")
	if err != nil || again.Spec.Friction != want {
		t.Errorf("as a servo file: got %+v, %v, want %+v", again.Spec.Friction, err, want)
	}
	data, lost, err := s.EncodeBAM()
	if err != nil || len(lost) > 0 {
		t.Fatal(lost, err)
	}
	if back, err := ParseBAM(data, "m4.json", ""); err != nil || back.Spec.Friction != want || back.Model != s.Model {
		t.Errorf("out and in again: got %v\n%s", err, data)
	}
	s.Spec.Droop = 1
	if _, lost, _ := s.EncodeBAM(); len(lost) != 1 || lost[0] != "droop" {
		t.Errorf("got %v lost, want droop", lost)
	}
	for name, c := range map[string]struct{ text, want string }{
		"half written":  {bamM4[:80], "no JSON"},
		"a recording":   {`{"mass": 1, "entries": []}`, "got none, want a number"},
		"another model": {strings.Replace(bamM4, "m4", "m7", 1), "want m1 to m6"},
		"another servo": {strings.Replace(bamM4, "xl330", "erob80", 1), `got "erob80"`},
		"out of bounds": {strings.Replace(bamM4, "3.4", "-3.4", 1), "R: got"},
	} {
		if _, err := ParseBAM([]byte(c.text), "f", ""); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
}

// The same file gives the same fault and the same list of lost parameters each time.
func TestBAMRepeats(t *testing.T) {
	for range 50 {
		if _, err := ParseBAM([]byte(`{"model": "m1"}`), "p.json", ""); err == nil ||
			!strings.Contains(err.Error(), "kt: got none") {
			t.Fatalf("no parameters: got %v, want the first, kt", err)
		}
		s, err := Known("xl330-m288")
		if err != nil {
			t.Fatal(err)
		}
		s.Spec.Droop, s.Spec.Friction.Kq = 1, 1
		if _, lost, _ := s.EncodeBAM(); !slices.Equal(lost, []string{"droop", "Kq"}) {
			t.Fatalf("lost: got %q, want droop and Kq", lost)
		}
	}
}

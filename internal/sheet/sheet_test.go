package sheet

import (
	"math"
	"testing"
)

// TestServos: each model stands in the table once, with figures that a motor can have; the constants of some are those of
// their makers' pages.
func TestServos(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range servos {
		if seen[s.Name] || s.Name == "" {
			t.Errorf("%q: stands in the table twice, or has no name", s.Name)
		}
		seen[s.Name] = true
		if !(s.Volts > 0 && s.Torque > 0 && s.RPM > 0) || s.MaxAmps > 0 && !(s.Amps > 0) || s.Gain.P < 0 {
			t.Errorf("%s: got %+v, want values above 0", s.Name, s)
		}
	}
	for name, want := range map[string]float64{"xm430-w350": 4.1 / 2.3, "xl330-m288": 0.52 / 1.47} {
		if s := Of(name); s == nil || math.Abs(s.Constant()-want) > 0.02*want {
			t.Errorf("%s: got %+v, want %.3f N·m/A", name, s, want)
		}
	}
	if Of("none") != nil {
		t.Error("a model that is not in the table: got its data")
	}
}

package doctor

import (
	"regexp"
	"testing"
)

// TestSafety22AdviceKeepsForeignLimits: no advice of the doctor for a servo that another robot's owner has left writes
// its position limits, which another tool may have set.
func TestSafety22AdviceKeepsForeignLimits(t *testing.T) {
	writes := regexp.MustCompile(`(min|max)_position=|(cw|ccw)_angle_limit=`)
	foreign := 0
	for _, c := range usedFaultCases() {
		bad, _, err := c.Examine(t.Context(), t.TempDir(), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range bad {
			if c.Name == "limits of another robot" {
				foreign++
			}
			if writes.MatchString(f.Fix) {
				t.Errorf("%s of %s: advises %q", c.Name, c.Config, f.Fix)
			}
		}
	}
	if foreign < 3 {
		t.Errorf("got %d findings of foreign limits, want one of each brand", foreign)
	}
}

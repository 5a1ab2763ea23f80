package doctor

import (
	"regexp"
	"testing"
)

// TestSafety22AdviceKeepsForeignLimits: no advice of the doctor writes a servo's position limits, which another tool may have set.
func TestSafety22AdviceKeepsForeignLimits(t *testing.T) {
	writes := regexp.MustCompile(`(min|max)_position=|(cw|ccw)_angle_limit=`)
	found := false
	for _, c := range usedFaultCases() {
		if c.Name == "limits of another robot" {
			found = true
		}
		if writes.MatchString(c.Fix) {
			t.Errorf("%s: advises %q", c.Name, c.Fix)
		}
	}
	if !found {
		t.Error("no case of foreign limits")
	}
}

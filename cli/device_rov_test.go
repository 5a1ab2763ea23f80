package cli

import (
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard/internal/rigtest"
)

// In real time an emulated ROV is served, listed and stopped like any other.
func TestServeROV(t *testing.T) {
	path := rigtest.RovOn(t, "")
	if code, out, _ := runApp(t, "list", path, "-o", "jsonl"); code != 0 ||
		strings.Count(out, `"kind":"thruster"`) != 8 ||
		!strings.Contains(out, `"on":"main pca9685 channel 3"`) || !strings.Contains(out, `"on":"imu on main bno055"`) {
		t.Errorf("list: exit %d:\n%s", code, out)
	}
	if code, out, text := runApp(t, "doctor", path, "--body", "emulated", "-o", "jsonl"); code != 0 ||
		strings.Count(out, `"check":"device"`) != 4 {
		t.Errorf("doctor: exit %d: %s\n%s", code, text, out)
	}
	startServe(t, path, "--set", "clock.mode=realtime", "--set", "name=slow-rov")
	stopRig(t, "slow-rov", 8)
}

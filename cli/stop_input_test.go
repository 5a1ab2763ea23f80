package cli

import (
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard/internal/commission/doctor"
	"github.com/halyard-robotics/halyard/internal/rigtest"
)

// A real rig whose stop button is on a chip that is not there does not start.
func TestRealChipAbsent(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	rig := rigtest.RigOf(t, doctor.FeelerRig, doctor.Feeler(), "body: emulated", "body: real",
		"        pan: {bus: main, device: pca9685, channel: 2, output_enable: {bus: io, line: 4}}\n",
		"        pan: {device: kernel-pwm, channel: 0, calibration: pan.yaml}\n")
	code, _, text := runApp(t, "serve", rig)
	if code != 6 {
		t.Fatalf("not calibrated: got exit %d: %s", code, text)
	}
	code, _, text = runApp(t, "serve",
		rigtest.RigOf(t, strings.Replace(doctor.FeelerRig, "body: emulated", "body: sim\n    parts: {bump: real}", 1),
			doctor.Feeler()))
	if code != 3 || strings.Count(text, "gpiochip-nobody") < 2 || !strings.Contains(text, "ls /dev/gpiochip*") {
		t.Errorf("no such chip: got exit %d: %s; want 3 and what to type", code, text)
	}
}

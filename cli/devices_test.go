package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/calibration"
	"github.com/halyard-robotics/halyard/internal/commission/doctor"
	"github.com/halyard-robotics/halyard/internal/rigtest"
)

// Real devices without a calibration are refused with 6, those that are not there with 3.
func TestRealDevices(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	rig := rigtest.RigOf(t, doctor.NodderRig, doctor.Nodder, "body: emulated", "body: real",
		"        pan: {bus: line, id: 1, model: xl430-w250}\n",
		"        pan: {bus: main, device: pca9685, channel: 0}\n")
	code, _, text := runApp(t, "serve", rig)
	if code != 6 || !strings.Contains(text, "calibration: got none, nor for tilt, nor for imu") ||
		!strings.Contains(text, "halyard calibrate "+rig) {
		t.Errorf("not calibrated: got exit %d: %s; want 6, the three names and the command", code, text)
	}
	dir := filepath.Dir(rig)
	for name, channel := range map[string]int{"pan": 0, "tilt": 3} {
		c := calibration.NominalServo(name, calibration.Channel{Model: "pca9685", Channel: channel}, -0.7, 0.7)
		c.Method, c.Date = calibration.ByManual, time.Unix(1_700_000_000, 0)
		if err := os.WriteFile(filepath.Join(dir, name+".yaml"), c.Encode(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const imu = "sensor: imu\nmodel: bno055\nmethod: manual\ndate: 2026-11-21T14:03:00Z\naxes: [y, -x, z]\n"
	if err := os.WriteFile(filepath.Join(dir, "imu.yaml"), []byte(imu), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"serve", rig}
	for _, set := range []string{"joints.pan.calibration=pan.yaml", "joints.tilt.calibration=tilt.yaml",
		"sensors.imu.calibration=imu.yaml"} {
		args = append(args, "--set", "agents[0].hardware."+set)
	}
	code, _, text = runApp(t, args...)
	if code != 3 || !strings.Contains(text, "/dev/i2c-nobody") || !strings.Contains(text, "halyard ports") {
		t.Errorf("no such bus: got exit %d: %s; want 3 and what to type", code, text)
	}
	code, _, text = runApp(t, append(args, "--set", "agents[0].hardware.joints.tilt.channel=4")...)
	if code != 6 || !strings.Contains(text, "one of pca9685 channel 3, want one of pca9685 channel 4") {
		t.Errorf("another channel's calibration: got exit %d: %s; want 6", code, text)
	}
}

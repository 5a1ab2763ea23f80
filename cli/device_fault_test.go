package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard/internal/commission/doctor"
	"github.com/halyard-robotics/halyard/internal/rigtest"
)

// The doctor looks at devices too.
func TestDoctorOfDevices(t *testing.T) {
	path := rigtest.RigOf(t, doctor.NodderRig, doctor.Nodder)
	code, out, text := runApp(t, "doctor", path, "--body", "emulated", "-o", "jsonl")
	if code != 0 || !strings.Contains(out, `"found":"answers at 0x40"`) ||
		!strings.Contains(out, `"found":"bno055 measures [1 0 0 0 `) {
		t.Errorf("exit %d: %s\n%s", code, text, out)
	}
	// What a BNO055 found of itself is in its calibration, is given back to it, and is told.
	found := strings.Repeat("0102", 11)
	file := filepath.Join(t.TempDir(), "imu.yaml")
	text = "sensor: imu\nmodel: bno055\nmethod: manual\ndate: \"2026-11-21T14:03:00Z\"\naxes: [x, y, z]\nchip: \"" +
		found + "\"\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	restored := rigtest.RigOf(t, strings.Replace(doctor.NodderRig, "device: bno055", "device: bno055, calibration: "+
		file, 1),
		doctor.Nodder)
	if code, out, text := runApp(t, "doctor", restored, "--body", "emulated", "-o", "jsonl"); code != 0 ||
		!strings.Contains(out, "; chip: "+found) {
		t.Errorf("exit %d: %s\n%s", code, text, out)
	}
	code, out, _ = runApp(t, "doctor", path, "--body", "real", "-o", "jsonl")
	if code != 3 || strings.Count(out, `"found":"/dev/i2c-nobody is not there`) != 1 ||
		strings.Count(out, `"check":"device"`) != 0 || strings.Count(out, `"check":"calibration","state":"fail"`) != 3 {
		t.Errorf("exit %d:\n%s", code, out)
	}
}

package halyard_test

import (
	"os/exec"
	"testing"
)

// A module of its own adds a servo vendor, a sensor and a protocol, one file and one row each, opens a config of them, scans
// and drives the emulated vendor.
func TestExtension(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a module of its own")
	}
	run := exec.Command("go", "run", ".")
	run.Dir = "testdata/extension"
	out, err := run.CombinedOutput()
	const want = "found id 4 acme-20 7400 mV <nil>\narm at 0.5 rad\ngauge: 7.4 V\nlines: arm is somewhere: true\n"
	if err != nil || string(out) != want {
		t.Errorf("got %v\n%s, want\n%s", err, out, want)
	}
}

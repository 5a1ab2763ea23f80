package calibrate

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
)

// A preliminary calibration that cannot be written ends the search for stops before the torque goes on. Here it is out
// of bounds; a full disk does the same.
func TestStopsUnsaved(t *testing.T) {
	dir := t.TempDir()
	text := `{"robot": "so101", "joints": {"elbow_flex": {"reference_ticks": 2e9, "direction": 1}}}`
	if err := os.WriteFile(filepath.Join(dir, ".so101.calibrate.json"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	g, out := guide(t, dir, "\nstops\n\n", configs.Options{Body: "emulated"})
	g.Only = []string{"elbow_flex"}
	if _, err := g.Run(t.Context()); hal.KindOf(err) != hal.Invalid {
		t.Errorf("got %v, want hal.Invalid\n%s", err, out)
	}
}

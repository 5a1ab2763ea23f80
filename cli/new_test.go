package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard/configs"
)

// Without a question: what is recognised on a port becomes a config of a real robot, and each thing stands in it once.
func TestNew(t *testing.T) {
	t.Parallel()
	port, _ := startEmulate(t, "so101")
	file := filepath.Join(t.TempDir(), "robot.yaml")
	code, out, errs := runApp(t, "new", port, "--no-input", "--robot", "so101", "--name", "mine", "--out", file, "-o",
		"jsonl")
	if code != 0 || !strings.Contains(out, `"servos":6`) {
		t.Fatalf("got exit %d: %s\n%s", code, out, errs)
	}
	c, err := configs.Load(file, configs.Options{})
	if err != nil || c.Name != "mine" || c.Buses["arm"].Port != port || !c.Agents[0].Has(configs.Real) {
		t.Errorf("got %+v, %v", c, err)
	}
	before, _ := os.ReadFile(file)
	if code, _, errs := runApp(t, "new", port, "--no-input", "--robot", "so101", "--out", file); code != 4 ||
		!strings.Contains(errs, "exists already") {
		t.Errorf("again: got exit %d: %s", code, errs)
	}
	if after, _ := os.ReadFile(file); string(after) != string(before) {
		t.Error("the file has changed")
	}
	if code, _, errs := runApp(t, "new", port, "--no-input", "--robot", "so100"); code != 2 ||
		!strings.Contains(errs, "so101") {
		t.Errorf("an unknown robot: got exit %d: %s", code, errs)
	}
}

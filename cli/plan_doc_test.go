package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard/configs"
)

// The commands of docs/plan.md run; my-robot.yaml is the so101 of docs/start.md.
func TestPlanPage(t *testing.T) {
	page, err := os.ReadFile("../docs/plan.md")
	if err != nil {
		t.Skip("no docs here")
	}
	data, _ := configs.Embedded("so101")
	file := filepath.Join(t.TempDir(), "my-robot.yaml")
	if err := os.WriteFile(file, data, 0o644); err != nil {
		t.Fatal(err)
	}
	lines := regexp.MustCompile(`(?m)^halyard (plan [^#\n]*)`).FindAllStringSubmatch(string(page), -1)
	for _, line := range lines {
		if code, _, errText := runApp(t,
			strings.Fields(strings.Replace(line[1], "my-robot.yaml", file, 1))...); code != 0 {
			t.Errorf("%s: got exit %d: %s", line[1], code, errText)
		}
	}
	if len(lines) != 3 {
		t.Errorf("got %d commands, want 3", len(lines))
	}
}

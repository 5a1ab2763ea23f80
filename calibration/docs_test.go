package calibration

import (
	"os"
	"strings"
	"testing"
)

// The examples of docs/calibration.md are files that can be read, each by the reader of its first key.
func TestDocumentedFiles(t *testing.T) {
	page, err := os.ReadFile("../docs/calibration.md")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for i, block := range strings.Split(string(page), "```yaml\n")[1:] {
		block, _, _ = strings.Cut(block, "```")
		for key, read := range map[string]func([]byte) error{
			"joint:":  func(b []byte) error { _, err := Parse(b, "f"); return err },
			"output:": func(b []byte) error { _, err := parsePulse(b, "f"); return err },
			"sensor:": func(b []byte) error { _, err := parseInertial(b, "f"); return err },
		} {
			if !strings.HasPrefix(block, key) && !strings.Contains(block, "\n"+key) {
				continue
			}
			seen[key]++
			if err := read([]byte(block)); err != nil {
				t.Errorf("example %d: %v", i+1, err)
			}
		}
	}
	if seen["joint:"] != 2 || seen["output:"] != 2 || seen["sensor:"] != 1 {
		t.Errorf("got %v, want 2 joints, 2 outputs and 1 sensor", seen)
	}
}

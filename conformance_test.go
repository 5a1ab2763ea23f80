package halyard_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard/internal/builtin"
)

// TestConformancePage: the page has a table of each system and, of all protocols that robots' clients use, every one;
// each row names its status on each kind of body and a test. What a row says is held by TestConformance of its package.
func TestConformancePage(t *testing.T) {
	text, err := os.ReadFile("docs/conformance.md")
	if err != nil {
		t.Fatal(err)
	}
	statuses := []string{"supported", "original", "differs", "refused"}
	systems, rows := map[string]int{}, 0
	system := ""
	counts := map[string]int{}
	for line := range strings.Lines(string(text)) {
		if name, ok := strings.CutPrefix(line, "## "); ok {
			system = strings.TrimSpace(name)
		}
		if !strings.HasPrefix(line, "| `") {
			continue
		}
		cells := strings.Split(strings.Trim(line, "| \n"), " | ")
		if len(cells) != 7 || !slices.Contains([]string{"client", "server"}, cells[1]) ||
			slices.ContainsFunc(cells[2:5], func(s string) bool { return !slices.Contains(statuses, s) }) ||
			!regexp.MustCompile(`^[\w/]*\.?Test\w+`).MatchString(cells[6]) {
			t.Errorf("%s: got %q, want a message, its sender, three statuses, why, and a test", system, line)
			continue
		}
		systems[system]++
		counts[cells[2]]++
		rows++
	}
	t.Logf("%d rows: %v on simulated bodies, %v", rows, counts, systems)
	if rows < 300 {
		t.Errorf("got %d rows, want 300 or more", rows)
	}
	of := map[string]string{"osp": "OSP", "odcp": "ODCP", "simloid": "Simloid", "okon": "Okon", "okon-video": "Okon",
		"gamebots": "USARSim", "imageserver": "ImageServer", "moast": "MOAST", "nml": "NML", "player": "Player",
		"rosbridge": "rosbridge",
		"foxglove":  "Foxglove", "ros2": "ROS 2"}
	for protocol := range builtin.Catalog().Protocols {
		if systems[of[protocol]] == 0 && protocol != "batch" { // our own, without an original
			t.Errorf("protocol %s: got no rows of %q", protocol, of[protocol])
		}
	}
}

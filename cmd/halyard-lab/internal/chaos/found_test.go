package chaos

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestFound: schedules that broke an invariant once break none. Their first line is the robot, the seed and what was
// wrong.
func TestFound(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("got %d files, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var robot string
			var seed int64
			head, _, _ := strings.Cut(string(text), ":")
			if _, err := fmt.Sscanf(head, "# %s %d", &robot, &seed); err != nil {
				t.Fatalf("first line: %v", err)
			}
			schedule, err := ParseAll(string(text))
			if err != nil {
				t.Fatal(err)
			}
			for _, ideal := range []bool{false, true} {
				r, err := Open(robot, ideal)
				if err != nil {
					t.Fatal(err)
				}
				result, err := r.Run(seed, slices.Clone(schedule))
				if err != nil {
					t.Fatal(err)
				}
				if result.Violated != "" {
					t.Errorf("ideal %v: %s", ideal, result.Describe())
				}
			}
		})
	}
}

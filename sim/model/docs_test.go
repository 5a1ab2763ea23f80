package model

import (
	"os"
	"strings"
	"testing"
)

// The examples of docs/robots.md are files that can be read; the one between is of a config.
func TestDocumentedFiles(t *testing.T) {
	page, err := os.ReadFile("../../docs/robots.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(string(page), "```yaml\n")
	if len(blocks) != 4 {
		t.Fatalf("docs/robots.md: got %d examples, want 3", len(blocks)-1)
	}
	for i := range blocks {
		blocks[i], _, _ = strings.Cut(blocks[i], "```")
	}
	r, err := Parse([]byte(blocks[1]), "f")
	if err != nil {
		t.Error(err)
	} else if len(r.Bodies) != 3 || len(r.Sensors) != 2 {
		t.Errorf("robot: got %d bodies and %d sensors, want 3 and 2", len(r.Bodies), len(r.Sensors))
	}
	s, err := ParseScene([]byte(blocks[3]), "f", 1)
	if err != nil {
		t.Error(err)
	} else if len(s.Free) != 51 {
		t.Errorf("scene: got %d loose things, want 51", len(s.Free))
	}
}

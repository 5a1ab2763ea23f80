package calibration

import (
	"testing"

	"github.com/halyard-robotics/halyard/internal/yaml/yamltest"
)

// Files that cost too much to read are refused for little.
func TestHostile(t *testing.T) {
	for kind, read := range map[string]func([]byte) error{
		"joint":    func(b []byte) error { _, err := Parse(b, "f.yaml"); return err },
		"pulse":    func(b []byte) error { _, err := parsePulse(b, "f.yaml"); return err },
		"inertial": func(b []byte) error { _, err := parseInertial(b, "f.yaml"); return err },
	} {
		t.Run(kind, func(t *testing.T) { yamltest.Refuses(t, read) })
	}
}

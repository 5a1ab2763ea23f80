package configs

import (
	"testing"

	"github.com/halyard-robotics/halyard/internal/yaml/yamltest"
)

// Files that cost too much to read are refused for little.
func TestHostile(t *testing.T) {
	yamltest.Refuses(t, func(b []byte) error { _, err := Parse(b, "f.yaml", Options{}); return err })
}

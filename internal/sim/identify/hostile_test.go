package identify

import (
	"testing"

	"github.com/halyard-robotics/halyard/internal/yaml/yamltest"
)

// Files that cost too much to read are refused for little.
func TestServoHostile(t *testing.T) {
	yamltest.Refuses(t, func(b []byte) error { _, err := ParseServo(b, "f.yaml"); return err })
}

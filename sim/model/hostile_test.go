package model

import (
	"testing"

	"github.com/halyard-robotics/halyard/internal/yaml/yamltest"
)

// Files that cost too much to read are refused for little.
func TestHostile(t *testing.T) {
	for kind, read := range map[string]func([]byte) error{
		"robot": func(b []byte) error { _, err := Parse(b, "f.yaml"); return err },
		"scene": func(b []byte) error { _, err := ParseScene(b, "f.yaml", 1); return err },
	} {
		t.Run(kind, func(t *testing.T) { yamltest.Refuses(t, read) })
	}
}

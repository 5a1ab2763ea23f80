package configs

import (
	"maps"
	"testing"

	"github.com/halyard-robotics/halyard/internal/yaml"
)

// TestEmulates: of a mixture what is real becomes emulated, and what is simulated stays so.
func TestEmulates(t *testing.T) {
	d := &yaml.Document{}
	text := func(s string) *yaml.Node { return &yaml.Node{Kind: yaml.Text, Text: s} }
	robot, parts := &yaml.Node{Kind: yaml.Table}, &yaml.Node{Kind: yaml.Table}
	parts.Set("elbow", text("real"))
	parts.Set("wrist", text("sim"))
	robot.Set("body", text("real"))
	robot.Set("parts", parts)
	root := &yaml.Node{Kind: yaml.Table}
	root.Set("agents", &yaml.Node{Kind: yaml.List, Items: []*yaml.Node{robot, text("no table")}})
	override(root, Options{Emulates: true}, d)
	got := map[string]string{"body": robot.Key("body").Value.Text}
	for _, k := range parts.Keys {
		got[k.Name] = k.Value.Text
	}
	if want := map[string]string{"body": "emulated", "elbow": "emulated", "wrist": "sim"}; !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

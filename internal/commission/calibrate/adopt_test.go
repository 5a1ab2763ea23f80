package calibrate

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/internal/builtin"
)

// The files of a calibration are named in the config, in its flow form and in its block form; all else stays.
func TestAdopt(t *testing.T) {
	dir := t.TempDir()
	data, _ := configs.Embedded("so101")
	flow := string(data)
	block := strings.Replace(flow, "        elbow_flex:    {bus: arm, id: 3, model: sts3215}\n",
		"        elbow_flex:\n          # mine\n          bus: arm\n          id: 3\n          model: sts3215\n", 1)
	file := filepath.Join(dir, "calibration", "elbow_flex.yaml")
	for text, want := range map[string]string{
		flow:  "        elbow_flex:    {calibration: calibration/elbow_flex.yaml, bus: arm, id: 3, model: sts3215}\n",
		block: "          # mine\n          calibration: calibration/elbow_flex.yaml\n          bus: arm\n",
	} {
		path := filepath.Join(dir, "robot.yaml")
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		r, err := Open(path, "", configs.Options{}, builtin.Catalog())
		if err != nil {
			t.Fatal(err)
		}
		g := &Guide{robot: r}
		lines, err := g.adopt(map[string]string{"elbow_flex": file})
		after, _ := os.ReadFile(path)
		if err != nil || len(lines) != 1 || !strings.Contains(string(after), want) ||
			len(after) != len(text)+len("calibration: calibration/elbow_flex.yaml")+len(lines[0][:0])+
				map[bool]int{true: 2, false: 11}[text == flow] {
			t.Errorf("got %v, %v:\n%s", lines, err, after)
		}
	}
	r, err := Open("so101", "", configs.Options{}, builtin.Catalog())
	if err != nil {
		t.Fatal(err)
	}
	if lines, err := (&Guide{robot: r}).adopt(map[string]string{"elbow_flex": file}); err != nil || lines != nil {
		t.Errorf("an embedded config: got %v, %v", lines, err)
	}
}

package plan_test

import (
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/internal/builtin"
	"github.com/halyard-robotics/halyard/internal/plan"
)

// TestOnLoss: on_loss names parts that can be lost; a simulated joint takes the place of real joints alone.
func TestOnLoss(t *testing.T) {
	for set, want := range map[string]string{
		"agents[0].on_loss={elbow_flex: stop, all: hold}": "",
		"agents[0].on_loss={elbow_flex: limp}":            "did you mean \"torque_off\"?",
		"agents[0].on_loss={elbow_flex: torque_off}":      "",
		"agents[0].on_loss={elbow: hold}":                 `agents[0].on_loss.elbow: got elbow, want all, base or a part`,
		"agents[0].on_loss={base: stop}":                  `agents[0].on_loss.base: got base`,
		"agents[0].on_loss={elbow_flex: sim}":             `agents[0].on_loss.elbow_flex: got sim, want stop, hold or torque_off`,
		"agents[0].on_loss={thruster: hold}":              `agents[0].on_loss.thruster: got thruster, want all, base or a part`,
		"agents[0].on_loss={t1: sim}":                     `agents[0].on_loss.t1: got sim, want stop, hold or torque_off`,
		"agents[0].on_loss={t1: stop}":                    "",
		"agents[0].on_loss={elbow_flex: go}":              "want stop, hold",
	} {
		robot := "so101"
		if strings.Contains(set, "={t") {
			robot = "rov"
		}
		c, err := configs.Load(robot, configs.Options{Body: "emulated", Set: []string{set}})
		if err == nil {
			_, err = plan.Resolve(c, builtin.Catalog())
		}
		if text := ""; err != nil || want != "" {
			if err != nil {
				text = err.Error()
			}
			if want == "" || !strings.Contains(text, want) {
				t.Errorf("%s: got %q, want %q", set, text, want)
			}
		}
	}
}

package plan_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/internal/builtin"
	"github.com/halyard-robotics/halyard/internal/plan"
)

// TestCouple: only real joints whose servos take torques feel a load, within their torque.
func TestCouple(t *testing.T) {
	for _, c := range [][3]string{
		{"so101", "{elbow_flex: {max_nm: 0.5}}",
			"agents[0].couple.elbow_flex: got sts3215, want a servo with a torque mode"},
		{"xm430-arm", "{elbow: {max_nm: 9}}", "agents[0].couple.elbow.max_nm: got 9, want at most"},
		{"xm430-arm", "{elbow: {}}", "agents[0].couple.elbow.max_nm: got nothing"},
		{"xm430-arm", "{knee: {max_nm: 1}}", "agents[0].couple.knee: got knee, want a joint of"},
		{"xm430-arm", "{elbow: {max_nm: 1, gain: 11}}", "agents[0].couple.elbow.gain: got 11, want 0..10"},
		{"xm430-arm", "{elbow: {max_nm: 1}}", ""},
	} {
		config, err := configs.Load(c[0],
			configs.Options{Set: []string{"agents[0].body=real", "agents[0].couple=" + c[1]}})
		if err == nil {
			_, err = plan.Resolve(config, builtin.Catalog())
		}
		if text := fmt.Sprint(err); !strings.Contains(text, c[2]) || c[2] == "" && strings.Contains(text, "couple") {
			t.Errorf("%s %s: got %s, want %q", c[0], c[1], text, c[2])
		}
	}
	for _, o := range []configs.Options{{Body: "sim"}, {Body: "emulated"}} { // a run with another body is not refused
		o.Set = []string{"agents[0].couple={elbow: {max_nm: 1}}", "agents[0].on_loss={elbow: sim, all: stop}"}
		config, err := configs.Load("xm430-arm", o)
		if err == nil {
			_, err = plan.Resolve(config, builtin.Catalog())
		}
		if err != nil {
			t.Errorf("%v: %v", o, err)
		}
	}
}

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
		c, err := configs.Load(robot, configs.Options{Set: []string{"agents[0].body=emulated", set}})
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

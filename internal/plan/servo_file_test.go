package plan_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/builtin"
	"github.com/halyard-robotics/halyard/internal/plan"
	"github.com/halyard-robotics/halyard/internal/sim/identify"
)

// A joint whose model is a servo file has the registers of the servo that the file names, and its motor and friction.
func TestServoFile(t *testing.T) {
	servo, err := identify.Known("xl430-w250")
	if err != nil {
		t.Fatal(err)
	}
	servo.Spec.Kt, servo.Spec.Droop, servo.Spec.Friction.Kb = 1.25, 0.5, 0.0625
	dir := t.TempDir()
	file, bad := filepath.Join(dir, "own.yaml"), filepath.Join(dir, "bad.yaml")
	if err := servo.Save(file); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(bad, []byte("servo: xl430-w250\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	resolve := func(model string) (*plan.Plan, error) {
		c, err := configs.Load("xl430-pendulum",
			configs.Options{Body: "emulated", Set: []string{"agents[0].hardware.joints.joint0.model=" + model}})
		if err != nil {
			return nil, err
		}
		return plan.Resolve(c, builtin.Catalog())
	}
	p, err := resolve(file)
	if err != nil {
		t.Fatal(err)
	}
	j := p.Agents[0].Joints[0]
	if j.Hardware.Model != "xl430-w250" || j.Servo == nil || j.Servo.Units().Name != "xl430-w250" {
		t.Errorf("got hardware %+v", j.Hardware)
	}
	robot := p.Agents[0].Robot
	if got := robot.Joints[robot.Joint("joint0")].Servo; got.Kt != 1.25 || got.Droop != 0.5 ||
		got.Friction.Kb != 0.0625 || got.Name != "xl430-w250" {
		t.Errorf("got servo %+v", got)
	}
	for model, want := range map[string]string{
		bad:                             "motor",
		filepath.Join(dir, "none.yaml"): "no such file",
	} {
		if _, err := resolve(model); err == nil || hal.KindOf(err) != hal.Invalid ||
			!strings.Contains(err.Error(), "joint0.model") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want a fault of the joint's model with %q", model, err, want)
		}
	}
}

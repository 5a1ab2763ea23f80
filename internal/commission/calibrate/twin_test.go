package calibrate

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/sim/identify"
	"github.com/halyard-robotics/halyard/sim/twin"
)

// plantJoint changes one joint of the body, of which the twin knows nothing.
func plantJoint(name string, change func(*configs.Joint)) func(*configs.Config) {
	return func(c *configs.Config) {
		j := c.Agents[0].Hardware.Joints[name]
		truth := configs.GroundTruth{}
		if j.GroundTruth != nil {
			truth = *j.GroundTruth
		}
		j.GroundTruth = &truth
		change(&j)
		c.Agents[0].Hardware.Joints[name] = j
	}
}

// weaker is a servo file of an XL430 that was changed.
func weaker(t *testing.T, change func(*identify.Servo)) func(*configs.Joint) {
	t.Helper()
	s, err := identify.Known("xl430-w250")
	if err != nil {
		t.Fatal(err)
	}
	change(s)
	s.Date = noon
	path := filepath.Join(t.TempDir(), "servo.yaml")
	if err := s.Save(path); err != nil {
		t.Fatal(err)
	}
	return func(j *configs.Joint) { j.Model = path }
}

// What is planted in an emulated body is named by the twin beside it.
func TestTwinNamesWhatIsPlanted(t *testing.T) {
	value := func(v float64) *float64 { return &v }
	for _, c := range []struct {
		want twin.Cause
		body func(*configs.Joint)
	}{
		{twin.None, func(*configs.Joint) {}},
		{twin.Zero, func(j *configs.Joint) { j.GroundTruth.Zero = value(2048 + 300) }},
		{twin.Play, func(j *configs.Joint) { j.GroundTruth.Backlash = 0.08 }},
		{twin.Constant, weaker(t, func(s *identify.Servo) { s.Spec.Kt *= 0.65 })},
		{twin.Friction, weaker(t, func(s *identify.Servo) {
			s.Spec.Friction.Kb, s.Spec.Friction.Kv = 3*s.Spec.Friction.Kb, 3*s.Spec.Friction.Kv
			s.Spec.Friction.Ks *= 3
		})},
		{twin.Supply, func(j *configs.Joint) { j.Supply = &configs.Supply{Volts: 9} }},
	} {
		g, out := guide(t, t.TempDir(), "-70 70\n\n", configs.Options{Body: "emulated"})
		g.Config = "xl430-pendulum"
		g.alter = plantJoint("joint0", c.body)
		rows, err := g.Twin(context.Background())
		if err != nil {
			t.Fatalf("%s: %v\n%s", c.want, err, out)
		}
		t.Logf("%+v", rows)
		if len(rows) != 1 || rows[0].Cause != c.want {
			t.Errorf("got %+v, want %s", rows, c.want)
		}
	}
}

// The joints of a healthy arm are named healthy.
func TestTwinOfHealthyArm(t *testing.T) {
	g, out := guide(t, t.TempDir(), strings.Repeat("\n", 6), configs.Options{Body: "emulated"})
	if os.Getenv("HALYARD_LONG") == "" {
		g.Only = []string{"shoulder_lift", "wrist_roll"}
	}
	rows, err := g.Twin(context.Background())
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, r := range rows {
		t.Logf("%+v", r)
		if r.Cause != twin.None {
			t.Errorf("%s: got %s, want none: %s", r.Joint, r.Cause, r.Found)
		}
	}
}

package calibrate

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/halyard-robotics/halyard/calibration"
	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/internal/sim/identify"
	"github.com/halyard-robotics/halyard/sim/actuator"
)

// unlike is a servo file of an XL430 that is not as the table has it.
func unlike(t *testing.T) (truth *identify.Servo, o configs.Options) {
	t.Helper()
	truth, err := identify.Known("xl430-w250")
	if err != nil {
		t.Fatal(err)
	}
	k := &truth.Spec
	k.Kt *= 0.88
	k.R *= 1.15
	k.Armature *= 1.3
	k.Friction = actuator.Friction{Model: 3, Kb: 0.05, Kv: 0.03, Kl: 0.08, Dqs: 0.5, Alpha: 1}
	truth.Date = noon
	path := filepath.Join(t.TempDir(), "planted.yaml")
	if err := truth.Save(path); err != nil {
		t.Fatal(err)
	}
	return truth, configs.Options{Body: "emulated", Set: []string{"agents[0].hardware.joints.joint0.model=" + path}}
}

// What the session records of an emulated pendulum is what the planted servo does on the pendulum that the robot's
// masses are.
func TestExcitation(t *testing.T) {
	truth, o := unlike(t)
	g, out := guide(t, t.TempDir(), "-70 70\ndrop\n\n", o)
	g.Config = "xl430-pendulum"
	if err := g.prepare(); err != nil {
		t.Fatal(err)
	}
	runs, err := g.excite(context.Background(), g.joints[0], &truth.Spec)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, r := range runs {
		if err := r.Plausible(); err != nil {
			t.Error(err)
		}
		data, err := r.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if again, err := identify.Read(r.Name, data); err != nil || again.Inertia != r.Inertia ||
			len(again.Samples) != len(r.Samples) {
			t.Errorf("%s: got %v, want the recording that was written", r.Name, err)
		}
	}
	for _, e := range identify.Check(truth, runs) {
		t.Logf("%-16s %.3f mean, %.3f most degrees", e.File, e.Error/degree, e.Most/degree)
		if e.Error > 0.3*degree {
			t.Errorf("%s: got %.2f degrees between the recording and the planted servo, want at most 0.3", e.File,
				e.Error/degree)
		}
	}
	table, _ := identify.Known("xl430-w250")
	of := func(s *identify.Servo) (sum float64) {
		for _, e := range identify.Check(s, runs) {
			sum += e.Error
		}
		return sum
	}
	if of(table) < 4*of(truth) {
		t.Errorf("got %.2f degrees from the servo of the table and %.2f from the planted one: the recordings do not "+
			"show what is planted", of(table)/degree, of(truth)/degree)
	}
}

// The servo that is planted in an emulated pendulum is found by a session on it, and is better than the table's on
// motions that the fit has not seen.
func TestIdentifyOnline(t *testing.T) {
	if os.Getenv("HALYARD_LONG") == "" {
		t.Skip("a fit takes a minute: HALYARD_LONG=1")
	}
	truth, o := unlike(t)
	dir := t.TempDir()
	g, out := guide(t, dir, "-70 70\ndrop\n\n", o)
	g.Config = "xl430-pendulum"
	c := &calibration.Joint{}
	if err := g.prepare(); err != nil {
		t.Fatal(err)
	}
	*c = *g.joints[0].nominal()
	c.Date = noon
	if _, err := calibration.Save(g.path(g.joints[0]), c); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "servo.yaml")
	s, err := g.Identify(context.Background(), file, filepath.Join(dir, "recordings"))
	t.Log(out)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(string(s.Encode()))
	found, err := identify.ReadServo(file)
	if err != nil {
		t.Fatal(err)
	}
	k, want := &found.Spec, &truth.Spec
	for _, p := range []struct {
		name           string
		got, want, off float64
	}{{"kt/R", k.Kt / k.R, want.Kt / want.R, 0.02}, {"kt", k.Kt, want.Kt, 0.03}, {"R", k.R, want.R, 0.04},
		{"armature", k.Armature, want.Armature, 0.1}} {
		if math.Abs(p.got/p.want-1) > p.off {
			t.Errorf("%s: got %.4g, want %.4g within %.0f %%", p.name, p.got, p.want, 100*p.off)
		}
	}
	if c, err = calibration.Load(g.path(g.joints[0])); err != nil ||
		math.Abs(c.Torque.Constant/(want.Kt*12/want.R)-1) > 0.03 {
		t.Errorf("got torque constant %.3f, %v, want %.3f", c.Torque.Constant, err, want.Kt*12/want.R)
	}
}

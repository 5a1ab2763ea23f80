package calibrate

import (
	"bytes"
	"context"
	"math"
	"regexp"
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard/calibration"
)

// leastSquares finds planted factors, and their errors are about the noise's.
func TestFrictionAtRestAndLean(t *testing.T) {
	r := sweepResult{}
	for _, speed := range []float64{0.15, 0.3} {
		d := slowness{speed: speed}
		for k := range d.half {
			d.half[k] = 2 * (0.05 + 0.4*speed + 0.001*math.Sin(float64(7*k)+speed*100))
		}
		r.drag = append(r.drag, d)
	}
	if f, sure := r.atRest(2); math.Abs(f-0.05) > 3*sure || sure > 0.003 {
		t.Errorf("friction at rest: got %.4f +- %.4f, want 0.05", f, sure)
	}
	var hold, tilt, efforts []float64
	for k := range bins {
		q := 0.3 + 0.15*float64(k)
		hold, tilt = append(hold, math.Sin(q)), append(tilt, math.Cos(q))
		efforts = append(efforts, 0.4*math.Sin(q+0.05)+0.02)
	}
	if lean, _ := leaning(hold, efforts, tilt); math.Abs(lean-0.05) > 0.002 {
		t.Errorf("zero by gravity: got %.4f rad off, want 0.05", lean)
	}
}

// What is not measurable in a pose says what would make it so; the pose that is offered does.
func TestRemedyIsOfferedAndHelps(t *testing.T) {
	dir := t.TempDir()
	g, out := guide(t, dir, person("y\n", "\n\n\npose\n\n\n\n\n"), plantedOptions())
	if _, err := g.Run(context.Background()); err != nil {
		t.Log(out)
		t.Fatal(err)
	}
	said := out.String()
	for _, want := range []string{`shoulder_pan: gravity changes by .*axis stays upright`,
		`shoulder_pan: torque not measured, .*axis stays upright`, `friction at rest 0\.\d+ N m \(\+-`} {
		if !regexp.MustCompile(want).MatchString(said) {
			t.Errorf("no %q in\n%s", want, said)
		}
	}
	c, err := calibration.Load(dir + "/shoulder_lift.yaml")
	if err != nil {
		t.Fatal(err)
	}
	k := c.Intervals["torque_constant"]
	if !(k[0] < c.Torque.Constant && k[1] > c.Torque.Constant) {
		t.Errorf("got interval %v of %g", k, c.Torque.Constant)
	}
	if z := c.Intervals["zero_by_gravity_rad"]; !(z[0] < 0.03 && z[1] > -0.03) || !bytes.Contains(c.Encode(),
		[]byte("\nintervals: # 95 %\n")) {
		t.Errorf("got zero by gravity %v in\n%s", z, c.Encode())
	}
	for line := range strings.SplitSeq(said, "\n") {
		if strings.Contains(line, "gravity") || strings.Contains(line, "torque") {
			t.Log(line)
		}
	}
}

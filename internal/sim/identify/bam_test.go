package identify

import (
	"math"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/halyard-robotics/halyard/hal/haltest"
	"github.com/halyard-robotics/halyard/sim/actuator"
)

// recordings are those of a folder of shared/data/bam, from real servos (its README says how they were made).
func recordings(t *testing.T, folder string) []*Run {
	t.Helper()
	dir := filepath.Join("..", "..", "..", "..", "shared", "data", "bam", folder)
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("no recordings at %s", dir)
	}
	runs, err := Load([]string{dir})
	if err != nil {
		t.Fatal(err)
	}
	return runs
}

// The whole way on the recordings of real servos: fit, file, and the servo of the file against each recording. It takes
// a minute of a core for the XL330.
func TestFitBAM(t *testing.T) {
	if !haltest.Full() {
		t.Skip("HALYARD_FULL=1 runs it")
	}
	for _, c := range []struct {
		folder, servo string
		long          bool
		mean, most    float64  // degrees, over all recordings and of each
		lost          []string // what they cannot separate, in addition to the mass
		candidates    int
	}{
		{"sts3250", "sts3250", false, 0.35, 0.35, []string{"kt", "R", "gain"}, 6},
		{"xl330", "xl330-m288", true, 1.4, 3.0, nil, 7},
	} {
		if c.long && os.Getenv("HALYARD_LONG") == "" {
			continue
		}
		runs := recordings(t, c.folder)
		spec, _ := actuator.Lookup(c.servo)
		fit, err := Fit(runs, spec, func(step string) { t.Log(step) })
		if err != nil {
			t.Fatal(err)
		}
		lost := [][]string{{"mass", "R"}}
		if c.lost != nil {
			lost = append(lost, c.lost)
		}
		var got [][]string
		for _, n := range fit.NotSeparable {
			got = append(got, n.Parameters)
		}
		if !reflect.DeepEqual(got, lost) {
			t.Errorf("%s: not separable: got %v, want %v", c.servo, got, lost)
		}
		for _, v := range fit.Intervals {
			t.Logf("%-12s %.4g in %.4g..%.4g", v.Name, v.Value, v.Low, v.High)
			if !(v.Low <= v.Value && v.High >= v.Value && v.High < 10*math.Abs(v.Value)+0.1) {
				t.Errorf("%s: %s has the interval %g..%g about %g", c.servo, v.Name, v.Low, v.High, v.Value)
			}
		}
		if got := fit.Prior != nil; got != (c.lost != nil) {
			t.Errorf("%s: a prior was used: got %t, want %t", c.servo, got, c.lost != nil)
		}
		t.Log(fit.Summary())
		if len(fit.Candidates) != c.candidates {
			t.Errorf("%s: got %d candidates, want %d", c.servo, len(fit.Candidates), c.candidates)
		}
		path := filepath.Join(t.TempDir(), "servo.yaml")
		if err := fit.Save(path); err != nil {
			t.Fatal(err)
		}
		s, err := ReadServo(path)
		if err != nil {
			t.Fatal(err)
		}
		sum := 0.0
		for _, r := range Check(s, runs) {
			sum += degrees(r.Error)
			t.Logf("%-30s %.2f degrees, at most %.2f", filepath.Base(r.File), degrees(r.Error), degrees(r.Most))
			if degrees(r.Error) > c.most {
				t.Errorf("%s: got %.2f degrees, want at most %g", r.File, degrees(r.Error), c.most)
			}
		}
		if mean := sum / float64(len(runs)); mean > c.mean {
			t.Errorf("%s: got %.2f degrees over all recordings, want at most %g", c.servo, mean, c.mean)
		}
	}
}

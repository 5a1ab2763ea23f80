package calibration

import (
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// FitEllipsoid finds the planted errors of an accelerometer in six positions and of a magnetometer in all directions.
func TestFitEllipsoid(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	truth := Correction{Offset: [3]float64{0.3, -0.2, 0.05}, Scale: [3]float64{1.02, 0.97, 1.005}}
	said := func(v [3]float64) (s [3]float64) {
		for k := range v {
			s[k] = v[k]/truth.Scale[k] + truth.Offset[k]
		}
		return s
	}
	const g = 9.80665
	var six, many [][3]float64
	for k := range 3 {
		for _, sign := range []float64{-1, 1} {
			v := [3]float64{}
			v[k] = sign * g * math.Cos(0.1) // it lies askew
			v[(k+1)%3] = g * math.Sin(0.1)
			six = append(six, said(v))
		}
	}
	for range 400 {
		v := [3]float64{r.NormFloat64(), r.NormFloat64(), r.NormFloat64()}
		n := math.Sqrt(v[0]*v[0] + v[1]*v[1] + v[2]*v[2])
		for k := range v {
			v[k] = v[k]/n*g + 0.05*r.NormFloat64()
		}
		many = append(many, said(v))
	}
	for name, c := range map[string]struct {
		points [][3]float64
		near   float64
	}{"six": {six, 1e-9}, "many": {many, 0.02}} {
		got, residual, err := FitEllipsoid(c.points, g)
		if err != nil {
			t.Fatal(name, err)
		}
		for k := range 3 {
			if math.Abs(got.Offset[k]-truth.Offset[k]) > c.near || math.Abs(got.Scale[k]-truth.Scale[k]) > c.near {
				t.Errorf("%s: got %+v, want %+v", name, got, truth)
			}
		}
		if residual > 0.06 {
			t.Errorf("%s: got residual %g", name, residual)
		}
	}
	for name, points := range map[string][][3]float64{
		"five": six[:5], "one side": many[:0], "a plane": {{1, 0, 0}, {0, 1, 0}, {-1, 0, 0}, {0, -1, 0}, {0.7, 0.7, 0}, {-0.7, 0.7, 0}}, "nothing": make([][3]float64, 6), "one place": {six[0], six[0], six[0], six[0], six[0], six[0]},
	} {
		if _, _, err := FitEllipsoid(points, g); err == nil {
			t.Errorf("%s: got no error", name)
		}
	}
	half := [][3]float64{}
	for _, p := range many {
		if p[2] > 0 {
			half = append(half, p)
		}
	}
	if _, _, err := FitEllipsoid(half, g); err == nil || !strings.Contains(err.Error(), "axis z") {
		t.Errorf("a half: got %v, want axis z named", err)
	}
}

// However a chip lies, its axes are found from two attitudes, and are a rotation.
func TestAxesOf(t *testing.T) {
	const g, nose = 9.8, 0.6
	for _, want := range [][3]Axis{{"x", "y", "z"}, {"y", "-x", "z"}, {"-x", "y", "-z"}, {"z", "y", "-x"}} {
		j := NominalInertial("imu", "m")
		j.Axes = want
		chip := func(mount [3]float64) (v [3]float64) { // the inverse of apply
			for i, axis := range want {
				k, sign := axis.index()
				v[k] = sign * mount[i]
			}
			return v
		}
		got, err := AxesOf(chip([3]float64{0, 0.2, g}), chip([3]float64{g * math.Sin(nose), 0.2, g * math.Cos(nose)}))
		if err != nil || got != want {
			t.Errorf("got %v, %v, want %v", got, err, want)
		}
	}
	if _, err := AxesOf([3]float64{0, 0, g}, [3]float64{0.1, 0, g}); err == nil {
		t.Error("the same attitude twice: got no error")
	}
}

func TestSaveInertial(t *testing.T) {
	path := filepath.Join(t.TempDir(), "imu.yaml")
	j := NominalInertial("imu", "mpu-6050")
	j.Date, j.Gyro.Offset, j.Axes = time.Date(2026, 11, 24, 0, 0, 0, 0, time.UTC), [3]float64{0.01, -0.02, 0}, [3]Axis{"y", "-x", "z"}
	for n := 1; n <= 2; n++ {
		if _, err := SaveInertial(path, j); err != nil || j.Version != n {
			t.Fatalf("got version %d, %v, want %d", j.Version, err, n)
		}
	}
	again, err := LoadInertial(path)
	if err != nil || *again != *j {
		t.Errorf("got %+v, %v, want %+v", again, err, j)
	}
	if kept, err := Versions(path); err != nil || len(kept) != 1 {
		t.Errorf("got %v, %v, want the version before", kept, err)
	}
	j.Axes[0] = "x"
	if _, err := SaveInertial(path, j); err == nil {
		t.Error("axes that are no rotation: got no error")
	}
}

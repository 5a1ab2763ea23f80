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
		"five": six[:5], "one side": many[:0], "a plane": {{1, 0, 0}, {0, 1, 0}, {-1, 0, 0}, {0, -1, 0}, {0.7, 0.7, 0},
			{-0.7, 0.7, 0}}, "nothing": make([][3]float64, 6),
		"one place": {six[0], six[0], six[0], six[0], six[0], six[0]},
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
	j.Date, j.Gyro.Offset, j.Axes = time.Date(2026, 11, 24, 0, 0, 0, 0, time.UTC), [3]float64{0.01, -0.02, 0},
		[3]Axis{"y", "-x", "z"}
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

// Hard and soft iron of any direction are found from readings with noise: every corrected reading points where the
// field does.
func TestFitField(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 9))
	const size = 48e-6
	for seed := range 8 {
		truth := NominalInertial("imu", "mpu-9250")
		m := &truth.Magnetometer
		for k := range 3 {
			m.Offset[k], m.Scale[k], m.Cross[k] = 80e-6*(r.Float64()-0.5), 0.85+0.3*r.Float64(), 0.16*(r.Float64()-0.5)
		}
		var points, fields [][3]float64
		for range 600 {
			v := [3]float64{r.NormFloat64(), r.NormFloat64(), r.NormFloat64()}
			n := math.Sqrt(v[0]*v[0]+v[1]*v[1]+v[2]*v[2]) / size
			for k := range v {
				v[k] /= n
			}
			fields = append(fields, v)
			_, _, p := truth.Measured(v, v, v)
			for k := range p {
				p[k] += 0.3e-6 * r.NormFloat64()
			}
			points = append(points, p)
		}
		got, residual, err := FitField(points)
		if err != nil || residual > 0.6e-6 {
			t.Fatalf("%d: got residual %g, %v", seed, residual, err)
		}
		found, worst := NominalInertial("imu", "mpu-9250"), 0.0
		found.Magnetometer = got
		for _, v := range fields {
			_, _, p := truth.Measured(v, v, v)
			_, _, f := found.Corrected(p, p, p)
			dot, length := 0.0, 0.0
			for k := range f {
				dot, length = dot+f[k]*v[k], length+f[k]*f[k]
			}
			worst = math.Max(worst, math.Acos(math.Min(1, dot/size/math.Sqrt(length))))
		}
		if worst > 0.4*math.Pi/180 {
			t.Errorf("%d: got a direction off by %.2f degrees, want 0.4: got %+v, want %+v", seed, worst*180/math.Pi,
				got, *m)
		}
	}
	one := [3]float64{20e-6, 0, -45e-6}
	for name, points := range map[string][][3]float64{"few": circle(minField - 1), "one place": repeat(one, 60),
		"a circle": circle(100), "no numbers": repeat([3]float64{math.NaN(), 0, 0}, 60)} {
		if _, _, err := FitField(points); err == nil {
			t.Errorf("%s: got no error", name)
		}
	}
}

func repeat(p [3]float64, n int) (list [][3]float64) {
	for range n {
		list = append(list, p)
	}
	return list
}

func circle(n int) (list [][3]float64) {
	for i := range n {
		s, c := math.Sincos(float64(i))
		list = append(list, [3]float64{20e-6 * c, 20e-6 * s, -45e-6})
	}
	return list
}

// Measurements of a chip are corrected to the true values, for any mounting and nearby iron; a file stores the
// correction.
func TestCorrectedOfMeasured(t *testing.T) {
	j := NominalInertial("imu", "mpu-9250")
	j.Date, j.Axes = time.Date(2026, 11, 25, 0, 0, 0, 0, time.UTC), [3]Axis{"-z", "x", "-y"}
	j.Gyro.Offset = [3]float64{0.1, -0.2, 0.3}
	j.Accelerometer = Correction{Offset: [3]float64{1, 2, 3}, Scale: [3]float64{0.9, 1.1, 1.2}}
	j.Magnetometer = Correction{Offset: [3]float64{1e-5, -2e-5, 3e-5}, Scale: [3]float64{0.9, 1.1, 1.2},
		Cross: [3]float64{0.1, -0.2, 0.05}}
	rates, acceleration, field := [3]float64{1, 2, 3}, [3]float64{4, -5, 6}, [3]float64{2e-5, 1e-5, -4e-5}
	again, err := parseInertial(j.Encode(), "imu.yaml")
	if err != nil || *again != *j {
		t.Fatalf("got %+v, %v, want %+v", again, err, j)
	}
	r, a, f := again.Corrected(j.Measured(rates, acceleration, field))
	for k := range 3 {
		if math.Abs(r[k]-rates[k]) > 1e-12 || math.Abs(a[k]-acceleration[k]) > 1e-12 ||
			math.Abs(f[k]-field[k]) > 1e-17 {
			t.Errorf("got %v %v %v, want %v %v %v", r, a, f, rates, acceleration, field)
		}
	}
	j.Magnetometer.Scale, j.Magnetometer.Cross = [3]float64{0.5, 0.5, 0.5}, [3]float64{0.5, 0.5, 0.5}
	if err := j.Validate(); err == nil || !strings.Contains(err.Error(), "positive definite") {
		t.Errorf("got %v, want a matrix that has no inverse refused", err)
	}
}

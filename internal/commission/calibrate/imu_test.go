package calibrate

import (
	"context"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard/calibration"
	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/internal/commission"
)

// turner is a person who turns the sensor before each Enter.
type turner struct{ n int }

func (p *turner) Read(b []byte) (int, error) {
	p.n++
	b[0] = '\n'
	return 1, nil
}

// A sensor with planted offsets, scales and mounting, which a person turns, is calibrated; a side that is shown twice, and a hand that
// shakes, cost a question each.
func TestInertialSession(t *testing.T) {
	const g = 9.80665
	s, c := math.Sin(0.5), math.Cos(0.5)
	poses := [][3]float64{{0, 0, g}, {0, 0, g}, {0, 0, -g}, {0, 0, g}, {g, 0, 0}, {-g, 0, 0}, {0, g, 0}, {0, -g, 0},
		{g, 0, 0}, {g * c, -g * s, 0}} // rest, six sides with one twice, then level with the chip's x up, and its -y forward
	truth := calibration.Correction{Offset: [3]float64{0.25, -0.1, 0.4}, Scale: [3]float64{0.98, 1.01, 1.03}}
	hand := &turner{}
	shaken := false
	read := func(float64) (r chipReading, err error) {
		if hand.n == 5 && !shaken {
			shaken = true
			hand.n--
			r.rateSpread[1] = 1
			return r, nil
		}
		v := poses[hand.n-1]
		r.rate = [3]float64{0.012, -0.004, 0.02}
		for k := range v {
			r.pull[k] = v[k]/truth.Scale[k] + truth.Offset[k]
		}
		return r, nil
	}
	guide, out := guide(t, t.TempDir(), "", configs.Options{})
	guide.In = commission.NewAsker(hand)
	made, err := guide.inertial(context.Background(), calibration.NominalInertial("imu", "mpu-6050"), g, read)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for k := range 3 {
		if math.Abs(made.Accelerometer.Offset[k]-truth.Offset[k]) > 1e-6 || math.Abs(made.Accelerometer.Scale[k]-truth.Scale[k]) > 1e-6 {
			t.Errorf("got %+v, want %+v", made.Accelerometer, truth)
		}
	}
	if made.Gyro.Offset != [3]float64{0.012, -0.004, 0.02} || made.Axes != [3]calibration.Axis{"-y", "-z", "x"} {
		t.Errorf("got gyro %v and axes %v, want what was planted", made.Gyro, made.Axes)
	}
	for _, want := range []string{"was up before", "it moved"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("got %s, want %q", out, want)
		}
	}
}

// The session reads the emulated chip of a robot that is not turned.
func TestInertialOfEmulated(t *testing.T) {
	dir := t.TempDir()
	guide, out := guide(t, dir, "\n\n\n", configs.Options{Body: "emulated"})
	guide.Config = "hobby-hexapod"
	if err := guide.Inertial(context.Background(), "imu"); err == nil || !strings.Contains(out.String(), "is up") || !strings.Contains(out.String(), "was up before") {
		t.Errorf("got %v and %s, want the same side twice, and the end of the input", err, out)
	}
	if all, _ := filepath.Glob(filepath.Join(dir, "*.yaml")); len(all) > 0 {
		t.Errorf("got %v written, want nothing", all)
	}
	if err := guide.Inertial(context.Background(), "nose"); err == nil || !strings.Contains(err.Error(), "imu") {
		t.Errorf("got %v, want the sensors there are", err)
	}
}

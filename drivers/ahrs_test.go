package drivers

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/calibration"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/hal/kinematics"
)

// spun is a chip that lies turned by 90 degrees about z in a mount that turns about its own x, and says what it feels.
type spun struct {
	scripted
	clock hal.Clock
	angle float64 // of the mount
	rate  float64
	fused bool
	fails error
}

func (s *spun) Read(values []float64) error {
	s.clock.SleepUntil(s.clock.Now() + time.Millisecond)
	// The mount's x is the chip's y: what the mount feels as (r, 0, 0) and (0, g sin, g cos) the chip feels so.
	sin, cos := math.Sincos(s.angle)
	rates, acceleration := []float64{0.01, s.rate - 0.02, 0}, []float64{-9.80665 * sin, 0, 9.80665 * cos}
	if s.fused {
		// Chip in world = mount in world · mount⁻¹ in chip: about x by the angle, then about z by -90 degrees.
		s2, c2 := math.Sincos(s.angle / 2)
		h := math.Sqrt2 / 2
		copy(values, []float64{c2 * h, s2 * h, s2 * h, -c2 * h})
		copy(values[4:], rates)
		copy(values[7:], acceleration)
	} else {
		copy(values, rates)
		copy(values[3:], acceleration)
		copy(values[6:], []float64{math.NaN(), math.NaN(), math.NaN()})
	}
	return s.fails
}

func imuCalibration() *calibration.Inertial {
	c := calibration.NominalInertial("imu", "mpu-6050")
	c.Axes = [3]calibration.Axis{"y", "-x", "z"}
	c.Gyro.Offset = [3]float64{0.01, -0.02, 0}
	return c
}

// Both ways to an attitude agree, in the axes of the mount, with the calibration's offsets taken out.
func TestAttitudes(t *testing.T) {
	v := &virtual{}
	fused, raw := &spun{clock: v, fused: true}, &spun{clock: v}
	fusion := NewAHRS(raw, imuCalibration(), v, kinematics.AttitudeConfig{})
	mounted := NewMountedIMU(fused, imuCalibration())
	for _, s := range []Sensor{fusion, mounted} {
		if err := s.Open(); err != nil {
			t.Fatal(err)
		}
	}
	const dt = 0.005
	got := [2][]float64{make([]float64, 10), make([]float64, 10)}
	for k := range 4000 {
		fused.rate, raw.rate = 0.5*math.Cos(float64(k)*dt), 0.5*math.Cos(float64(k)*dt)
		v.own += 5*time.Millisecond - 2*time.Millisecond // two reads of 1 ms
		if err := errors.Join(fusion.Read(got[0]), mounted.Read(got[1])); err != nil {
			t.Fatal(err)
		}
		fused.angle += fused.rate * dt
		raw.angle = fused.angle
	}
	s, c := math.Sincos((fused.angle - fused.rate*dt) / 2)
	for i, want := range []float64{c, s, 0, 0, fused.rate, 0, 0} {
		if math.Abs(got[1][i]-want) > 1e-9 {
			t.Errorf("mounted: value %d: got %v, want %v", i, got[1][i], want)
		}
		if math.Abs(got[0][i]-want) > 0.005 {
			t.Errorf("fusion: value %d: got %v, want %v", i, got[0][i], want)
		}
	}
	if g := math.Hypot(got[0][8], got[0][9]); math.Abs(g-9.80665) > 1e-9 || math.Abs(got[0][7]) > 1e-9 {
		t.Errorf("acceleration: got %v", got[0][7:])
	}
	raw.fails = errors.New("no acknowledge")
	if err := fusion.Read(got[0]); err != raw.fails {
		t.Errorf("a failed sample: got %v", err)
	}
	// After a long silence the rates of the gap are not made up.
	raw.fails, raw.angle = nil, 1
	v.own += time.Second
	if err := fusion.Read(got[0]); err != nil || math.Abs(got[0][1]-math.Sin(0.5)) > 1e-6 {
		t.Errorf("after a gap: got %v, %v", got[0], err)
	}
	short := make([]float64, 5) // what there is no room for is left out
	if err := errors.Join(fusion.Read(short), mounted.Read(short)); err != nil {
		t.Error(err)
	}
	if n := testing.AllocsPerRun(100, func() { _ = fusion.Read(got[0]) }); n > 2 { // the double's own
		t.Errorf("got %g allocations", n)
	}
	if err := errors.Join(fusion.Close(), mounted.Close()); err != nil {
		t.Error(err)
	}
}

package drivers

import (
	"time"

	"github.com/halyard-robotics/halyard/calibration"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/hal/kinematics"
)

// fused is how many values a hal "imu" has: attitude w x y z, rates x y z, acceleration x y z. Field is which of an
// AHRS's values is the first of the field, x y z T, that follow them.
const (
	fused = 10
	Field = fused
)

// AHRS makes a hal "imu" of a chip that measures but has no attitude of its own (MPU-6050, LSM6DSOX): values 0 to 8 of
// raw are rates, acceleration and field. It is a Sensor, of ten values in the axes of the chip's mount, and where there
// is room for them of three more, the corrected field, T; NaN where the chip has no magnetometer.
type AHRS struct {
	Sensor // the chip
	cal    calibration.Inertial
	clock  hal.Clock
	filter *kinematics.Attitude
	config kinematics.AttitudeConfig
	values [9]float64
	last   time.Duration // time of the previous sample; < 0: no sample yet
}

// NewAHRS returns the fusion of raw. clock is the one that raw goes by: the time between two samples is taken from it.
func NewAHRS(raw Sensor, c *calibration.Inertial, clock hal.Clock, k kinematics.AttitudeConfig) *AHRS {
	return &AHRS{Sensor: raw, cal: *c, clock: clock, filter: kinematics.NewAttitude(k), config: k, last: -1}
}

// Restart begins as after power-on: attitude and drift are estimated again.
func (s *AHRS) Restart() {
	s.last, s.filter = -1, kinematics.NewAttitude(s.config)
	restart(s.Sensor)
}

// restart lets a driver forget what it read.
func restart(s Sensor) {
	if r, ok := s.(interface{ Restart() }); ok {
		r.Restart()
	}
}

// Note is the chip's.
func (s *AHRS) Note() string { return NoteOf(s.Sensor) }

// maxGap is how long rates may be carried on over samples that failed, after which the attitude begins again.
const maxGap = 500 * time.Millisecond

// Open opens the chip. The attitude is estimated again; the estimated drift of the gyros stays.
func (s *AHRS) Open() error {
	s.last = -1
	s.filter.Reset()
	return s.Sensor.Open()
}

// Read takes one sample and carries the attitude on to it.
func (s *AHRS) Read(values []float64) error {
	if err := s.Sensor.Read(s.values[:]); err != nil {
		return err
	}
	now := s.clock.Now()
	v := &s.values
	rates, acceleration, field := s.cal.Corrected([3]float64(v[0:3]), [3]float64(v[3:6]), [3]float64(v[6:9]))
	if s.last >= 0 && now-s.last > maxGap {
		s.filter.Reset()
	}
	s.filter.Update(rates, acceleration, field, (now - s.last).Seconds())
	s.last = now
	unbiased, drift := rates, s.filter.Drift()
	for i := range unbiased {
		unbiased[i] -= drift[i]
	}
	if q := s.filter.Quaternion(); q != ([4]float64{}) {
		copy(values, q[:])
	}
	place(values, 4, unbiased)
	place(values, 7, acceleration)
	place(values, Field, field)
	return nil
}

// place copies v to values[at:], as far as there is room.
func place(values []float64, at int, v [3]float64) {
	if at < len(values) {
		copy(values[at:], v[:])
	}
}

// MountedIMU is a hal "imu" whose chip computes its attitude (BNO055), in the axes of the chip's mount. It is a Sensor.
type MountedIMU struct {
	Sensor // the chip without its mount
	cal    calibration.Inertial
	mount  hal.Pose
	values [fused]float64
}

// Restart lets the chip's driver forget what it read.
func (s *MountedIMU) Restart() { restart(s.Sensor) }

// Note is the chip's.
func (s *MountedIMU) Note() string { return NoteOf(s.Sensor) }

// NewMountedIMU returns raw as it lies in its mount.
func NewMountedIMU(raw Sensor, c *calibration.Inertial) *MountedIMU {
	q, _ := c.Mount() // a calibration is valid
	return &MountedIMU{Sensor: raw, cal: *c, mount: hal.Pose{Rotation: q}}
}

// Read takes one sample.
func (s *MountedIMU) Read(values []float64) error {
	if err := s.Sensor.Read(s.values[:]); err != nil {
		return err
	}
	v := &s.values
	rates, acceleration, _ := s.cal.Corrected([3]float64(v[4:7]), [3]float64(v[7:10]), [3]float64{})
	q := hal.Pose{Rotation: [4]float64(v[0:4])}.Times(s.mount).Rotation
	copy(values, q[:])
	place(values, 4, rates)
	place(values, 7, acceleration)
	return nil
}

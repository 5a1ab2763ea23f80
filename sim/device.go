package sim

import (
	"math"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/hal/kinematics"
	"github.com/halyard-robotics/halyard/internal/sim/exact"
	"github.com/halyard-robotics/halyard/sim/actuator"
	"github.com/halyard-robotics/halyard/sim/model"
)

// device is the state of a rescue robot's sensor after its last reading. It is copied with the snapshot.
type device struct {
	spec *model.Device // nil: a sensor only of sense.go
	wait float64       // s until it reads again
	old  float64       // s since it last read
	seed uint64        // of its noise
	age  float64       // s since the reset

	zero  [4]float64          // of an INU the attitude, of an encoder (first) the angle that counts as 0
	wheel [2]float64          // of odometry: the ticks of both wheels at the last estimate
	place [3]float64          // of odometry: x, y and heading
	drive kinematics.Odometer // of odometry by a Drive, in place of both
}

// rays reports whether the device casts rays.
func (d *device) rays() bool {
	return d.spec != nil && (d.spec.Range > 0 || d.spec.Diameter > 0)
}

// measured is the sensor's reading of v: with its noise, and through its curve.
func (d *device) measured(v float64) float64 {
	if n := d.spec.Noise; n > 0 {
		share := float64(actuator.Uniform(&d.seed))
		v += float64(2 * v * n * (share - 0.5))
	}
	return bent(d.spec.Curve, v)
}

// bent is the curve at v: straight from point to point, 0 outside of it (manual, section 8).
func bent(curve [][2]float64, v float64) float64 {
	if len(curve) == 0 {
		return v
	}
	for i := 1; i < len(curve); i++ {
		if p, q := curve[i-1], curve[i]; v >= p[0] && v <= q[0] {
			return p[1] + float64((q[1]-p[1])*((v-p[0])/(q[0]-p[0])))
		}
	}
	return 0
}

// resetDevice puts a device into the state of the scene's seed.
func (s *sensor) resetDevice(name string) {
	d := &s.device
	if d.spec == nil {
		return
	}
	*d = device{spec: d.spec, seed: stream(s.robot.scene.seed, s.robot.name, name)}
	s.zero()
}

// counts reports whether the device has a zero point.
func (s *sensor) counts() bool {
	return s.device.spec != nil && (s.kind == "odometry" || s.kind == "inertial" || s.kind == "encoder")
}

// zero makes a device count from where the robot is.
func (s *sensor) zero() {
	d := &s.device
	switch s.kind {
	case "encoder":
		d.zero[0] = s.robot.joints[d.spec.Joint].motor.position
	case "inertial":
		d.zero = s.pose().Rotation
	case "odometry":
		if d.spec.Drive != nil {
			d.drive = kinematics.Odometer{}
			s.roll()
			return
		}
		d.wheel, d.place = s.ticks(), [3]float64{}
	}
}

// Zero sets the zero point of sensor i of the layout to its present state: odometry, an INU or an encoder. Its reading
// changes at once.
func (b *Body) Zero(i int) error {
	s, err := b.sensor("zero", i, (*sensor).counts, "got a sensor that does not count")
	if err != nil {
		return err
	}
	s.zero()
	// The last reading was against the old zero.
	clear(b.sensed[s.from:][:s.count])
	return nil
}

// Pace sets a scanner's interval, from its next reading on, in place of the file's interval_s. Call it between two
// cycles.
func (b *Body) Pace(i int, every time.Duration) error {
	s, err := b.sensor("pace", i, func(s *sensor) bool {
		return s.kind == "range" && s.device.spec != nil && every > 0
	},
		"got a sensor that does not scan")
	if err != nil {
		return err
	}
	d := &s.device
	own := *d.spec // the model's is shared by all robots of it
	own.Interval = every.Seconds()
	d.spec, d.wait = &own, 0
	return nil
}

// measure reads a device when its interval has passed.
func (s *sensor) measure(to []float64, dt float64) {
	d := &s.device
	d.age += dt
	d.old += dt
	if s.kind == "battery" {
		d.old = 0
		to[0] = math.Max(0, d.spec.Life-d.age)
		return
	}
	if dt == 0 && (s.kind == "rfid" || s.kind == "victim") {
		clear(to) // a reading without elapsed time would use up single-shot tags
		return
	}
	// A part of a nanosecond is the rounding of sums, not a cycle.
	if d.wait -= dt; d.wait > 1e-9 && dt > 0 {
		return
	}
	// On a grid, so that no reading is lost to rounding; a grid that was missed begins again.
	if d.wait += d.spec.Interval; d.wait < 0 || dt == 0 {
		d.wait = d.spec.Interval
	}
	d.old = 0
	switch s.kind {
	case "sonar":
		to[0] = s.sonar()
	case "infrared":
		to[0] = s.beam()
	case "range":
		s.scan(to)
	case "contact":
		to[0] = s.pressed()
	case "encoder":
		// The manual: the real angle divided by the resolution; noise is of the angle, so ticks stay whole.
		turned := s.robot.joints[d.spec.Joint].motor.position - d.zero[0]
		to[0] = math.Trunc(d.measured(turned) / d.spec.Resolution)
	case "inertial":
		// In the axes that the robot had at its zero, not in the world's.
		turned := hal.Pose{Rotation: d.zero}.Inverse().Times(s.pose())
		for i, a := range turned.RollPitchYaw() {
			to[i] = d.measured(a)
		}
	case "odometry":
		if d.spec.Drive != nil {
			s.roll()
			copy(to, d.drive.Place[:])
			return
		}
		s.deadReckon()
		copy(to, d.place[:])
	default:
		s.notice(to)
	}
}

// ticks are the encoder counts of odometry's wheels.
func (s *sensor) ticks() [2]float64 {
	d := s.device.spec
	count := func(joint int) float64 { return math.Floor(s.robot.joints[joint].motor.position / d.Resolution) }
	return [2]float64{count(d.Left), count(d.Right)}
}

// roll adds the turn of the wheels of a Drive to the estimate. Its motors count the turns.
func (s *sensor) roll() {
	s.device.drive.Advance(s.device.spec.Drive, func(joint int) float64 { return s.robot.joints[joint].position() },
		func(int) bool { return false })
}

// deadReckon adds the turn of the wheels to the estimate, by the simple algorithm of the manual (8.4.1). It assumes a
// straight path between two estimates, along the heading at its start, and wheels without slip.
func (s *sensor) deadReckon() {
	d, now := &s.device, s.ticks()
	way := float64(d.spec.Resolution * d.spec.Radius)
	left, right := float64((now[0]-d.wheel[0])*way), float64((now[1]-d.wheel[1])*way)
	d.wheel = now
	ahead := 0.5 * (left + right)
	d.place[0] += float64(ahead * exact.Cos(d.place[2]))
	d.place[1] += float64(ahead * exact.Sin(d.place[2]))
	d.place[2] += (right - left) / d.spec.Separation
}

package sim

import (
	"errors"
	"math"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/sim/actuator"
	"github.com/halyard-robotics/halyard/sim/exact"
	"github.com/halyard-robotics/halyard/sim/model"
)

// device is the state of a rescue robot's sensor after its last reading. It is copied with the snapshot.
type device struct {
	spec *model.Device // nil: a sensor only of sense.go
	wait float64       // s until it reads again
	old  float64       // s since it last read
	seed uint64        // of its noise
	age  float64       // s since the reset

	zero  [4]float64 // of an INU the attitude, of an encoder (first) the angle that counts as 0
	wheel [2]float64 // of odometry: the ticks of both wheels at the last estimate
	place [3]float64 // of odometry: x, y and heading
}

// rays reports whether the device casts any.
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

// restDevice puts a device into the state of the scene's seed.
func (b *Body) restDevice(s *sense, name string) {
	d := &s.device
	if d.spec == nil {
		return
	}
	*d = device{spec: d.spec, seed: stream(b.scene.seed, b.name, name)}
	b.zero(s)
}

// zero lets a device count from where the robot is.
func (b *Body) zero(s *sense) {
	d := &s.device
	switch s.kind {
	case "encoder":
		d.zero[0] = b.joints[d.spec.Joint].motor.position
	case "inertial":
		d.zero = b.axes(s).Rotation
	case "odometry":
		d.wheel, d.place = b.ticks(d.spec), [3]float64{}
	}
}

// Zero sets the zero point of a sensor of the layout to its present state: odometry, an INU or an encoder. Its reading
// changes at once.
func (b *Body) Zero(sensor int) error {
	if sensor < 0 || sensor >= len(b.senses) || !zeroed(b.senses[sensor].kind) || b.senses[sensor].device.spec == nil {
		return refused("zero", b.name, errors.New("got a sensor that does not count"))
	}
	// The last reading was against the old zero.
	s := &b.senses[sensor]
	b.zero(s)
	clear(b.sensed[s.from:][:s.count])
	return nil
}

// Pace lets a scanner read every so often, from its next reading on, in the place of its file's interval_s. Between two
// cycles.
func (b *Body) Pace(sensor int, every time.Duration) error {
	if sensor < 0 || sensor >= len(b.senses) || b.senses[sensor].kind != "range" || b.senses[sensor].device.spec == nil || every <= 0 {
		return refused("pace", b.name, errors.New("got a sensor that does not scan"))
	}
	d := &b.senses[sensor].device
	own := *d.spec // the model's is shared by all robots of it
	own.Interval = every.Seconds()
	d.spec, d.wait = &own, 0
	return nil
}

func zeroed(kind string) bool { return kind == "odometry" || kind == "inertial" || kind == "encoder" }

// measure lets a device read, if its time has come.
func (b *Body) measure(s *sense, to []float64, dt float64) {
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
		to[0] = b.sonar(s)
	case "infrared":
		to[0] = b.beam(s)
	case "range":
		b.scan(s, to)
	case "contact":
		to[0] = b.pressed(s)
	case "encoder":
		// The manual: the real angle divided by the resolution; noise is of the angle, so ticks stay whole.
		turned := b.joints[d.spec.Joint].motor.position - d.zero[0]
		to[0] = math.Trunc(d.measured(turned) / d.spec.Resolution)
	case "inertial":
		// In the axes that the robot had at its zero, not in the world's.
		turned := hal.Pose{Rotation: d.zero}.Inverse().Times(b.axes(s))
		for i, a := range turned.RollPitchYaw() {
			to[i] = d.measured(a)
		}
	case "odometry":
		b.reckon(d)
		copy(to, d.place[:])
	default:
		b.notice(s, to)
	}
}

// ticks are the encoder counts of odometry's wheels.
func (b *Body) ticks(d *model.Device) [2]float64 {
	return [2]float64{math.Floor(b.joints[d.Left].motor.position / d.Resolution),
		math.Floor(b.joints[d.Right].motor.position / d.Resolution)}
}

// reckon adds the turn of the wheels to the estimate, by the simple algorithm of the manual (8.4.1). It assumes a straight
// path between two estimates, along the heading at its start, and wheels without slip.
func (b *Body) reckon(d *device) {
	now := b.ticks(d.spec)
	way := float64(d.spec.Resolution * d.spec.Radius)
	left, right := float64((now[0]-d.wheel[0])*way), float64((now[1]-d.wheel[1])*way)
	d.wheel = now
	ahead := 0.5 * (left + right)
	d.place[0] += float64(ahead * exact.Cos(d.place[2]))
	d.place[1] += float64(ahead * exact.Sin(d.place[2]))
	d.place[2] += (right - left) / d.spec.Separation
}

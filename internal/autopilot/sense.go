package autopilot

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/halyard-robotics/halyard/hal"
)

// Estimate is a body's state by its sensors; NaN: not known.
type Estimate struct {
	Position            [3]float64 // m in the world; without a pose sensor x and y are NaN
	Attitude            [4]float64 // quaternion w x y z, body in world
	Rates               [3]float64 // about the body's axes, rad/s
	AngularAcceleration [3]float64 // about the world's axes, rad/s²; from one cycle to the next
	Acceleration        [3]float64 // along the world's axes, without gravity, m/s²
	Pressure            float64    // Pa above that of the air
	Depth               float64    // m of the body's origin, downwards
}

const (
	gravity = 9.81 // m/s²
	// stale is the age at which the value of a faulty sensor is discarded: 12 cycles of control.
	stale = 250 * time.Millisecond
)

// senses are the sensors of a layout that a pilot reads, as indexes or hal.None.
type senses struct {
	layout              *hal.Layout
	imu, pressure, pose int
	perMetre            float64 // Pa
}

// bind finds the sensors: the first of each kind, or the one that is named.
func (s *senses) bind(l *hal.Layout, c *Config) error {
	*s = senses{layout: l, perMetre: c.PascalPerMetre}
	for _, want := range []struct {
		kind, name string
		count      int
		at         *int
	}{{"imu", c.IMU, 10, &s.imu}, {"pressure", c.Pressure, 1, &s.pressure}, {"pose", c.Pose, 13, &s.pose}} {
		*want.at = hal.None
		for i := range l.Sensors {
			k := &l.Sensors[i]
			if *want.at == hal.None && k.Kind == want.kind && k.Count >= want.count &&
				(want.name == "" || want.name == k.Name) {
				*want.at = i
			}
		}
		if *want.at == hal.None && want.name != "" {
			return fmt.Errorf("%s: no sensor %q of that kind", want.kind, want.name)
		}
	}
	if s.imu == hal.None && s.pose == hal.None {
		return fmt.Errorf("attitude: got neither imu nor pose, want a sensor of one of these kinds")
	}
	return nil
}

// fresh reports whether the last reading of sensor i is valid at time now. With a nil status all are valid.
func (s *senses) fresh(i int, status []hal.Status, now time.Duration) bool {
	if status == nil {
		return true
	}
	d := &status[len(s.layout.Actuators)+i]
	return d.Err == nil || d.Time >= 0 && now-d.Time <= stale
}

// posed are the values of the pose sensor, nil where they are not known.
func (s *senses) posed(measured []float64, status []hal.Status, now time.Duration) []float64 {
	if s.pose == hal.None || !s.fresh(s.pose, status, now) {
		return nil
	}
	k := &s.layout.Sensors[s.pose]
	return measured[k.First : k.First+k.Count]
}

// read is the state from measured at time now; outdated values are NaN. The imu has priority over the pose, and the
// pressure over its height: every vehicle has these, so the laws use the same sensors on a simulated one.
func (s *senses) read(measured []float64, status []hal.Status, now time.Duration) Estimate {
	nan := math.NaN()
	e := Estimate{Position: [3]float64{nan, nan, nan}, Attitude: [4]float64{nan, nan, nan, nan},
		Rates: [3]float64{nan, nan, nan}, Acceleration: [3]float64{nan, nan, nan}, Pressure: nan, Depth: nan}
	if s.pose != hal.None && s.fresh(s.pose, status, now) {
		e.fromPose(measured[s.layout.Sensors[s.pose].First:])
	}
	if s.imu != hal.None && s.fresh(s.imu, status, now) {
		k := &s.layout.Sensors[s.imu]
		e.fromIMU(measured[k.First:], k.Mount)
	}
	if s.pressure != hal.None && s.fresh(s.pressure, status, now) &&
		!math.IsNaN(measured[s.layout.Sensors[s.pressure].First]) {
		k := &s.layout.Sensors[s.pressure]
		e.Pressure = measured[k.First]
		e.Depth = e.Pressure / s.perMetre
		// add the sensor's height above the body's origin in the world
		if k.Mount.Position != ([3]float64{}) && !math.IsNaN(e.Attitude[0]) {
			e.Depth += hal.Pose{Rotation: e.Attitude}.Turn(k.Mount.Position)[2]
		}
	} else if !math.IsNaN(e.Position[2]) {
		e.Depth = -e.Position[2]
		e.Pressure = e.Depth * s.perMetre
	}
	if math.IsNaN(e.Position[2]) {
		e.Position[2] = -e.Depth
	}
	return e
}

// fromPose uses a pose sensor: ground truth of a simulated body, odometry of a real one.
func (e *Estimate) fromPose(v []float64) {
	copy(e.Position[:], v)
	if known(v[3:7]) && known(v[10:13]) {
		e.Attitude = unit([4]float64(v[3:7]))
		e.Rates = hal.Pose{Rotation: e.Attitude}.Inverse().Turn([3]float64(v[10:13]))
	}
}

// fromIMU rotates an imu's readings from its own axes to the body's and the world's. Away from the body's origin it
// also measures the acceleration of turns, which is not removed.
func (e *Estimate) fromIMU(v []float64, mount hal.Pose) {
	if known(v[:7]) {
		world := hal.Pose{Rotation: unit([4]float64(v[:4]))}
		e.Attitude = unit(world.Times(mount.Inverse()).Rotation)
		e.Rates = mount.Turn([3]float64(v[4:7]))
		if known(v[7:10]) {
			e.Acceleration = world.Turn([3]float64(v[7:10]))
			e.Acceleration[2] -= gravity
		}
	}
}

func known(v []float64) bool {
	return !slices.ContainsFunc(v, func(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) })
}

// heading is the yaw of an attitude, rad, -π..π; undefined when it points straight up or down.
func heading(q [4]float64) float64 {
	return math.Atan2(2*(float64(q[0]*q[3])+float64(q[1]*q[2])), 1-2*(float64(q[2]*q[2])+float64(q[3]*q[3])))
}

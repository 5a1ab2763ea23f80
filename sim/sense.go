package sim

import (
	"errors"
	"math"
	"time"

	"github.com/halyard-robotics/halyard/hal"
)

// sensor is one sensor of a robot that has bodies. A snapshot keeps a copy.
type sensor struct {
	robot        *Body
	number       int // of Body.sensors
	kind         string
	body         int      // of the robot
	mount        hal.Pose // in the body's frame
	axes         [][3]float64
	maxValue     float64 // clipping limit of an accelerometer; 0 = none
	constant     bool    // an accelerometer's gravity does not depend on the scene's
	first, count int     // in Frame.Measured
	from         int     // in Body.sensed

	speed [3]float64 // m/s, of an accelerometer's place at the end of the last Advance

	device device // of a rescue robot
}

// touching is the contact state of one body of a system.
type touching struct {
	any   bool
	force [3]float64 // N, world axes
}

// newSensors lists the sensors in the layout's order, by name.
func (b *Body) newSensors() {
	m := b.model
	for _, s := range b.layout.Sensors {
		x := sensor{robot: b, number: len(b.sensors), kind: s.Kind, first: s.First, count: s.Count, from: len(b.sensed)}
		b.sensed = append(b.sensed, make([]float64, s.Count)...)
		for i := range m.Accelerometers {
			if a := &m.Accelerometers[i]; s.Kind == "accelerometer" && a.Name == s.Name {
				x.body, x.mount, x.axes = a.Body, hal.Pose{Position: a.Position}, a.Axes
				x.maxValue, x.constant = a.Range, a.Constant
			}
		}
		for i := range m.Sensors {
			if k := &m.Sensors[i]; k.Kind == s.Kind && k.Name == s.Name {
				x.body, x.mount, x.device.spec = k.Body, k.Pose, k.Device
			}
		}
		b.sensors = append(b.sensors, x)
	}
	b.found, b.looks = make([]func(Found), len(b.sensors)), make([]func([]SeenPart), len(b.sensors))
}

// sensor returns sensor i if it is one that fits; else the error of the operation op.
func (b *Body) sensor(op string, i int, fits func(*sensor) bool, fault string) (*sensor, error) {
	if i < 0 || i >= len(b.sensors) || !fits(&b.sensors[i]) {
		return nil, refused(op, b.name, errors.New(fault))
	}
	return &b.sensors[i], nil
}

// resetSensors sets the sensors' readings of a robot at rest: gravity and pose.
func (b *Body) resetSensors() {
	for i := range b.sensors {
		s := &b.sensors[i]
		s.speed = [3]float64{}
		s.resetDevice(b.layout.Sensors[i].Name)
	}
	b.scene.sight.fresh, b.dropped = false, 0
	b.sense(0)
}

// sense lets the sensors of all robots read, at the end of an Advance over dt.
func (s *Scene) sense(dt time.Duration) {
	if s.system == nil {
		return
	}
	s.sumForces()
	s.sight.fresh = false
	for _, b := range s.bodies {
		b.sense(dt.Seconds())
	}
}

// sumForces sums up the contact forces of the last step on each body.
func (s *Scene) sumForces() {
	clear(s.touching)
	if s.fault != nil {
		return
	}
	for i := range s.system.Touches() {
		t := s.system.Touch(i)
		for side, g := range [...]int32{t.Contact.A, t.Contact.B} {
			body := s.system.Geom(int(g)).Body
			if body < 0 {
				continue
			}
			to := &s.touching[body]
			to.any = true
			for k, f := range t.Force {
				to.force[k] += float64(float64(1-2*side) * f)
			}
		}
	}
}

// sense reads the robot's sensors; dt is how long the last Advance was, 0 after a reset.
func (b *Body) sense(dt float64) {
	for i := range b.sensors {
		s := &b.sensors[i]
		if to := b.sensed[s.from:][:s.count]; s.device.spec != nil {
			s.measure(to, dt)
		} else {
			s.read(to, dt)
		}
	}
}

// read sets the values of a sensor without device settings.
func (s *sensor) read(to []float64, dt float64) {
	b := s.robot
	switch s.kind {
	case "accelerometer":
		a := b.Pose(s.body).Inverse().Turn(s.acceleration(dt))
		for i, axis := range s.axes {
			if to[i] = dot(axis, a); s.maxValue > 0 {
				to[i] = math.Max(-s.maxValue, math.Min(s.maxValue, to[i]))
			}
		}
	case "imu":
		at := s.pose()
		_, spin := s.velocity([3]float64{})
		back := at.Inverse()
		rate, push := back.Turn(spin), back.Turn(s.acceleration(dt))
		put(to, at.Rotation[:], rate[:], push[:])
	case "gyro":
		_, spin := s.velocity([3]float64{})
		turned := s.pose().Inverse().Turn(spin)
		put(to, turned[:])
	case "contact":
		to[0] = 0
		if b.scene.touching[b.at.body+s.body].any {
			to[0] = 1
		}
	case "force":
		turned := s.pose().Inverse().Turn(b.scene.touching[b.at.body+s.body].force)
		put(to, turned[:])
	case "body":
		centre := b.parts[s.body].CentreOfMass
		speed, _ := s.velocity(centre)
		place := b.Pose(s.body).Of(centre)
		put(to, place[:], speed[:])
	case "pose":
		at := s.pose()
		speed, spin := s.velocity(s.mount.Position)
		put(to, at.Position[:], at.Rotation[:], speed[:], spin[:])
	case "current":
		for k := range to {
			to[k] = b.joints[k].motor.current
		}
	}
}

// put copies the values to the beginning of to, one list after the other.
func put(to []float64, values ...[]float64) {
	for _, v := range values {
		to = to[copy(to, v):]
	}
}

// pose is where the sensor is in the world.
func (s *sensor) pose() hal.Pose { return s.robot.Pose(s.body).Times(s.mount) }

// Pose is where the frame of one of the robot's bodies is in the world.
func (b *Body) Pose(body int) hal.Pose { return hal.Pose(b.scene.system.Pose(b.at.body + body)) }

// velocity is that of a point of the sensor's body, given in its frame, and the body's angular velocity, in world axes.
func (s *sensor) velocity(point [3]float64) (speed, spin [3]float64) {
	speed, spin = s.robot.scene.system.Velocity(s.robot.at.body + s.body)
	arm := s.robot.Pose(s.body).Turn(point)
	for i := range speed {
		k, l := (i+1)%3, (i+2)%3
		speed[i] += float64(spin[k]*arm[l]) - float64(spin[l]*arm[k])
	}
	return speed, spin
}

// acceleration is the proper acceleration at the sensor, in world axes.
func (s *sensor) acceleration(dt float64) [3]float64 {
	before := s.speed
	s.speed, _ = s.velocity(s.mount.Position)
	gravity := s.robot.scene.gravity
	if s.constant {
		gravity = [3]float64{2: -9.81}
	}
	return proper(s.speed, before, gravity, dt)
}

// proper is a proper acceleration: the change of speed over the last Advance, like the filter of a real board, minus
// gravity. The instantaneous value would be dominated by contact noise.
func proper(speed, before, gravity [3]float64, dt float64) (a [3]float64) {
	for k := range a {
		if dt > 0 {
			a[k] = (speed[k] - before[k]) / dt
		}
		a[k] -= gravity[k]
	}
	return a
}

package sim

import (
	"math"
	"time"

	"github.com/halyard-robotics/halyard/hal"
)

// sense is one sensor of a robot that has bodies.
type sense struct {
	kind         string
	body         int      // of the robot
	mount        hal.Pose // in the body's frame
	axes         [][3]float64
	maxValue     float64 // clipping limit of an accelerometer; 0 = none
	first, count int     // in Frame.Measured
	from         int     // in Body.sensed

	speed [3]float64 // m/s, of an accelerometer's place at the end of the last Advance

	device device // of a rescue robot
	number int    // of Body.senses
}

// touching is the contact state of one body of a system.
type touching struct {
	any   bool
	force [3]float64 // N, world axes
}

// findSenses lists the sensors in the layout's order, by name.
func (b *Body) findSenses() {
	m := b.model
	for _, s := range b.layout.Sensors {
		x := sense{kind: s.Kind, first: s.First, count: s.Count, from: len(b.sensed), number: len(b.senses)}
		b.sensed = append(b.sensed, make([]float64, s.Count)...)
		for i := range m.Accelerometers {
			if a := &m.Accelerometers[i]; s.Kind == "accelerometer" && a.Name == s.Name {
				x.body, x.mount, x.axes, x.maxValue = a.Body, hal.Pose{Position: a.Position}, a.Axes, a.Range
			}
		}
		for i := range m.Sensors {
			if k := &m.Sensors[i]; k.Kind == s.Kind && k.Name == s.Name {
				x.body, x.mount, x.device.spec = k.Body, k.Pose, k.Device
			}
		}
		b.senses = append(b.senses, x)
	}
}

// restSenses sets the sensors' readings of a robot at rest: gravity and pose.
func (b *Body) restSenses() {
	for i := range b.senses {
		b.senses[i].speed = [3]float64{}
		b.restDevice(&b.senses[i], b.layout.Sensors[i].Name)
	}
	b.scene.sight.fresh, b.dropped = false, 0
	b.sense(0)
}

// sense lets the sensors of all robots read, at the end of an Advance over dt.
func (s *Scene) sense(dt time.Duration) {
	if s.system == nil {
		return
	}
	s.touch()
	s.sight.fresh = false
	for _, b := range s.bodies {
		b.sense(dt.Seconds())
	}
}

// touch sums up the contact forces of the last step on each body.
func (s *Scene) touch() {
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
	for i := range b.senses {
		s := &b.senses[i]
		to := b.sensed[s.from:][:s.count]
		if s.device.spec != nil {
			b.measure(s, to, dt)
			continue
		}
		switch s.kind {
		case "accelerometer":
			b.accelerometer(s, to, dt)
		case "imu":
			b.inertial(s, to, dt)
		case "gyro":
			_, spin := b.motion(s.body, [3]float64{})
			turned := b.axes(s).Inverse().Turn(spin)
			copy(to, turned[:])
		case "contact":
			to[0] = 0
			if b.scene.touching[b.at.body+s.body].any {
				to[0] = 1
			}
		case "force":
			turned := b.axes(s).Inverse().Turn(b.scene.touching[b.at.body+s.body].force)
			copy(to, turned[:])
		case "body":
			at, centre := b.Pose(s.body), b.parts[s.body].CentreOfMass
			speed, _ := b.moving(s.body, at, centre)
			place := at.Of(centre)
			copy(to, place[:])
			copy(to[3:], speed[:])
		case "pose":
			at := b.axes(s)
			speed, spin := b.motion(s.body, s.mount.Position)
			copy(to, at.Position[:])
			copy(to[3:], at.Rotation[:])
			copy(to[7:], speed[:])
			copy(to[10:], spin[:])
		case "current":
			for k := range to {
				to[k] = b.joints[k].motor.current
			}
		}
	}
}

// axes are a sensor's in the world.
func (b *Body) axes(s *sense) hal.Pose { return b.Pose(s.body).Times(s.mount) }

// Pose is where the frame of one of the robot's bodies is in the world.
func (b *Body) Pose(body int) hal.Pose { return hal.Pose(b.scene.system.Pose(b.at.body + body)) }

// motion is the velocity of a point of a body, given in its frame, and the body's angular velocity, in world axes.
func (b *Body) motion(body int, point [3]float64) (speed, spin [3]float64) {
	return b.moving(body, b.Pose(body), point)
}

// moving is motion of a body that is at a pose.
func (b *Body) moving(body int, at hal.Pose, point [3]float64) (speed, spin [3]float64) {
	speed, spin = b.scene.system.Velocity(b.at.body + body)
	arm := at.Turn(point)
	for i := range speed {
		k, l := (i+1)%3, (i+2)%3
		speed[i] += float64(spin[k]*arm[l]) - float64(spin[l]*arm[k])
	}
	return speed, spin
}

// proper is the proper acceleration at a sensor's position in world axes: the change of speed over the last Advance, like
// the filter of a real board, minus gravity. The instantaneous value would be dominated by contact noise.
func (b *Body) proper(s *sense, at hal.Pose, dt float64) [3]float64 {
	speed, _ := b.moving(s.body, at, s.mount.Position)
	var a [3]float64
	for k := range a {
		if dt > 0 {
			a[k] = (speed[k] - s.speed[k]) / dt
		}
		a[k] -= b.scene.gravity[k]
	}
	s.speed = speed
	return a
}

func (b *Body) accelerometer(s *sense, to []float64, dt float64) {
	at := b.Pose(s.body)
	a := at.Inverse().Turn(b.proper(s, at, dt))
	for i, axis := range s.axes {
		v := float64(axis[0]*a[0]) + float64(axis[1]*a[1]) + float64(axis[2]*a[2])
		if s.maxValue > 0 {
			v = math.Max(-s.maxValue, math.Min(s.maxValue, v))
		}
		to[i] = v
	}
}

func (b *Body) inertial(s *sense, to []float64, dt float64) {
	at := b.axes(s)
	_, spin := b.motion(s.body, [3]float64{})
	back := at.Inverse()
	rate, push := back.Turn(spin), back.Turn(b.proper(s, b.Pose(s.body), dt))
	copy(to, at.Rotation[:])
	copy(to[4:], rate[:])
	copy(to[7:], push[:])
}

package sim

import (
	"errors"
	"math"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/sim/actuator"
	"github.com/halyard-robotics/halyard/sim/collide"
	"github.com/halyard-robotics/halyard/sim/dynamics"
	"github.com/halyard-robotics/halyard/sim/model"
)

// Body is one robot of a Scene. It is a hal.Body and a hal.Follower.
type Body struct {
	scene  *Scene
	name   string
	model  *model.Robot // in use until the next reset; read-only
	pose   hal.Pose
	layout *hal.Layout
	joints []Joint
	next   *model.Robot       // source of model at the next reset; read-only
	stale  bool               // next was changed since the last reset
	drawn  int64              // the seed of model
	supply []*actuator.Supply // the robot's, then those of its own that joints have

	// The robot's bodies in the scene's system; empty if each joint has its own load.
	parts   []model.Body // those of model
	root    int
	at      span
	placed  bool // at is that of a system
	pins    []pin
	sensors []sensor
	sensed  []float64          // one a channel of the sensors, as of the end of the last Advance
	fault   error              // why its joints have torque off until the next reset
	group   uint32             // of its geoms, for rays
	dropped int                // of its RFID tags
	found   []func(Found)      // one a sensor; nil = no listener
	looks   []func([]SeenPart) // likewise
	seen    []SeenPart         // scratch of looks
	fov     []float64          // rad, one a camera
	lit     bool               // its headlight is on

	// The measured motion of a real twin: its root goes to goal in goalIn, where led.
	led    bool
	goal   hal.Pose
	goalIn time.Duration

	twin    twinState
	virtual virtualContact

	saved  snapshot
	alarms []error // one a joint: the error in Status while the alarm is active
	shown  []actuator.Alarm
}

// pin fixes a part in the world.
type pin struct {
	on   bool
	pose hal.Pose
}

func newBody(scene *Scene, name string, m *model.Robot, pose hal.Pose) *Body {
	b := &Body{
		scene: scene, name: name, model: m, pose: pose, layout: m.Layout(), joints: make([]Joint, len(m.Joints)),
		alarms: make([]error, len(m.Joints)), shown: make([]actuator.Alarm, len(m.Joints)), next: m, stale: true,
		root: m.Root(), pins: make([]pin, len(m.Bodies)),
	}
	for _, s := range append([]model.Supply{m.Supply}, m.Supplies...) {
		b.supply = append(b.supply, actuator.NewSupply(s.Volts, s.Resistance))
	}
	for i := range m.Joints {
		b.joints[i] = newJoint(&m.Joints[i], b.supply[m.Joints[i].Supply])
	}
	b.redraw(scene.seed)
	b.newSensors()
	for i := range m.Cameras {
		b.fov = append(b.fov, m.Cameras[i].FOV)
	}
	return b
}

// place finds the robot in a system.
func (b *Body) place(m *dynamics.Model) {
	b.at.q, b.at.v, b.at.coords, b.at.dofs = math.MaxInt, math.MaxInt, 0, 0
	for i := range b.parts {
		p := m.Joint(b.at.body + i)
		if p.Kind == dynamics.Weld {
			continue
		}
		b.at.q, b.at.v = min(b.at.q, p.Q), min(b.at.v, p.V)
		b.at.coords, b.at.dofs = b.at.coords+p.Coords, b.at.dofs+p.DOFs
	}
	if b.at.dofs == 0 {
		b.at.q, b.at.v = 0, 0
	}
	for i := range b.joints {
		j := &b.joints[i]
		if child := j.Model.Child; child != hal.None && j.Model.Kind != model.Weld {
			p := m.Joint(b.at.body + child)
			j.dof, j.coord = p.V, p.Q
			if j.Model.Motor != nil && j.Model.Motor.Kind == model.Bristle {
				j.swing = b.swing(j.Model)
			}
		}
	}
}

// swing is the contribution of the mass of a joint's child to the inertia about the axis, kg·m².
func (b *Body) swing(j *model.Joint) float64 {
	child := &b.parts[j.Child]
	arm := child.Pose.Of(child.CentreOfMass)
	along, square := 0.0, 0.0
	for k := range arm {
		arm[k] -= j.Anchor[k]
		along += float64(arm[k] * j.Axis[k])
		square += float64(arm[k] * arm[k])
	}
	return float64(child.Mass * (square - float64(along*along)))
}

// Name is the robot's name in its scene.
func (b *Body) Name() string { return b.name }

// Layout is the robot's.
func (b *Body) Layout() *hal.Layout { return b.layout }

// Root is the name of the body that the others are connected to, "" without bodies.
func (b *Body) Root() string {
	if len(b.parts) == 0 {
		return ""
	}
	return b.model.Bodies[b.root].Name
}

// Driven reports whether all joints have torque.
func (b *Body) Driven() bool {
	for i := range b.joints {
		if j := &b.joints[i]; j.Servo != nil && !j.Servo.Enable || j.Servo == nil && !j.enabled {
			return false
		}
	}
	return true
}

// Joint returns joint i, in the model's order.
func (b *Body) Joint(i int) *Joint { return &b.joints[i] }

// Supply is the robot's supply, which its servos share but for those with one of their own.
func (b *Body) Supply() *actuator.Supply { return b.supply[0] }

// Read returns the state at the end of the last Advance, which is the frame's time: positions as the encoders measure
// them, torques as the servos' own sensors do, all other values exact. A sensor with its own interval returns its last
// reading.
func (b *Body) Read(f *hal.Frame) error {
	b.scene.shared.Lock()
	defer b.scene.shared.Unlock()
	for i := range b.joints {
		a, j := &b.layout.Actuators[i], &b.joints[i]
		f.Status[i] = hal.Status{Time: f.Time, Err: b.fault}
		s := j.Servo
		if s == nil {
			m := &j.motor
			f.Measured[a.Position] = m.position
			if a.Wraps {
				f.Measured[a.Position] = math.Remainder(m.position, 2*math.Pi)
			}
			f.Measured[a.Velocity], f.Measured[a.Torque] = m.velocity, m.given
			f.Measured[a.Voltage], f.Measured[a.Temperature] = b.supply[0].Volts, actuator.Ambient
			if j.Model.Unsensed {
				f.Measured[a.Torque] = math.NaN()
			}
			continue
		}
		f.Measured[a.Position] = s.MeasuredPosition()
		f.Measured[a.Velocity] = s.Velocity
		f.Measured[a.Torque] = s.MeasuredTorque()
		f.Measured[a.Voltage] = s.Volts()
		f.Measured[a.Temperature] = s.Temperature
		if s.Alarm != b.shown[i] {
			b.shown[i] = s.Alarm
			b.alarms[i] = b.alarm(i, s.Alarm)
		}
		if b.fault == nil {
			f.Status[i].Err = b.alarms[i]
			f.Status[i].Warns = b.alarms[i] != nil && s.Alarm&s.Shutdown == 0
		}
	}
	if len(b.fov) > 0 {
		b.scene.gallery.show(b.scene.system, f.Time)
	}
	for i := range b.sensors {
		s := &b.sensors[i]
		copy(f.Measured[s.first:s.first+s.count], b.sensed[s.from:])
		f.Status[len(b.joints)+i] = hal.Status{Time: f.Time - since(s.device.old), Err: b.fault}
	}
	return nil
}

// since is a number of seconds.
func since(seconds float64) time.Duration {
	return time.Duration(math.Round(seconds * float64(time.Second)))
}

// alarm is an alarm as an error; nil for none.
func (b *Body) alarm(i int, a actuator.Alarm) error {
	if a == 0 {
		return nil
	}
	e := &hal.Error{Kind: hal.BusFault, Joint: b.layout.Actuators[i].Name, Op: "alarm", Err: errors.New(a.String())}
	if a&b.joints[i].Servo.Shutdown != 0 {
		e.Try = "halyard reset"
	}
	return e
}

// Halt switches torque off for every joint that is not driven from outside. A simulated joint always acknowledges.
func (b *Body) Halt() error {
	for i := range b.joints {
		if j := &b.joints[i]; !j.driven {
			j.enable(false)
			if j.Servo != nil {
				j.Servo.Enable = false
			}
		}
	}
	return nil
}

// Follow makes joint i move like its real twin from the next Advance on; see hal.Follower. Its servo still computes the
// current and heat of that motion. A driven joint does not follow: its measurements are its own state.
func (b *Body) Follow(i int, position, velocity float64) {
	j := &b.joints[i]
	if j.driven {
		return
	}
	if !j.follows() && position-position == 0 {
		b.settle(i, position)
	}
	b.Hand(i, position, velocity)
}

// settle puts joint i at a position, at rest, with the passive joints that it moves.
func (b *Body) settle(i int, at float64) {
	j := &b.joints[i]
	if j.Servo != nil {
		j.Servo.Reset(at)
	} else {
		j.motor.position, j.motor.velocity, j.motor.goal = at, 0, at
	}
	if j.dof < 0 || b.scene.system == nil {
		return
	}
	s := b.scene.system
	s.Q[j.coord], s.V[j.dof] = j.Model.Sign*at, 0
	for k := range b.model.Passive {
		if p := &b.model.Passive[k]; p.Mimic != nil && p.Mimic.Joint == i && p.Kind != model.Weld {
			to := s.Model().Joint(b.at.body + p.Child)
			s.Q[to.Q], s.V[to.V] = float64(p.Sign*(float64(p.Mimic.Times*at)+p.Mimic.Plus)), 0
		}
	}
	s.Moved()
}

// FollowFrame lets the robot's frame go to a pose from the next Advance on; see hal.FrameFollower. A robot with a fixed
// base stays where it is.
func (b *Body) FollowFrame(p hal.Pose, in time.Duration) {
	if b.model.Fixed || len(b.parts) == 0 || !finite(p.Position[:]...) || !finite(p.Rotation[:]...) {
		return
	}
	if !b.led {
		if b.led = b.scene.Place(b.name, p) == nil; !b.led {
			return
		}
	}
	b.goal, b.goalIn = p.Times(b.parts[b.root].Pose), in
}

// Hand moves joint i like a hand stronger than its servo, driven or not, from the next Advance on: position in rad,
// velocity in rad/s. NaN releases it.
func (b *Body) Hand(i int, position, velocity float64) {
	j := &b.joints[i]
	if math.IsInf(position, 0) || math.IsNaN(position) {
		position = math.NaN()
	}
	if math.IsNaN(velocity) || math.IsInf(velocity, 0) {
		velocity = 0
	}
	if j.Model.Wraps && !math.IsNaN(position) { // its twin counts no turns
		position = j.position() + math.Remainder(position-j.position(), 2*math.Pi)
	}
	j.followPosition, j.followVelocity = position, velocity
}

// begin is called once an Advance over dt, before its first sub-step.
func (b *Body) begin(dt time.Duration) {
	for i := range b.joints {
		j := &b.joints[i]
		j.followFrom, j.followFast = j.position(), j.velocity()
		j.carried, j.parts = 0, 0
		if j.Servo == nil && dt > 0 && b.fault == nil {
			j.run(dt.Seconds())
		}
	}
	if b.led {
		b.scene.system.FollowBody(b.at.body+b.root, collide.Pose(b.goal), max(dt, b.goalIn).Seconds())
	}
}

// drive prepares sub-step i of n, of h seconds.
func (b *Body) drive(h float64, i, n int) {
	for k := range b.joints {
		if j := &b.joints[k]; j.dof < 0 {
			j.alone(h, i, n)
		} else {
			j.drive(b.scene.system, h, i, n, b.fault != nil)
		}
	}
}

// finishSubstep ends a sub-step for all joints, then for their supplies.
func (b *Body) finishSubstep(h float64) {
	for i := range b.joints {
		if j := &b.joints[i]; j.dof >= 0 {
			j.finishSubstep(b.scene.system, h)
			if j.weighed {
				j.carried, j.parts = j.carried-float64(j.Model.Sign*b.scene.system.Carried(j.dof)), j.parts+1
			}
		}
	}
	for _, s := range b.supply {
		s.FinishStep(h)
	}
}

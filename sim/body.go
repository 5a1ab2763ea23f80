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
	model  *model.Robot // as it is until the next reset; nobody writes to it
	pose   hal.Pose
	layout *hal.Layout
	joints []Joint
	next   *model.Robot     // what the next reset draws model from; nobody writes to it
	stale  bool             // next was changed since the last reset
	drawn  int64            // the seed of model
	supply *actuator.Supply // one robot, one supply

	// The robot's bodies in the scene's system; none where each joint has a load of its own.
	parts   []model.Body // those of model
	root    int
	at      span
	placed  bool // at is that of a system
	pins    []pin
	senses  []sense
	sensed  []float64     // one a channel of the sensors, as of the end of the last Advance
	fault   error         // why its joints are limp until the next reset
	group   uint32        // of its geoms, for rays
	dropped int           // of its RFID tags
	found   []func(Found) // one a sensor, or none
	fov     []float64     // rad, one a camera
	lit     bool          // its headlight is on
	savedAt span

	saved    []snapshot // one a joint; empty = none
	savedSup actuator.Supply
	savedRun savedRun
	alarms   []error // one a joint, in words: what Status says while the alarm lasts
	shown    []actuator.Alarm
}

// savedRun is what a snapshot keeps of a robot as a whole.
type savedRun struct {
	sensed  []float64
	senses  []sense
	fault   error
	drawn   figures
	dropped int
}

// pin fixes a part in the world.
type pin struct {
	on   bool
	pose hal.Pose
}

func newBody(scene *Scene, name string, m *model.Robot, pose hal.Pose) *Body {
	b := &Body{
		scene: scene, name: name, model: m, pose: pose, layout: m.Layout(),
		supply: actuator.NewSupply(m.Supply.Volts, m.Supply.Resistance),
		joints: make([]Joint, len(m.Joints)),
		alarms: make([]error, len(m.Joints)), shown: make([]actuator.Alarm, len(m.Joints)),
		next: m, stale: true, root: m.Root(), pins: make([]pin, len(m.Bodies)),
	}
	for i := range m.Joints {
		b.joints[i] = newJoint(&m.Joints[i], b.supply)
	}
	b.redraw(scene.seed)
	b.findSenses()
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

// swing is what the mass of a joint's child adds to the inertia about the axis, kg·m².
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

// Joint returns joint i, in the model's order.
func (b *Body) Joint(i int) *Joint { return &b.joints[i] }

// Supply is the supply that all the robot's servos share.
func (b *Body) Supply() *actuator.Supply { return b.supply }

// Write commands every joint that is not driven from outside.
func (b *Body) Write(f *hal.Frame) error {
	for i := range b.joints {
		if j := &b.joints[i]; !j.driven {
			j.command(&b.layout.Actuators[i], f, f.Enable[i])
		}
	}
	return nil
}

// command takes one joint's inputs out of a frame.
func (j *Joint) command(a *hal.Actuator, f *hal.Frame, enable bool) {
	j.enable(enable)
	if a.TorqueLimit != hal.None {
		if v := f.Inputs[a.TorqueLimit]; !math.IsNaN(v) {
			j.limit = v
		}
	}
	for m, in := range a.Goal {
		if in == hal.None {
			continue
		}
		if v := f.Inputs[in]; !math.IsNaN(v) && !math.IsInf(v, 0) {
			j.tell(hal.Mode(m), v)
			break
		}
	}
	if j.Servo != nil {
		j.limitEffort(a)
	}
}

// enable switches the torque on where the joint is, or off.
func (j *Joint) enable(on bool) {
	if on == j.enabled {
		return
	}
	j.enabled = on
	s := j.Servo
	if s == nil {
		// Simloid's motors have no goal before the first one: they are as without voltage
		j.motor.tell(hal.DutyMode, 0)
		if on && j.Model.Motor.Kind == model.Ideal {
			j.motor.tell(hal.PositionMode, j.motor.position)
		}
		return
	}
	// An alarm cuts the torque; it does not return by itself, but by switching off and on, which clears it; if its
	// cause lasts it comes again.
	s.Enable = on
	if on {
		s.ClearAlarm()
		s.Mode, s.GoalPosition = hal.PositionMode, s.MeasuredPosition()
	}
}

// tell gives the joint's servo or motor a goal of mode m.
func (j *Joint) tell(m hal.Mode, v float64) {
	s := j.Servo
	if s == nil {
		j.motor.tell(m, v)
		return
	}
	s.Mode = m
	switch m {
	case hal.PositionMode:
		s.GoalPosition = v
	case hal.VelocityMode:
		s.GoalVelocity = v
	case hal.TorqueMode:
		s.GoalCurrent = j.effort(v)
	case hal.DutyMode:
		s.GoalDuty = v
	}
}

// limitEffort hands the torque limit to the firmware in the form that it knows: a share of the greatest current, or of
// the supply.
func (j *Joint) limitEffort(a *hal.Actuator) {
	s := j.Servo
	if s.Spec.CurrentControl {
		s.Limit = math.Max(0, math.Min(1, j.limit/a.Limits.MaxTorque))
		return
	}
	towards := s.GoalPosition - s.Position
	switch s.Mode {
	case hal.VelocityMode:
		towards = s.GoalVelocity
	case hal.DutyMode:
		towards = s.GoalDuty
	case hal.TorqueMode:
		towards = s.GoalCurrent
	}
	s.Limit = a.DutyLimit(j.limit, s.Velocity, towards)
}

// effort is the servo's effort for a torque, N·m.
func (j *Joint) effort(torque float64) float64 {
	if k := j.Servo.Spec; !k.CurrentControl {
		return torque / k.StallTorque
	}
	return torque / j.rated
}

// Read tells the state at the end of the last Advance, which is the frame's time: positions as the encoders say them, all
// else as it truly is.
func (b *Body) Read(f *hal.Frame) error {
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
			f.Measured[a.Voltage], f.Measured[a.Temperature] = b.supply.Volts, actuator.Ambient
			continue
		}
		f.Measured[a.Position] = s.MeasuredPosition()
		f.Measured[a.Velocity] = s.Velocity
		f.Measured[a.Torque] = s.Torque
		f.Measured[a.Voltage] = s.Volts()
		f.Measured[a.Temperature] = s.Temperature
		if s.Alarm != b.shown[i] {
			b.shown[i] = s.Alarm
			b.alarms[i] = b.alarm(i, s.Alarm)
		}
		if b.fault == nil {
			f.Status[i].Err = b.alarms[i]
		}
	}
	if len(b.fov) > 0 {
		b.scene.show(f.Time)
	}
	for i := range b.senses {
		s := &b.senses[i]
		copy(f.Measured[s.first:s.first+s.count], b.sensed[s.from:])
		f.Status[len(b.joints)+i] = hal.Status{Time: f.Time, Err: b.fault}
	}
	return nil
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

// Halt takes the torque off every joint that is not driven from outside. A simulated joint always acknowledges.
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

// Follow lets joint i move as its real twin does from the next Advance on; see hal.Follower. Its servo still feels
// what that takes of current and heat. A driven joint follows nobody: what is measured of it is itself.
func (b *Body) Follow(i int, position, velocity float64) {
	j := &b.joints[i]
	if j.driven {
		return
	}
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
		j.followFrom = j.position()
		if j.Servo == nil && dt > 0 && b.fault == nil {
			j.run(dt.Seconds())
		}
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

// settle ends a sub-step for all joints, then for their supply.
func (b *Body) settle(h float64) {
	for i := range b.joints {
		if j := &b.joints[i]; j.dof >= 0 {
			j.settle(b.scene.system, h)
		}
	}
	b.supply.Settle(h)
}

// reset puts the robot into the state of seed. Each joint has a stream of its own, from the seed, the robot's name and
// the joint's, so that adding a robot or a joint changes no other. The scene has put the bodies into their built pose.
func (b *Body) reset(seed int64) {
	b.fault = nil
	b.supply.Volts = b.model.Supply.Volts
	b.supply.Reset()
	for i := range b.joints {
		b.joints[i].reset(stream(seed, b.name, b.joints[i].Model.Name))
	}
	if len(b.parts) > 0 {
		b.pose0()
	}
	b.restSenses()
}

// pose0 puts the robot's bodies where its joints are, at rest.
func (b *Body) pose0() {
	s := b.scene.system
	clear(s.V[b.at.v : b.at.v+b.at.dofs])
	for i := range b.joints {
		if j := &b.joints[i]; j.dof >= 0 {
			s.Q[j.coord] = j.Model.Sign * j.position()
			s.Release(j.dof)
		}
	}
	for i := range b.model.Passive {
		p := &b.model.Passive[i]
		if p.Kind == model.Weld {
			continue
		}
		at := 0.0
		if p.Mimic != nil {
			at = float64(p.Mimic.Times*b.joints[p.Mimic.Joint].position()) + p.Mimic.Plus
		}
		s.Q[s.Model().Joint(b.at.body+p.Child).Q] = p.Sign * at
	}
	if !b.model.Fixed {
		root := b.root
		at := b.pose.Times(b.parts[root].Pose)
		s.Place(b.at.body+root, collide.Pose(at), [3]float64{}, [3]float64{})
	}
	s.Moved()
}

func (b *Body) save() {
	if len(b.saved) != len(b.joints) {
		b.saved = make([]snapshot, len(b.joints))
		b.savedRun = savedRun{sensed: make([]float64, len(b.sensed)), senses: make([]sense, len(b.senses))}
	}
	for i := range b.joints {
		b.joints[i].save(&b.saved[i])
	}
	b.savedSup, b.savedAt, b.savedRun.fault = *b.supply, b.at, b.fault
	b.savedRun.dropped = b.dropped
	b.savedRun.drawn = figures{b.model, b.next, b.drawn}
	copy(b.savedRun.sensed, b.sensed)
	copy(b.savedRun.senses, b.senses)
}

func (b *Body) restore(seed int64) {
	if len(b.saved) == 0 {
		b.reset(seed)
		return
	}
	for i := range b.joints {
		b.joints[i].restore(&b.saved[i])
	}
	*b.supply, b.fault = b.savedSup, b.savedRun.fault
	copy(b.sensed, b.savedRun.sensed)
	copy(b.senses, b.savedRun.senses)
	b.dropped = b.savedRun.dropped
}

func (b *Body) setGravity(g [3]float64) {
	for i := range b.joints {
		if s := b.joints[i].Servo; s != nil {
			s.Gravity = -g[2]
		}
	}
}

// stream is the beginning of the random stream of one joint (FNV-1a over seed and names, splitmix64 follows).
func stream(seed int64, names ...string) uint64 {
	const prime = 1099511628211
	h := uint64(14695981039346656037)
	for i := range 8 {
		h = (h ^ uint64(seed)>>(8*i)&0xff) * prime
	}
	for _, name := range names {
		for i := range len(name) {
			h = (h ^ uint64(name[i])) * prime
		}
		h = (h ^ 0xff) * prime
	}
	return h
}

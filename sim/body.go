package sim

import (
	"errors"
	"math"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/sim/actuator"
	"github.com/halyard-robotics/halyard/sim/model"
)

// Body is one robot of a Scene. It is a hal.Body and a hal.Follower.
type Body struct {
	name   string
	model  *model.Robot
	pose   hal.Pose
	layout *hal.Layout
	joints []Joint
	supply *actuator.Supply // one robot, one supply

	saved    []snapshot // one a joint; empty = none
	savedSup actuator.Supply
	alarms   []error // one a joint, in words: what Status says while the alarm lasts
	shown    []actuator.Alarm
}

func newBody(name string, m *model.Robot, pose hal.Pose) *Body {
	b := &Body{
		name: name, model: m, pose: pose, layout: m.Layout(),
		supply: actuator.NewSupply(m.Supply.Volts, m.Supply.Resistance),
		joints: make([]Joint, len(m.Joints)),
		alarms: make([]error, len(m.Joints)), shown: make([]actuator.Alarm, len(m.Joints)),
	}
	for i := range m.Joints {
		b.joints[i] = newJoint(&m.Joints[i], b.supply)
	}
	return b
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
	s := j.Servo
	if enable && !j.enabled {
		// Torque goes on where the joint is. An alarm was the reason to switch off; if its cause lasts it comes again.
		s.ClearAlarm()
		s.Mode, s.GoalPosition = hal.PositionMode, s.MeasuredPosition()
	}
	// An alarm cuts the torque; it does not return by itself, but by switching off and on.
	if enable != j.enabled {
		s.Enable = enable
	}
	j.enabled = enable
	if a.TorqueLimit != hal.None {
		if v := f.Inputs[a.TorqueLimit]; !math.IsNaN(v) {
			j.limit = v
		}
	}
	defer j.limitEffort(a)
	for m, in := range a.Goal {
		if in == hal.None {
			continue
		}
		v := f.Inputs[in]
		if math.IsNaN(v) || math.IsInf(v, 0) {
			continue
		}
		s.Mode = hal.Mode(m)
		switch s.Mode {
		case hal.PositionMode:
			s.GoalPosition = v
		case hal.VelocityMode:
			s.GoalVelocity = v
		case hal.TorqueMode:
			s.GoalCurrent = j.effort(v)
		case hal.DutyMode:
			s.GoalDuty = v
		}
		return
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
	return torque / j.Servo.Spec.Kt
}

// Read tells the state at the end of the last Advance, which is the frame's time: positions as the encoders say them, all else as it truly is.
func (b *Body) Read(f *hal.Frame) error {
	for i := range b.joints {
		a, s := &b.layout.Actuators[i], b.joints[i].Servo
		f.Measured[a.Position] = s.MeasuredPosition()
		f.Measured[a.Velocity] = s.Velocity
		f.Measured[a.Torque] = s.Torque
		f.Measured[a.Voltage] = s.Volts()
		f.Measured[a.Temperature] = s.Temperature
		if s.Alarm != b.shown[i] {
			b.shown[i] = s.Alarm
			b.alarms[i] = b.alarm(i, s.Alarm)
		}
		f.Status[i] = hal.Status{Time: f.Time, Err: b.alarms[i]}
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
			j.Servo.Enable, j.enabled = false, false
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
	j.followPosition, j.followVelocity = position, velocity
}

// begin is called once an Advance, before its first sub-step.
func (b *Body) begin() {
	for i := range b.joints {
		b.joints[i].followFrom = b.joints[i].Servo.Position
	}
}

// step lets one sub-step of h seconds pass for all joints, then for their supply.
func (b *Body) step(h, done float64) {
	for i := range b.joints {
		b.joints[i].step(h, done)
	}
	b.supply.Settle(h)
}

// reset puts the robot into the state of seed. Each joint has a stream of its own, from the seed, the robot's name and
// the joint's, so that adding a robot or a joint changes no other.
func (b *Body) reset(seed int64) {
	b.supply.Volts = b.model.Supply.Volts
	b.supply.Reset()
	for i := range b.joints {
		b.joints[i].reset(stream(seed, b.name, b.joints[i].Model.Name))
	}
}

func (b *Body) save() {
	if len(b.saved) != len(b.joints) {
		b.saved = make([]snapshot, len(b.joints))
	}
	for i := range b.joints {
		b.joints[i].save(&b.saved[i])
	}
	b.savedSup = *b.supply
}

func (b *Body) restore(seed int64) {
	if len(b.saved) == 0 {
		b.reset(seed)
		return
	}
	for i := range b.joints {
		b.joints[i].restore(&b.saved[i])
	}
	*b.supply = b.savedSup
}

func (b *Body) setGravity(g float64) {
	for i := range b.joints {
		b.joints[i].Servo.Gravity = g
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

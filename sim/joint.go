package sim

import (
	"math"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/sim/actuator"
	"github.com/halyard-robotics/halyard/sim/dynamics"
	"github.com/halyard-robotics/halyard/sim/model"
)

// Joint is one joint of a Body in a Scene. Its servo's coordinates are the joint's: 0 rad is the centre tick.
type Joint struct {
	Servo *actuator.Servo // nil where a motor without a servo's firmware moves the joint
	Model *model.Joint

	driven bool    // an emulated device writes Servo; the body's Write and Halt do not
	rated  float64 // N·m a unit of the servo's effort, as drivers believe it: the data sheet's
	jointState

	// Where the joint is in the scene's system; dof is -1 where its load is its servo's own.
	dof, coord int
	before     float64 // rad/s, at the beginning of the step, in the joint's sense
	weighed    bool    // Load wants the mean of what it carries in the sub-steps of an Advance
	carried    float64 // N·m, their sum
	parts      int     // how many they are
	swing      float64 // kg·m², of a child of Simloid's: its mass at its centre, about the axis
}

// jointState is a joint's state in addition to its servo's and to the system's.
type jointState struct {
	motor    motor   // where Servo is nil
	enabled  bool    // Enable of the last Write
	limit    float64 // N·m, the torque limit that was commanded last
	external float64 // N·m, torque of the rest of the robot on the joint in the last step

	// The measured motion of a real twin; NaN position: none.
	followPosition, followVelocity float64
	followFrom, followFast         float64 // rad, rad/s: position and velocity at the beginning of this Advance
}

// savedJoint is a snapshot of a joint.
type savedJoint struct {
	jointState
	servo actuator.Servo
}

func newJoint(m *model.Joint, supply *actuator.Supply) Joint {
	j := Joint{Model: m, jointState: jointState{followPosition: math.NaN()}, dof: -1, coord: -1}
	if m.Servo != nil {
		j.Servo, j.rated = actuator.NewServo(m.Servo), m.Servo.Constant()
		j.Servo.Load, j.Servo.Noise, j.Servo.Supply = m.Load, m.Noise, supply
		if p := m.Preset; p != nil {
			j.Servo.ProfileVelocity, j.Servo.ProfileAcceleration, j.Servo.TimeBased, j.Servo.DutyLimit,
				j.Servo.Shutdown =
				p.ProfileVelocity, p.ProfileAcceleration, p.TimeBased, p.DutyLimit, p.Shutdown
		}
	}
	return j
}

// reset puts the joint at its start, or, with a Spread, at a random position near it drawn from seed.
func (j *Joint) reset(seed uint64) {
	at := j.Model.Start
	if j.Model.Spread > 0 {
		share := float64(actuator.Uniform(&seed))
		at += float64(2 * j.Model.Spread * (share - 0.5))
		at = math.Max(j.Model.Limits[0], math.Min(j.Model.Limits[1], at))
	}
	j.enabled, j.limit, j.external, j.before = false, j.Model.MaxTorque(), 0, 0
	j.followPosition, j.followVelocity, j.followFrom, j.followFast = math.NaN(), math.NaN(), at, 0
	if s := j.Servo; s != nil {
		s.Random = seed
		s.Reset(at)
		s.Limit = 1
		return
	}
	j.motor = motor{position: at, goal: at}
}

// drivable reports whether something outside may drive the joint.
func (j *Joint) drivable() bool {
	return j.Servo != nil || j.Model.Motor != nil && j.Model.Motor.Kind == model.Ideal
}

// Spin lets the ideal motor of a driven joint hold a speed, rad/s, with all its torque from the next Advance on; with
// on false it turns freely.
func (j *Joint) Spin(speed float64, on bool) {
	j.enabled = on
	j.motor.setGoal(hal.VelocityMode, speed)
}

// Turned is how far a joint with a motor has turned, rad, whole turns included.
func (j *Joint) Turned() float64 { return j.motor.position }

// velocity is how fast the joint moves, rad/s.
func (j *Joint) velocity() float64 {
	if j.Servo != nil {
		return j.Servo.Velocity
	}
	return j.motor.velocity
}

// position is where the joint is, rad.
func (j *Joint) position() float64 {
	if j.Servo != nil {
		return j.Servo.Position
	}
	return j.motor.position
}

// follows reports whether the joint moves as a real twin does.

// Load returns the torque of all that joint i carries on it, N·m, its mean over the last Advance, and the joint's
// position at its end, rad: weight, inertia and what touches it, without its own motor and friction. NaN where it does
// not follow, and at first.
func (b *Body) Load(i int) (torque, position float64) {
	b.scene.shared.Lock()
	defer b.scene.shared.Unlock()
	j := &b.joints[i]
	switch {
	case !j.follows() || b.fault != nil:
		return math.NaN(), math.NaN()
	case j.dof >= 0 && j.parts == 0:
		j.weighed = true
	case j.dof >= 0:
		return j.carried / float64(j.parts), j.position()
	case j.Servo != nil:
		return j.Servo.LoadTorque(), j.position()
	}
	return math.NaN(), math.NaN()
}

func (j *Joint) follows() bool { return !math.IsNaN(j.followPosition) }

// followed is the state of a following joint at the end of sub-step i of n of an Advance over span seconds: a cubic
// from where it was, as fast as it was, to where and as fast as it is to be, so that its forces do not jump.
func (j *Joint) followed(i, n int, span float64) (position, velocity float64) {
	if i == n {
		return j.followPosition, j.followVelocity
	}
	x := float64(i) / float64(n)
	a, b := float64(j.followFast*span), float64(j.followVelocity*span)
	way := j.followPosition - j.followFrom
	c, d := float64(3*way)-float64(2*a)-b, a+b-float64(2*way)
	return j.followFrom + float64(x*(a+float64(x*(c+float64(x*d))))),
		(a + float64(x*(float64(2*c)+float64(3*float64(x*d))))) / span
}

// alone runs one sub-step of a joint with its own load, outside the scene's system.
func (j *Joint) alone(h float64, i, n int) {
	if j.Servo == nil {
		return
	}
	if j.follows() {
		position, velocity := j.followed(i, n, float64(h*float64(n)))
		j.Servo.Follow(h, position, velocity)
		return
	}
	j.Servo.Step(h)
}

// drive sets the torques on the joint in the system for sub-step i of n; with off it has only its friction.
func (j *Joint) drive(s *dynamics.System, h float64, i, n int, off bool) {
	sign := j.Model.Sign
	d, tau := &s.Drive[j.dof], 0.0
	damping, dry, armature := j.Model.Damping, j.Model.Friction, j.Model.Armature
	d.Target, d.Slip = 0, 0
	j.before = float64(sign * s.V[j.dof])
	switch {
	case j.Servo != nil:
		c := j.Servo.Couple(h, j.external)
		if !off {
			tau, damping = c.Torque+j.Servo.External, damping+c.Damping
		}
		dry, armature = dry+c.Dry, armature+c.Armature
	case j.Model.Motor != nil:
		m := &j.motor
		m.damping = 0
		if off {
			m.torque, m.target = 0, 0
		}
		tau, dry, d.Target, d.Slip = m.torque, dry+m.bound, sign*m.target, m.slip
		if kp, kd, soft := m.soft(j.Model.Motor); !off && j.enabled && soft {
			tau, m.damping = m.spring(j.Model.Motor, kp, kd, h, j.limit, j.Model.Wraps)
			damping += m.damping
		}
	}
	s.Tau[j.dof], d.Damping, d.Dry, d.Armature = sign*tau, damping, dry, armature
	if j.follows() {
		position, velocity := j.followed(i, n, float64(h*float64(n)))
		s.Follow(j.dof, float64(sign*position), float64(sign*velocity))
	} else {
		s.Release(j.dof)
	}
}

// finishSubstep reads the joint's state after a sub-step, and the external torque on it, from the system.
func (j *Joint) finishSubstep(s *dynamics.System, h float64) {
	sign := j.Model.Sign
	q, v := float64(sign*s.Q[j.coord]), float64(sign*s.V[j.dof])
	friction, stopped := s.ConstraintForce(j.dof)
	d := &s.Drive[j.dof]
	push := float64(sign * s.Tau[j.dof])
	tau := push - float64(d.Damping*v)
	if j.Servo == nil {
		j.motor.position, j.motor.velocity = q, v
		j.motor.given = push - float64(j.motor.damping*v) + float64(sign*friction) // without the torque of a stop
		return
	}
	// While the gear turns with the joint, the rest after motor and friction is the torque of the load.
	j.external = float64(d.Armature*(v-j.before)/h) - tau - float64(sign*(friction+stopped))
	j.Servo.Moved(h, q, v, j.external)
}

func (j *Joint) save() savedJoint {
	s := savedJoint{jointState: j.jointState}
	if j.Servo != nil {
		s.servo = *j.Servo
	}
	return s
}

func (j *Joint) restore(s *savedJoint) {
	if j.Servo != nil {
		*j.Servo = s.servo
	}
	j.jointState = s.jointState
}

package sim

import (
	"math"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/sim/exact"
	"github.com/halyard-robotics/halyard/sim/model"
)

// motor is the state of a motor that no servo's firmware drives, in the joint's sense of turning.
type motor struct {
	position, velocity float64 // rad, rad/s
	given              float64 // N·m, in the last step, friction included

	mode     hal.Mode
	goal     float64    // of the mode
	bristle  float64    // deflection
	integral float64    // of the position error
	last     float64    // position error of the cycle before
	begun    bool       // a cycle has passed since the reset
	fresh    bool       // the controller has not run since its mode came
	gains    [3]float64 // kp, ki, kd of an ideal motor
	tuned    bool       // they take the place of its own law
	apart    [2]float64 // opening of the original's hinge, outwards and ahead, as shares of the arm that swings on it

	// Its output until the next cycle: a torque, and a target speed with at most the torque bound.
	torque, target, bound, slip float64
	damping                     float64 // N·m·s/rad, of its gains, in the last step
	current                     float64 // A
}

// follow is the speed, 1/s, at which an ideal motor's error decays.
const follow = 20

// run is the law of the joint's motor, once a cycle of dt seconds, as the original's is; see model.Motor.
func (j *Joint) run(dt float64) {
	m, k := &j.motor, j.Model.Motor
	if k.Kind == model.Ideal {
		m.ideal(k, j.enabled, j.limit, j.Model.Wraps)
		return
	}
	m.slip = k.Softness
	m.torque, m.target, m.bound, m.current = 0, 0, 0, 0
	if !m.begun { // the original's first step is before its first read of commands
		m.begun = true
		return
	}
	if j.enabled && m.mode == hal.PositionMode {
		m.pursue(k, j.limit)
	} else {
		m.rub(k, j.enabled && m.mode == hal.DutyMode)
	}
	m.stopped(j.Model.Stops)
	m.open(j.swing, dt, k.StallTorque())
}

// rub is the friction of the voltage mode, which a motor without voltage has as well.
func (m *motor) rub(k *model.Motor, driven bool) {
	// The original takes the speed from its sensor, which ends at 1: so did its recordings (90-voltage-steps).
	v := math.Max(-1, math.Min(1, m.velocity/model.SpeedUnit))
	if driven {
		m.push(k, v)
	}
	m.bristle = math.Max(-k.BristleMax, math.Min(k.BristleMax, m.bristle-v))
	m.target = m.bristle * k.BristleStiffness
	x := v / k.StictionSpeed
	m.bound = k.Coulomb + float64((k.Sticking-k.Coulomb)*exact.Exp(-float64(x*x))) + float64(k.Fluid*math.Abs(v))
}

// atStop is how near to a stop a joint counts as standing at it, rad: rounding must not decide.
const atStop = 1e-6

// stopped reproduces the original engine's behaviour of a motor with its joint at a stop or beyond. The engine then has
// no row for the motor, and applies its full torque towards its speed, also away from the stop (ODE manual,
// "FudgeFactor").
func (m *motor) stopped(stops [2]float64) {
	low, high := m.position <= stops[0]+atStop, m.position >= stops[1]-atStop
	if stops[0] >= stops[1] || !low && !high {
		return
	}
	// Towards the stop it pushes against a fixed end.
	if low && m.target > atStop {
		m.torque += m.bound
	} else if high && m.target < -atStop {
		m.torque -= m.bound
	}
	m.target, m.bound = 0, 0
}

// open adds the integration error of the original's engine at a fast joint, up to a tenth of the motor's torque in its
// recordings.
//
// The engine moves each body independently. In a step of dt the child, of mass m at r from the axis, moves straight on,
// and leaves the circle by r(1-cos φ) outwards and r(φ-sin φ) ahead, φ = ω dt. In the next step its hinge corrects a
// share ERP of that gap. The difference of the centre's momentum along the new direction to mrω is an impulse on the
// joint. At constant speed it vanishes; an accelerating joint loses a little, a decelerating one gains it.
func (m *motor) open(swing, dt, most float64) {
	turn := float64(m.velocity * dt)
	cos, sin := exact.Cos(turn), exact.Sin(turn)
	out, ahead := m.apart[0], m.apart[1]
	pull := worldERP / dt
	momentum := float64((m.velocity-float64(pull*ahead))*cos) + float64(float64(pull*out)*sin)
	far, on := float64((1-worldERP)*out)+(1-cos), float64((1-worldERP)*ahead)+(turn-sin)
	m.apart = [2]float64{float64(far*cos) + float64(on*sin), float64(on*cos) - float64(far*sin)}
	momentum += float64(pull * m.apart[1])
	// For a link that turns by a radian in a step this would be more than the original's hinges transmit.
	m.torque += math.Max(-most, math.Min(most, float64(swing/dt*(momentum-m.velocity))))
}

// push is the voltage mode: a torque that is then held.
func (m *motor) push(k *model.Motor, v float64) {
	u := float64(k.Volts * math.Max(-1, math.Min(1, m.goal)))
	if float64(v*u) > 0 {
		u -= float64(k.BackEMF * v)
	}
	m.current = math.Max(-k.Volts, math.Min(k.Volts, u)) * k.Conductance
	m.torque = k.TorqueConstant * m.current * 0.2 * k.Factor
}

// pursue is the position mode: a controller whose output is a speed, with torque up to the limit.
func (m *motor) pursue(k *model.Motor, limit float64) {
	// ODE gives a hinge's angle within ±half a turn, so the way to a set point is not always the short one.
	e := math.Remainder(m.goal, 2*math.Pi) - math.Remainder(m.position, 2*math.Pi)
	if m.fresh {
		m.integral, m.last, m.fresh = 0, e, false
	}
	m.integral = math.Max(-k.IntegralMax, math.Min(k.IntegralMax, m.integral+e))
	m.target = float64(k.Proportional*e) + float64(k.Integral*m.integral) - float64(k.Deriv*(e-m.last))
	m.last = e
	m.bound = limit
	m.current = m.given / (k.TorqueConstant * 0.2 * k.Factor)
}

// ideal is the law of a motor of which only its greatest torque and speed are known.
func (m *motor) ideal(k *model.Motor, enabled bool, limit float64, wraps bool) {
	m.torque, m.target, m.bound, m.slip = 0, 0, 0, 0
	if !enabled {
		return
	}
	limit = math.Min(limit, k.MaxTorque)
	if _, _, soft := m.soft(k); soft {
		return // see spring
	}
	speed := func(v float64) float64 { return math.Max(-k.MaxVelocity, math.Min(k.MaxVelocity, v)) }
	switch m.mode {
	case hal.PositionMode:
		way := m.goal - m.position
		if wraps {
			way = math.Remainder(way, 2*math.Pi)
		}
		m.target, m.bound = speed(follow*way), limit
	case hal.VelocityMode:
		m.target, m.bound = speed(m.goal), limit
	case hal.TorqueMode:
		// It applies the commanded torque up to its maximum speed.
		m.target, m.bound = math.Copysign(k.MaxVelocity, m.goal), math.Min(limit, math.Abs(m.goal))
	case hal.DutyMode:
		// a straight line from the stall torque to the no-load speed
		push := math.Max(-1, math.Min(1, m.goal)) - math.Max(-1, math.Min(1, m.velocity/k.MaxVelocity))
		m.torque = math.Max(-limit, math.Min(limit, push*k.MaxTorque))
	}
}

// soft returns the gains that make the torque of the motor's mode: those that are commanded, or the model's.
func (m *motor) soft(k *model.Motor) (kp, kd float64, ok bool) {
	if m.tuned && m.mode == hal.PositionMode {
		return m.gains[0], m.gains[2], true
	}
	return k.Kp, k.Kd, k.Soft(m.mode)
}

// spring is the torque, and the damping, N·m·s/rad, of an ideal motor with gains in a step of h seconds.
//
// The error is taken in the middle of the step, which is exact in the mean and stable for any gain: half a step's
// motion times Kp is a damping. At its limit the motor's torque is constant.
func (m *motor) spring(k *model.Motor, kp, kd, h, limit float64, wraps bool) (torque, damping float64) {
	limit = math.Min(limit, k.MaxTorque)
	damping = kd
	if m.mode == hal.VelocityMode {
		torque = kd * m.goal
	} else {
		way := m.goal - m.position
		if wraps {
			way = math.Remainder(way, 2*math.Pi)
		}
		torque, damping = float64(kp*way), damping+float64(kp*h/2)
	}
	if now := torque - float64(damping*m.velocity); math.Abs(now) > limit {
		return math.Copysign(limit, now), 0
	}
	return torque, damping
}

// setGoal gives the motor a goal.
func (m *motor) setGoal(mode hal.Mode, goal float64) {
	if mode != m.mode {
		m.fresh = true
	}
	m.mode, m.goal = mode, goal
}

package sim

import (
	"math"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/sim/model"
)

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
	for k, g := range a.Gains {
		if v := hal.At(f.Inputs, g.Input); !math.IsNaN(v) {
			j.setGain(k, v)
		}
	}
	for m, in := range a.Goal {
		if in == hal.None {
			continue
		}
		if v := f.Inputs[in]; !math.IsNaN(v) && !math.IsInf(v, 0) {
			j.setGoal(hal.Mode(m), v)
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
		j.motor.setGoal(hal.DutyMode, 0)
		j.motor.gains, j.motor.tuned = [3]float64{}, false
		if on && j.Model.Motor.Kind == model.Ideal {
			j.motor.setGoal(hal.PositionMode, j.motor.position)
		}
		return
	}
	// An alarm switches torque off. Switching off and on clears it; if the cause is still there it occurs again.
	s.Enable = on
	if on {
		s.ClearAlarm()
		s.Mode, s.GoalPosition = hal.PositionMode, s.MeasuredPosition()
	}
}

// setGain gives the joint's position control gain k of hal.Gain, in SI; a servo has it in whole units of its register.
func (j *Joint) setGain(k int, v float64) {
	s := j.Servo
	if s == nil {
		m := &j.motor
		if !m.tuned && m.gains == ([3]float64{}) {
			m.gains = [3]float64{j.Model.Motor.Kp, 0, j.Model.Motor.Kd}
		}
		m.gains[k], m.tuned = v, m.tuned || k == 0 || j.Model.Motor.Kp > 0 // damping alone would hold nothing
		return
	}
	units, _ := s.Spec.GainUnits()
	*[...]*float64{&s.Gains.P, &s.Gains.I, &s.Gains.D}[k] = math.Round(v / units[k])
}

// setGoal gives the joint's servo or motor a goal of mode m.
func (j *Joint) setGoal(m hal.Mode, v float64) {
	s := j.Servo
	if s == nil {
		j.motor.setGoal(m, v)
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

// limitEffort gives the torque limit to the firmware in the form that it accepts: a share of the greatest current, or
// of the supply.
func (j *Joint) limitEffort(a *hal.Actuator) {
	s := j.Servo
	if s.Spec.CurrentControl {
		if s.Limit = 1; j.limit < a.Limits.MaxTorque {
			s.Limit = math.Max(0, math.Min(1, j.limit/(j.rated*s.Spec.MaxCurrent)))
		}
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
	return torque / j.rated
}

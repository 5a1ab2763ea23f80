// Package vesc emulates VESC motor controllers.
package vesc

import (
	"math"

	"github.com/halyard-robotics/halyard/internal/emulator/motor"
	"github.com/halyard-robotics/halyard/internal/emulator/reg"
	"github.com/halyard-robotics/halyard/internal/wire/vescwire"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/vesc"
	"github.com/halyard-robotics/halyard/sim/actuator"
	"github.com/halyard-robotics/halyard/sim/emulator"
)

// device is a controller. Decisions:
//
//   - The first of a line's controllers is at its end, the others behind it on a CAN bus of 500 kbit/s, the firmware's
//     default, which sends frames in the order of requests. One behind an unpowered first one is not reached.
//   - A fault ends half a second after its cause, as in the firmware.
type device struct {
	motor.Controller
	m *vesc.Model
}

// New returns a controller of model m on act, with a timeout of 1 s; its ID must be 0..253. The servo owns act's
// commands and its backlash from now on; the scene moves it. nil where m is another vendor's.
func New(m servo.Model, id int, act *actuator.Servo, truth emulator.GroundTruth) *emulator.Servo {
	model, ok := m.(*vesc.Model)
	if !ok {
		return nil
	}
	s := &device{motor.Controller{Servo: new(emulator.Servo), Amps: model.Amps, Wraps: model.Encoder,
		Relative: !model.Encoder, Guard: true}, model}
	return s.Init(s, model.Units(), vescwire.LastID, 1000, id, act, truth)
}

func (s *device) Protocol(b *emulator.Bus) emulator.Protocol { return newProtocol(b) }

// values are the measurements of the controller.
func (s *device) values() vescwire.Values {
	s.Measure()
	pairs := float64(s.m.PolePairs)
	current := s.SI(reg.PresentCurrent)
	if s.Get(reg.TorqueEnable) == 0 { // gone within a millisecond, before the world moves again
		current = 0
	}
	v := vescwire.Values{
		vescwire.TempFET: s.SI(reg.PresentTemperature), vescwire.TempMotor: s.SI(reg.PresentTemperature),
		vescwire.Current: current, vescwire.CurrentQ: current, vescwire.Duty: s.SI(reg.PresentPWM),
		vescwire.CurrentIn:    current * s.SI(reg.PresentPWM),
		vescwire.ERPM:         s.SI(reg.PresentVelocity) * 60 / (2 * math.Pi) * pairs,
		vescwire.Volts:        s.SI(reg.PresentVoltage),
		vescwire.TachoAbs:     math.Round(s.Way / motor.Ticks * 6 * pairs),
		vescwire.ControllerID: float64(s.Get(reg.ID)), vescwire.FaultCode: float64(vescFault(s.Alarm)),
	}
	// With an encoder the register is the angle; else it counts from where the power came.
	if at := float64(s.Get(reg.PresentPosition)); s.m.Encoder {
		v[vescwire.PosNow] = at / motor.Ticks * 360
		v[vescwire.Tacho] = math.Round((s.Shaft() - s.Zero) / motor.Ticks * 6 * pairs)
	} else {
		v[vescwire.Tacho] = math.Round(at / motor.Ticks * 6 * pairs)
	}
	return v
}

// vescFault is the fault code of an alarm.
func vescFault(a actuator.Alarm) vescwire.Fault {
	switch {
	case a&actuator.AlarmVoltage != 0:
		return 2
	case a&actuator.AlarmHeat != 0:
		return 6
	case a != 0:
		return 4
	}
	return 0
}

// Notice clears a fault whose cause is over.
func (s *device) Notice() {
	if s.Alarm != 0 && s.Act.Alarm == 0 {
		s.Alarm = 0
	}
	s.Controller.Notice()
}

// setGoalOf executes a goal command.
func (s *device) setGoalOf(p []byte) {
	c, v, ok := vescwire.ParseSet(p)
	if !ok || s.Alarm != 0 {
		return
	}
	s.Expired = false
	switch c {
	case vescwire.SetDuty:
		s.SetGoal(motor.ControlDuty, reg.GoalPWM, v)
	case vescwire.SetCurrent:
		s.SetGoal(motor.ControlTorque, reg.GoalCurrent, v)
		if v == 0 {
			s.Set(reg.TorqueEnable, 0)
		}
	case vescwire.SetRPM:
		s.SetGoal(motor.ControlVelocity, reg.GoalVelocity, v/float64(s.m.PolePairs)*2*math.Pi/60)
	case vescwire.SetPos:
		s.SetGoal(motor.ControlPosition, reg.GoalPosition, v*math.Pi/180)
	case vescwire.SetCurrentBrake:
		s.SetGoal(motor.ControlVelocity, reg.GoalVelocity, 0)
	}
	s.Drive()
}

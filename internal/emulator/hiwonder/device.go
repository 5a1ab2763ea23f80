// Package hiwonder emulates Hiwonder bus servos.
package hiwonder

import (
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/emulator/reg"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/hiwonder"
	"github.com/halyard-robotics/halyard/sim/actuator"
	"github.com/halyard-robotics/halyard/sim/emulator"
)

// device is an LX servo. Decisions where the source is silent:
//
//   - A parameter out of its range is not taken, nor are the others of its command.
//   - A move does not switch the torque on; it is remembered for when it is.
//   - Heat, and a supply outside of the limits, switch torque off while they last; it must be switched on again.
type device struct {
	*emulator.Servo
	m *hiwonder.Model
}

// New returns a servo of model m on act, fresh from the factory but for its ID, which must be 0..253.
// The servo owns act's commands and its backlash from now on; the scene moves it. nil where m is another vendor's.
func New(m servo.Model, id int, act *actuator.Servo, truth emulator.GroundTruth) *emulator.Servo {
	model, ok := m.(*hiwonder.Model)
	if !ok {
		return nil
	}
	s := &device{Servo: new(emulator.Servo), m: model}
	s.Init(s, emulator.Sheet{Name: model.Name, Turn: model.TicksPerTurn, Centre: model.Centre, Low: model.MinTicks,
		High: model.MaxTicks},
		model.Registers, id, act, truth)
	s.Flash = append(s.Flash, s.Bytes...)
	return s.Servo
}

func (s *device) Protocol(b *emulator.Bus) emulator.Protocol { return newProtocol(b) }

func (s *device) Baud() int { return hiwonder.Baud }

func (s *device) SetBaud(int) {}

// Started reloads the stored registers, with the goal at the present position.
func (s *device) Started() {
	s.Recover()
	s.Set(reg.GoalPosition, int64(s.present(s.Shaft())))
}

// Configured stores a change of the stored registers from outside.
func (s *device) Configured() { s.Flash = append(s.Flash[:0], s.Bytes...) }

// present is the position that the servo reports for a shaft position, ticks.
func (s *device) present(shaft float64) float64 {
	return shaft + float64(s.Get(reg.AngleOffset))
}

func (s *device) Actuate() {
	a := s.Act
	a.Enable, a.Limit, a.DutyLimit = s.Get(reg.TorqueEnable) == 1, 1, 1
	low, high := s.Get(reg.MinPosition), s.Get(reg.MaxPosition)
	goal := float64(min(max(s.Get(reg.GoalPosition), low), high))
	a.GoalPosition = s.Angle(goal - float64(s.Get(reg.AngleOffset)))
	// A move has a time instead of a speed; 0 is as fast as it can.
	a.TimeBased, a.ProfileVelocity, a.ProfileAcceleration = true, s.SI(reg.GoalTime), 0
	if a.Mode = hal.PositionMode; s.Get(reg.MotorMode) == 1 {
		a.Mode, a.GoalDuty = hal.DutyMode, s.Truth.Direction*s.SI(reg.GoalPWM)
	}
}

func (s *device) Notice() {
	s.Alarm = s.Act.Alarm
	if s.Alarm&(actuator.AlarmHeat|actuator.AlarmVoltage|actuator.AlarmOverload) != 0 && s.Get(reg.TorqueEnable) == 1 {
		s.Set(reg.TorqueEnable, 0)
		s.Drive()
	}
}

func (s *device) Show(r *emulator.Reading) {
	s.Set(reg.PresentPosition, int64(s.present(r.Shaft)))
	s.SetSI(reg.PresentVoltage, r.Volts)
	s.SetSI(reg.PresentTemperature, r.Temperature)
}

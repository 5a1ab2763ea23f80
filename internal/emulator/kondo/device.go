// Package kondo emulates Kondo servos on ICS 3.5.
package kondo

import (
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/emulator/reg"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/kondo"
	"github.com/halyard-robotics/halyard/sim/actuator"
	"github.com/halyard-robotics/halyard/sim/emulator"
)

// device is a servo under ICS. The relation of the heat parameter to degrees is not published: it
// falls by one a degree here, so that its default limit of 30 is near 100 °C.
type device struct {
	*emulator.Servo
	m *kondo.Model
}

// New returns a servo of model m on act, fresh from the factory but for its ID, which must be 0..31. The
// servo owns act's commands and its backlash from now on; the scene moves it. nil where m is another vendor's.
func New(m servo.Model, id int, act *actuator.Servo, truth emulator.GroundTruth) *emulator.Servo {
	model, ok := m.(*kondo.Model)
	if !ok {
		return nil
	}
	s := &device{Servo: new(emulator.Servo), m: model}
	return s.Init(s, emulator.Sheet{Name: model.Name, RAMStart: 1, Turn: model.TicksPerTurn, Centre: model.Centre,
		Low: model.MinTicks, High: model.MaxTicks},
		model.Registers, id, act, truth)
}

func (s *device) Protocol(b *emulator.Bus) emulator.Protocol { return newProtocol(b) }

func (s *device) Baud() int { return kondo.Bauds()[s.Get(reg.Baud)] }

func (s *device) Configured() {}

func (s *device) SetBaud(baud int) {
	if code, ok := s.m.BaudCode(baud); ok {
		s.Set(reg.Baud, int64(code))
	}
}

// Started leaves torque off.
func (s *device) Started() { s.Set(reg.GoalPosition, int64(s.Shaft())) }

func (s *device) Actuate() {
	const middle, most = 60, 127 // factory default of stretch; the greatest speed
	a := s.Act
	a.Enable = s.Get(reg.TorqueEnable) == 1
	a.Mode, a.GoalPosition = hal.PositionMode, s.Angle(float64(s.Get(reg.GoalPosition)))
	// Stretch scales the stiffness, the current limit the bridge's output; the speed is a share of the maximum.
	a.Gains = a.Spec.Gains
	a.Gains.P *= float64(s.Get(reg.Stretch)) / middle
	a.Limit, a.DutyLimit = float64(s.Get(reg.CurrentLimit))/63, 1
	a.TimeBased, a.ProfileVelocity, a.ProfileAcceleration = false, 0, 0
	if v := s.Get(reg.Speed); v < most {
		a.ProfileVelocity = s.m.MaxVelocity * float64(v) / most / s.Truth.Gear
	}
}

// Notice switches off the torque of a servo that is too hot.
func (s *device) Notice() {
	if s.heat() <= s.Get(reg.HeatLimit) && s.Get(reg.TorqueEnable) == 1 {
		s.Set(reg.TorqueEnable, 0)
		s.Drive()
	}
}

// heat is the servo's temperature parameter: lower values are hotter.
func (s *device) heat() int64 { return min(max(int64(127-s.Act.Temperature), 1), 127) }

func (s *device) Show(r *emulator.Reading) {
	s.Set(reg.PresentPosition, int64(r.Shaft))
	// Six bits of tenths of an ampere, and one for the way.
	raw := int64(min(max(r.Amps, -r.Amps)/0.1, 63))
	if r.Amps < 0 {
		raw |= 0x40
	}
	s.Set(reg.PresentAmps, raw)
	s.Set(reg.Heat, s.heat())
}

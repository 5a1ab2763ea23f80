// Package kondo emulates Kondo servos on ICS 3.5.
package kondo

import (
	"github.com/halyard-robotics/halyard/hal"
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

func (s *device) Baud() int { return kondo.Bauds()[s.Get(emulator.RegBaud)] }

func (s *device) Configured() {}

func (s *device) SetBaud(baud int) {
	if code, ok := s.m.BaudCode(baud); ok {
		s.Set(emulator.RegBaud, int64(code))
	}
}

// Started leaves torque off.
func (s *device) Started() { s.Set(emulator.RegGoalPosition, int64(s.Shaft())) }

func (s *device) Actuate() {
	const middle, most = 60, 127 // factory default of stretch; the greatest speed
	a := s.Act
	a.Enable = s.Get(emulator.RegTorqueEnable) == 1
	a.Mode, a.GoalPosition = hal.PositionMode, s.Angle(float64(s.Get(emulator.RegGoalPosition)))
	// Stretch scales the stiffness, the current limit the bridge's output; the speed is a share of the maximum.
	a.Gains = a.Spec.Gains
	a.Gains.P *= float64(s.Get(emulator.RegStretch)) / middle
	a.Limit, a.DutyLimit = float64(s.Get(emulator.RegCurrentLimit))/63, 1
	a.TimeBased, a.ProfileVelocity, a.ProfileAcceleration = false, 0, 0
	if v := s.Get(emulator.RegSpeed); v < most {
		a.ProfileVelocity = s.m.MaxVelocity * float64(v) / most / s.Truth.Gear
	}
}

// Notice switches off the torque of a servo that is too hot.
func (s *device) Notice() {
	if s.heat() <= s.Get(emulator.RegHeatLimit) && s.Get(emulator.RegTorqueEnable) == 1 {
		s.Set(emulator.RegTorqueEnable, 0)
		s.Drive()
	}
}

// heat is the servo's temperature parameter: lower values are hotter.
func (s *device) heat() int64 { return min(max(int64(127-s.Act.Temperature), 1), 127) }

func (s *device) Show(r *emulator.Reading) {
	s.Set(emulator.RegPresentPosition, int64(r.Shaft))
	// Six bits of tenths of an ampere, and one for the way.
	raw := int64(min(max(r.Amps, -r.Amps)/0.1, 63))
	if r.Amps < 0 {
		raw |= 0x40
	}
	s.Set(emulator.RegPresentAmps, raw)
	s.Set(emulator.RegHeat, s.heat())
}

// Package feetech emulates Feetech servos (STS, SMS, HLS, SCS).
package feetech

import (
	"math"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/emulator/reg"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/feetech"
	"github.com/halyard-robotics/halyard/sim/actuator"
	"github.com/halyard-robotics/halyard/sim/emulator"
)

// The values of operating_mode of STS servos and of HLS, and the values of torque_enable in addition to 0 and 1.
const (
	stsPosition = 0
	stsVelocity = 1
	stsPWM      = 2
	stsMiddle   = 128 // torque_enable: the present position becomes 2048

	hlsCurrent = 2
	hlsPWM     = 3 // its unit is not published: assumed to be that of present_load
	hlsDamp    = 2 // torque_enable: the winding is shorted
)

// The bits of phase.
const (
	phaseFine  = 1 << 2 // speeds in step/s; else in 50 of them
	phaseTurns = 1 << 4 // positions may be outside 0..4095
)

// device is a servo of the STS, SMS, HLS or SCS series. An overload in the unload condition reduces torque to the
// protective torque, until a goal in the other direction or torque off. On an HLS, which has none, it switches torque
// off.
type device struct {
	*emulator.Servo
	m    *feetech.Model
	deaf bool // did not receive the present instruction
	shut bool // torque is off until its switch has been written

	registered []byte // data of a reg write
	registerAt uint16
	pushed     float64 // sign of the direction to its goal when it was overloaded
}

// New returns a servo of model m on act with factory settings and the given ID, which must be 0..253. The servo owns
// act's commands and its backlash from now on; the scene moves it. nil if m is another vendor's.
func New(m servo.Model, id int, act *actuator.Servo, truth emulator.GroundTruth) *emulator.Servo {
	model, ok := m.(*feetech.Model)
	if !ok {
		return nil
	}
	s := &device{Servo: new(emulator.Servo), m: model}
	s.Init(s, emulator.Sheet{Name: model.Name, RAMStart: model.RAMStart, Turn: model.TicksPerTurn, Centre: model.Centre,
		Low: model.MinTicks, High: model.MaxTicks},
		model.Registers, id, act, truth)
	s.registered = make([]byte, 0, len(s.Bytes))
	s.Flash = append(s.Flash, s.Bytes...) // from now on the lock decides which writes reach it
	return s.Servo
}

func (s *device) Protocol(b *emulator.Bus) emulator.Protocol { return newProtocol(b) }

func (s *device) Baud() int { return s.m.Rate(byte(s.Get(reg.Baud))) }

func (s *device) SetBaud(baud int) {
	if code, ok := s.m.BaudCode(baud); ok {
		s.Set(reg.Baud, int64(code))
		s.Configured()
	}
}

// Started loads RAM from the EEPROM, and the values derived from it.
func (s *device) Started() {
	s.shut = false
	s.Recover()
	s.begin()
}

// Configured stores a change of the EEPROM from outside.
func (s *device) Configured() {
	s.Flash = append(s.Flash[:0], s.Bytes...)
	s.begin()
}

// begin sets the values that start from the EEPROM, with the goal at the present position.
func (s *device) begin() {
	s.Set(reg.TorqueLimit, s.Get(reg.MaxTorque))
	if s.m.Series == feetech.HLS {
		s.Set(reg.GoalCurrent, s.protection())
	}
	s.Act.Shutdown = s.shutdownOf(byte(s.Get(reg.UnloadCondition)))
	s.pushed = 0
	s.Set(reg.GoalPosition, int64(s.present(s.Shaft())))
}

// protection is an HLS's protection_current, the value of its goal_current at power-on.
func (s *device) protection() int64 {
	r := s.m.Register("protection_current")
	return r.Decode(s.Bytes[r.Addr:])
}

// shutdownOf is the mask of alarms that cut the torque.
func (s *device) shutdownOf(bits byte) actuator.Alarm {
	a := actuator.Alarm(feetech.Alarms(bits))
	if s.Has(reg.ProtectiveTorque) {
		a &^= actuator.AlarmOverload
	}
	return a
}

// overloaded reports whether torque is reduced to the protective torque.
func (s *device) overloaded() bool {
	return s.Has(reg.ProtectiveTorque) && s.Alarm&actuator.AlarmOverload != 0 &&
		feetech.Alarms(byte(s.Get(reg.UnloadCondition)))&servo.AlarmOverload != 0
}

// clearAlarm clears an alarm, as torque off does.
func (s *device) clearAlarm() {
	s.Act.ClearAlarm()
	s.Alarm, s.pushed = 0, 0
}

// offset is the homing offset, ticks: present = actual - offset.
func (s *device) offset() float64 { return float64(s.Get(reg.HomingOffset)) }

// present is the position register's value for a shaft position, ticks: within one turn unless phaseTurns is set.
func (s *device) present(shaft float64) float64 {
	return math.Round(shaft - s.offset() - s.lap(shaft))
}

// lap is the part of the position in whole turns that the registers do not show, ticks.
func (s *device) lap(shaft float64) float64 {
	if s.m.Series == feetech.SCS || s.Get(reg.Phase)&phaseTurns != 0 {
		return 0
	}
	return math.Floor((shaft-s.offset())/s.Sheet.Turn) * s.Sheet.Turn
}

// coarse is the step/s of one count of speed.
func (s *device) coarse() float64 {
	if s.m.Series == feetech.STS && s.Get(reg.Phase)&phaseFine == 0 {
		return 50
	}
	return 1
}

// Actuate passes the registers to the actuator. Speeds are converted by the gear: the actuator works in joint units.
func (s *device) Actuate() {
	a, turn := s.Act, s.Truth.Direction
	a.Enable = s.Get(reg.TorqueEnable) == 1 && !s.shut
	a.Gains.P, a.Gains.I, a.Gains.D = float64(s.Get(reg.PositionP)), float64(s.Get(reg.PositionI)),
		float64(s.Get(reg.PositionD))
	a.Limit, a.DutyLimit = s.SI(reg.TorqueLimit), 1
	if !s.Has(reg.TorqueLimit) { // SCS
		a.Limit = s.SI(reg.MaxTorque)
	}
	if s.overloaded() {
		a.Limit = min(a.Limit, s.SI(reg.ProtectiveTorque))
	}
	// Positions beyond one turn exist only with phaseTurns: else they are within the shaft's present turn.
	a.Extended = s.Get(reg.Phase)&phaseTurns != 0 || s.lap(s.Shaft()) != 0
	speed := s.SI(reg.GoalVelocity) * s.coarse() / s.Truth.Gear
	// Limits with low >= high are inactive.
	goal := float64(s.Get(reg.GoalPosition))
	if low, high := float64(s.Get(reg.MinPosition)), float64(s.Get(reg.MaxPosition)); low < high {
		goal = min(max(goal, low), high)
	}
	a.GoalPosition = s.Angle(goal + s.offset() + s.lap(s.Shaft()))
	a.TimeBased, a.ProfileVelocity, a.ProfileAcceleration = false, math.Abs(speed),
		s.SI(reg.GoalAcceleration)/s.Truth.Gear
	if s.m.Series == feetech.HLS {
		s.actuateHLS(turn, speed)
		return
	}
	switch s.Get(reg.OperatingMode) {
	case stsVelocity:
		a.Mode, a.GoalVelocity = hal.VelocityMode, turn*speed
	case stsPWM:
		a.Mode, a.GoalDuty = hal.DutyMode, turn*s.SI(reg.GoalTime)
	default:
		a.Mode = hal.PositionMode
		// An SCS uses the goal time instead of a speed if it is set.
		if t := s.SI(reg.GoalTime); s.m.Series == feetech.SCS && t > 0 {
			a.TimeBased, a.ProfileVelocity, a.ProfileAcceleration = true, t, 0
		}
	}
}

// actuateHLS applies an HLS's mode and goal_current, which is the current limit in all modes but the current mode.
func (s *device) actuateHLS(turn, speed float64) {
	a := s.Act
	a.DutyLimit, a.Limit = s.SI(reg.TorqueLimit),
		min(1, math.Abs(s.SI(reg.GoalCurrent))/a.Spec.MaxCurrent)
	a.Mode = hal.PositionMode
	switch s.Get(reg.OperatingMode) {
	case stsVelocity:
		a.Mode, a.GoalVelocity = hal.VelocityMode, turn*speed
	case hlsCurrent:
		a.Mode, a.Limit, a.GoalCurrent = hal.TorqueMode, 1, turn*s.SI(reg.GoalCurrent)
	case hlsPWM:
		a.Mode, a.Limit, a.GoalDuty = hal.DutyMode, 1, turn*float64(s.Get(reg.GoalCurrent))/1000
	}
	if s.Get(reg.TorqueEnable) == hlsDamp {
		a.Enable, a.Mode, a.Limit, a.GoalDuty = !s.shut, hal.DutyMode, 1, 0
	}
}

// Notice latches the alarms of the unload condition: torque is off until its switch has been written.
func (s *device) Notice() {
	const passing = actuator.AlarmVoltage
	s.Alarm = s.Alarm&^passing | s.Act.Alarm
	if s.overloaded() && s.pushed == 0 {
		s.pushed = math.Copysign(1, float64(s.Get(reg.GoalPosition))-s.present(s.Shaft()))
		s.Drive()
	}
	if s.Alarm&s.Act.Shutdown != 0 && !s.shut {
		s.shut = true
		s.Set(reg.TorqueEnable, 0)
		s.Drive()
	}
}

// Show fills the present registers. The load is the duty of the output.
func (s *device) Show(r *emulator.Reading) {
	s.Set(reg.PresentPosition, int64(s.present(r.Shaft)))
	s.SetSI(reg.PresentVelocity, r.Velocity/s.coarse())
	s.SetSI(reg.PresentLoad, r.Duty)
	s.SetSI(reg.PresentCurrent, r.Amps)
	s.SetSI(reg.PresentVoltage, r.Volts)
	s.SetSI(reg.PresentTemperature, r.Temperature)
	moving := emulator.Flag(r.Moving)
	if s.m.Series == feetech.HLS {
		moving *= 3 // bit 1: the goal is not reached yet
		s.Store(s.m.Register("target_position"), s.Get(reg.GoalPosition))
	}
	s.Set(reg.Moving, moving)
	s.Set(reg.HardwareError, int64(feetech.AlarmByte(servo.Alarm(s.Alarm))))
}

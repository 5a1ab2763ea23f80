// Package feetech emulates Feetech servos (STS, SMS, HLS, SCS).
package feetech

import (
	"math"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/feetech"
	"github.com/halyard-robotics/halyard/sim/actuator"
	"github.com/halyard-robotics/halyard/sim/emulator"
)

// The values of operating_mode of STS servos and of HLS, and what torque_enable takes beside 0 and 1.
const (
	stsPosition = 0
	stsVelocity = 1
	stsPWM      = 2
	stsMiddle   = 128 // torque_enable: here is 2048

	hlsCurrent = 2
	hlsPWM     = 3 // its unit is not published: taken for that of present_load
	hlsDamp    = 2 // torque_enable: the winding is shorted
)

// The bits of phase.
const (
	phaseFine  = 1 << 2 // speeds in step/s; else in 50 of them
	phaseTurns = 1 << 4 // positions may leave 0..4095
)

// device is a servo of the STS, SMS, HLS or SCS series. An overload that the unload condition names takes no torque away but of
// an HLS, which has no protective torque: it leaves that, until a goal the other way or the torque switched off.
type device struct {
	*emulator.Servo
	m    *feetech.Model
	deaf bool // did not understand the instruction at hand
	shut bool // torque is off until its switch has been written

	registered []byte // what a reg write left: address, then data
	registerAt uint16
	pushed     float64 // the way its goal lay when it was overloaded, as a sign
}

// New returns a servo of model m on act, fresh from the factory but for its ID, which must be 0..253. The
// servo owns act's commands and its backlash from now on; the scene moves it. nil where m is another vendor's.
func New(m servo.Model, id int, act *actuator.Servo, truth emulator.GroundTruth) *emulator.Servo {
	model, ok := m.(*feetech.Model)
	if !ok {
		return nil
	}
	s := &device{Servo: new(emulator.Servo), m: model}
	s.Init(s, emulator.Sheet{Name: model.Name, RAMStart: model.RAMStart, Turn: model.TicksPerTurn, Centre: model.Centre, Low: model.MinTicks, High: model.MaxTicks},
		model.Registers, id, act, truth)
	s.registered = make([]byte, 0, len(s.Bytes))
	s.Flash = append(s.Flash, s.Bytes...) // from now on what is written is what the lock lets through
	return s.Servo
}

func (s *device) Protocol(b *emulator.Bus) emulator.Protocol { return newProtocol(b) }

func (s *device) Baud() int { return s.m.Rate(byte(s.Get(emulator.RegBaud))) }

func (s *device) SetBaud(baud int) {
	if code, ok := s.m.BaudCode(baud); ok {
		s.Set(emulator.RegBaud, int64(code))
		s.Configured()
	}
}

// start brings the EEPROM back to what it holds, and what begins from it.
func (s *device) Started() {
	s.shut = false
	s.Recover()
	s.begin()
}

// derive follows a change of EEPROM from outside: it stays.
func (s *device) Configured() {
	s.Flash = append(s.Flash[:0], s.Bytes...)
	s.begin()
}

// begin sets what starts from the EEPROM, with the goal where the servo stands.
func (s *device) begin() {
	s.Set(emulator.RegTorqueLimit, s.Get(emulator.RegMaxTorque))
	if s.m.Series == feetech.HLS {
		s.Set(emulator.RegGoalCurrent, s.protection())
	}
	s.Act.Shutdown = s.shutdownOf(byte(s.Get(emulator.RegUnloadCondition)))
	s.pushed = 0
	s.Set(emulator.RegGoalPosition, int64(s.present(s.Shaft())))
}

// protection is an HLS's protection_current, what its goal_current is at power-up.
func (s *device) protection() int64 {
	r := s.m.Register("protection_current")
	return r.Decode(s.Bytes[r.Addr:])
}

// shutdownOf is the mask of alarms that cut the torque.
func (s *device) shutdownOf(bits byte) actuator.Alarm {
	a := actuator.Alarm(feetech.Alarms(bits))
	if s.Has(emulator.RegProtectiveTorque) {
		a &^= actuator.AlarmOverload
	}
	return a
}

// overloaded reports that the protective torque is all that is left.
func (s *device) overloaded() bool {
	return s.Has(emulator.RegProtectiveTorque) && s.Alarm&actuator.AlarmOverload != 0 &&
		feetech.Alarms(byte(s.Get(emulator.RegUnloadCondition)))&servo.AlarmOverload != 0
}

// relieve forgets an alarm, as the torque switched off does.
func (s *device) relieve() {
	s.Act.ClearAlarm()
	s.Alarm, s.pushed = 0, 0
}

// offset is what the registers leave out of the encoder's count: present = actual - offset.
func (s *device) offset() float64 { return float64(s.Get(emulator.RegHomingOffset)) }

// present is the position that the registers show for a shaft position, ticks: within a turn unless told otherwise.
func (s *device) present(shaft float64) float64 {
	return math.Round(shaft - s.offset() - s.lap(shaft))
}

// lap is the whole turns that the registers do not show.
func (s *device) lap(shaft float64) float64 {
	if s.m.Series == feetech.SCS || s.Get(emulator.RegPhase)&phaseTurns != 0 {
		return 0
	}
	return math.Floor((shaft-s.offset())/s.Sheet.Turn) * s.Sheet.Turn
}

// coarse is how many step/s a count of speed is.
func (s *device) coarse() float64 {
	if s.m.Series == feetech.STS && s.Get(emulator.RegPhase)&phaseFine == 0 {
		return 50
	}
	return 1
}

// drive hands the registers to the actuator. All speeds go through the gear; the actuator counts as the joint does.
func (s *device) Actuate() {
	a, turn := s.Act, s.Truth.Direction
	a.Enable = s.Get(emulator.RegTorqueEnable) == 1 && !s.shut
	a.Gains.P, a.Gains.I, a.Gains.D = float64(s.Get(emulator.RegPositionP)), float64(s.Get(emulator.RegPositionI)), float64(s.Get(emulator.RegPositionD))
	a.Limit, a.DutyLimit = s.SI(emulator.RegTorqueLimit), 1
	if !s.Has(emulator.RegTorqueLimit) { // SCS
		a.Limit = s.SI(emulator.RegMaxTorque)
	}
	if s.overloaded() {
		a.Limit = min(a.Limit, s.SI(emulator.RegProtectiveTorque))
	}
	// Values beyond a turn are told and shown only where the phase says so: else they are of the turn in which the shaft is.
	a.Extended = s.Get(emulator.RegPhase)&phaseTurns != 0 || s.lap(s.Shaft()) != 0
	speed := s.SI(emulator.RegGoalVelocity) * s.coarse() / s.Truth.Gear
	// Limits that do not rise are none.
	goal := float64(s.Get(emulator.RegGoalPosition))
	if low, high := float64(s.Get(emulator.RegMinPosition)), float64(s.Get(emulator.RegMaxPosition)); low < high {
		goal = min(max(goal, low), high)
	}
	a.GoalPosition = s.Angle(goal + s.offset() + s.lap(s.Shaft()))
	a.TimeBased, a.ProfileVelocity, a.ProfileAcceleration = false, math.Abs(speed), s.SI(emulator.RegGoalAcceleration)/s.Truth.Gear
	if s.m.Series == feetech.HLS {
		s.actuateHLS(turn, speed)
		return
	}
	switch s.Get(emulator.RegOperatingMode) {
	case stsVelocity:
		a.Mode, a.GoalVelocity = hal.VelocityMode, turn*speed
	case stsPWM:
		a.Mode, a.GoalDuty = hal.DutyMode, turn*s.SI(emulator.RegGoalTime)
	default:
		a.Mode = hal.PositionMode
		// The SCS is told a time instead of a speed, where one stands.
		if t := s.SI(emulator.RegGoalTime); s.m.Series == feetech.SCS && t > 0 {
			a.TimeBased, a.ProfileVelocity, a.ProfileAcceleration = true, t, 0
		}
	}
}

// actuateHLS is what an HLS makes of its mode and of goal_current, which in all modes but its own is the greatest current.
func (s *device) actuateHLS(turn, speed float64) {
	a := s.Act
	a.DutyLimit, a.Limit = s.SI(emulator.RegTorqueLimit), min(1, math.Abs(s.SI(emulator.RegGoalCurrent))/a.Spec.MaxCurrent)
	a.Mode = hal.PositionMode
	switch s.Get(emulator.RegOperatingMode) {
	case stsVelocity:
		a.Mode, a.GoalVelocity = hal.VelocityMode, turn*speed
	case hlsCurrent:
		a.Mode, a.Limit, a.GoalCurrent = hal.TorqueMode, 1, turn*s.SI(emulator.RegGoalCurrent)
	case hlsPWM:
		a.Mode, a.Limit, a.GoalDuty = hal.DutyMode, 1, turn*float64(s.Get(emulator.RegGoalCurrent))/1000
	}
	if s.Get(emulator.RegTorqueEnable) == hlsDamp {
		a.Enable, a.Mode, a.Limit, a.GoalDuty = !s.shut, hal.DutyMode, 1, 0
	}
}

// notice latches what the unload condition names: the torque is off until its switch has been written.
func (s *device) Notice() {
	const passing = actuator.AlarmVoltage
	s.Alarm = s.Alarm&^passing | s.Act.Alarm
	if s.overloaded() && s.pushed == 0 {
		s.pushed = math.Copysign(1, float64(s.Get(emulator.RegGoalPosition))-s.present(s.Shaft()))
		s.Drive()
	}
	if s.Alarm&s.Act.Shutdown != 0 && !s.shut {
		s.shut = true
		s.Set(emulator.RegTorqueEnable, 0)
		s.Drive()
	}
}

// show fills what is measured. The load is inferred from the output.
func (s *device) Show(r *emulator.Reading) {
	s.Set(emulator.RegPresentPosition, int64(s.present(r.Shaft)))
	s.SetSI(emulator.RegPresentVelocity, r.Velocity/s.coarse())
	s.SetSI(emulator.RegPresentLoad, r.Duty)
	s.SetSI(emulator.RegPresentCurrent, r.Amps)
	s.SetSI(emulator.RegPresentVoltage, r.Volts)
	s.SetSI(emulator.RegPresentTemperature, r.Temperature)
	moving := emulator.Flag(r.Moving)
	if s.m.Series == feetech.HLS {
		moving *= 3 // and is not yet there
		s.Store(s.m.Register("target_position"), s.Get(emulator.RegGoalPosition))
	}
	s.Set(emulator.RegMoving, moving)
	s.Set(emulator.RegHardwareError, int64(feetech.AlarmByte(servo.Alarm(s.Alarm))))
}

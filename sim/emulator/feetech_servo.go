package emulator

import (
	"math"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/feetech"
	"github.com/halyard-robotics/halyard/sim/actuator"
)

// The values of operating_mode of STS servos, and what torque_enable takes beside 0 and 1.
const (
	stsPosition = 0
	stsVelocity = 1
	stsPWM      = 2
	stsMiddle   = 128 // torque_enable: here is 2048
)

// The bits of phase.
const (
	phaseFine  = 1 << 2 // speeds in step/s; else in 50 of them
	phaseTurns = 1 << 4 // positions may leave 0..4095
)

// feetechKind is the kind of Feetech servos. An overload that the unload condition names takes no torque away: it leaves the
// protective torque, until a goal the other way or the torque switched off.
type feetechKind struct{ m *feetech.Model }

// NewFeetech returns a Feetech servo of model m on act, fresh from the factory but for its ID, which must be 0..253. The
// servo owns act's commands and its backlash from now on; the scene moves it.
func NewFeetech(m *feetech.Model, id int, act *actuator.Servo, truth GroundTruth) *Servo {
	s := &Servo{kind: feetechKind{m}, sheet: sheet{m.Name, m.RAMStart, m.TicksPerTurn, m.Centre, m.MinTicks, m.MaxTicks}}
	s.make(m.Registers, id, act, truth)
	s.registered = make([]byte, 0, len(s.bytes))
	s.flash = append(s.flash, s.bytes...) // from now on what is written is what the lock lets through
	return s
}

func (feetechKind) protocol(b *Bus) protocol { return newFeetechProtocol(b) }

func (k feetechKind) baud(s *Servo) int { return k.m.Rate(byte(s.get(rBaud))) }

func (k feetechKind) tune(s *Servo, baud int) {
	if code, ok := k.m.BaudCode(baud); ok {
		s.set(rBaud, int64(code))
		k.derive(s)
	}
}

// start brings the EEPROM back to what it holds, and what begins from it.
func (k feetechKind) start(s *Servo) {
	s.recover()
	s.begin(k)
}

// derive follows a change of EEPROM from outside: it stays.
func (k feetechKind) derive(s *Servo) {
	s.flash = append(s.flash[:0], s.bytes...)
	s.begin(k)
}

// begin sets what starts from the EEPROM, with the goal where the servo stands.
func (s *Servo) begin(k feetechKind) {
	s.set(rTorqueLimit, s.get(rMaxTorque))
	s.act.Shutdown = shutdownOf(byte(s.get(rUnloadCondition)))
	s.pushed = 0
	s.set(rGoalPosition, int64(k.present(s, s.shaft())))
}

// shutdownOf is the mask of alarms that cut the torque.
func shutdownOf(bits byte) actuator.Alarm {
	return actuator.Alarm(feetech.Alarms(bits)) &^ actuator.AlarmOverload
}

// overloaded tells that the protective torque is all that is left.
func (s *Servo) overloaded() bool {
	return s.alarm&actuator.AlarmOverload != 0 && feetech.Alarms(byte(s.get(rUnloadCondition)))&servo.AlarmOverload != 0
}

// relieve forgets an alarm, as the torque switched off does.
func (s *Servo) relieve() {
	s.act.ClearAlarm()
	s.alarm, s.pushed = 0, 0
}

// offset is what the registers leave out of the encoder's count: present = actual - offset.
func (s *Servo) offset() float64 { return float64(s.get(rHomingOffset)) }

// present is the position that the registers show for a shaft position, ticks: within a turn unless told otherwise.
func (k feetechKind) present(s *Servo, shaft float64) float64 {
	return math.Round(shaft - s.offset() - k.lap(s, shaft))
}

// lap is the whole turns that the registers do not show.
func (k feetechKind) lap(s *Servo, shaft float64) float64 {
	if k.m.Series == feetech.SCS || s.get(rPhase)&phaseTurns != 0 {
		return 0
	}
	return math.Floor((shaft-s.offset())/s.sheet.turn) * s.sheet.turn
}

// coarse is how many step/s a count of speed is.
func (k feetechKind) coarse(s *Servo) float64 {
	if k.m.Series == feetech.STS && s.get(rPhase)&phaseFine == 0 {
		return 50
	}
	return 1
}

// drive hands the registers to the actuator. All speeds go through the gear; the actuator counts as the joint does.
func (k feetechKind) drive(s *Servo) {
	a, turn := s.act, s.groundTruth.Direction
	a.Enable = s.get(rTorqueEnable) == 1 && !s.shut
	a.Gains.P, a.Gains.I, a.Gains.D = float64(s.get(rPositionP)), float64(s.get(rPositionI)), float64(s.get(rPositionD))
	a.Limit, a.DutyLimit = s.si(rTorqueLimit), 1
	if !s.has(rTorqueLimit) { // SCS
		a.Limit = s.si(rMaxTorque)
	}
	if s.overloaded() {
		a.Limit = min(a.Limit, s.si(rProtectiveTorque))
	}
	// Values beyond a turn are told and shown only where the phase says so.
	a.Extended = s.get(rPhase)&phaseTurns != 0
	speed := s.si(rGoalVelocity) * k.coarse(s) / s.groundTruth.Gear
	// Limits that do not rise are none.
	goal := float64(s.get(rGoalPosition))
	if low, high := float64(s.get(rMinPosition)), float64(s.get(rMaxPosition)); low < high {
		goal = min(max(goal, low), high)
	}
	a.GoalPosition = s.angle(goal + s.offset() + k.lap(s, s.shaft()))
	a.TimeBased, a.ProfileVelocity, a.ProfileAcceleration = false, math.Abs(speed), s.si(rGoalAcceleration)/s.groundTruth.Gear
	switch s.get(rOperatingMode) {
	case stsVelocity:
		a.Mode, a.GoalVelocity = hal.VelocityMode, turn*speed
	case stsPWM:
		a.Mode, a.GoalDuty = hal.DutyMode, turn*s.si(rGoalTime)
	default:
		a.Mode = hal.PositionMode
		// The SCS is told a time instead of a speed, where one stands.
		if t := s.si(rGoalTime); k.m.Series == feetech.SCS && t > 0 {
			a.TimeBased, a.ProfileVelocity, a.ProfileAcceleration = true, t, 0
		}
	}
}

// notice latches what the unload condition names: the torque is off until its switch has been written.
func (k feetechKind) notice(s *Servo) {
	const passing = actuator.AlarmVoltage
	s.alarm = s.alarm&^passing | s.act.Alarm
	if s.overloaded() && s.pushed == 0 {
		s.pushed = math.Copysign(1, float64(s.get(rGoalPosition))-k.present(s, s.shaft()))
		s.drive()
	}
	if s.alarm&s.act.Shutdown != 0 && !s.shut {
		s.shut = true
		s.set(rTorqueEnable, 0)
		s.drive()
	}
}

// show fills what is measured. The load is inferred from the output.
func (k feetechKind) show(s *Servo, r *reading) {
	s.set(rPresentPosition, int64(k.present(s, r.shaft)))
	s.setSI(rPresentVelocity, r.velocity/k.coarse(s))
	s.setSI(rPresentLoad, r.duty)
	s.setSI(rPresentCurrent, r.amps)
	s.setSI(rPresentVoltage, r.volts)
	s.setSI(rPresentTemperature, r.temperature)
	s.set(rMoving, flag(r.moving))
	s.set(rHardwareError, int64(feetech.AlarmByte(servo.Alarm(s.alarm))))
}

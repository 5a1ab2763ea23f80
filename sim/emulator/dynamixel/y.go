package dynamixel

import (
	"math"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/dynamixel"
	"github.com/halyard-robotics/halyard/sim/actuator"
	"github.com/halyard-robotics/halyard/sim/emulator"
)

// stateY is what a servo with the Y table has in addition to its registers.
type stateY struct {
	code    byte          // error_code
	state   byte          // controller_state
	until   time.Duration // end of the process under way
	slows   time.Duration // how long it brakes with torque off
	speed   float64       // rad/s, of the actuator when the stop began
	heldAt  float64       // rad, where an error holds it
	stored  []byte        // the hybrid area as it is after a power loss
	restart bool          // the instruction at hand ends in a restart
}

// The hybrid area of the Y table.
const hybridStart, hybridEnd = 212, 256

func (s *device) isHybrid(r *servo.Register) bool {
	return s.isY() && r.Addr >= hybridStart && r.Addr < hybridEnd
}

// storeHybrid stores the hybrid area as it is.
func (s *device) storeHybrid() {
	if s.isY() {
		copy(s.y.stored[hybridStart:hybridEnd], s.Bytes[hybridStart:hybridEnd])
	}
}

// shutdownY are the alarms that end in an error code without torque; the Y table has no register for that.
const shutdownY = actuator.AlarmVoltage | actuator.AlarmHeat | actuator.AlarmOverload | actuator.AlarmShock | actuator.AlarmEncoder

// The error codes that the emulator raises.
const (
	codeOverVoltage  = 1
	codeLowVoltage   = 2
	codeInverterHeat = 3
	codeMotorHeat    = 4
	codeOverload     = 5
	codeInverter     = 7
	codeEncoder      = 13
	codeFollowing    = 17
	codeWatchdog     = 18
	codeOverSpeed    = 19
	codeLimit        = 20
)

func (s *device) isY() bool { return s.model != nil && s.model.ErrorCodes != nil }

// gearY is the factor of positions and speeds in the registers: 1 as long as the electronic gear is the real one.
func (s *device) gearY() float64 {
	return float64(s.model.Gear) * float64(s.Get(emulator.RegGearDenominator)) / float64(
		s.Get(emulator.RegGearNumerator))
}

// startY is Started. The turns stay counted, on a battery. Inferred: the goal is the present position, as in other
// Dynamixels.
func (s *device) startY() {
	s.y.code, s.y.state, s.y.until = 0, dynamixel.StateOff, 0
	if s.y.stored != nil {
		copy(s.Bytes[hybridStart:hybridEnd], s.y.stored[hybridStart:hybridEnd])
	}
	s.limits()
	s.startGoalsY()
	if s.Get(emulator.RegStartup)&1 != 0 {
		s.Set(emulator.RegTorqueEnable, 1)
		s.torqueY(true)
	}
	s.stateY()
}

func (s *device) startGoalsY() {
	for _, n := range [...]emulator.Name{emulator.RegGoalPWM, emulator.RegGoalCurrent, emulator.RegGoalVelocity} {
		s.Set(n, 0)
	}
	s.Set(emulator.RegGoalPosition, int64(math.Round(s.present(s.Shaft()))))
}

// stateY shows the state and the error in their registers.
func (s *device) stateY() {
	s.Set(emulator.RegControllerState, int64(s.y.state))
	s.Set(emulator.RegErrorCode, int64(s.y.code))
}

func (s *device) milliseconds(n emulator.Name) time.Duration {
	return time.Duration(s.Get(n)) * time.Millisecond
}

// torqueY begins to switch torque on or off. Inferred: torque_enable shows the command at once and controller_state the
// process, and a stop from rest takes no time but the brake's.
func (s *device) torqueY(on bool) {
	if on {
		s.y.state, s.y.until = dynamixel.StateProcessOn, s.Now+s.milliseconds(emulator.RegBrakeDelay)+
			s.milliseconds(emulator.RegGoalUpdateDelay)
	} else {
		s.y.state, s.y.slows, s.y.speed = dynamixel.StateProcessOff, s.Now, s.Act.Velocity
		if s.Act.Moving {
			s.y.slows += s.milliseconds(emulator.RegSafeStopTime)
		}
		s.y.until = s.y.slows + s.milliseconds(emulator.RegBrakeDelay)
	}
	s.proceedY()
}

// proceedY ends a process whose time has come.
func (s *device) proceedY() {
	switch {
	case s.Now < s.y.until:
	case s.y.state == dynamixel.StateProcessOn:
		s.y.state = dynamixel.StateRunning
	case s.y.state == dynamixel.StateProcessOff:
		if s.y.state = dynamixel.StateOff; s.Get(emulator.RegDriveMode)&0x40 != 0 {
			s.y.state = dynamixel.StateDynamicBrake
		}
	}
	s.stateY()
}

// heldY reports an error with which the servo holds its place and takes no goals.
func (s *device) heldY() bool {
	e := s.model.ErrorCode(s.y.code)
	return e != nil && e.Hold
}

// actuateY is Actuate. The gains' units are unknown: the actuator keeps its own. Inferred: a goal of 0 that is only a
// limit does not limit, because ROBOTIS' own arms drive these servos without ever writing it, and it is 0 after
// power-on.
func (s *device) actuateY() {
	a, mode := s.Act, s.Get(emulator.RegOperatingMode)
	turn, gear := s.Truth.Direction*s.sign()/s.gearY(), s.Truth.Gear
	// What a real one drives until its brake is closed is not simulated, as the brake is not.
	slows := s.y.state == dynamixel.StateProcessOff && s.Now < s.y.slows
	a.Enable = s.Get(emulator.RegTorqueEnable) == 1 || slows || s.y.state == dynamixel.StateDynamicBrake
	a.Enable = a.Enable && !s.shut
	a.Extended = true
	bound := func(goal, limit float64) float64 {
		if goal = math.Abs(goal); goal == 0 {
			return limit
		}
		return min(goal, limit)
	}
	a.DutyLimit = bound(s.SI(emulator.RegGoalPWM), s.SI(emulator.RegPWMLimit))
	a.Limit = s.SI(emulator.RegCurrentLimit)
	if mode != modeCurrent {
		a.Limit = bound(s.SI(emulator.RegGoalCurrent), a.Limit)
	}
	a.Limit /= s.Act.Spec.MaxCurrent
	if a.TimeBased = s.Get(emulator.RegDriveMode)&4 != 0; a.TimeBased {
		a.ProfileVelocity, a.ProfileAcceleration = s.SI(emulator.RegProfileTime), s.SI(emulator.RegProfileRamp)
	} else {
		most := s.SI(emulator.RegVelocityLimit)
		if mode == modePosition {
			most = bound(s.SI(emulator.RegGoalVelocity), most)
		}
		// The bound is that of the speed regulator's input, which the actuator allows a fifth more than its profile.
		a.ProfileVelocity = bound(s.SI(emulator.RegProfileVelocity), most/1.2) / (s.gearY() * gear)
		a.ProfileAcceleration = s.SI(emulator.RegProfileAcceleration) / (s.gearY() * gear)
	}
	switch {
	case s.y.state == dynamixel.StateDynamicBrake,
		mode == modeCurrent && (s.y.state == dynamixel.StateProcessOff || s.heldY()):
		a.Mode, a.GoalDuty = hal.DutyMode, 0 // shorted windings brake
	case s.y.state == dynamixel.StateProcessOff:
		a.Mode, a.GoalVelocity, a.DutyLimit, a.Limit = hal.VelocityMode, 0, 1, 1
		a.ProfileAcceleration = 1.25 * math.Abs(s.y.speed) / max(s.milliseconds(emulator.RegSafeStopTime).Seconds(),
			1e-3)
	case s.heldY():
		a.Mode, a.GoalPosition, a.ProfileVelocity, a.TimeBased = hal.PositionMode, s.y.heldAt, 0, false
	case mode == modeCurrent:
		a.Mode, a.GoalCurrent = hal.TorqueMode, s.Truth.Direction*s.sign()*s.SI(emulator.RegGoalCurrent)
	case mode == modeVelocity:
		a.Mode, a.GoalVelocity = hal.VelocityMode, turn*s.SI(emulator.RegGoalVelocity)/gear
	default:
		a.Mode, a.GoalPosition = hal.PositionMode, s.Angle(s.shaftAt(float64(s.Get(emulator.RegGoalPosition))))
	}
}

// noticeY is Notice: processes end, errors begin.
func (s *device) noticeY() {
	a, w := s.Act, s.Get(emulator.RegWatchdog)
	s.Alarm |= a.Alarm
	was, slowed := s.y.state, s.y.state == dynamixel.StateProcessOff && s.Now >= s.y.slows
	s.proceedY()
	running := s.y.state == dynamixel.StateRunning
	v, limit := math.Abs(a.Velocity)*s.Truth.Gear, s.SI(emulator.RegVelocityLimit)/s.gearY()
	switch {
	case s.y.code != 0:
	case s.Alarm&actuator.AlarmVoltage != 0 && a.Volts() > s.SI(emulator.RegMaxVoltage):
		s.raiseY(codeOverVoltage)
	case s.Alarm&actuator.AlarmVoltage != 0:
		s.raiseY(codeLowVoltage)
	case a.Temperature > s.SI(emulator.RegInverterLimit):
		s.raiseY(codeInverterHeat)
	case s.Alarm&actuator.AlarmHeat != 0:
		s.raiseY(codeMotorHeat)
	case s.Alarm&actuator.AlarmOverload != 0:
		s.raiseY(codeOverload)
	case s.Alarm&actuator.AlarmShock != 0:
		s.raiseY(codeInverter)
	case s.Alarm&actuator.AlarmEncoder != 0:
		s.raiseY(codeEncoder)
	case !running:
	case w > 0 && s.Now-s.Received > time.Duration(w)*watchdogUnit:
		s.Set(emulator.RegWatchdog, -1)
		s.raiseY(codeWatchdog)
	case v > 1.2*limit:
		s.raiseY(codeOverSpeed)
	case s.Get(emulator.RegOperatingMode) == modePosition && s.beyondY():
		s.raiseY(codeLimit)
	case s.Get(emulator.RegOperatingMode) == modePosition && s.lagsY():
		s.raiseY(codeFollowing)
	}
	if was != s.y.state || slowed {
		s.Drive()
	}
}

// beyondY and lagsY are the errors of the position mode that a threshold of 0 switches off (inferred of the following
// error).
func (s *device) beyondY() bool {
	more, at := float64(s.Get(emulator.RegLimitThreshold)), s.present(s.Shaft())
	return more > 0 && (at > float64(s.Get(emulator.RegMaxPosition))+more ||
		at < float64(s.Get(emulator.RegMinPosition))-more)
}

func (s *device) lagsY() bool {
	most := float64(s.Get(emulator.RegFollowingThreshold))
	off := (s.Act.TrajectoryPosition - s.Act.MeasuredPosition()) * s.Truth.Gear / (2 * math.Pi) * s.Sheet.Turn * s.gearY()
	return most > 0 && math.Abs(off) > most
}

// raiseY raises an error: its code, the history, and the end of torque or of goals.
func (s *device) raiseY(code byte) {
	e := s.model.ErrorCode(code)
	s.y.code = code
	if h := s.Named[emulator.RegErrorHistory]; h != nil {
		past := s.Bytes[h.Addr : h.Addr+16]
		copy(past[1:], past)
		past[0] = code
	}
	s.y.heldAt = s.Act.Position
	if !e.Torque {
		s.Set(emulator.RegTorqueEnable, 0)
		s.shut, s.y.state = true, dynamixel.StateFault
	}
	s.stateY()
	s.Drive()
}

// clearY is the clear instruction: of an error whose cause is gone, or of the turns, after which the servo restarts.
func (s *device) clearY(option string) refusal {
	s.Measure()
	switch option {
	case dynamixel.ClearErrorCode:
		e := s.model.ErrorCode(s.y.code)
		switch {
		case e == nil:
			return fine
		case !e.Clears || s.Act.Volts() > s.SI(emulator.RegMaxVoltage) ||
			s.Act.Volts() < s.SI(emulator.RegMinVoltage) ||
			s.Act.Temperature > min(s.SI(emulator.RegTemperatureLimit), s.SI(emulator.RegInverterLimit)):
			return resultFail
		}
		s.clearErrorY()
	case dynamixel.ClearMultiTurn:
		if s.Get(emulator.RegTorqueEnable) == 1 || s.Get(emulator.RegMovingStatus)&4 != 0 {
			return resultFail
		}
		// Within one turn of the motor, not of the output.
		turn := s.Sheet.Turn / float64(s.model.Gear)
		s.turns += math.Floor((s.sign()*s.Shaft()-s.turns)/turn) * turn
		s.y.restart = true
	default:
		return instruction
	}
	return fine
}

// clearErrorY ends an error. Where torque is on the goal is the place that was held (inferred).
func (s *device) clearErrorY() {
	s.y.code, s.Alarm, s.shut = 0, 0, false
	s.Act.ClearAlarm()
	if s.Get(emulator.RegWatchdog) < 0 {
		s.Set(emulator.RegWatchdog, 0)
	}
	if s.y.state == dynamixel.StateFault {
		s.y.state = dynamixel.StateOff
	}
	s.Set(emulator.RegGoalPosition, int64(math.Round(s.present(s.Shaft()))))
	s.Set(emulator.RegGoalVelocity, 0)
	s.Set(emulator.RegGoalCurrent, 0)
	s.stateY()
	s.Drive()
}

// checkY holds the rules of the Y table that others do not have.
func (s *device) checkY(r *servo.Register, n emulator.Name, v int64) refusal {
	switch goal := isGoal(n); {
	case (goal || n == emulator.RegTorqueEnable) && (s.y.state == dynamixel.StateProcessOn ||
		s.y.state == dynamixel.StateProcessOff):
		return resultFail
	case goal && s.heldY() && s.Get(emulator.RegTorqueEnable) == 1:
		return dataRange
	case n == emulator.RegHybridSave && v == 1 && s.Get(emulator.RegTorqueEnable) == 1:
		return dataRange
	case n == emulator.RegProfileVelocity && v > s.Get(emulator.RegVelocityLimit):
		return dataLimit
	}
	return fine
}

// followY applies the side effects of a write to r; was is torque_enable before it.
func (s *device) followY(r *servo.Register, n emulator.Name, was int64) {
	switch {
	case n == emulator.RegTorqueEnable && s.Get(n) != was:
		s.torqueY(was == 0)
	case n == emulator.RegWatchdog && s.Get(n) >= 0 && s.y.code == codeWatchdog:
		s.clearErrorY()
	case s.isHybrid(r) && s.Get(emulator.RegTorqueEnable) == 0:
		copy(s.y.stored[r.Addr:r.Addr+r.Size], s.Bytes[r.Addr:])
		s.Set(emulator.RegHybridSave, 2)
	case s.isHybrid(r):
		s.Set(emulator.RegHybridSave, 0)
	case n == emulator.RegHybridSave && s.Get(n) == 1:
		s.storeHybrid()
		s.Set(n, 2)
	}
}

// showY fills the present registers that others do not have, or have in other units.
func (s *device) showY(r *emulator.Reading, turn float64) {
	g := s.gearY()
	s.SetSI(emulator.RegPresentVelocity, turn*r.Velocity*g)
	s.SetSI(emulator.RegVelocityTrajectory, turn*r.PathVelocity*g)
	s.SetSI(emulator.RegInverterTemperature, r.Temperature)
	at, goal := s.present(r.Shaft), float64(s.Get(emulator.RegGoalPosition))
	v := emulator.Flag(r.Ongoing)<<1 | emulator.Flag(math.Abs(r.Velocity)*g > s.SI(emulator.RegMovingThreshold))<<2
	if s.Get(emulator.RegOperatingMode) == modePosition && !r.Ongoing {
		v |= emulator.Flag(math.Abs(goal-at) <= float64(s.Get(emulator.RegInPositionThreshold)))
	}
	v |= emulator.Flag(math.Abs(s.present(r.PathTicks)-at) > float64(s.Get(emulator.RegFollowingThreshold))) << 3
	v |= emulator.Flag(at >= float64(s.Get(emulator.RegMinPosition)) &&
		at <= float64(s.Get(emulator.RegMaxPosition))) << 6
	switch {
	case s.Get(emulator.RegProfileVelocity) == 0:
	case s.Get(emulator.RegProfileAcceleration) == 0:
		v |= 1 << 4
	default:
		v |= 3 << 4
	}
	s.Set(emulator.RegMovingStatus, v)
	s.stateY()
}

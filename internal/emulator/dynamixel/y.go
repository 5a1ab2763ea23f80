package dynamixel

import (
	"math"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/emulator/reg"
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
	return float64(s.model.Gear) * float64(s.Get(reg.GearDenominator)) / float64(
		s.Get(reg.GearNumerator))
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
	if s.Get(reg.Startup)&1 != 0 {
		s.Set(reg.TorqueEnable, 1)
		s.torqueY(true)
	}
	s.stateY()
}

func (s *device) startGoalsY() {
	for _, n := range [...]reg.Name{reg.GoalPWM, reg.GoalCurrent, reg.GoalVelocity} {
		s.Set(n, 0)
	}
	s.Set(reg.GoalPosition, int64(math.Round(s.present(s.Shaft()))))
}

// stateY shows the state and the error in their registers.
func (s *device) stateY() {
	s.Set(reg.ControllerState, int64(s.y.state))
	s.Set(reg.ErrorCode, int64(s.y.code))
}

func (s *device) milliseconds(n reg.Name) time.Duration {
	return time.Duration(s.Get(n)) * time.Millisecond
}

// torqueY begins to switch torque on or off. Inferred: torque_enable shows the command at once and controller_state the
// process, and a stop from rest takes no time but the brake's.
func (s *device) torqueY(on bool) {
	if on {
		s.y.state, s.y.until = dynamixel.StateProcessOn, s.Now+s.milliseconds(reg.BrakeDelay)+
			s.milliseconds(reg.GoalUpdateDelay)
	} else {
		s.y.state, s.y.slows, s.y.speed = dynamixel.StateProcessOff, s.Now, s.Act.Velocity
		if s.Act.Moving {
			s.y.slows += s.milliseconds(reg.SafeStopTime)
		}
		s.y.until = s.y.slows + s.milliseconds(reg.BrakeDelay)
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
		if s.y.state = dynamixel.StateOff; s.Get(reg.DriveMode)&0x40 != 0 {
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
	a, mode := s.Act, s.Get(reg.OperatingMode)
	turn, gear := s.Truth.Direction*s.sign()/s.gearY(), s.Truth.Gear
	// What a real one drives until its brake is closed is not simulated, as the brake is not.
	slows := s.y.state == dynamixel.StateProcessOff && s.Now < s.y.slows
	a.Enable = s.Get(reg.TorqueEnable) == 1 || slows || s.y.state == dynamixel.StateDynamicBrake
	a.Enable = a.Enable && !s.shut
	a.Extended = true
	bound := func(goal, limit float64) float64 {
		if goal = math.Abs(goal); goal == 0 {
			return limit
		}
		return min(goal, limit)
	}
	a.DutyLimit = bound(s.SI(reg.GoalPWM), s.SI(reg.PWMLimit))
	a.Limit = s.SI(reg.CurrentLimit)
	if mode != modeCurrent {
		a.Limit = bound(s.SI(reg.GoalCurrent), a.Limit)
	}
	a.Limit /= s.Act.Spec.MaxCurrent
	if a.TimeBased = s.Get(reg.DriveMode)&4 != 0; a.TimeBased {
		a.ProfileVelocity, a.ProfileAcceleration = s.SI(reg.ProfileTime), s.SI(reg.ProfileRamp)
	} else {
		most := s.SI(reg.VelocityLimit)
		if mode == modePosition {
			most = bound(s.SI(reg.GoalVelocity), most)
		}
		// The bound is that of the speed regulator's input, which the actuator allows a fifth more than its profile.
		a.ProfileVelocity = bound(s.SI(reg.ProfileVelocity), most/1.2) / (s.gearY() * gear)
		a.ProfileAcceleration = s.SI(reg.ProfileAcceleration) / (s.gearY() * gear)
	}
	switch {
	case s.y.state == dynamixel.StateDynamicBrake,
		mode == modeCurrent && (s.y.state == dynamixel.StateProcessOff || s.heldY()):
		a.Mode, a.GoalDuty = hal.DutyMode, 0 // shorted windings brake
	case s.y.state == dynamixel.StateProcessOff:
		a.Mode, a.GoalVelocity, a.DutyLimit, a.Limit = hal.VelocityMode, 0, 1, 1
		a.ProfileAcceleration = 1.25 * math.Abs(s.y.speed) / max(s.milliseconds(reg.SafeStopTime).Seconds(), 1e-3)
	case s.heldY():
		a.Mode, a.GoalPosition, a.ProfileVelocity, a.TimeBased = hal.PositionMode, s.y.heldAt, 0, false
	case mode == modeCurrent:
		a.Mode, a.GoalCurrent = hal.TorqueMode, s.Truth.Direction*s.sign()*s.SI(reg.GoalCurrent)
	case mode == modeVelocity:
		a.Mode, a.GoalVelocity = hal.VelocityMode, turn*s.SI(reg.GoalVelocity)/gear
	default:
		a.Mode, a.GoalPosition = hal.PositionMode, s.Angle(s.shaftAt(float64(s.Get(reg.GoalPosition))))
	}
}

// noticeY is Notice: processes end, errors begin.
func (s *device) noticeY() {
	a, w := s.Act, s.Get(reg.Watchdog)
	s.Alarm |= a.Alarm
	was, slowed := s.y.state, s.y.state == dynamixel.StateProcessOff && s.Now >= s.y.slows
	s.proceedY()
	running := s.y.state == dynamixel.StateRunning
	v, limit := math.Abs(a.Velocity)*s.Truth.Gear, s.SI(reg.VelocityLimit)/s.gearY()
	switch {
	case s.y.code != 0:
	case s.Alarm&actuator.AlarmVoltage != 0 && a.Volts() > s.SI(reg.MaxVoltage):
		s.raiseY(codeOverVoltage)
	case s.Alarm&actuator.AlarmVoltage != 0:
		s.raiseY(codeLowVoltage)
	case a.Temperature > s.SI(reg.InverterLimit):
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
		s.Set(reg.Watchdog, -1)
		s.raiseY(codeWatchdog)
	case v > 1.2*limit:
		s.raiseY(codeOverSpeed)
	case s.Get(reg.OperatingMode) == modePosition && s.beyondY():
		s.raiseY(codeLimit)
	case s.Get(reg.OperatingMode) == modePosition && s.lagsY():
		s.raiseY(codeFollowing)
	}
	if was != s.y.state || slowed {
		s.Drive()
	}
}

// beyondY and lagsY are the errors of the position mode that a threshold of 0 switches off (inferred of the following
// error).
func (s *device) beyondY() bool {
	more, at := float64(s.Get(reg.LimitThreshold)), s.present(s.Shaft())
	return more > 0 && (at > float64(s.Get(reg.MaxPosition))+more || at < float64(s.Get(reg.MinPosition))-more)
}

func (s *device) lagsY() bool {
	most := float64(s.Get(reg.FollowingThreshold))
	off := (s.Act.TrajectoryPosition - s.Act.MeasuredPosition()) * s.Truth.Gear / (2 * math.Pi) * s.Sheet.Turn * s.gearY()
	return most > 0 && math.Abs(off) > most
}

// raiseY raises an error: its code, the history, and the end of torque or of goals.
func (s *device) raiseY(code byte) {
	e := s.model.ErrorCode(code)
	s.y.code = code
	if h := s.Named[reg.ErrorHistory]; h != nil {
		past := s.Bytes[h.Addr : h.Addr+16]
		copy(past[1:], past)
		past[0] = code
	}
	s.y.heldAt = s.Act.Position
	if !e.Torque {
		s.Set(reg.TorqueEnable, 0)
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
		case !e.Clears || s.Act.Volts() > s.SI(reg.MaxVoltage) || s.Act.Volts() < s.SI(reg.MinVoltage) ||
			s.Act.Temperature > min(s.SI(reg.TemperatureLimit), s.SI(reg.InverterLimit)):
			return resultFail
		}
		s.clearErrorY()
	case dynamixel.ClearMultiTurn:
		if s.Get(reg.TorqueEnable) == 1 || s.Get(reg.MovingStatus)&4 != 0 {
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
	if s.Get(reg.Watchdog) < 0 {
		s.Set(reg.Watchdog, 0)
	}
	if s.y.state == dynamixel.StateFault {
		s.y.state = dynamixel.StateOff
	}
	s.Set(reg.GoalPosition, int64(math.Round(s.present(s.Shaft()))))
	s.Set(reg.GoalVelocity, 0)
	s.Set(reg.GoalCurrent, 0)
	s.stateY()
	s.Drive()
}

// checkY holds the rules of the Y table that others do not have.
func (s *device) checkY(r *servo.Register, n reg.Name, v int64) refusal {
	switch goal := isGoal(n); {
	case (goal || n == reg.TorqueEnable) && (s.y.state == dynamixel.StateProcessOn ||
		s.y.state == dynamixel.StateProcessOff):
		return resultFail
	case goal && s.heldY() && s.Get(reg.TorqueEnable) == 1:
		return dataRange
	case n == reg.HybridSave && v == 1 && s.Get(reg.TorqueEnable) == 1:
		return dataRange
	case n == reg.ProfileVelocity && v > s.Get(reg.VelocityLimit):
		return dataLimit
	}
	return fine
}

// followY applies the side effects of a write to r; was is torque_enable before it.
func (s *device) followY(r *servo.Register, n reg.Name, was int64) {
	switch {
	case n == reg.TorqueEnable && s.Get(n) != was:
		s.torqueY(was == 0)
	case n == reg.Watchdog && s.Get(n) >= 0 && s.y.code == codeWatchdog:
		s.clearErrorY()
	case s.isHybrid(r) && s.Get(reg.TorqueEnable) == 0:
		copy(s.y.stored[r.Addr:r.Addr+r.Size], s.Bytes[r.Addr:])
		s.Set(reg.HybridSave, 2)
	case s.isHybrid(r):
		s.Set(reg.HybridSave, 0)
	case n == reg.HybridSave && s.Get(n) == 1:
		s.storeHybrid()
		s.Set(n, 2)
	}
}

// showY fills the present registers that others do not have, or have in other units.
func (s *device) showY(r *emulator.Reading, turn float64) {
	g := s.gearY()
	s.SetSI(reg.PresentVelocity, turn*r.Velocity*g)
	s.SetSI(reg.VelocityTrajectory, turn*r.PathVelocity*g)
	s.SetSI(reg.InverterTemperature, r.Temperature)
	at, goal := s.present(r.Shaft), float64(s.Get(reg.GoalPosition))
	v := emulator.Flag(r.Ongoing)<<1 | emulator.Flag(math.Abs(r.Velocity)*g > s.SI(reg.MovingThreshold))<<2
	if s.Get(reg.OperatingMode) == modePosition && !r.Ongoing {
		v |= emulator.Flag(math.Abs(goal-at) <= float64(s.Get(reg.InPositionThreshold)))
	}
	v |= emulator.Flag(math.Abs(s.present(r.PathTicks)-at) > float64(s.Get(reg.FollowingThreshold))) << 3
	v |= emulator.Flag(at >= float64(s.Get(reg.MinPosition)) && at <= float64(s.Get(reg.MaxPosition))) << 6
	switch {
	case s.Get(reg.ProfileVelocity) == 0:
	case s.Get(reg.ProfileAcceleration) == 0:
		v |= 1 << 4
	default:
		v |= 3 << 4
	}
	s.Set(reg.MovingStatus, v)
	s.stateY()
}

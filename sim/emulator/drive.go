package emulator

import (
	"math"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/sim/actuator"
)

// drive hands everything that the registers command to the actuator. It runs after every write.
func (s *Servo) drive() {
	a := s.act
	if s.dark {
		a.Enable = false
		return
	}
	s.kind.drive(s)
}

// drive is a Dynamixel's.
func (robotis) drive(s *Servo) {
	a := s.act
	// A latched shutdown outranks the register.
	a.Enable = s.get(rTorqueEnable) == 1 && !s.shut
	s.driveGains()
	// The goal stands ready in every mode, for when the position mode comes.
	a.GoalPosition = s.angle(s.shaftAt(float64(s.get(rGoalPosition))))
	// The actuator counts as the joint does, the registers as the shaft and the drive mode do: this is the way from a
	// register's sense of turning to the joint's. Speeds go through the gear as well.
	turn := s.groundTruth.Direction * s.sign()
	if s.model.Protocol == 1 || s.xl320() {
		s.driveOld(turn)
	} else {
		s.driveX(turn)
	}
	if s.get(rWatchdog) < 0 {
		s.freeze()
	}
}

// driveOld is the table of AX, MX (1.0) and XL-320. There the torque limit bounds the duty, and moving_speed means
// the profile's speed for a joint, where 0 is none, and the goal for a wheel.
func (s *Servo) driveOld(turn float64) {
	a := s.act
	a.Limit, a.DutyLimit, a.TimeBased = s.si(rTorqueLimit), 1, false
	a.Extended = s.multiTurn()
	a.ProfileAcceleration = s.si(rGoalAcceleration) / s.groundTruth.Gear
	speed := s.si(rMovingSpeed)
	switch {
	case s.get(rTorqueMode) == 1: // MX-64 and MX-106: beside the angle limits
		a.Mode = hal.TorqueMode
		a.GoalCurrent = turn * s.si(rGoalTorque)
		if !a.Spec.CurrentControl { // the actuator counts in shares of its stall torque then
			a.GoalCurrent /= a.Spec.StallCurrent
		}
	case s.wheel() && a.Spec.Modes[hal.VelocityMode]:
		a.Mode, a.GoalVelocity = hal.VelocityMode, turn*speed/s.groundTruth.Gear
	case s.wheel():
		// The wheel mode of AX and XL-320 is an open loop: speed counts are a share of the voltage.
		a.Mode, a.GoalDuty = hal.DutyMode, turn*float64(s.get(rMovingSpeed))/1023
	default:
		a.Mode, a.ProfileVelocity = hal.PositionMode, math.Abs(speed)/s.groundTruth.Gear
	}
}

// driveX is the table of the X series and of MX under 2.0. Its goals bound each other across modes: goal_pwm is the
// greatest duty in all but the PWM mode, goal_current the greatest current in mode 5 (e-Manual, "Operating Mode").
func (s *Servo) driveX(turn float64) {
	a, gear := s.act, s.groundTruth.Gear
	mode := s.get(rOperatingMode)
	a.Extended = mode == modeExtended || mode == modeCurrentPosition
	a.DutyLimit = min(s.si(rPWMLimit), math.Abs(s.si(rGoalPWM)))
	a.Limit = 1
	if s.has(rCurrentLimit) { // XL430 and MX-28 have no current control
		amps := s.si(rCurrentLimit)
		if mode == modeCurrentPosition {
			amps = min(amps, math.Abs(s.si(rGoalCurrent)))
		}
		a.Limit = min(1, amps/s.model.MaxCurrent)
	}
	a.TimeBased = s.get(rDriveMode)&4 != 0
	if a.TimeBased { // milliseconds for the whole motion and for its acceleration
		a.ProfileVelocity = float64(s.get(rProfileVelocity)) / 1000
		a.ProfileAcceleration = float64(s.get(rProfileAcceleration)) / 1000
	} else {
		// A profile faster than velocity_limit is cut to it.
		v, most := s.get(rProfileVelocity), s.get(rVelocityLimit)
		if v > most && most > 0 {
			v = most
		}
		a.ProfileVelocity = s.named[rProfileVelocity].SI(v) / gear
		a.ProfileAcceleration = s.si(rProfileAcceleration) / gear
	}
	switch mode {
	case modeCurrent:
		a.Mode, a.GoalCurrent = hal.TorqueMode, turn*s.si(rGoalCurrent)
	case modeVelocity:
		a.Mode, a.GoalVelocity = hal.VelocityMode, turn*s.si(rGoalVelocity)/gear
	case modePWM: // here goal_pwm is the goal and no limit
		a.Mode, a.GoalDuty, a.DutyLimit = hal.DutyMode, turn*s.si(rGoalPWM), s.si(rPWMLimit)
	default:
		a.Mode = hal.PositionMode
	}
}

// driveGains copies the control law's registers, whose units the actuator shares; what a model has no register for
// keeps the actuator's default.
func (s *Servo) driveGains() {
	g := &s.act.Gains
	for _, x := range [...]struct {
		n  name
		to *float64
	}{
		{rPositionP, &g.P}, {rPositionI, &g.I}, {rPositionD, &g.D}, {rFeedforward1, &g.FF1}, {rFeedforward2, &g.FF2},
		{rVelocityP, &g.VelocityP}, {rVelocityI, &g.VelocityI}, {rPunch, &g.Punch},
	} {
		if s.has(x.n) {
			*x.to = float64(s.get(x.n))
		}
	}
	if !s.has(rCWMargin) {
		return
	}
	cw := [2]float64{float64(s.get(rCWMargin)), float64(s.get(rCWSlope))}
	ccw := [2]float64{float64(s.get(rCCWMargin)), float64(s.get(rCCWSlope))}
	if s.groundTruth.Direction < 0 { // the actuator's sense is the joint's
		cw, ccw = ccw, cw
	}
	g.MarginCW, g.SlopeCW = cw[0], cw[1]
	g.MarginCCW, g.SlopeCCW = ccw[0], ccw[1]
}

// freeze is the stop of a tripped bus watchdog: no speed, no torque, and the position where it is.
func (s *Servo) freeze() {
	a := s.act
	// update has set the goal register to where the joint was.
	a.GoalVelocity, a.GoalCurrent, a.GoalDuty = 0, 0, 0
	a.ProfileVelocity, a.ProfileAcceleration = 0, 0
	a.GoalPosition = s.angle(s.shaftAt(float64(s.get(rGoalPosition))))
}

// watchdogUnit is what bus_watchdog counts.
const watchdogUnit = 20 * time.Millisecond

// update brings the servo's clock to now and lets it notice what happened since it was last looked at: a brown-out, an
// alarm, the watchdog.
func (s *Servo) update(now time.Duration) {
	s.now = now
	a := s.act
	if s.dark {
		a.Enable = false
		return
	}
	if a.Restarts != s.restarts { // the supply sagged below what the processor needs
		s.powerOn(now)
	}
	// The limits are registers here; the actuator's own are the factory's.
	if s.has(rTemperatureLimit) && a.Temperature > s.si(rTemperatureLimit) {
		a.Alarm |= actuator.AlarmHeat
	}
	if s.has(rMaxVoltage) {
		a.Alarm &^= actuator.AlarmVoltage
		if v := a.Volts(); v > s.si(rMaxVoltage) || v < s.si(rMinVoltage) {
			a.Alarm |= actuator.AlarmVoltage
		}
	}
	s.kind.notice(s)
}

// notice lets a Dynamixel latch its alarms, and its watchdog look at the time.
func (robotis) notice(s *Servo) {
	a, now := s.act, s.now
	s.alarm |= a.Alarm
	if s.model.Protocol == 1 { // its error byte shows the present; the latch is torque_limit
		s.alarm = a.Alarm
	}
	// In 1.0 this repeats for as long as the cause lasts: the torque limit cannot be raised against it.
	if s.alarm&a.Shutdown != 0 && !s.shut {
		s.shutDown()
	}
	// The watchdog looks at torque that is on and nobody talking; -1 reads as 255 on the wire.
	w := s.get(rWatchdog)
	if w > 0 && s.get(rTorqueEnable) == 1 && now-s.heard > time.Duration(w)*watchdogUnit {
		// Tripped: goals are locked, the profile is none, and the servo stays where it is.
		s.set(rWatchdog, -1)
		s.set(rProfileVelocity, 0)
		s.set(rProfileAcceleration, 0)
		s.set(rGoalPosition, int64(s.present(s.shaft())))
		s.drive()
	}
}

// shutDown cuts the torque. 1.0 sets torque_limit to 0, and writing it again recovers; 2.0 wants a reboot.
func (s *Servo) shutDown() {
	s.set(rTorqueEnable, 0)
	if s.model.Protocol == 1 {
		s.set(rTorqueLimit, 0)
	} else {
		s.shut = true
	}
	s.drive()
}

// alarmBits are the alarms as the model's error byte or hardware_error shows them. Range and angle are no state of the
// servo but of a packet, and refusal has them.
func (s *Servo) alarmBits() byte {
	var b byte
	for i, a := range s.model.AlarmBits {
		if a != 0 && actuator.Alarm(a)&s.alarm != 0 {
			b |= 1 << i
		}
	}
	return b
}

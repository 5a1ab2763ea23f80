package dynamixel

import (
	"math"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/emulator/reg"
	"github.com/halyard-robotics/halyard/servo"
)

// Actuate passes the commands in the registers to the actuator.
func (s *device) Actuate() {
	a := s.Act
	if s.isY() {
		s.actuateY()
		return
	}
	// A latched shutdown outranks the register.
	a.Enable = s.Get(reg.TorqueEnable) == 1 && !s.shut
	s.driveGains()
	// The goal position is set in every mode, ready for a change to position mode.
	a.GoalPosition = s.Angle(s.shaftAt(float64(s.Get(reg.GoalPosition))))
	// The actuator counts as the joint does, the registers as the shaft and the drive mode do: this is the way from a
	// register's sense of turning to the joint's. Speeds go through the gear as well.
	turn := s.Truth.Direction * s.sign()
	if s.model.Protocol == 1 || s.xl320() {
		s.driveOld(turn)
	} else {
		s.driveX(turn)
	}
	if s.Get(reg.Watchdog) < 0 {
		s.freeze()
	}
}

// driveOld is the table of AX, MX (1.0) and XL-320. There the torque limit bounds the duty. moving_speed is the
// profile's speed for a joint, where 0 means no limit, and the goal for a wheel.
func (s *device) driveOld(turn float64) {
	a := s.Act
	a.Limit, a.DutyLimit, a.TimeBased = s.SI(reg.TorqueLimit), 1, false
	a.Extended = s.multiTurn()
	a.ProfileAcceleration = s.SI(reg.GoalAcceleration) / s.Truth.Gear
	speed := s.SI(reg.MovingSpeed)
	switch {
	case s.Get(reg.TorqueMode) == 1: // MX-64 and MX-106: in addition to the modes by angle limits
		a.Mode = hal.TorqueMode
		a.GoalCurrent = turn * s.SI(reg.GoalTorque)
		if !a.Spec.CurrentControl { // the actuator counts in shares of its stall torque then
			a.GoalCurrent /= a.Spec.StallCurrent
		}
	case s.wheel() && a.Spec.Modes[hal.VelocityMode]:
		a.Mode, a.GoalVelocity = hal.VelocityMode, turn*speed/s.Truth.Gear
	case s.wheel():
		// The wheel mode of AX and XL-320 is an open loop: speed counts are a share of the voltage.
		a.Mode, a.GoalDuty = hal.DutyMode, turn*float64(s.Get(reg.MovingSpeed))/1023
	default:
		a.Mode, a.ProfileVelocity = hal.PositionMode, math.Abs(speed)/s.Truth.Gear
	}
}

// driveX is the table of the X series and of MX under 2.0. Its goals bound each other across modes: goal_pwm is the
// greatest duty in all but the PWM mode, goal_current the greatest current in mode 5 (e-Manual, "Operating Mode").
func (s *device) driveX(turn float64) {
	a, gear := s.Act, s.Truth.Gear
	mode := s.Get(reg.OperatingMode)
	// the registers bound it to a turn of theirs
	a.Extended = mode == modeExtended || mode == modeCurrentPosition || s.turns != 0
	a.DutyLimit = min(s.SI(reg.PWMLimit), math.Abs(s.SI(reg.GoalPWM)))
	a.Limit = 1
	if s.Has(reg.CurrentLimit) { // XL430 and MX-28 have no current control
		amps := s.SI(reg.CurrentLimit)
		if mode == modeCurrentPosition {
			amps = min(amps, math.Abs(s.SI(reg.GoalCurrent)))
		}
		a.Limit = min(1, amps/s.model.MaxCurrent)
	}
	a.TimeBased = s.Get(reg.DriveMode)&4 != 0
	if a.TimeBased { // milliseconds for the whole motion and for its acceleration
		a.ProfileVelocity = float64(s.Get(reg.ProfileVelocity)) / 1000
		a.ProfileAcceleration = float64(s.Get(reg.ProfileAcceleration)) / 1000
	} else {
		// A profile faster than velocity_limit is cut to it.
		v, most := s.Get(reg.ProfileVelocity), s.Get(reg.VelocityLimit)
		if v > most && most > 0 {
			v = most
		}
		a.ProfileVelocity = s.Named[reg.ProfileVelocity].SI(v) / gear
		a.ProfileAcceleration = s.SI(reg.ProfileAcceleration) / gear
	}
	switch mode {
	case modeCurrent:
		a.Mode, a.GoalCurrent = hal.TorqueMode, turn*s.SI(reg.GoalCurrent)
	case modeVelocity:
		a.Mode, a.GoalVelocity = hal.VelocityMode, turn*s.SI(reg.GoalVelocity)/gear
	case modePWM: // here goal_pwm is the goal and no limit
		a.Mode, a.GoalDuty, a.DutyLimit = hal.DutyMode, turn*s.SI(reg.GoalPWM), s.SI(reg.PWMLimit)
	default:
		a.Mode = hal.PositionMode
	}
}

// driveGains copies the control law's registers, in the same units as the actuator's; gains without a register keep the
// actuator's default.
func (s *device) driveGains() {
	g := &s.Act.Gains
	for _, x := range [...]struct {
		n  reg.Name
		to *float64
	}{
		{reg.PositionP, &g.P}, {reg.PositionI, &g.I}, {reg.PositionD, &g.D},
		{reg.Feedforward1, &g.FF1}, {reg.Feedforward2, &g.FF2},
		{reg.VelocityP, &g.VelocityP}, {reg.VelocityI, &g.VelocityI}, {reg.Punch, &g.Punch},
	} {
		if s.Has(x.n) {
			*x.to = float64(s.Get(x.n))
		}
	}
	if !s.Has(reg.CWMargin) {
		return
	}
	cw := [2]float64{float64(s.Get(reg.CWMargin)), float64(s.Get(reg.CWSlope))}
	ccw := [2]float64{float64(s.Get(reg.CCWMargin)), float64(s.Get(reg.CCWSlope))}
	if s.Truth.Direction < 0 { // the actuator's sense is the joint's
		cw, ccw = ccw, cw
	}
	g.MarginCW, g.SlopeCW = cw[0], cw[1]
	g.MarginCCW, g.SlopeCCW = ccw[0], ccw[1]
}

// freeze is the stop of a tripped bus watchdog: no speed, no torque, and the position where it is.
func (s *device) freeze() {
	a := s.Act
	// update has set the goal register to where the joint was.
	a.GoalVelocity, a.GoalCurrent, a.GoalDuty = 0, 0, 0
	a.ProfileVelocity, a.ProfileAcceleration = 0, 0
	a.GoalPosition = s.Angle(s.shaftAt(float64(s.Get(reg.GoalPosition))))
}

// watchdogUnit is the unit of bus_watchdog.
const watchdogUnit = 20 * time.Millisecond

// Notice latches the alarms, and checks the watchdog.
func (s *device) Notice() {
	a, now := s.Act, s.Now
	if s.isY() {
		s.noticeY()
		return
	}
	s.Alarm |= a.Alarm
	if s.model.Protocol == 1 { // its error byte shows the present; the latch is torque_limit
		s.Alarm = a.Alarm
	}
	// In 1.0 this repeats for as long as the cause lasts: the torque limit cannot be raised against it.
	if s.Alarm&a.Shutdown != 0 && !s.shut {
		s.shutDown()
	}
	// The watchdog trips when torque is on and no packet arrives; -1 reads as 255 on the wire.
	w := s.Get(reg.Watchdog)
	if w > 0 && s.Get(reg.TorqueEnable) == 1 && now-s.Received > time.Duration(w)*watchdogUnit {
		// Tripped: goals are locked, the profile is cleared, and the servo holds its position.
		s.Set(reg.Watchdog, -1)
		s.Set(reg.ProfileVelocity, 0)
		s.Set(reg.ProfileAcceleration, 0)
		s.Set(reg.GoalPosition, int64(s.present(s.Shaft())))
		s.Drive()
	}
}

// shutDown cuts the torque. 1.0 sets torque_limit to 0, and writing it again recovers; 2.0 wants a reboot.
func (s *device) shutDown() {
	s.Set(reg.TorqueEnable, 0)
	if s.model.Protocol == 1 {
		s.Set(reg.TorqueLimit, 0)
	} else {
		s.shut = true
	}
	s.Drive()
}

// alarmBits are the alarms as the model's error byte or hardware_error shows them. Range and angle are no state of the
// servo but of a packet, and refusal has them.
func (s *device) alarmBits() byte {
	if s.isY() {
		return s.y.code
	}
	return byte(s.model.Faults.Bits(servo.Alarm(s.Alarm)))
}

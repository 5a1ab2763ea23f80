// Package motor is the common part of emulated motor controllers: limits, watchdog and mode.
package motor

import (
	"math"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/emulator/reg"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/sim/actuator"
	"github.com/halyard-robotics/halyard/sim/emulator"
)

// Ticks are the counts a turn of all motor controllers here.
const Ticks = 16384

// The values of control_mode.
const (
	ControlNone = iota // motor released
	ControlTorque
	ControlVelocity
	ControlPosition
	ControlDuty
	ControlMotion
)

// Controller is the common part of all motor controllers: a servo that a vendor's type embeds.
type Controller struct {
	*emulator.Servo
	Amps     float64 // maximum
	Wraps    bool    // its positions are those within a turn
	Relative bool    // they begin at 0 with the power
	Guard    bool    // its timeout counts from the power on

	Expired bool    // its watchdog has switched torque off
	Stopped bool    // an emergency stop has
	Zero    float64 // shaft ticks that it calls 0
	last    float64 // shaft ticks at the last Notice
	Way     float64 // ticks that the shaft has made since it has power, both ways
	Kp, Kd  float64 // of a motion command, N·m/rad and N·m·s/rad of the shaft
	Bias    float64 // N·m, likewise
	Fast    float64 // rad/s of the shaft, maximum speed to a position; 0 = the motor's
}

// Init initializes a controller of the vendor's kind k. u has the range of its position goals, ticks.
func (s *Controller) Init(k emulator.Kind, u servo.Units, lastID, timeout int64, id int, act *actuator.Servo,
	truth emulator.GroundTruth) *emulator.Servo {
	return s.Servo.Init(k, emulator.Sheet{Name: u.Name, RAMStart: 8, Turn: Ticks, Centre: u.CentreTicks,
		Low: u.MinTicks, High: u.MaxTicks},
		table(lastID, timeout), id, act, truth)
}

func (s *Controller) reset(at float64) {
	s.Expired, s.Stopped, s.Zero, s.last, s.Way = false, false, 0, at, 0
	s.Kp, s.Kd, s.Bias, s.Fast, s.Beat = 0, 0, 0, 0, s.Booted
}

// table is the memory of every motor controller here. It has no addresses on the wire; protocols read it by name.
func table(lastID int64, timeout int64) []servo.Register {
	const ro, ram, keep, signed, plain = servo.ReadOnly, servo.RAM, servo.EEPROM, servo.Signed, servo.Unsigned
	const word, half = math.MaxInt32, math.MaxInt16
	tick := servo.Measure{Unit: "rad", Scale: 2 * math.Pi / Ticks}
	milli := func(unit string) servo.Measure { return servo.Measure{Unit: unit, Scale: 1e-3} }
	return []servo.Register{
		servo.Reg("id", 0, 1, keep, plain, 0, lastID, 1, servo.Measure{}),
		servo.Reg("timeout", 2, 4, keep, plain, 0, word, timeout, milli("s")),
		servo.Reg("baud_rate", 6, 4, keep, plain, 0, word, 0, servo.Measure{}),
		servo.Reg("torque_enable", 10, 1, ram, plain, 0, 1, 0, servo.Measure{}),
		servo.Reg("control_mode", 11, 1, ram, plain, 0, ControlMotion, 0, servo.Measure{}),
		servo.Reg("bus_watchdog", 12, 4, ram, plain, 0, word, 0, milli("s")),
		servo.Reg("goal_position", 16, 4, ram, signed, -word, word, 0, tick),
		servo.Reg("goal_velocity", 20, 4, ram, signed, -word, word, 0, milli("rad/s")),
		servo.Reg("goal_current", 24, 4, ram, signed, -word, word, 0, milli("A")),
		servo.Reg("goal_pwm", 28, 4, ram, signed, -100000, 100000, 0, servo.Measure{Unit: "1", Scale: 1e-5}),
		servo.Reg("current_limit", 32, 4, ram, plain, 0, word, word, milli("A")),
		servo.Reg("present_pwm", 36, 4, ro, signed, -100000, 100000, 0, servo.Measure{Unit: "1", Scale: 1e-5}),
		servo.Reg("present_current", 40, 4, ro, signed, -word, word, 0, milli("A")),
		servo.Reg("present_velocity", 44, 4, ro, signed, -word, word, 0, milli("rad/s")),
		servo.Reg("present_position", 48, 4, ro, signed, -word, word, 0, tick),
		servo.Reg("present_voltage", 52, 4, ro, plain, 0, word, 0, milli("V")),
		servo.Reg("present_temperature", 56, 2, ro, signed, -half, half, 250, servo.Measure{Unit: "°C", Scale: 0.1}),
	}
}

func (s *Controller) Configured() {}

func (s *Controller) Baud() int { return int(s.Get(reg.Baud)) }

func (s *Controller) SetBaud(rate int) { s.Set(reg.Baud, int64(rate)) }

// Started leaves torque off; the counters start from 0.
func (s *Controller) Started() {
	at := s.Shaft()
	s.reset(at)
	if s.Relative {
		s.Zero = at
	}
	if s.Guard {
		s.Set(reg.Watchdog, s.Get(reg.Timeout))
	}
	s.Set(reg.GoalPosition, int64(s.Present(at)))
}

// Present is the position that the controller reports for a shaft position, ticks.
func (s *Controller) Present(shaft float64) float64 {
	v := shaft - s.Zero
	if s.Wraps {
		v -= math.Floor(v/Ticks) * Ticks
	}
	return v
}

// Actuate passes the commands in the registers to the actuator.
func (s *Controller) Actuate() {
	a, turn := s.Act, s.Truth.Direction
	a.Enable = s.Get(reg.TorqueEnable) == 1 && s.Get(reg.Control) != ControlNone
	a.Limit, a.DutyLimit = min(1, s.SI(reg.CurrentLimit)/s.Amps), 1
	a.Extended = true // a goal within a turn is one of the turn in which the shaft is
	switch s.Get(reg.Control) {
	case ControlTorque:
		a.Mode, a.GoalCurrent = hal.TorqueMode, turn*s.SI(reg.GoalCurrent)
	case ControlVelocity:
		a.Mode, a.GoalVelocity = hal.VelocityMode, turn*s.SI(reg.GoalVelocity)/s.Truth.Gear
	case ControlDuty:
		a.Mode, a.GoalDuty = hal.DutyMode, turn*s.SI(reg.GoalPWM)
	case ControlMotion:
		a.Mode, a.GoalCurrent = hal.TorqueMode, turn*s.motion()
	default:
		goal := float64(s.Get(reg.GoalPosition))
		if s.Wraps { // the shorter way round, as a controller of angles goes
			at := s.Present(s.Shaft())
			goal = s.Shaft() + math.Remainder(goal-at, Ticks)
		} else {
			goal += s.Zero
		}
		a.Mode, a.GoalPosition, a.ProfileVelocity = hal.PositionMode, s.Angle(goal), s.Fast/s.Truth.Gear
	}
}

// motion is the current of a motion command now, A of the shaft's sense.
func (s *Controller) motion() float64 {
	const tick = 2 * math.Pi / Ticks
	e := (float64(s.Get(reg.GoalPosition)) - s.Present(s.Shaft())) * tick
	v := s.SI(reg.GoalVelocity) - float64(s.Truth.Direction*s.Truth.Gear*s.Act.Velocity)
	return (float64(s.Kp*e) + float64(s.Kd*v) + s.Bias) / s.Act.Spec.Kt
}

// Notice latches the controller's alarms and checks its watchdog.
func (s *Controller) Notice() {
	at := s.Shaft()
	s.Way += math.Abs(at - s.last)
	s.last = at
	if s.Alarm |= s.causes() | s.Act.Alarm&(actuator.AlarmHeat|actuator.AlarmVoltage|actuator.AlarmOverload|actuator.AlarmShock); s.Alarm != 0 {
		s.Release()
	}
	if w := s.Get(reg.Watchdog); w > 0 && s.Get(reg.TorqueEnable) == 1 &&
		s.Now-s.Received > time.Duration(w)*time.Millisecond {
		s.Expired = true
		s.Release()
	}
	if s.Get(reg.Control) == ControlMotion {
		s.Actuate()
	}
}

// ClearAlarms clears the alarms whose cause is over.
func (s *Controller) ClearAlarms() {
	s.Act.ClearAlarm()
	s.Alarm = s.causes()
}

// causes are the alarms of the present voltage and temperature.
func (s *Controller) causes() (alarm actuator.Alarm) {
	a := s.Act
	if a.Temperature > a.Spec.MaxTemperature {
		alarm |= actuator.AlarmHeat
	}
	if v := a.Volts(); v < a.Spec.MinVolts || v > a.Spec.MaxVolts {
		alarm |= actuator.AlarmVoltage
	}
	return alarm
}

// Release switches torque off.
func (s *Controller) Release() {
	if s.Get(reg.TorqueEnable) == 1 {
		s.Set(reg.TorqueEnable, 0)
		s.Actuate()
	}
}

func (s *Controller) Show(r *emulator.Reading) {
	s.Set(reg.PresentPosition, int64(s.Present(r.Shaft)))
	s.SetSI(reg.PresentVelocity, r.Velocity)
	s.SetSI(reg.PresentCurrent, r.Amps)
	s.SetSI(reg.PresentPWM, r.Duty)
	s.SetSI(reg.PresentVoltage, r.Volts)
	s.SetSI(reg.PresentTemperature, r.Temperature)
}

// SetGoal sets a goal and its mode; it feeds the watchdog.
func (s *Controller) SetGoal(control int64, n reg.Name, v float64) {
	s.Set(reg.Control, control)
	s.SetSI(n, v)
	s.Set(reg.TorqueEnable, 1)
	s.Received = s.Now
}

package emulator

import (
	"math"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/sim/actuator"
)

// motorTicks are the counts a turn of all motor controllers here.
const motorTicks = 16384

// motor is what a motor controller knows beside its registers.
type motor struct {
	expired bool          // its watchdog has taken the torque
	stopped bool          // an emergency stop has
	zero    float64       // shaft ticks that it calls 0
	last    float64       // shaft ticks at the last look
	way     float64       // ticks that the shaft has made since it has power, both ways
	beat    time.Duration // when it says unasked that it is there
	kp, kd  float64       // of a motion command, N·m/rad and N·m·s/rad of the shaft
	bias    float64       // N·m, likewise
	fast    float64       // rad/s of the shaft, the most on the way to a position; 0 = what it can
}

// The values of control_mode.
const (
	controlNone = iota // let go
	controlTorque
	controlVelocity
	controlPosition
	controlDuty
	controlMotion
)

// motorTable is the memory of every motor controller here. None of it is on a wire: what is there comes from it.
func motorTable(lastID int64, timeout int64) []servo.Register {
	const ro, ram, keep, signed, plain = servo.ReadOnly, servo.RAM, servo.EEPROM, servo.Signed, servo.Unsigned
	const word, half = math.MaxInt32, math.MaxInt16
	tick := servo.Measure{Unit: "rad", Scale: 2 * math.Pi / motorTicks}
	milli := func(unit string) servo.Measure { return servo.Measure{Unit: unit, Scale: 1e-3} }
	return []servo.Register{
		servo.Reg("id", 0, 1, keep, plain, 0, lastID, 1, servo.Measure{}),
		servo.Reg("timeout", 2, 4, keep, plain, 0, word, timeout, milli("s")),
		servo.Reg("baud_rate", 6, 4, keep, plain, 0, word, 0, servo.Measure{}),
		servo.Reg("torque_enable", 10, 1, ram, plain, 0, 1, 0, servo.Measure{}),
		servo.Reg("control_mode", 11, 1, ram, plain, 0, controlMotion, 0, servo.Measure{}),
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

// motorKind is what all motor controllers have in common.
type motorKind struct {
	name      string
	amps      float64 // greatest
	low, high float64 // ticks that it can be told
	centre    float64
	wraps     bool // its positions are those within a turn
	relative  bool // they begin at 0 with the power
	guard     bool // its timeout counts from the power on
}

// newMotor puts a motor controller together.
func newMotor(k kind, m *motorKind, lastID, timeout int64, id int, act *actuator.Servo, truth GroundTruth) *Servo {
	s := &Servo{kind: k, sheet: sheet{m.name, 8, motorTicks, m.centre, m.low, m.high}}
	s.make(motorTable(lastID, timeout), id, act, truth)
	return s
}

func (motorKind) derive(*Servo)           {}
func (motorKind) baud(s *Servo) int       { return int(s.get(rBaud)) }
func (motorKind) tune(s *Servo, rate int) { s.set(rBaud, int64(rate)) }

// start leaves the motor free; its counters begin again.
func (k *motorKind) start(s *Servo) {
	at := s.shaft()
	s.motor = motor{last: at, beat: s.booted}
	if k.relative {
		s.motor.zero = at
	}
	if k.guard {
		s.set(rWatchdog, s.get(rTimeout))
	}
	s.set(rGoalPosition, int64(k.present(s, at)))
}

// present is the position that the controller tells for a shaft position, ticks.
func (k *motorKind) present(s *Servo, shaft float64) float64 {
	v := shaft - s.motor.zero
	if k.wraps {
		v -= math.Floor(v/motorTicks) * motorTicks
	}
	return v
}

// drive hands what the registers command to the actuator.
func (k *motorKind) drive(s *Servo) {
	a, turn := s.act, s.groundTruth.Direction
	a.Enable = s.get(rTorqueEnable) == 1 && s.get(rControl) != controlNone
	a.Limit, a.DutyLimit = min(1, s.si(rCurrentLimit)/k.amps), 1
	a.Extended = !k.wraps
	switch s.get(rControl) {
	case controlTorque:
		a.Mode, a.GoalCurrent = hal.TorqueMode, turn*s.si(rGoalCurrent)
	case controlVelocity:
		a.Mode, a.GoalVelocity = hal.VelocityMode, turn*s.si(rGoalVelocity)/s.groundTruth.Gear
	case controlDuty:
		a.Mode, a.GoalDuty = hal.DutyMode, turn*s.si(rGoalPWM)
	case controlMotion:
		a.Mode, a.GoalCurrent = hal.TorqueMode, turn*k.motion(s)
	default:
		goal := float64(s.get(rGoalPosition))
		if k.wraps { // the shorter way round, as a controller of angles goes
			at := k.present(s, s.shaft())
			goal = s.shaft() + math.Remainder(goal-at, motorTicks)
		} else {
			goal += s.motor.zero
		}
		a.Mode, a.GoalPosition, a.ProfileVelocity = hal.PositionMode, s.angle(goal), s.motor.fast/s.groundTruth.Gear
	}
}

// motion is the current of a motion command now, A of the shaft's sense.
func (k *motorKind) motion(s *Servo) float64 {
	m := &s.motor
	tick := 2 * math.Pi / motorTicks
	e := (float64(s.get(rGoalPosition)) - k.present(s, s.shaft())) * tick
	v := s.si(rGoalVelocity) - float64(s.groundTruth.Direction*s.groundTruth.Gear*s.act.Velocity)
	return (float64(m.kp*e) + float64(m.kd*v) + m.bias) / s.act.Spec.Kt
}

// notice lets the controller latch its alarms, and its watchdog look at the time.
func (k *motorKind) notice(s *Servo) {
	m := &s.motor
	at := s.shaft()
	m.way += math.Abs(at - m.last)
	m.last = at
	if v := s.act.Volts(); v < s.act.Spec.MinVolts || v > s.act.Spec.MaxVolts {
		s.alarm |= actuator.AlarmVoltage
	}
	if s.act.Temperature > s.act.Spec.MaxTemperature {
		s.alarm |= actuator.AlarmHeat
	}
	if s.alarm |= s.act.Alarm & (actuator.AlarmHeat | actuator.AlarmVoltage | actuator.AlarmOverload | actuator.AlarmShock); s.alarm != 0 {
		s.letGo()
	}
	if w := s.get(rWatchdog); w > 0 && s.get(rTorqueEnable) == 1 && s.now-s.heard > time.Duration(w)*time.Millisecond {
		m.expired = true
		s.letGo()
	}
	if s.get(rControl) == controlMotion {
		s.kind.drive(s)
	}
}

// forgive forgets the alarms whose cause is over.
func (s *Servo) forgive() {
	a := s.act
	a.ClearAlarm()
	if s.alarm = 0; a.Temperature > a.Spec.MaxTemperature {
		s.alarm |= actuator.AlarmHeat
	}
	if v := a.Volts(); v < a.Spec.MinVolts || v > a.Spec.MaxVolts {
		s.alarm |= actuator.AlarmVoltage
	}
}

// letGo takes the torque.
func (s *Servo) letGo() {
	if s.get(rTorqueEnable) == 1 {
		s.set(rTorqueEnable, 0)
		s.kind.drive(s)
	}
}

func (k *motorKind) show(s *Servo, r *reading) {
	s.set(rPresentPosition, int64(k.present(s, r.shaft)))
	s.setSI(rPresentVelocity, r.velocity)
	s.setSI(rPresentCurrent, r.amps)
	s.setSI(rPresentPWM, r.duty)
	s.setSI(rPresentVoltage, r.volts)
	s.setSI(rPresentTemperature, r.temperature)
}

// setGoal sets a goal and its mode; it counts as word from the host.
func (s *Servo) setGoal(control int64, n name, v float64) {
	s.set(rControl, control)
	s.setSI(n, v)
	s.set(rTorqueEnable, 1)
	s.heard = s.now
}

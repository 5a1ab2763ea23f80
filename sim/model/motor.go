package model

import (
	"math"
	"slices"

	"github.com/halyard-robotics/halyard/hal"
)

// SpeedUnit is the speed, rad/s, that Simloid calls 1: two turns a second. Motor and status both count in it.
const SpeedUnit = 4 * math.Pi

// motorKind is the law by which a Motor makes torque.
type motorKind uint8

// The kinds of motor.
const (
	Bristle motorKind = iota // the original Simloid's: a DC motor behind a bristle friction
	Ideal                    // any torque up to MaxTorque, at once: the motor data of a URDF
)

// Motor moves a joint that has no servo model.
type Motor struct {
	Name   string
	Kind   motorKind
	Source string

	// Of Ideal; N·m and rad/s, or N and m/s for a slide.
	MaxTorque, MaxVelocity float64
	// Of Ideal, the gains of its controller, N·m/rad and N·m·s/rad (N/m and N·s/m): in position mode its torque is
	// Kp·(goal - position) - Kd·velocity, in velocity mode, where Kp is 0, Kd·(goal - velocity). Both 0: it is stiff,
	// and goes to its goal with as much of its torque as that takes.
	Kp, Kd float64

	// Of Bristle. In voltage mode the command u, -1..1, gives the voltage U = Volts·u, and with v the joint's speed in
	// SpeedUnit the current I = (U - BackEMF·v)·Conductance, where the back-EMF counts only while v and U have the same
	// sign and the voltage left is clipped to ±Volts. The torque TorqueConstant·I·Factor/5 is worked out once, when the
	// command arrives, and then held.
	Factor         float64 // torque factor; 5 is one servo
	Volts          float64 // V
	TorqueConstant float64 // N·m/A
	BackEMF        float64 // V per SpeedUnit
	Conductance    float64 // 1/Ω
	// Friction bounds a velocity constraint at
	// Coulomb + (Sticking - Coulomb)·exp(-(v/StictionSpeed)²) + Fluid·|v|, whose target speed, rad/s, is
	// BristleStiffness·z, with z <- clip(z - v, ±BristleMax) each step.
	Coulomb, Sticking             float64 // N·m
	Fluid                         float64 // N·m per SpeedUnit
	StictionSpeed                 float64 // SpeedUnit
	BristleMax, BristleStiffness  float64
	Softness                      float64 // CFM of the constraint
	Proportional, Integral, Deriv float64 // the position controller on the error, rad; its output is a speed, rad/s
	IntegralMax                   float64 // clipping limit of the integral
	StartTorque                   float64 // 0..1 of the stall torque: the torque limit of position mode after a reset
}

// Soft reports whether the gains make the torque of a mode.
func (m *Motor) Soft(mode hal.Mode) bool {
	return mode == hal.PositionMode && m.Kp > 0 || mode == hal.VelocityMode && m.Kp == 0 && m.Kd > 0
}

// StallTorque is the greatest torque at standstill, N·m (N for a slide).
func (m *Motor) StallTorque() float64 {
	if m.Kind == Ideal {
		return m.MaxTorque
	}
	return m.TorqueConstant * m.Volts * m.Conductance * 0.2 * m.Factor
}

// NoLoadSpeed is the speed at which the motor has no torque left, rad/s (m/s for a slide).
func (m *Motor) NoLoadSpeed() float64 {
	if m.Kind == Ideal {
		return m.MaxVelocity
	}
	return m.Volts / m.BackEMF * SpeedUnit
}

// bristleMotors are the two motors of the original Simloid.
func bristleMotors() []Motor {
	rx28 := Motor{
		Name: "simloid-rx-28", Kind: Bristle, Source: "Simloid 2016, the default of all its robots",
		Factor: 5, Volts: 16, TorqueConstant: 1.393, BackEMF: 2.563, Conductance: 1 / 9.59,
		Coulomb: 0.1, Sticking: 0.2, Fluid: 0.1, StictionSpeed: 0.01, BristleMax: 0.01, BristleStiffness: 1,
		Softness: 0.1, Proportional: 3.5, Deriv: 0.1, IntegralMax: 0.5, StartTorque: 0.5,
	}
	sensorimotor := rx28
	sensorimotor.Name, sensorimotor.Source = "simloid-sensorimotor", "Simloid from 2019 on, its pendulums 90 and 95"
	sensorimotor.Volts, sensorimotor.TorqueConstant = 12, 1.88925820
	sensorimotor.BackEMF, sensorimotor.Conductance = 1.88657814, 0.0589352492
	sensorimotor.Coulomb, sensorimotor.Sticking, sensorimotor.Fluid = 0.104044079, 0.217955433, 0.343298513
	sensorimotor.StictionSpeed = 0.130738033
	sensorimotor.BristleMax, sensorimotor.BristleStiffness = 0.00871005098, 0.993740632
	return []Motor{rx28, sensorimotor}
}

// lookupMotor returns a copy of the motor called name, with the torque factor of one servo.
func lookupMotor(name string) (Motor, bool) {
	motors := bristleMotors()
	if i := slices.IndexFunc(motors, func(m Motor) bool { return m.Name == name }); i >= 0 {
		return motors[i], true
	}
	return Motor{}, false
}

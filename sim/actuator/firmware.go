package actuator

import (
	"math"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/sheet"
)

// Gains are firmware gains in the units of the servo's own registers; the defaults are in Spec.Gains.
//
//	X   position P/128, I/65536, D/16, feed-forward /4, velocity P/128, I/65536; errors in ticks and in 0.229 rpm,
//	    results in 1/885 of the supply voltage, once a millisecond (e-Manual)
//	MX  P/8, I·1000/2048, D·4/1000, errors in ticks, times in seconds (e-Manual, protocol 1.0)
//	AX  none: margins, slopes and punch
//	FOC P in 1/s, velocity P in A·s/rad and I in A/rad
type Gains struct {
	P, I, D              float64
	FF1, FF2             float64 // feed-forward of the trajectory's velocity and acceleration (X)
	VelocityP, VelocityI float64 // X, and the wheel mode of MX
	MarginCW, MarginCCW  float64 // ticks within which the motor is not driven (AX)
	SlopeCW, SlopeCCW    float64 // ticks beyond the margin at which it is driven fully (AX)
	Punch                float64 // 0..1023, the least drive beyond the margin (AX, MX)
}

const (
	fullPWM   = 885   // units of the X servos' duty
	samples   = 1000  // runs of the X servos' control law a second
	smoothing = 0.004 // s, of the derivative term; an estimate, without it one tick would be a kick
	turns     = 256   // how far extended positions go, either way
)

// Control is the firmware: it reads the encoder, runs the profile and the control law for a step of dt seconds, and
// returns the motor's torque as a function of speed. It sets Servo.Duty, Moving and the trajectory.
func (s *Servo) Control(dt float64) Drive {
	s.jitter = Gauss(&s.Random, s.Noise)
	volts := s.Volts()
	if volts < s.Spec.BrownOut {
		// The processor restarts: torque off. The emulated register file detects it by Restarts.
		if s.bridge != dark {
			s.Restarts++
		}
		s.Enable, s.powered, s.running, s.bridge = false, false, false, dark
		return Drive{}
	}
	s.bridge = open
	s.switchTorque(dt)
	if !s.powered || !(s.Limit > 0) {
		s.running = false
		s.TrajectoryPosition, s.TrajectoryVelocity = s.MeasuredPosition(), 0
		return Drive{}
	}
	if !s.running || s.mode != s.Mode {
		s.begin()
	}
	return s.drive(dt, volts)
}

// switchTorque lets a switched torque take effect after its delay.
func (s *Servo) switchTorque(dt float64) {
	switch {
	case s.powered == s.Enable:
		s.switching = 0
	case s.switching >= s.Spec.TorqueDelay-float64(dt/2):
		s.powered, s.switching = s.Enable, 0
	default:
		s.switching += dt
	}
}

// begin restarts the control law at the present position, so that the shaft does not jump at torque-on.
func (s *Servo) begin() {
	s.running, s.mode = true, s.Mode
	s.integral, s.slope, s.lastError = 0, 0, math.NaN()
	s.profile = profile{}
	s.TrajectoryPosition, s.TrajectoryVelocity = s.MeasuredPosition(), s.Velocity
	if s.Mode == hal.PositionMode {
		s.TrajectoryVelocity = 0
	}
}

// drive runs the control law of the present mode.
func (s *Servo) drive(dt, volts float64) Drive {
	k := s.Spec
	limit, amps := s.Limit, 0.0
	if k.CurrentControl {
		limit = 1
		if s.Limit < 1 {
			amps = s.Limit * k.MaxCurrent
		}
	}
	if k.Firmware == FOC && (s.Mode == hal.PositionMode || s.Mode == hal.VelocityMode) {
		return s.cascade(dt, volts)
	}
	var duty float64
	switch s.Mode {
	case hal.PositionMode:
		acceleration := s.follow(dt)
		duty = s.position(dt, acceleration, limit)
	case hal.VelocityMode:
		duty = s.velocity(dt, limit)
	case hal.TorqueMode:
		goal := finite(s.GoalCurrent)
		if k.CurrentControl {
			most := s.Limit * k.MaxCurrent
			return s.onCurrent(clamp(goal, -most, most), math.Min(k.MaxDuty, s.DutyLimit), volts)
		}
		duty = goal
	case hal.DutyMode:
		duty = finite(s.GoalDuty)
	}
	return s.onVoltage(duty, limit, amps, volts)
}

// follow moves the trajectory on to the goal and returns its acceleration.
func (s *Servo) follow(dt float64) (acceleration float64) {
	p := &s.profile
	goal := s.within(s.GoalPosition)
	if goal != p.goal || s.ProfileVelocity != p.velocity || s.ProfileAcceleration != p.acc || s.TimeBased != p.timed ||
		!p.planned {
		p.plan(goal, s.ProfileVelocity, s.ProfileAcceleration, s.TimeBased, s.TrajectoryPosition, s.TrajectoryVelocity)
	}
	s.TrajectoryPosition, s.TrajectoryVelocity, acceleration = p.advance(dt)
	return acceleration
}

// within clips a position goal to the servo's goal range; a goal that is not finite becomes the trajectory's end.
func (s *Servo) within(goal float64) float64 {
	k := s.Spec
	tick := 2 * math.Pi / k.TicksPerTurn
	if math.IsNaN(goal) || math.IsInf(goal, 0) {
		if s.profile.planned {
			return s.profile.goal
		}
		return s.TrajectoryPosition
	}
	if s.Extended {
		most := turns * 2 * math.Pi / k.gear()
		return clamp(goal, -most, most)
	}
	return clamp(goal, float64((k.MinTicks-k.CentreTicks)*tick), float64((k.MaxTicks-k.CentreTicks)*tick))
}

// position is the control law of the position mode: a duty.
func (s *Servo) position(dt, acceleration, limit float64) float64 {
	k := s.Spec
	e := s.TrajectoryPosition - s.MeasuredPosition()
	if k.Firmware == ax {
		return s.compliance(e * k.TicksPerTurn / (2 * math.Pi))
	}
	integral, slope := sheet.IntegralX, sheet.SlopeX
	if k.Firmware == mx {
		integral, slope = sheet.IntegralM, sheet.SlopeM
	}
	if s.lastError == s.lastError { // not the first run
		s.slope += float64(((e-s.lastError)/dt - s.slope) * min(1, dt/smoothing))
	}
	s.lastError = e
	g := k.PositionGain
	duty := float64(g*s.Gains.P*e) + float64(g*slope*s.Gains.D*s.slope) + float64(g*integral*s.Gains.I*s.integral)
	if k.Firmware == X {
		perTick := k.TicksPerTurn / (2 * math.Pi) / 4 / fullPWM
		duty += float64(s.Gains.FF1*perTick*s.TrajectoryVelocity/samples) +
			float64(s.Gains.FF2*perTick*acceleration/(samples*samples))
	} else if s.Gains.Punch > 0 && e != 0 {
		duty += math.Copysign(s.Gains.Punch/1023, e)
	}
	// The integral is frozen while the bridge is saturated.
	if math.Abs(duty) < limit || duty*e < 0 {
		s.integral += float64(e * dt)
	}
	return duty
}

// compliance is the control law of AX servos: zero within the margin, then from the punch to full output over the
// slope.
func (s *Servo) compliance(ticks float64) float64 {
	margin, slope := s.Gains.MarginCCW, s.Gains.SlopeCCW
	if ticks < 0 {
		margin, slope = s.Gains.MarginCW, s.Gains.SlopeCW
	}
	over := math.Abs(ticks) - margin
	if over <= 0 {
		return 0
	}
	punch := s.Gains.Punch / 1023
	return math.Copysign(math.Min(1, punch+float64((1-punch)*over/math.Max(slope, 1))), ticks)
}

// velocity is the control law of the velocity mode, which ramps to its goal with the profile's acceleration.
func (s *Servo) velocity(dt, limit float64) float64 {
	k := s.Spec
	goal := finite(s.GoalVelocity)
	if k.Firmware == ax {
		return goal / k.NoLoadSpeed // wheel mode is an open loop: a share of the voltage
	}
	if ramp := float64(s.ProfileAcceleration * dt); ramp > 0 && !s.TimeBased {
		goal = clamp(goal, s.TrajectoryVelocity-ramp, s.TrajectoryVelocity+ramp)
	}
	s.TrajectoryVelocity, s.TrajectoryPosition = goal, s.MeasuredPosition()
	e := float64((goal-s.Velocity)*k.gear()) / velocityUnit
	duty := float64(s.Gains.VelocityP/128/fullPWM*e) + float64(s.Gains.VelocityI*samples/65536/fullPWM*s.integral)
	if math.Abs(duty) < limit || duty*e < 0 {
		s.integral += float64(e * dt)
	}
	return duty
}

func finite(x float64) float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return 0
	}
	return x
}

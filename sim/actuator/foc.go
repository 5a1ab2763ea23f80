package actuator

import (
	"math"
	"strings"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/sheet"
)

// cascade is the law of motor controllers: the position's error asks for a speed, the speed's error for a current. The
// proportional part of the latter is damping and goes into the step as such, so that it is stable however stiff it is.
func (s *Servo) cascade(dt, volts float64) Drive {
	k := s.Spec
	goal := finite(s.GoalVelocity)
	most := k.NoLoadSpeed
	if s.Mode == hal.PositionMode {
		s.follow(dt)
		goal = s.TrajectoryVelocity + float64(s.Gains.P*(s.TrajectoryPosition-s.MeasuredPosition()))
		if s.ProfileVelocity > 0 && !s.TimeBased {
			most = math.Min(most, float64(1.2*s.ProfileVelocity))
		}
	} else if ramp := float64(s.ProfileAcceleration * dt); ramp > 0 {
		goal = clamp(goal, s.TrajectoryVelocity-ramp, s.TrajectoryVelocity+ramp)
	}
	goal = clamp(goal, -most, most)
	if s.Mode == hal.VelocityMode {
		s.TrajectoryVelocity, s.TrajectoryPosition = goal, s.MeasuredPosition()
	}
	e := float64((goal - s.Velocity) * k.gear())
	bound := s.Limit * k.MaxCurrent
	amps := float64(s.Gains.VelocityP*e) + float64(s.Gains.VelocityI*s.integral)
	// The integral is frozen while the regulator is saturated.
	if math.Abs(amps) < bound || amps*e < 0 {
		s.integral += float64(e * dt)
	}
	duty := math.Min(k.MaxDuty, s.DutyLimit)
	needs := (float64(amps*k.R) + float64(k.Kt*s.gearVelocity)) / volts
	if math.Abs(amps) >= bound || !(math.Abs(needs) < duty) {
		return s.onCurrent(clamp(amps, -bound, bound), duty, volts)
	}
	s.bridge, s.Duty, s.Current = current, needs, amps
	return Drive{
		Torque:  float64(k.Kt * (amps + float64(s.Gains.VelocityP*k.gear()*s.Velocity))),
		Damping: float64(k.Kt * s.Gains.VelocityP * k.gear()),
	}
}

// motorSheet is one row of motors on controllers.
type motorSheet struct {
	name               string
	source             string
	ohms               float64
	armature           float64 // kg·m², at the output
	dry, viscous       float64 // N·m, N·m·s/rad
	grams              float64
	minVolts, maxVolts float64
	centre, low, high  float64 // ticks of 16384 a turn
	duty               float64 // greatest
}

// How far positions of several turns go, ticks: a motor without an end, and a CyberGear's ±12.5 rad.
const (
	endless   = 1024 * 16384
	gearTicks = 12.5 * 16384 / (2 * math.Pi)
)

// motorSheets are motors on controllers. The data sheets give Kt (internal/sheet), resistance and mass; inertia
// and friction are estimates from the size of rotor and bearings. The CyberGear's are at its output, behind 7.75:1.
var motorSheets = []motorSheet{
	{"vesc-4", "6374 190 KV at 36 V", 0.05, 2e-4, 0.03, 5e-5, 850, 8, 60, 8192, 0, 16383, 0.95},
	{"vesc-4-hall", "6374 190 KV at 36 V", 0.05, 2e-4, 0.03, 5e-5, 850, 8, 60, 0, -1e9, 1e9, 0.95},
	{"vesc-6", "6374 190 KV at 48 V", 0.05, 2e-4, 0.03, 5e-5, 850, 8, 60, 8192, 0, 16383, 0.95},
	{"vesc-6-hall", "6374 190 KV at 48 V", 0.05, 2e-4, 0.03, 5e-5, 850, 8, 60, 0, -1e9, 1e9, 0.95},
	{"vesc-75", "6374 190 KV at 60 V", 0.05, 2e-4, 0.03, 5e-5, 850, 14, 75, 8192, 0, 16383, 0.95},
	{"vesc-75-hall", "6374 190 KV at 60 V", 0.05, 2e-4, 0.03, 5e-5, 850, 14, 75, 0, -1e9, 1e9, 0.95},
	{"odrive-v3", "ODrive D5065 270 KV at 24 V", 0.039, 1e-4, 0.02, 3e-5, 420, 8, 56, 0, -endless,
		endless, 0.95},
	{"odrive-s1", "ODrive M8325s 100 KV at 48 V", 0.06, 6e-4, 0.04, 1e-4, 870, 12, 50, 0, -endless,
		endless, 0.95},
	{"odrive-pro", "ODrive M8325s 100 KV at 48 V", 0.06, 6e-4, 0.04, 1e-4, 870, 14, 58, 0, -endless,
		endless, 0.95},
	{"cybergear", "Xiaomi manual, CyberGear at 24 V", 0.34, 2.3e-3, 0.1,
		4e-3, 317,
		16, 28, 0, -gearTicks, gearTicks, 0.85},
}

func (r *motorSheet) spec() Spec {
	d := sheet.Of(r.name)
	kt := d.Constant()
	free := d.Volts * r.duty / kt
	k := Spec{
		Name: r.name, Source: r.source, Fit: "data sheet; inertia and friction estimated",
		Kt: kt, R: r.ohms, Armature: r.armature, Friction: Friction{Model: 1, Kb: r.dry, Kv: r.viscous},
		MaxDuty:      r.duty,
		NominalVolts: d.Volts, StallTorque: d.Torque, StallCurrent: d.Amps, NoLoadSpeed: free,
		Mass:         r.grams / 1000,
		TicksPerTurn: 16384, CentreTicks: r.centre, MinTicks: r.low, MaxTicks: r.high,
		Firmware: FOC, Modes: [hal.NumModes]bool{true, true, true, true}, CurrentControl: true, MaxCurrent: d.Amps,
		MinVolts: r.minVolts, MaxVolts: r.maxVolts, BrownOut: r.minVolts * 0.6, MaxTemperature: 100, Standby: 0.05,
		// All the current at a fiftieth of the free speed: stiff enough for a hundred times the rotor.
		Gains: Gains{P: 8, VelocityP: 50 * d.Amps / free, VelocityI: 100 * d.Amps / free},
	}
	// Position mode requires an encoder, which is present if the range is finite.
	k.Modes[hal.PositionMode] = r.high < 1e9
	k.Modes[hal.DutyMode] = strings.HasPrefix(r.name, "vesc") // the other protocols have no duty mode
	return k
}

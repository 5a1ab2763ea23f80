package actuator

import (
	"math"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/sheet"
)

// firmwareKind is the family of control law that runs in a servo.
type firmwareKind uint8

// The firmwares.
const (
	ax  firmwareKind = iota // compliance margin, slope and punch; the wheel mode is a share of the voltage
	mx                      // P, I, D of protocol 1.0; moving speed and goal acceleration
	X                       // P, I, D, feed-forward, velocity PI, profiles, current and duty modes
	FOC                     // a current regulator under a speed regulator under a position regulator: motor controllers
)

// sense is what a servo reports as its effort.
type sense uint8

// The senses.
const (
	sensesDuty    sense = iota // the load of most servos is their own output
	sensesCurrent              // measured
	sensesNothing
)

// Spec is the immutable data of one servo model. All torques, speeds and inertias are those of the output shaft.
type Spec struct {
	Name   string // "ax-12a", "xm430-w350"; the same as in servo/dynamixel
	Source string // of the datasheet's values
	Fit    string // where the motor's constants come from: "BAM M6", "fit to datasheet stall and no-load"

	// The motor and its gear.
	Kt, R    float64 // N·m/A (also V·s/rad) and Ω
	Droop    float64 // Ω; the resistance at a duty d is R + Droop·d²: supply, bridge and other losses at full drive
	Armature float64 // kg·m², rotor and gears as the output shaft feels them
	Friction Friction
	MaxDuty  float64 // 0..1, maximum of the bridge

	// The datasheet.
	NominalVolts              float64 // V, of the values below
	StallTorque, StallCurrent float64 // N·m, A
	NoLoadSpeed               float64 // rad/s
	Mass                      float64 // kg

	// The encoder, on the output shaft.
	TicksPerTurn, CentreTicks float64
	MinTicks, MaxTicks        float64 // goal range of the position mode
	DeadSector                bool    // it measures only MinTicks..MaxTicks
	// turns of the servo's own shaft a turn of what all the values above and below are of; 0 = 1
	Gear float64

	// The firmware.
	Firmware           firmwareKind
	Modes              [hal.NumModes]bool
	CurrentControl     bool    // efforts are currents
	Senses             sense   // what its firmware reports as its effort
	SupplyCurrent      bool    // it measures the current of the supply, not of the winding (XL330)
	MaxCurrent         float64 // A, the current limit register's default; the effort of Limit = 1
	Gains              Gains   // at power-up
	PositionGain       float64 // duty per rad and unit of Gains.P
	MinVolts, MaxVolts float64 // V, between which there is no voltage alarm
	BrownOut           float64 // V, below which the processor restarts; an estimate
	MaxTemperature     float64 // °C, of the overheating alarm
	Standby            float64 // A, current of the processor; an estimate if it is not in the datasheet
	TorqueDelay        float64 // s from a switch of Servo.Enable until it takes effect; alarms take effect at once
}

// Range is the goal range of the servo's position mode, rad.
func (k *Spec) Range() (low, high float64) {
	tick := 2 * math.Pi / k.TicksPerTurn
	return (k.MinTicks - k.CentreTicks) * tick, (k.MaxTicks - k.CentreTicks) * tick
}

// gear is Gear, 1 where it is not set.
func (k *Spec) gear() float64 {
	if k.Gear == 0 {
		return 1
	}
	return k.Gear
}

// Constant is the torque of the shaft, N·m, a unit of effort, by the data sheet: an A where CurrentControl, else the
// whole supply. It is not Kt, which is the motor's before the losses of the gear.
func (k *Spec) Constant() float64 {
	if k.CurrentControl {
		return k.StallTorque / k.StallCurrent
	}
	return k.StallTorque
}

// GainUnits are N·m/rad, N·m/(rad·s) and N·m·s/rad a unit of Gains.P, I and D, and their greatest value; 0 where the
// firmware takes none while torque is on.
func (k *Spec) GainUnits() (units [3]float64, most float64) {
	d := sheet.Of(k.Name)
	if d == nil || d.Gain.Max == 0 {
		return units, 0
	}
	p := k.StallTorque * k.PositionGain
	if k.Firmware == X {
		return [3]float64{p, p * sheet.IntegralX, p * sheet.SlopeX}, d.Gain.Max
	}
	return [3]float64{p, p * sheet.IntegralM, p * sheet.SlopeM}, d.Gain.Max
}

// Geared is k behind a further gear of so many turns of its shaft a turn of what it moves, above 0. Ticks and torques a
// turn and a unit of current grow by the ratio, speeds shrink; the firmware counts as before.
func (k *Spec) Geared(ratio float64) *Spec {
	c := *k
	c.Gear = k.gear() * ratio
	c.Kt *= ratio
	c.Armature *= ratio * ratio
	f := &c.Friction
	for _, v := range []*float64{&f.Kb, &f.Ks, &c.StallTorque, &c.TicksPerTurn, &c.PositionGain} {
		*v *= ratio
	}
	f.Kv *= ratio * ratio
	for _, v := range []*float64{&f.Kq, &f.Kmq, &f.Keq, &f.Dqs, &c.NoLoadSpeed} {
		*v /= ratio
	}
	return &c
}

// Stiffness is how strongly the position control with the gains at power-up answers an error, N·m/rad, before the drive
// is at its greatest.
func (k *Spec) Stiffness() float64 {
	g := &k.Gains
	switch k.Firmware {
	case ax:
		tick := 2 * math.Pi / k.TicksPerTurn
		return k.StallTorque * (1 - g.Punch/1023) / (math.Max(math.Min(g.SlopeCW, g.SlopeCCW), 1) * tick)
	case FOC:
		return k.Kt * g.VelocityP * k.gear() * g.P
	}
	return k.StallTorque * k.PositionGain * g.P
}

// Lookup returns the servo model called name. The Spec is shared and read-only.
func Lookup(name string) (*Spec, bool) {
	for i := range specs {
		if specs[i].Name == name {
			return &specs[i], true
		}
	}
	return nil, false
}

// Names lists all servo models.
func Names() []string {
	names := make([]string, len(specs))
	for i := range specs {
		names[i] = specs[i].Name
	}
	return names
}

// WithFriction returns a copy of k with the constants that were identified together with friction model m, 1..6;
// false if absent for this servo.
func (k *Spec) WithFriction(m int) (*Spec, bool) {
	for i := range identified {
		if id := &identified[i]; id.of(k.Name) && id.friction.Model == m {
			c := *k
			c.use(id)
			return &c, true
		}
	}
	return nil, false
}

// motorKind selects values that are not in the datasheet, from the identified servos of the same kind.
type motorKind uint8

const (
	cored    motorKind = iota // AX-12A, XL320, XL330, XL430
	coreless                  // MX, XC, XM, XH
)

// fitted derives the motor's constants from the datasheet's stall torque, stall current and no-load speed.
//
// Two values that are not in the datasheet are taken from identified servos with the same kind of motor (XL320 and
// XL330 for cored, MX-64 and MX-106 for coreless ones): the no-load current as a share of the stall current, and the
// mechanical time constant armature·R/kt². The friction is M3: half of the no-load loss dry, half viscous, and a part
// proportional to the load, which explains the difference between kt times the stall current and the stall torque. If
// that part would be too small for a gear, the stall torque and the no-load speed are kept and the stall current is
// adjusted.
func (k *Spec) fitted(kind motorKind) {
	idle, lag := 0.16, 0.036
	if kind == coreless {
		idle, lag = 0.10, 0.011
	}
	const minLoadLoss = 0.03
	k.Kt = k.NominalVolts * (1 - idle) / k.NoLoadSpeed
	stall := k.Kt * k.StallCurrent
	k.Fit = "fit to datasheet stall and no-load"
	dry := float64(0.5 * idle) // of stall, but for the load loss
	given := float64(stall * (1 - dry))
	loss := (given - k.StallTorque) / (given + k.StallTorque)
	if loss < minLoadLoss {
		loss = minLoadLoss
		stall = k.StallTorque * (1 + loss) / ((1 - loss) * (1 - dry))
		k.Fit = "fit to datasheet stall torque and no-load"
	}
	k.R = k.NominalVolts * k.Kt / stall
	k.Armature = lag * k.Kt * k.Kt / k.R
	k.Friction = Friction{
		Model: 3,
		Kl:    loss,
		Kb:    dry * (1 - loss) * stall,
		Kv:    dry * (1 - loss) * stall / k.NoLoadSpeed,
	}
}

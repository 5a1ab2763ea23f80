package autopilot

import (
	"math"

	"github.com/halyard-robotics/halyard/hal"
)

// Mode is the quantity that a law controls.
type Mode uint8

// The modes.
const (
	Manual Mode = iota // none: the commander sets the duties
	Acro               // the rates about the body's axes
	Stable             // the attitude, and the depth
)

func (m Mode) String() string { return [...]string{"manual", "acro", "stable"}[min(m, Stable)] }

// Targets are the setpoints of a law. Velocities are not measured: they are thrust along the body's x, y, z, as shares
// of one thruster's thrust.
type Targets struct {
	Attitude [4]float64 // Stable: quaternion w x y z, body in world; all zero is no rotation
	Rates    [3]float64 // Acro: about the body's axes, rad/s
	Velocity [3]float64
	Depth    float64 // Stable: m; 0 switches the depth hold off
}

// bounded is t with all values finite and within MaxParameter; NaN becomes 0.
func (t Targets) bounded() Targets {
	bound := func(v []float64) {
		for i := range v {
			if v[i] = clamp(v[i], MaxParameter); math.IsNaN(v[i]) {
				v[i] = 0
			}
		}
	}
	bound(t.Attitude[:])
	bound(t.Rates[:])
	bound(t.Velocity[:])
	depth := [1]float64{t.Depth}
	bound(depth[:])
	t.Depth = depth[0]
	t.Attitude = unit(t.Attitude)
	return t
}

// unit is q at length 1; no rotation if q has no length.
func unit(q [4]float64) [4]float64 {
	n := math.Sqrt(float64(q[0]*q[0]) + float64(q[1]*q[1]) + float64(q[2]*q[2]) + float64(q[3]*q[3]))
	if !(n > 1e-9) || math.IsInf(n, 0) {
		return [4]float64{1}
	}
	return [4]float64{q[0] / n, q[1] / n, q[2] / n, q[3] / n}
}

// stiffness turns half the sine of the way still to go into the rate that the stable law asks for, 1/s.
const stiffness = 50

// law is one law's state. The same inputs in the same order give the same outputs, bit for bit.
type law struct {
	tuning  Tuning
	targets Targets
	mixer   Mixer

	roll, pitch, yaw, depth pid
}

// reset clears the state of the PIDs.
func (l *law) reset() { l.roll, l.pitch, l.yaw, l.depth = pid{}, pid{}, pid{}, pid{} }

// step fills duties for dt seconds. An attitude that is not known leaves the thrusters unchanged; a depth that is not
// known leaves the depth unchanged.
func (l *law) step(m Mode, e *Estimate, dt float64, duties []float64) {
	t, g := &l.targets, &l.tuning
	if math.IsNaN(e.Attitude[0]) || math.IsNaN(e.Rates[0]) {
		l.reset()
		clear(duties)
		return
	}
	d := Demand{Forward: t.Velocity[0], Left: t.Velocity[1], Up: t.Velocity[2]}
	body := hal.Pose{Rotation: e.Attitude}
	if m == Acro {
		d.Roll = l.roll.step(&g.RollSpeed, t.Rates[0]-e.Rates[0], dt)
		d.Pitch = l.pitch.step(&g.PitchSpeed, t.Rates[1]-e.Rates[1], dt)
		d.Yaw = l.yaw.step(&g.YawSpeed, t.Rates[2]-e.Rates[2], dt)
	} else {
		turn := body.Inverse().Times(hal.Pose{Rotation: t.Attitude}).Rotation
		short := math.Copysign(stiffness, turn[0])
		d.Roll = l.roll.step(&g.Roll, float64(short*turn[1])+e.Rates[0], dt)
		d.Pitch = l.pitch.step(&g.Pitch, float64(short*turn[2])+e.Rates[1], dt)
		d.Yaw = l.yaw.step(&g.Yaw, float64(short*turn[3])+e.Rates[2], dt)
		if t.Depth != 0 {
			d.Heave = l.depth.step(&g.Depth, e.Depth-t.Depth, dt)
		}
	}
	l.mixer.Mix(&d, body.Inverse().Turn([3]float64{0, 0, 1}), duties)
}

package autopilot

import "math"

// Demand is the output of a law for all thrusters together: moments about and forces along the body's axes, and Heave
// along the world's vertical. 1 is the thrust of one thruster.
type Demand struct {
	Roll, Pitch, Yaw  float64
	Forward, Left, Up float64
	Heave             float64
}

// Row is one thruster's share of each demand. Lift is its share of a heave when the world's up is the body's x, y, z.
type Row struct {
	Roll, Pitch, Yaw  float64
	Forward, Left, Up float64
	Lift              [3]float64
}

// Mixer is a vehicle's thrusters as data, in the order of its layout.
type Mixer struct {
	Rows  []Row
	Curve Curve
}

// Curve is how a thruster pushes, for which the mixer's output is made linear. The zero Curve is linear already.
type Curve struct {
	// Reverse and Forward are a, b, c of the thrust a·p² + b·p + c, N, under a pulse of p µs, which is 1500 + 400·duty.
	Reverse, Forward [3]float64
	// Full is the thrust that an output of 1 means, N. Where the thruster has less it gives all it has.
	Full float64
}

// Duty is the duty, -1..1, that pushes with share of Full. Share 0 is duty 0, even if the curve has a dead band there.
func (c *Curve) Duty(share float64) float64 {
	if share == 0 || math.IsNaN(share) {
		return 0
	}
	if c.Full == 0 {
		return clamp(share, 1)
	}
	side := &c.Forward
	if share < 0 {
		side = &c.Reverse
	}
	// the root on the branch that rises with the pulse, whichever way the parabola opens
	a, b := side[0], side[1]
	within := float64(b*b) - float64(4*a*(side[2]-float64(share*c.Full)))
	if !(within >= 0) || a == 0 {
		return 0
	}
	pulse := (math.Sqrt(within) - b) / (2 * a)
	return clamp((pulse-1500)/400, 1)
}

// OkonThrusters are the names of Okon's thrusters in its mixer's order: front or back, left or right, horizontal or
// vertical.
func OkonThrusters() []string {
	return []string{"FLH", "FRH", "BLH", "BRH", "FLV", "FRV", "BLV", "BRV"}
}

// OkonMixer is the original's. Its horizontal thrusters push 30° off the fore-and-aft line.
func OkonMixer() Mixer {
	const (
		side = 1.0            // 1 / (2 sin 30°)
		fore = 0.577350269189 // 1 / (2 cos 30°)
		rise = 0.5            // shared by pairs, as the original has it
	)
	return Mixer{
		Rows: []Row{
			{Yaw: -1, Forward: 1, Left: -1, Lift: [3]float64{fore, -side, 0}},
			{Yaw: 1, Forward: 1, Left: 1, Lift: [3]float64{fore, side, 0}},
			{Yaw: 1, Forward: -1, Left: -1, Lift: [3]float64{-fore, -side, 0}},
			{Yaw: -1, Forward: -1, Left: 1, Lift: [3]float64{-fore, side, 0}},
			{Roll: 1, Pitch: -1, Up: 1, Lift: [3]float64{0, 0, rise}},
			{Roll: -1, Pitch: -1, Up: 1, Lift: [3]float64{0, 0, rise}},
			{Roll: 1, Pitch: 1, Up: 1, Lift: [3]float64{0, 0, rise}},
			{Roll: -1, Pitch: 1, Up: 1, Lift: [3]float64{0, 0, rise}},
		},
		Curve: Curve{
			Reverse: [3]float64{-1.80414e-5, 0.0591933468, -48.035},
			Forward: [3]float64{2.81376e-5, -0.0799177935, 56.449759077},
			// Its full reverse thrust. The original's code solves for twice the thrust, by a slip, and ran its laws
			// every millisecond; with twice the thrust they hunt at 50 Hz.
			Full: 4.75241252,
		},
	}
}

// Mix fills out, one duty -1..1 a row. up is the world's up in the body's axes. Where one thruster is asked for more
// than 1, all are asked for less in proportion, so that the vehicle goes the same way more weakly.
func (m *Mixer) Mix(d *Demand, up [3]float64, out []float64) {
	largest := 1.0
	for i := range m.Rows {
		r := &m.Rows[i]
		lift := float64(r.Lift[0]*up[0]) + float64(r.Lift[1]*up[1]) + float64(r.Lift[2]*up[2])
		out[i] = float64(r.Roll*d.Roll) + float64(r.Pitch*d.Pitch) + float64(r.Yaw*d.Yaw) +
			float64(r.Forward*d.Forward) + float64(r.Left*d.Left) + float64(r.Up*d.Up) + float64(lift*d.Heave)
		largest = math.Max(largest, math.Abs(out[i]))
	}
	for i := range m.Rows {
		out[i] = m.Curve.Duty(out[i] / largest)
	}
}

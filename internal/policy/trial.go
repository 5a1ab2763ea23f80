package policy

import (
	"math"
	"math/rand/v2"

	"github.com/halyard-robotics/halyard/hal"
)

// Disturbances are the names of what a Trial disturbs, in the order of its amounts.
var Disturbances = [...]string{"zeros", "imu_tilt", "imu_lag", "late", "lost", "weak_servo", "noise", "push"}

// Trial is one run of a rehearsal: each disturbance has an amount of 0 to 1 of its greatest, drawn by the seed.
//
//	zeros       joints: up to 3° each
//	imu_tilt    of the mount: up to 3°
//	imu_lag     sensors that are no joints: up to 3 steps late
//	late        goals: up to 2 steps late
//	lost        goals: up to 20 % of the steps
//	weak_servo  one joint: down to 50 % of its torque, where it has a torque limit
//	noise       of the speeds of joints: up to 0.2 rad/s
//	push        up to 0.2 of the weight for 0.1 s, once (Push)
type Trial struct {
	Seed    int64
	Amounts [len(Disturbances)]float64

	random   *rand.Rand
	zeros    []float64
	tilt     [4]float64
	weak     int
	seen     [][]float64 // the newest last
	goals    [][]float64
	measured []float64
	joint    []bool // one a channel: of a joint
}

const (
	mostZero, mostTilt = 3 * math.Pi / 180, 3 * math.Pi / 180
	mostLag, mostLate  = 3, 2
	mostLost, mostWeak = 0.2, 0.5
	jointNoise         = 0.2
)

// NewTrial draws the amounts of a seed; without, none of them is disturbed but those of only, where given.
func NewTrial(seed int64, only []string) *Trial {
	t := &Trial{Seed: seed, random: rand.New(rand.NewPCG(uint64(seed), 0x37))}
	for i, name := range Disturbances {
		amount := t.random.Float64()
		for _, o := range only {
			if o == name {
				t.Amounts[i] = amount
			}
		}
		if only == nil {
			t.Amounts[i] = amount
		}
	}
	return t
}

// Try makes d run under t.
func (d *Driver) Try(t *Trial) {
	d.trial = t
	t.zeros = make([]float64, len(d.joints))
	for k := range t.zeros {
		t.zeros[k] = t.Amounts[0] * mostZero * (2*t.random.Float64() - 1)
	}
	about, angle := 2*math.Pi*t.random.Float64(), t.Amounts[1]*mostTilt
	s, c := math.Sincos(angle / 2)
	t.tilt = [4]float64{c, s * math.Cos(about), s * math.Sin(about), 0}
	t.weak = t.random.IntN(max(1, len(d.joints)))
	t.joint = make([]bool, len(d.layout.Outputs)+len(d.layout.Infos))
	for i := range d.layout.Actuators {
		a := &d.layout.Actuators[i]
		for _, at := range []int{a.Position, a.Velocity, a.Torque, a.Voltage, a.Temperature} {
			if at != hal.None {
				t.joint[at] = true
			}
		}
	}
	t.reset()
}

func (t *Trial) reset() { t.seen, t.goals = nil, nil }

// sense disturbs what was measured.
func (t *Trial) sense(d *Driver, measured []float64) []float64 {
	t.measured = append(t.measured[:0], measured...)
	lag := int(math.Round(t.Amounts[2] * mostLag))
	old := append([]float64(nil), measured...)
	if t.seen = append(t.seen, old); len(t.seen) > lag+1 {
		t.seen = t.seen[1:]
	}
	for i, x := range t.seen[0] {
		if !t.joint[i] {
			t.measured[i] = x
		}
	}
	for k, i := range d.joints {
		a := &d.layout.Actuators[i]
		if a.Position != hal.None {
			t.measured[a.Position] += t.zeros[k]
		}
		if a.Velocity != hal.None {
			t.measured[a.Velocity] += t.Amounts[6] * jointNoise * (2*t.random.Float64() - 1)
		}
	}
	for i := range d.layout.Sensors {
		s := &d.layout.Sensors[i]
		if s.Kind == "imu" && s.Count >= 10 {
			v := t.measured[s.First : s.First+s.Count]
			q := times([4]float64(v[:4]), t.tilt)
			copy(v, q[:])
			for _, at := range []int{4, 7} {
				w := against(t.tilt, [3]float64(v[at:at+3]))
				copy(v[at:], w[:])
			}
		}
	}
	return t.measured
}

// times is the product of two quaternions.
func times(a, b [4]float64) [4]float64 {
	return [4]float64{a[0]*b[0] - a[1]*b[1] - a[2]*b[2] - a[3]*b[3], a[0]*b[1] + a[1]*b[0] + a[2]*b[3] - a[3]*b[2],
		a[0]*b[2] - a[1]*b[3] + a[2]*b[0] + a[3]*b[1], a[0]*b[3] + a[1]*b[2] - a[2]*b[1] + a[3]*b[0]}
}

// act disturbs the goals.
func (t *Trial) act(d *Driver, inputs []float64) {
	for k, i := range d.joints {
		a := &d.layout.Actuators[i]
		if d.mode == hal.PositionMode {
			inputs[a.Goal[d.mode]] -= t.zeros[k]
		}
		if k == t.weak && a.TorqueLimit != hal.None {
			inputs[a.TorqueLimit] = a.Limits.MaxTorque * (1 - t.Amounts[5]*mostWeak)
		}
	}
	late := int(math.Round(t.Amounts[3] * mostLate))
	if t.goals = append(t.goals, append([]float64(nil), inputs...)); len(t.goals) > late+1 {
		t.goals = t.goals[1:]
	}
	if copy(inputs, t.goals[0]); t.random.Float64() < t.Amounts[4]*mostLost {
		hal.FillNaN(inputs)
	}
}

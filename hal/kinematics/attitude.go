package kinematics

import (
	"cmp"
	"math"
)

// AttitudeConfig weighs the inputs of an Attitude. The zero AttitudeConfig has the gains of the paper's authors for
// cheap sensors.
type AttitudeConfig struct {
	// Gain is how fast the attitude follows the accelerometer and the magnetometer, 1/s; 0 = 1. Its inverse is the
	// time over which the gyros are trusted.
	Gain float64
	// Drift is how fast the gyros' offsets are learnt, 1/s²; 0 = 0.1. Negative = never.
	Drift float64
	// MaxDrift bounds the estimated gyro offset, rad/s; 0 = 0.2.
	MaxDrift float64
}

// Attitude is the explicit complementary filter of Mahony, Hamel and Pflimlin ("Nonlinear complementary filters on the
// special orthogonal group", IEEE Transactions on Automatic Control 53(5), 2008, section IV, equations 32 and 34):
// gyros carry the attitude from sample to sample, the directions of gravity and of the earth's field pull it back.
//
// The world's z points up. Its x points to magnetic north with a magnetometer, else in the direction of the sensor's x
// at the first sample. One goroutine at a time uses it; it does not allocate.
type Attitude struct {
	config AttitudeConfig
	q      [4]float64 // sensor in world, w x y z; all 0 before the first sample
	drift  [3]float64 // rad/s
}

// NewAttitude returns a filter without an attitude yet.
func NewAttitude(c AttitudeConfig) *Attitude {
	c.Gain = cmp.Or(c.Gain, 1)
	c.Drift = cmp.Or(c.Drift, 0.1)
	c.MaxDrift = cmp.Or(c.MaxDrift, 0.2)
	return &Attitude{config: c}
}

// Reset discards the attitude; the estimated gyro offsets stay.
func (a *Attitude) Reset() { a.q = [4]float64{} }

// Quaternion is the attitude, sensor in world, a unit quaternion w x y z; all 0 before the first.
func (a *Attitude) Quaternion() [4]float64 { return a.q }

// Drift is the estimated offset of the gyros, rad/s.
func (a *Attitude) Drift() [3]float64 { return a.drift }

// Update takes one sample, in the sensor's axes: rates rad/s, proper acceleration m/s² (at rest an axis that points up
// has +g), and the direction of the earth's field in any unit. dt is the time since the sample before, s. An
// acceleration or a field that is NaN or zero is ignored; so is an acceleration far from g (free fall, a blow), which
// is not gravity.
func (a *Attitude) Update(rates, acceleration, field [3]float64, dt float64) {
	up, known := unit(acceleration)
	if g := norm(acceleration); !(g > 0.5*standardGravity && g < 1.5*standardGravity) {
		known = false
	}
	if a.q == ([4]float64{}) {
		if known { // without gravity there is no attitude to begin with
			a.begin(up, field)
		}
		return
	}
	if !(dt > 0) || math.IsNaN(rates[0]+rates[1]+rates[2]) {
		return
	}
	// The rotation from the estimated directions to the measured ones, in the sensor's axes.
	var pull [3]float64
	if known {
		pull = cross(up, turnBack(a.q, [3]float64{0, 0, 1}))
	}
	if m, ok := unit(field); ok {
		// Only the heading is corrected by the field: its dip is not known, and iron must not tilt the horizon.
		w := turn(a.q, m)
		if h := math.Hypot(w[0], w[1]); h > 0.05 {
			north := cross([3]float64{w[0] / h, w[1] / h, 0}, [3]float64{1, 0, 0})
			pull = plus(pull, turnBack(a.q, north), 1)
		}
	}
	for i := range 3 {
		if a.config.Drift > 0 {
			learnt := a.drift[i] - a.config.Drift*pull[i]*dt
			a.drift[i] = math.Max(-a.config.MaxDrift, math.Min(a.config.MaxDrift, learnt))
		}
		rates[i] += a.config.Gain*pull[i] - a.drift[i]
	}
	a.q = advance(a.q, rates, dt)
}

// begin takes the attitude of the first sample: upright by gravity, its x to the north by the field, if there is
// one, else as level as it can be.
func (a *Attitude) begin(up, field [3]float64) {
	// Rows of the rotation: the world's axes in the sensor's.
	x := plus([3]float64{1, 0, 0}, up, -up[0])
	if m, ok := unit(field); ok {
		if level := plus(m, up, -dot(m, up)); norm(level) > 0.05 {
			x = level
		}
	}
	x, ok := unit(x)
	if !ok { // the sensor's x points straight up or down
		x, _ = unit(plus([3]float64{0, 0, -up[0]}, up, up[0]*up[2]))
	}
	a.q = ofRows(x, cross(up, x), up)
}

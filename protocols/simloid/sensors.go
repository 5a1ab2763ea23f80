package simloid

import (
	"math"
	"math/rand/v2"

	"github.com/halyard-robotics/halyard/hal"
)

// The scale of the wire's unit, and the properties of the original's sensors (its constants.h).
const (
	halfTurn  = math.Pi     // rad
	maxSpeed  = 4 * math.Pi // rad/s: two turns a second
	maxAccel  = 8 * gravity // m/s²
	steps     = 1 << 15     // of 16 bits over ±1
	deviation = 16. / steps // of the noise
	maxNoise  = 64. / steps // where it is clipped

	// Poor sensors: a servo's potentiometer on a ten-bit converter, its velocity the difference of two readings.
	poorSteps     = 1 << 10
	poorDeviation = 1. / 8192
	poorMaxNoise  = 1. / 4096
)

// sensors converts measurements to a status, with the noise and the resolution of the original's sensors. The same
// state gives the same noise.
type sensors struct {
	state sensorState
	noise *rand.Rand // on state.source; nil = exact
	poor  bool
	start sensorState
	saved sensorState
}

// sensorState is the sensors' part of SAVE, so that statuses after RESTORE repeat bit for bit.
type sensorState struct {
	source rand.PCG
	last   [MaxJoints]float64 // the last position of each poor sensor, NaN before the first
}

// newSensors returns sensors with noise of seed, or exact ones.
func newSensors(exact bool, seed int64) *sensors {
	s := &sensors{}
	s.state.source = *rand.NewPCG(uint64(seed), uint64(seed))
	hal.FillNaN(s.state.last[:])
	if !exact {
		s.noise = rand.New(&s.state.source)
	}
	s.start, s.saved = s.state, s.state
	return s
}

func (s *sensors) reset()   { s.state = s.start }
func (s *sensors) save()    { s.saved = s.state }
func (s *sensors) restore() { s.state = s.saved }

// read fills out with the measurements of r, NaN where they are not known. period is the time between two statuses, s.
func (s *sensors) read(out *Status, r *Robot, measured []float64, period float64) {
	for i := range r.Joints {
		q := channel(measured, r.Joints[i].Position)
		if r.Traits.Joints[i].Free() {
			q = math.Remainder(q, 2*math.Pi)
		}
		if s.poor {
			out.Position[i] = s.coarse(q / halfTurn)
		} else {
			out.Position[i] = s.fine(q / halfTurn)
		}
	}
	for i := range r.Joints {
		if s.poor {
			out.Velocity[i] = s.difference(i, out.Position[i], period)
		} else {
			out.Velocity[i] = s.fine(channel(measured, r.Joints[i].Velocity) / maxSpeed)
		}
	}
	for i := range out.Current {
		out.Current[i] = channel(measured, r.Joints[i].Current)
	}
	for i := range r.Accels {
		for k, at := range r.Accels[i] {
			out.Accel[i][k] = s.fine(clip(channel(measured, at) / maxAccel))
		}
	}
	for i := range r.Bodies {
		for k := range 3 {
			out.Bodies[i].Position[k] = channel(measured, r.Bodies[i].Position[k])
			out.Bodies[i].Velocity[k] = channel(measured, r.Bodies[i].Velocity[k])
		}
	}
}

// channel is measured channel at; NaN where it is not known.
func channel(measured []float64, at int) float64 {
	v := hal.At(measured, at)
	return v + 0*v // NaN of an infinity, too
}

// fine returns v as read by a sensor of 16 bits: with noise, clipped, and truncated towards 0 as by the original's
// cast.
func (s *sensors) fine(v float64) float64 {
	if v = clip(v) + s.gauss(deviation, maxNoise); math.IsNaN(v) {
		return v
	}
	v = math.Max(-1, math.Min(float64(steps-1)/steps, v))
	return float64(int32(v*steps)) / steps
}

// coarse is v as a poor sensor reads it.
func (s *sensors) coarse(v float64) float64 {
	v = clip(v) + s.gauss(poorDeviation, poorMaxNoise)
	v = math.Max(-1, math.Min(float64(poorSteps-1)/poorSteps, v))
	return math.Round(v*poorSteps) / poorSteps
}

// difference is joint i's velocity from two readings of its position.
func (s *sensors) difference(i int, position, period float64) float64 {
	last := s.state.last[i]
	s.state.last[i] = position
	if math.IsNaN(last) {
		return 0
	}
	return clip((position - last) / period * halfTurn / maxSpeed)
}

func (s *sensors) gauss(deviation, most float64) float64 {
	if s.noise == nil {
		return 0
	}
	return math.Max(-most, math.Min(most, s.noise.NormFloat64()*deviation))
}

// clip is v within ±1.
func clip(v float64) float64 { return math.Max(-1, math.Min(1, v)) }

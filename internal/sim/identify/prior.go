package identify

import (
	"math"

	"github.com/halyard-robotics/halyard/sim/actuator"
)

const (
	// sheetError is the standard deviation that a data sheet's no-load speed and stall torque have, as a share: units
	// of a series, and roundings of a maker.
	sheetError = 0.1
	// guessError is the standard deviation of a parameter about where its search begins, in scales.
	guessError = 2
)

// belief is what is known of a servo without the recordings: about how large each parameter of a servo is and, where
// the recordings do not drive it to its limits, the no-load speed and the stall torque of its data sheet.
type belief struct {
	axes  []axis
	guess []float64 // of each axis
	sheet *actuator.Spec
	count float64 // independent errors that the recordings have
}

// newBelief is the belief for fits of c to runs.
func (c *candidate) newBelief(runs []*Run, spec *actuator.Spec, axes []axis) *belief {
	b := &belief{axes: axes, count: independent(runs)}
	if sheetHelps(runs, spec) {
		b.sheet = spec
	}
	begin := c.begin(spec, axes)
	for i := range axes {
		b.guess = append(b.guess, axes[i].get(&begin))
	}
	return b
}

// sheetHelps reports that only the data sheet of spec separates gain, torque constant and resistance: runs do not drive
// it to its limits.
func sheetHelps(runs []*Run, spec *actuator.Spec) bool {
	return !saturates(runs, spec) && spec.NoLoadSpeed > 0 && spec.StallTorque > 0
}

// independent is how many errors of runs are independent of one another.
func independent(runs []*Run) float64 {
	seconds := 0.0
	for _, r := range runs {
		seconds += r.Samples[len(r.Samples)-1].Time - r.Samples[0].Time
	}
	return math.Max(1, seconds/residualSeconds)
}

// misses appends to into how far t is from what is believed, in standard deviations.
func (b *belief) misses(t *trial, into []float64) []float64 {
	for i := range b.axes {
		if a := &b.axes[i]; !a.bench {
			into = append(into, (a.get(t)-b.guess[i])/guessError)
		}
	}
	if b.sheet != nil {
		into = append(into, math.Log(t.spec.Free()/b.sheet.NoLoadSpeed)/sheetError,
			math.Log(t.spec.Stall()/b.sheet.StallTorque)/sheetError)
	}
	return into
}

// missed is the sum of the squares of the misses of t. The likelihood of errors of unknown size is their cost to the
// power of half their count, so that exp(missed/count) is a factor of the cost.
func (s *search) missed(t *trial) (sum float64) {
	if s.belief == nil {
		return 0
	}
	var room [32]float64
	for _, m := range s.belief.misses(t, room[:0]) {
		sum += m * m
	}
	return sum
}

// beliefCount is the count of the belief, 1 without one.
func (s *search) beliefCount() float64 {
	if s.belief == nil {
		return 1
	}
	return s.belief.count
}

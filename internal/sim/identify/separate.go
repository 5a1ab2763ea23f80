package identify

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// motorNames are the parameters with possibly similar effects.
var motorNames = []string{"kt", "R", "armature", "gain"}

// A parameter counts as not separable when the recordings and a prior knowledge of 30 % together leave its logarithm
// more than this uncertain.
const (
	mostUncertain   = 0.1
	together        = 0.5  // correlation from which two parameters move together
	residualSeconds = 0.17 // s, residuals nearer than this are one
)

// inseparable are the parameters of the motor that the runs of s cannot separate at t, nil if they can. The axes of s
// include the gain if no register of the servo shows it.
func (s *search) inseparable(t *trial) []string {
	res := s.residuals(t, nil)
	rows := s.slopes(t, res, 0.5)
	k, n := len(s.axes), len(res)
	squares, seconds := 0.0, 0.0
	for _, e := range res {
		squares += e * e
	}
	for _, r := range s.runs {
		seconds += r.Samples[len(r.Samples)-1].Time - r.Samples[0].Time
	}
	variance := squares / float64(n) * float64(n) / math.Max(1, seconds/residualSeconds)
	m := mat.NewSymDense(k, nil)
	for a := range k {
		for b := a; b < k; b++ {
			sum := 0.0
			for i := range n {
				sum += rows[a][i] * rows[b][i]
			}
			if m.SetSym(a, b, sum/variance); a == b {
				// One unit of an axis is the prior uncertainty of its parameter.
				m.SetSym(a, a, sum/variance+1)
			}
		}
	}
	var c mat.Cholesky
	var left mat.SymDense
	if !c.Factorize(m) || c.InverseTo(&left) != nil {
		return nil
	}
	// Those that the most uncertain one moves with are as unknown as it is.
	spread := func(i int) float64 { return math.Sqrt(left.At(i, i)) * s.axes[i].unit }
	worst, motor := -1, []int{}
	for i := range s.axes {
		if slices.Contains(motorNames, s.axes[i].name) {
			if motor = append(motor, i); worst < 0 || spread(i) > spread(worst) {
				worst = i
			}
		}
	}
	if spread(worst) < mostUncertain {
		return nil
	}
	var names []string
	for _, i := range motor {
		if math.Abs(left.At(i, worst))/math.Sqrt(left.At(i, i)*left.At(worst, worst)) > together {
			names = append(names, s.axes[i].name)
		}
	}
	if len(names) < 2 {
		return nil
	}
	return names
}

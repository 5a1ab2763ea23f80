package identify

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/halyard-robotics/halyard/sim/actuator"
)

// fold is a part of the recordings that a fit leaves out: run and sample.
type fold func(run, sample int) bool

// stretches and stretchSeconds cut runs where they are too few to leave whole ones out.
const (
	stretches      = 4
	stretchSeconds = 0.75
	leastRuns      = 4
)

// folds are the ways to leave parts of the runs out, each a list of folds that together are all of them: all runs of
// one gain of the servo, and all of one kind of motion, since a model must predict a gain and a motion that it has not
// seen; else run by run; of fewer than four runs every fourth stretch of time.
func folds(runs []*Run) (ways [][]fold) {
	if len(runs) < leastRuns {
		var way []fold
		for n := range stretches {
			way = append(way, func(run, sample int) bool {
				r := runs[run]
				return int((r.Samples[sample].Time-r.Samples[0].Time)/stretchSeconds)%stretches == n
			})
		}
		return [][]fold{way}
	}
	by := func(key func(r *Run) string) {
		var way []fold
		for i, r := range runs {
			if !slices.ContainsFunc(runs[:i], func(o *Run) bool { return key(o) == key(r) }) {
				way = append(way, func(run, _ int) bool { return key(runs[run]) == key(r) })
			}
		}
		if len(way) > 1 {
			ways = append(ways, way)
		}
	}
	by(func(r *Run) string { return fmt.Sprint(r.P) })
	by(func(r *Run) string { return r.Trajectory })
	if len(ways) == 0 {
		by(func(r *Run) string { return r.Name })
	}
	return ways
}

// validate fits f again without each fold in turn and measures the error on the left-out fold. Each of these fits
// starts halfway back to the start of the search, since the whole fit has used the left-out data.
func (f *fitted) validate(runs []*Run, spec *actuator.Spec) {
	f.leftOut = nil
	begin := f.begin(spec, f.axes)
	for i := range f.axes {
		a := &f.axes[i]
		a.set(&begin, (a.get(&begin)+a.get(&f.trial))/2)
	}
	for _, way := range folds(runs) {
		for _, out := range way {
			s := &search{axes: f.axes, step: coarse(runs)}
			for k, r := range runs {
				hidden := make([]bool, len(r.Samples))
				for i := range hidden {
					hidden[i] = out(k, i)
				}
				if slices.Contains(hidden, false) {
					s.runs, s.hidden = append(s.runs, r), append(s.hidden, hidden)
				}
			}
			t := s.widths(begin, foldRounds, 0.05, narrow)
			for k, r := range runs {
				positions := make([]float64, len(r.Samples))
				r.Play(&t.spec, t.bench, positions)
				sum, n := 0.0, 0
				for i, q := range positions {
					if out(k, i) {
						sum += math.Abs(q - r.Samples[i].Position)
						n++
					}
				}
				if n > 0 {
					f.leftOut = append(f.leftOut, sum/float64(n))
				}
			}
		}
	}
}

// clearlyWorse reports whether a predicts worse than b by more than one standard error of the difference, part by part.
func clearlyWorse(a, b *fitted) bool {
	worse := mean(a.leftOut) - mean(b.leftOut)
	squares, n := 0.0, float64(len(a.leftOut))
	for k := range a.leftOut {
		d := a.leftOut[k] - b.leftOut[k] - worse
		squares += d * d
	}
	factor := distuv.StudentsT{Nu: n - 1, Sigma: 1}.Quantile(0.8413)
	return worse > factor*math.Sqrt(squares/(n-1)/n)
}

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
// begins at the whole one: it has used the left-out data, but a fit that begins elsewhere does not converge.
func (f *fitted) validate(runs []*Run, spec *actuator.Spec) {
	f.leftOut, f.unseen = nil, nil
	for _, way := range folds(runs) {
		for _, out := range way {
			s := f.search(runs, spec)
			s.runs = nil
			for k, r := range runs {
				hidden := make([]bool, len(r.Samples))
				for i := range hidden {
					hidden[i] = out(k, i)
				}
				if slices.Contains(hidden, false) {
					s.runs, s.hidden = append(s.runs, r), append(s.hidden, hidden)
				}
			}
			t := s.widths(f.trial, foldRounds, narrow)
			for k, r := range runs {
				positions := make([]float64, len(r.Samples))
				r.Play(&t.spec, t.bench, positions)
				sum, n := 0.0, 0
				for i, q := range positions {
					if out(k, i) {
						e := math.Abs(q - r.Samples[i].Position)
						f.unseen = append(f.unseen, e)
						sum, n = sum+e, n+1
					}
				}
				if n > 0 {
					f.leftOut = append(f.leftOut, sum/float64(n))
				}
			}
		}
	}
}

// score is the mean logarithm of f's errors on what it had not seen: a part on which every model fails does not
// outweigh the others.
func (f *fitted) score() float64 {
	sum := 0.0
	for _, e := range f.leftOut {
		sum += math.Log(e)
	}
	return sum / float64(len(f.leftOut))
}

// clearlyWorse reports whether a predicts worse than b by more than one standard error of the difference, part by part.
func clearlyWorse(a, b *fitted) bool {
	worse := a.score() - b.score()
	squares, n := 0.0, float64(len(a.leftOut))
	for k := range a.leftOut {
		d := math.Log(a.leftOut[k]/b.leftOut[k]) - worse
		squares += d * d
	}
	factor := distuv.StudentsT{Nu: n - 1, Sigma: 1}.Quantile(0.8413)
	return worse > factor*math.Sqrt(squares/(n-1)/n)
}

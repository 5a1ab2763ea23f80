package identify

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"gonum.org/v1/gonum/mat"

	"github.com/halyard-robotics/halyard/sim/actuator"
)

// registered holds the firmware's values from the servo's own drive register, without a model of motor and load.
type registered struct {
	gain  estimate // duty per rad and unit of P
	delay estimate // s from a sample's time until the drive follows its goal
}

// estimate is a value with the interval that holds the truth with 95 %.
type estimate struct{ value, low, high float64 }

// Bounds of the comparison of the drive with goal and position.
const (
	leastPoints = 200     // samples below full drive
	linearDuty  = 0.95    // share of full drive
	leastDelay  = -0.02   // s
	mostDelay   = 0.06    // s
	delayStep   = 0.00025 // s
	settled     = 0.1     // s of torque before and after a sample
	perError    = 10      // neighbouring samples share their error: so many count as one
	chiSquare95 = 3.84    // of one degree of freedom
	normal95    = 1.96
)

// registers compares the drive that the servo reports with goal and position: below full drive
//
//	duty = gain·P·(goal in force - position(t + later)) + bias
//
// where the goal of a sample is in force from its time + delay on, until that of the next one. Gain, gain·later and
// bias are a linear fit for each delay; later is from the recorder's order of reads. If all samples have the same delay
// after their goals, no delay within that time is better than another: the interval contains them all. ok is false if
// the recordings lack the register.
func registers(runs []*Run, spec *actuator.Spec) (found registered, ok bool) {
	type fit struct{ delay, sum, gain, deviation float64 }
	var fits []fit
	n := 0
	for delay := leastDelay; delay <= mostDelay; delay += delayStep {
		var l linear
		for _, r := range runs {
			r.regulated(spec, delay, &l)
		}
		if n = l.points; n < leastPoints {
			return found, false
		}
		gain, deviation, sum, solved := l.solve()
		if !solved || !(gain > 0) {
			continue
		}
		fits = append(fits, fit{delay, sum, gain, deviation})
	}
	if len(fits) == 0 {
		return found, false
	}
	best := slices.MinFunc(fits, func(a, b fit) int { return cmp.Compare(a.sum, b.sum) })
	// Delays whose residuals are not significantly greater than the minimum are equally good.
	bound := best.sum * (1 + chiSquare95*perError/float64(n))
	low, high := math.Inf(1), math.Inf(-1)
	for _, f := range fits {
		if f.sum <= bound {
			low, high = math.Min(low, f.delay), math.Max(high, f.delay)
		}
	}
	found.delay = estimate{(low + high) / 2, low - delayStep, high + delayStep}
	half := normal95 * best.deviation * math.Sqrt(perError)
	found.gain = estimate{best.gain, best.gain - half, best.gain + half}
	return found, true
}

// regulated adds the samples of r in which the servo regulates, with goals that are in force after delay.
func (r *Run) regulated(spec *actuator.Spec, delay float64, l *linear) {
	if r.P == 0 {
		return
	}
	since := math.Inf(1) // when the torque came on
	for i := range r.Samples {
		s := &r.Samples[i]
		if !s.Torque {
			since = math.Inf(1)
			continue
		}
		since = math.Min(since, s.Time)
		duty := s.Duty(spec)
		if i == 0 || i+1 == len(r.Samples) || s.Time-since < settled || math.IsNaN(duty) ||
			math.Abs(duty) > linearDuty {
			continue
		}
		if at := s.Time + settled; at < r.Samples[len(r.Samples)-1].Time {
			if k := r.after(at); !r.Samples[k].Torque {
				continue // near the end of the torque, the drive's last values are of another state
			}
		}
		k := r.after(s.Time-delay+1e-9) - 1 // the last goal that is in force
		if k < 0 {
			continue
		}
		before, next := &r.Samples[i-1], &r.Samples[i+1]
		rate := (next.Position - before.Position) / (next.Time - before.Time)
		l.add([3]float64{r.P * (r.Samples[k].Goal - s.Position), -r.P * rate, 1}, duty)
	}
}

// after is the index of the first sample later than at.
func (r *Run) after(at float64) int {
	return sort.Search(len(r.Samples), func(i int) bool { return r.Samples[i].Time > at })
}

// linear is a linear fit of y by three terms.
type linear struct {
	points  int
	h       [3][3]float64
	g       [3]float64
	squares float64
}

func (l *linear) add(x [3]float64, y float64) {
	for a := range 3 {
		for b := range 3 {
			l.h[a][b] += x[a] * x[b]
		}
		l.g[a] += x[a] * y
	}
	l.squares += y * y
	l.points++
}

// solve returns the first coefficient, its standard deviation, and the sum of the squares of the residuals.
func (l *linear) solve() (first, deviation, sum float64, ok bool) {
	h, g := mat.NewSymDense(3, nil), mat.NewVecDense(3, l.g[:])
	for a := range 3 {
		for b := a; b < 3; b++ {
			h.SetSym(a, b, l.h[a][b])
		}
	}
	var c mat.Cholesky
	var at mat.VecDense
	var inverse mat.SymDense
	if !c.Factorize(h) || c.SolveVecTo(&at, g) != nil || c.InverseTo(&inverse) != nil {
		return 0, 0, 0, false
	}
	sum = math.Max(0, l.squares-mat.Dot(&at, g))
	return at.AtVec(0), math.Sqrt(sum / float64(l.points-3) * inverse.At(0, 0)), sum, true
}

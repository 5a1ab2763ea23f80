package calibrate

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/halyard-robotics/halyard"
	"github.com/halyard-robotics/halyard/calibration"
)

// sweepResult is the result of a slow motion in both directions.
type sweepResult struct {
	low, high     float64
	before, after float64 // rad, mean absolute error of the motion
	effort        [2][bins]mean
	hold          [bins]mean // gravity torque, N·m
	tilt          [bins]mean // its change with the angle, N·m/rad
	drag          []slowness // of each pass

	constant, zero, offset, residual, friction, sure float64
	frictionSure                                     float64 // N·m, standard error
	lean, leanSure                                   float64 // rad, by which gravity sees the zero off; standard error
	spread                                           float64 // N·m by which gravity changes; 0 where that is too little
	why                                              string
}

// slowness is half the effort between the two directions of a pass at a speed, rad/s: friction, with a viscous part.
type slowness struct {
	speed float64
	half  [bins]float64
}

// mean is the mean of the added values.
type mean struct {
	sum float64
	n   int
}

func (m *mean) add(v float64) { m.sum, m.n = m.sum+v, m.n+1 }
func (m *mean) value() float64 {
	if m.n == 0 {
		return math.NaN()
	}
	return m.sum / float64(m.n)
}

func (r *sweepResult) run(ctx context.Context, m *mover, weigh *gravity, j *Joint, c, old *calibration.Joint,
	speed float64) error {
	index := m.watched(j.Name).index
	var pass [2][bins]mean
	var errBefore, errAfter mean
	if err := m.to(ctx, j.Name, r.low, goSpeed, nil); err != nil {
		return err
	}
	for way, end := range [2]float64{r.high, r.low} {
		if err := m.wait(ctx, settleTime); err != nil {
			return err
		}
		err := m.to(ctx, j.Name, end, speed, func(s halyard.JointState) {
			if math.IsNaN(s.Position) {
				return
			}
			goal := m.goals[j.Name]
			errAfter.add(math.Abs(s.Position - goal))
			errBefore.add(math.Abs(old.Radians(c.Ticks(s.Position)) - goal))
			k := int(math.Floor((s.Position - r.low) / (r.high - r.low) * (bins + 2)))
			if k < 1 || k > bins || math.IsNaN(s.Torque) {
				return // at the ends it begins and stops to move
			}
			r.effort[way][k-1].add(s.Torque / c.Torque.Constant)
			pass[way][k-1].add(s.Torque / c.Torque.Constant)
			r.hold[k-1].add(weigh.hold(m.q, index))
			r.tilt[k-1].add(weigh.slope(m.q, index))
		})
		if err != nil {
			return err
		}
	}
	r.before, r.after = errBefore.value(), errAfter.value()
	d := slowness{speed: speed}
	for k := range d.half {
		d.half[k] = (pass[0][k].value() - pass[1][k].value()) / 2
	}
	r.drag = append(r.drag, d)
	return nil
}

// fit computes the torque constant: effort is linear in the gravity torque, friction cancels between the two
// directions.
func (r *sweepResult) fit(c *calibration.Joint) bool {
	var n, sx, sy, sxx, sxy float64
	var xs, ys, ts []float64
	for i := range bins {
		up, down := r.effort[0][i].value(), r.effort[1][i].value()
		x, y := r.hold[i].value(), (up+down)/2
		if math.IsNaN(x + y) {
			continue
		}
		xs, ys, ts = append(xs, x), append(ys, y), append(ts, r.tilt[i].value())
		n, sx, sy, sxx, sxy = n+1, sx+x, sy+y, sxx+x*x, sxy+x*y
	}
	if n < 4 {
		r.why = "its servo measures no effort"
		return false
	}
	spread := sxx - sx*sx/n
	slope := (sxy - sx*sy/n) / spread
	zero := (sy - slope*sx) / n
	rest := 0.0
	for i := range xs {
		e := ys[i] - zero - slope*xs[i]
		rest += e * e
	}
	if r.spread = 2 * math.Sqrt(spread/n); r.spread < leastPull {
		r.why = fmt.Sprintf("gravity changes by %.3f N m over this motion, too little", r.spread)
		r.spread = 0
		return false
	}
	r.sure = math.Sqrt(rest/(n-2)/spread) / math.Abs(slope)
	if !(r.sure <= torqueSure) || !(slope > 0) {
		r.why = fmt.Sprintf("gravity changes by %.3f N m over this motion, which leaves it uncertain by %.0f %%",
			r.spread, 100*r.sure)
		return false
	}
	r.constant, r.zero = 1/slope, zero
	r.offset = c.Torque.Offset + float64(c.Direction)*zero
	r.residual = math.Sqrt(rest/(n-2)) / slope
	r.friction, r.frictionSure = r.atRest(slope)
	r.lean, r.leanSure = leaning(xs, ys, ts)
	return true
}

// atRest is the friction at no speed and its standard error, N·m, where slope is effort a N·m: a line through the
// halves at two speeds, since a viscous part and the back-EMF grow with speed.
func (r *sweepResult) atRest(slope float64) (friction, sure float64) {
	var x, y []float64
	for _, d := range r.drag {
		for _, h := range d.half {
			if !math.IsNaN(h) {
				x, y = append(x, d.speed), append(y, h/slope)
			}
		}
	}
	ones := make([]float64, len(x))
	for i := range ones {
		ones[i] = 1
	}
	at, errs := leastSquares(y, ones, x)
	return math.Max(0, at[0]), errs[0]
}

// leaning is the angle by which gravity, of hold N·m at each place and its change with the angle, fits the efforts
// best, and its standard error, rad.
func leaning(hold, efforts, tilt []float64) (rad, sure float64) {
	ones := make([]float64, len(hold))
	for i := range ones {
		ones[i] = 1
	}
	at, errs := leastSquares(efforts, hold, tilt, ones)
	return at[1] / at[0], errs[1] / math.Abs(at[0])
}

// leastSquares are the factors of columns that sum to y best, and their standard errors.
func leastSquares(y []float64, columns ...[]float64) (at, errs []float64) {
	k, n := len(columns), len(y)
	a := mat.NewDense(n, k, nil)
	for c, column := range columns {
		a.SetCol(c, column)
	}
	var h mat.Dense
	h.Mul(a.T(), a)
	for i := range k {
		h.Set(i, i, h.At(i, i)+1e-12)
	}
	var inverse mat.Dense
	at, errs = make([]float64, k), make([]float64, k)
	if n <= k || inverse.Inverse(&h) != nil {
		for i := range errs {
			at[i], errs[i] = math.NaN(), math.Inf(1)
		}
		return at, errs
	}
	var g, x, fit mat.VecDense
	v := mat.NewVecDense(n, y)
	g.MulVec(a.T(), v)
	x.MulVec(&inverse, &g)
	fit.MulVec(a, &x)
	fit.SubVec(v, &fit)
	rest := mat.Dot(&fit, &fit) / float64(n-k)
	for i := range at {
		at[i], errs[i] = x.AtVec(i), math.Sqrt(rest*inverse.At(i, i))
	}
	return at, errs
}

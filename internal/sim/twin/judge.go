package twin

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/halyard-robotics/halyard/internal/sim/identify"
	"github.com/halyard-robotics/halyard/sim/actuator"
)

// Cause is why a joint differs from its twin.
type Cause string

// The causes.
const (
	None       Cause = "none"
	Zero       Cause = "zero"         // its zero has shifted
	Reversed   Cause = "reversed"     // it turns the other way
	Gear       Cause = "gear"         // another gear
	Play       Cause = "play"         // between gear and output
	Load       Cause = "load"         // it carries more
	Friction   Cause = "friction"     // more
	Supply     Cause = "supply"       // a weak one
	Constant   Cause = "torque"       // lost torque constant
	Latency    Cause = "latency"      // goals take effect late
	Stuck      Cause = "stuck_sensor" // the reported position stays
	LooseHorn  Cause = "loose_horn"   // the horn slipped on the way
	Unmodelled Cause = "unknown"      // it differs by an unknown cause
)

// hypothesis is one cause with the size that is searched.
type hypothesis struct {
	cause  Cause
	change func(size, at float64) Change
	sizes  []float64 // where the search begins: the best of them is refined between its neighbours
	least  float64   // a size below it is no cause
	timed  bool      // it begins at some time
	words  func(size float64) string
}

func degrees(rad float64) float64 { return rad * 180 / math.Pi }

var hypotheses = []hypothesis{
	{Zero, func(v, _ float64) Change { return Change{Zero: v} }, []float64{-0.6, -0.3, -0.12, 0.12, 0.3, 0.6}, 0.03,
		false,
		func(v float64) string { return fmt.Sprintf("its zero has shifted by %.1f degrees", degrees(v)) }},
	{Reversed, func(v, _ float64) Change { return Change{Reversed: true, Zero: v} }, []float64{0}, 0, false,
		func(float64) string { return "it turns opposite to its calibration" }},
	{Gear, func(v, _ float64) Change { return Change{Gear: v} }, []float64{-0.5, -0.25, -0.1, 0.1, 0.25, 0.5, 1}, 0.05,
		false,
		func(v float64) string { return fmt.Sprintf("its gear is %.2f times the calibration's", 1+v) }},
	{Play, func(v, _ float64) Change { return Change{Play: v} }, []float64{0.01, 0.02, 0.04, 0.08, 0.15}, 0.012, false,
		func(v float64) string { return fmt.Sprintf("its gear has %.1f degrees of play", degrees(v)) }},
	{Load, func(v, _ float64) Change { return Change{Load: v} }, []float64{0.15, 0.3, 0.6, 1.2, 2}, 0.12, false,
		func(v float64) string { return fmt.Sprintf("it carries %.1f times the load", 1+v) }},
	{Friction, func(v, _ float64) Change { return Change{Friction: v} }, []float64{0.4, 0.8, 1.6, 3, 6}, 0.3, false,
		func(v float64) string { return fmt.Sprintf("its friction is %.1f times the model's", 1+v) }},
	{Supply, func(v, _ float64) Change { return Change{Supply: v} }, []float64{0.05, 0.1, 0.2, 0.3, 0.45}, 0.06, false,
		func(v float64) string { return fmt.Sprintf("its supply has %.0f %% less voltage", 100*v) }},
	{Constant, func(v, _ float64) Change { return Change{Constant: v} }, []float64{0.06, 0.12, 0.2, 0.3, 0.45}, 0.07,
		false,
		func(v float64) string {
			return fmt.Sprintf("its torque constant is %.0f %% smaller: magnets, or a winding", 100*v)
		}},
	{Latency, func(v, _ float64) Change { return Change{Delay: v} }, []float64{0.008, 0.016, 0.03, 0.06, 0.1}, 0.006,
		false,
		func(v float64) string { return fmt.Sprintf("goals take effect %.0f ms late", 1000*v) }},
	{LooseHorn, func(v, at float64) Change { return Change{Slip: v, SlipAt: at} },
		[]float64{-0.5, -0.25, -0.1, 0.1, 0.25, 0.5}, 0.05, true,
		func(v float64) string { return fmt.Sprintf("its horn slipped by %.1f degrees on the way", degrees(v)) }},
}

// Verdict is the result for a joint from a recording.
type Verdict struct {
	Cause     Cause
	Size      float64 // in the unit of its Change; NaN if it has no size
	Residual  float64 // rad, root mean square between the joint and its model
	Explained float64 // share of the difference that the cause explains, 0..1
	Words     string
	Second    Cause // the next best, if it explains nearly as much; else ""
}

// Noise is the difference of a healthy joint. The zero Noise is a typical one.
type Noise struct {
	Position float64 // rad
	Effort   float64 // share of the greatest effort
	Volts    float64 // V
}

const (
	together = 0.15 // s for which errors last: samples within it count as one
	sure     = 25.0 // minimum log-likelihood ratio, times two, of a cause against none
	strange  = 6.0  // likewise: above it the cause is Unmodelled
	weighed  = 0.25 // share of the difference that a named cause explains at least
	// rad; a greater error of the zero would be a reversed joint, for which only gravity gives the same result
	mostZero = 0.9
	tied     = 6.0 // below it two causes are alike
	rounds   = 4   // of a refinement
	closeBy  = 1.6 // times the best cost: up to there a cause may still be the best
	times    = 7   // places at which a slip is looked for
	aside    = 0.5 // s from either end, within which a slip is not looked for
	stuckFor = 0.8 // s without any change, while the goal moves
)

// Judge compares the recordings of one joint with its model, and names the cause of the difference. runs need goals
// that move.
func Judge(runs []*identify.Run, spec *actuator.Spec, noise Noise) Verdict {
	return (&judge{runs: runs, spec: spec, noise: noise}).judge()
}

// JudgeRunning is Judge of a recording that began in motion, of a joint that had differed before: its model begins at
// rest, so that the first moment is not compared, and a horn that slips on the way is not why.
func JudgeRunning(run *identify.Run, spec *actuator.Spec, noise Noise) Verdict {
	return (&judge{runs: []*identify.Run{run}, spec: spec, noise: noise, running: true}).judge()
}

// begun is the time after which the model of a joint that began in motion has followed, s.
const begun = 0.4

func (j *judge) judge() Verdict {
	runs, spec, noise := j.runs, j.spec, j.noise
	noise.Position = cmp.Or(noise.Position, 0.3*math.Pi/180)
	noise.Effort = cmp.Or(noise.Effort, 0.03)
	noise.Volts = cmp.Or(noise.Volts, 0.3)
	if !spec.CurrentControl {
		noise.Effort *= spec.MaxDuty
	} else {
		noise.Effort *= spec.MaxCurrent
	}
	j.noise = noise
	j.residuals(Change{})
	v := Verdict{Cause: None, Size: math.NaN(), Residual: j.off, Words: "it does as its model does"}
	for _, r := range runs {
		if at, is := stuck(r); is {
			v.Cause, v.Size, v.Explained, v.Words = Stuck, at, 1,
				fmt.Sprintf("its reported position stays from %.1f s on, while its goal moves", at)
			return v
		}
	}
	healthy := j.refine(found{hypothesis: &nothing})
	var all []found
	for i := range hypotheses {
		if hypotheses[i].timed && j.running {
			continue
		}
		f := j.search(&hypotheses[i], &healthy)
		// while the robot runs, the rough search must be enough: it takes half of the time, and found more of the
		// shifted zeros
		if !j.running {
			f = j.descend(f, false)
		}
		all = append(all, j.refine(f))
	}
	if !j.running && healthy.cost > j.expected()/2 {
		healthy, all = j.settle(healthy, all)
	}
	for i := range all {
		if f := &all[i]; f.cause == Zero && math.Abs(f.size) > mostZero {
			f.cost = math.Inf(1)
		}
	}
	slices.SortStableFunc(all, func(a, b found) int { return cmp.Compare(a.cost, b.cost) })
	all = slices.DeleteFunc(all, func(f found) bool {
		return f.least > 0 && math.Abs(f.size) < f.least || healthy.cost-f.cost < math.Max(sure, weighed*healthy.cost)
	})
	switch {
	case len(all) == 0 && healthy.cost < strange*j.expected():
		return v
	case len(all) == 0:
		v.Cause, v.Words = Unmodelled,
			"it differs from its model by more than any known cause explains: identify it again"
		return v
	}
	best := &all[0]
	v.Cause, v.Size, v.Words = best.cause, best.size, best.words(best.size)
	v.Explained = (healthy.cost - best.cost) / healthy.cost
	if len(all) > 1 && all[1].cost-best.cost < tied {
		v.Second = all[1].cause
	}
	return v
}

// A joint and its model never agree wholly. These differences are no cause, as long as they are about as small as their
// spread; every hypothesis may have them.
var spreads = []struct {
	size, step float64
	add        func(c *Change, v float64)
}{
	{0.15, 0.05, func(c *Change, v float64) { c.Friction += v }},
	{0.03, 0.02, func(c *Change, v float64) { c.Constant += v }},
	{0.03, 0.03, func(c *Change, v float64) { c.Load += v }},
	{0.015, 0.01, func(c *Change, v float64) { c.Supply += v }},
	{0.01, 0.01, func(c *Change, v float64) { c.Zero += v }},
	{0.0015, 0.002, func(c *Change, v float64) { c.Delay = math.Max(0, c.Delay+v) }},
}

// nothing is the hypothesis of no fault.
var nothing = hypothesis{None, func(_, _ float64) Change { return Change{} }, []float64{0}, 0, false, nil}

// found is the best fit of a hypothesis: its size, its start time, s, and the small additional differences.
type found struct {
	*hypothesis
	size, when float64
	small      [6]float64
	cost       float64
}

// at is the change with the differences moved by d: the size first.
func (f *found) at(d *[7]float64) Change {
	c := f.change(f.size+d[0], f.when)
	for i := range spreads {
		spreads[i].add(&c, f.small[i]+d[i+1])
	}
	return c
}

type judge struct {
	runs    []*identify.Run
	spec    *actuator.Spec
	noise   Noise
	running bool
	trace   trace
	off     float64 // rad, root mean square of the position's differences in the last residuals
}

// residuals are all differences between the runs and a joint that differs by c, in units of the noise, of samples that
// count together as often as they are independent.
func (j *judge) residuals(c Change) (all []float64) {
	squares, samples := 0.0, 0
	for _, r := range j.runs {
		c.play(r, j.spec, &j.trace)
		n := len(r.Samples)
		weight := math.Sqrt(math.Min(1, (r.Samples[n-1].Time-r.Samples[0].Time)/float64(n)/together))
		for i := range r.Samples {
			s := &r.Samples[i]
			if j.running && s.Time-r.Samples[0].Time < begun {
				continue
			}
			d := s.Position - j.trace.position[i]
			squares, samples = squares+d*d, samples+1
			all = append(all, weight*bounded(d/j.noise.Position))
			if !math.IsNaN(s.Load) && s.Torque {
				all = append(all, weight*bounded((s.Load-j.trace.effort[i])/j.noise.Effort))
			}
			if !math.IsNaN(s.Volts) {
				all = append(all, weight*bounded((s.Volts-j.trace.volts[i])/j.noise.Volts))
			}
		}
	}
	j.off = math.Sqrt(squares / float64(max(1, samples)))
	return all
}

// bounded is x with a slower growing square beyond 4: one burst of errors is not a cause.
func bounded(x float64) float64 {
	if a := math.Abs(x); a > 4 {
		return math.Copysign(math.Sqrt(8*a-16), x)
	}
	return x
}

// cost is the sum of the squares of f's residuals, and of its small differences in units of their spread.
func (j *judge) cost(f *found) (sum float64) {
	for _, r := range j.residuals(f.at(&[7]float64{})) {
		sum += r * r
	}
	for i, s := range spreads {
		sum += f.small[i] * f.small[i] / (s.size * s.size)
	}
	if f.timed { // one thing more that is fitted
		sum += tied
	}
	return sum
}

// expected is the cost of a joint that differs only by noise.
func (j *judge) expected() (sum float64) {
	for _, r := range j.runs {
		n := len(r.Samples)
		per := 1.0
		if !math.IsNaN(r.Samples[0].Load) {
			per++
		}
		if !math.IsNaN(r.Samples[0].Volts) {
			per++
		}
		sum += per * math.Min(float64(n), (r.Samples[n-1].Time-r.Samples[0].Time)/together)
	}
	return sum
}

// search finds about which size of h explains the runs best, with the small differences of a healthy joint.
func (j *judge) search(h *hypothesis, healthy *found) found {
	best := found{cost: math.Inf(1)}
	at := []float64{0}
	if h.timed {
		at = nil
		for k := range times {
			at = append(at, j.longest()*(float64(k)+0.5)/times)
		}
	}
	for _, t := range at {
		for _, v := range h.sizes {
			for k, small := range [][6]float64{{}, healthy.small} {
				if k > 0 && small == [6]float64{} {
					continue
				}
				f := found{hypothesis: h, size: v, when: t, small: small}
				if f.cost = j.cost(&f); f.cost < best.cost {
					best = f
				}
			}
		}
	}
	return best
}

// settle improves those of all that may be the cause until they are at their best: the best of rough costs is not
// always that of the cause.
func (j *judge) settle(healthy found, all []found) (found, []found) {
	best := math.Inf(1)
	for i := range all {
		best = math.Min(best, all[i].cost)
	}
	for i := range all {
		if all[i].cost >= closeBy*best {
			continue
		}
		all[i] = j.refine(j.descend(all[i], true))
		// from no other difference
		if f := j.refine(j.descend(j.search(all[i].hypothesis, &found{}), true)); f.cost < all[i].cost {
			all[i] = f
		}
	}
	return j.descend(healthy, true), all
}

// descend improves size and time of f, and with whole the small differences as well, one after the other, by steps that
// are halved where they do not help: friction and rounding make the cost rough, so that slopes alone end in any of its
// hollows.
func (j *judge) descend(f found, whole bool) found {
	places := []*float64{}
	steps := []float64{}
	if len(f.sizes) > 1 {
		places, steps = append(places, &f.size), append(steps, 0.3*math.Abs(f.size))
	}
	if f.timed {
		places, steps = append(places, &f.when), append(steps, j.longest()/times/2)
	}
	for i := range spreads {
		if whole {
			places, steps = append(places, &f.small[i]), append(steps, 0.7*spreads[i].size)
		}
	}
	for range rounds {
		for p, place := range places {
			for _, step := range [...]float64{steps[p], -steps[p]} {
				moved := false
				for range rounds {
					was := *place
					*place += step
					cost := math.Inf(1)
					if j.possible(&f) {
						cost = j.cost(&f)
					}
					if !(cost < f.cost-0.1) {
						*place = was
						break
					}
					f.cost, moved = cost, true
				}
				if moved {
					break
				}
			}
			steps[p] /= 2
		}
	}
	return f
}

// possible reports whether f has a sign that it can have, and a time within the motion: what slipped before it is a
// zero.
func (j *judge) possible(f *found) bool {
	return (len(f.sizes) < 2 || f.sizes[0] < 0 || f.size > 0) &&
		(!f.timed || f.when > aside && f.when < j.longest()-aside)
}

// longest is the time of the longest run, s.
func (j *judge) longest() (s float64) {
	for _, r := range j.runs {
		s = math.Max(s, r.Samples[len(r.Samples)-1].Time-r.Samples[0].Time)
	}
	return s
}

// refine improves size and small differences by Gauss and Newton's method, with steps that are halved where they do not
// help.
func (j *judge) refine(f found) found {
	f.cost = j.cost(&f)
	for range rounds {
		res := j.residuals(f.at(&[7]float64{}))
		var slopes [7][]float64
		sized := len(f.sizes) > 1
		for p := range slopes {
			if p == 0 && !sized {
				continue
			}
			var d [7]float64
			d[p] = 0.05*math.Abs(f.size) + 0.2*f.least
			if p > 0 {
				d[p] = spreads[p-1].step
			}
			slopes[p] = j.residuals(f.at(&d))
			for i := range slopes[p] {
				slopes[p][i] = (slopes[p][i] - res[i]) / d[p]
			}
		}
		h, g := mat.NewSymDense(7, nil), mat.NewVecDense(7, nil)
		for p := range slopes {
			for q := p; q < 7; q++ {
				sum := 0.0
				for i := range slopes[p] {
					if slopes[q] != nil {
						sum += slopes[p][i] * slopes[q][i]
					}
				}
				h.SetSym(p, q, sum)
			}
			sum := 0.0
			for i := range slopes[p] {
				sum -= slopes[p][i] * res[i]
			}
			prior := 1e-6
			if p > 0 {
				prior = 1 / (spreads[p-1].size * spreads[p-1].size)
				sum -= f.small[p-1] * prior
			}
			h.SetSym(p, p, h.At(p, p)*1.01+prior)
			g.SetVec(p, sum)
		}
		var c mat.Cholesky
		var move mat.VecDense
		if !c.Factorize(h) || c.SolveVecTo(&move, g) != nil {
			return f
		}
		better := false
		for share := 1.0; share > 0.1 && !better; share /= 2 {
			next := f
			if sized {
				next.size += share * math.Max(-0.5*math.Abs(f.size), math.Min(0.5*math.Abs(f.size), move.AtVec(0)))
			}
			for i := range next.small {
				next.small[i] += share * move.AtVec(i+1)
			}
			if next.cost = j.cost(&next); next.cost < f.cost-0.1 {
				f, better = next, true
			}
		}
		if !better {
			return f
		}
	}
	return f
}

// stuck reports from when on the reported position of r stays while its goal moves by much, and torque is on.
func stuck(r *identify.Run) (at float64, is bool) {
	since, low, high := 0, math.Inf(1), math.Inf(-1)
	for i := range r.Samples {
		s := &r.Samples[i]
		if s.Position != r.Samples[since].Position || !s.Torque {
			since, low, high = i, math.Inf(1), math.Inf(-1)
		}
		low, high = math.Min(low, s.Goal), math.Max(high, s.Goal)
		if s.Time-r.Samples[since].Time > stuckFor && high-low > 20*math.Pi/180 {
			return r.Samples[since].Time - r.Samples[0].Time, true
		}
	}
	return 0, false
}

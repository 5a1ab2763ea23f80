package twin

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/halyard-robotics/halyard/internal/sim/identify"
)

// search finds about which size of h, in addition to the causes of base, explains the runs best, with no small
// differences or those of like.
func (j *judge) search(h *hypothesis, base found, like *found) found {
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
			for k, small := range [...][len(spreads)]float64{{}, like.small} {
				if k == 0 && base.n > 0 || k > 0 && small == [len(spreads)]float64{} {
					continue
				}
				f := base
				f.parts[f.n], f.small = part{h, v, t}, small
				f.n++
				if f.cost = j.cost(&f); f.cost < best.cost || best.n == 0 {
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
		if f := j.refine(j.descend(j.search(all[i].parts[0].hypothesis, found{}, &found{}),
			true)); f.cost < all[i].cost {
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
	for i := range f.parts[:f.n] {
		p := &f.parts[i]
		if len(p.sizes) > 1 {
			places, steps = append(places, &p.size), append(steps, 0.3*math.Abs(p.size))
		}
		if p.timed {
			places, steps = append(places, &p.when), append(steps, j.longest()/times/2)
		}
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
					cost := j.cost(&f)
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

// possible reports whether the causes of f have signs that they can have, and times within the motion: what slipped
// before it is a zero.
func (j *judge) possible(f *found) bool {
	for i := range f.parts[:f.n] {
		p := &f.parts[i]
		signed := len(p.sizes) < 2 || p.sizes[0] < 0
		if !signed && !(p.size > 0) || (p.cause == Load || p.cause == Gear) && p.size < atLeast ||
			p.timed && !(p.when > aside && p.when < j.longest()-aside) {
			return false
		}
	}
	return true
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
		move, ok := j.newton(&f)
		if !ok {
			return f
		}
		better := false
		for share := 1.0; share > 0.1 && !better; share /= 2 {
			next := f
			for i := range next.parts[:next.n] {
				if p := &next.parts[i]; len(p.sizes) > 1 {
					most := 0.5 * math.Abs(p.size)
					p.size += share * math.Max(-most, math.Min(most, move.AtVec(i)))
				}
			}
			for i := range next.small {
				next.small[i] += share * move.AtVec(i+2)
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

// newton is Gauss and Newton's step from f.
func (j *judge) newton(f *found) (*mat.VecDense, bool) {
	const k = len(moves{})
	res := j.residuals(f.at(&moves{}))
	var slopes [k][]float64
	for p := range slopes {
		if p < 2 && (p >= f.n || len(f.parts[p].sizes) < 2) {
			continue
		}
		var d moves
		if p < 2 {
			d[p] = 0.05*math.Abs(f.parts[p].size) + 0.2*f.parts[p].least
		} else {
			d[p] = spreads[p-2].step
		}
		slopes[p] = j.residuals(f.at(&d))
		for i := range slopes[p] {
			slopes[p][i] = (slopes[p][i] - res[i]) / d[p]
		}
	}
	h, g := mat.NewSymDense(k, nil), mat.NewVecDense(k, nil)
	for p := range slopes {
		for q := p; q < k; q++ {
			sum := 0.0
			for i := range slopes[q][:min(len(slopes[p]), len(slopes[q]))] {
				sum += slopes[p][i] * slopes[q][i]
			}
			h.SetSym(p, q, sum)
		}
		sum := 0.0
		for i := range slopes[p] {
			sum -= slopes[p][i] * res[i]
		}
		prior := 1e-6
		if p > 1 {
			prior = 1 / (spreads[p-2].size * spreads[p-2].size)
			sum -= f.small[p-2] * prior
		}
		h.SetSym(p, p, h.At(p, p)*1.01+prior)
		g.SetVec(p, sum)
	}
	var c mat.Cholesky
	move := mat.NewVecDense(k, nil)
	ok := c.Factorize(h) && c.SolveVecTo(move, g) == nil
	return move, ok
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

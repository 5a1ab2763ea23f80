package identify

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"
)

// How far a profile is followed: so many times as far, or to a share, of where a quadratic cost would end it.
const (
	profileStep = 1.5
	profileMost = 8
)

// profile is the likelihood about the optimum t of a search: errors of unknown size, of which only so many are
// independent of one another.
type profile struct {
	*search
	t      trial
	cost0  float64
	miss0  float64 // sum of the squares of what is believed and missed
	count  float64 // of independent errors
	spread *mat.SymDense
	bound  float64 // of twice the log-likelihood's fall, at the ends of an interval of 95 %
}

// newProfile measures the curvature at t. ok is false where there is none.
func (s *search) newProfile(t *trial) (p *profile, ok bool) {
	res := s.residuals(t, nil)
	p = &profile{search: s, t: *t, count: s.lasting(res)}
	p.cost0, p.miss0 = s.fit(res), s.missed(t)
	k := len(s.axes)
	rows := s.slopes(t, res, 0.1)
	h, g := mat.NewSymDense(k, nil), mat.NewVecDense(k, nil)
	at := 0
	for _, r := range s.runs {
		n := len(r.Samples)
		s.normal(rows, res, at, at+n, 1/float64(n), false, h, g)
		at += n
	}
	h.ScaleSym(p.count/(2*float64(len(s.runs))*s.width*p.cost0), h)
	s.believe(t, 0.5/(float64(len(s.runs))*s.width)*s.beliefCount(), h, g)
	for i := range k {
		h.SetSym(i, i, h.At(i, i)*(1+1e-9)+1e-9)
	}
	var c mat.Cholesky
	p.spread = mat.NewSymDense(k, nil)
	if !c.Factorize(h) || c.InverseTo(p.spread) != nil {
		return nil, false
	}
	q := distuv.StudentsT{Nu: math.Max(3, p.count-float64(k)), Sigma: 1}.Quantile(0.975)
	p.bound = q * q
	return p, true
}

// lasting is how many independent errors the residuals are worth: each run's time over how long its errors last.
func (s *search) lasting(res []float64) (count float64) {
	at := 0
	for _, r := range s.runs {
		n := len(r.Samples)
		e, seconds := res[at:at+n], r.Samples[n-1].Time-r.Samples[0].Time
		at += n
		sum := 1.0
		zero := correlation(e, 0)
		for lag := 1; lag < n/2 && zero > 0; lag++ {
			c := correlation(e, lag) / zero
			if c < 0.05 {
				break
			}
			sum += 2 * c
		}
		count += math.Max(1, math.Min(float64(n), seconds/math.Max(sum*seconds/float64(n), shortest)))
	}
	return count
}

// shortest is how long errors last at least, s: encoder ticks and the reads of one cycle are alike for some samples.
const shortest = 0.02

// correlation is the mean product of values that are lag apart.
func correlation(e []float64, lag int) float64 {
	sum := 0.0
	for i := range e[:len(e)-lag] {
		sum += e[i] * e[i+lag]
	}
	return sum / float64(len(e)-lag)
}

// fall is twice the fall of the log-likelihood from the optimum to u.
func (p *profile) fall(u *trial) float64 {
	return p.count*math.Log(p.fit(p.residuals(u, nil))/p.cost0) + p.missed(u) - p.miss0
}

// end follows axis i to one side, the others as the curvature lets them follow, to the end of its interval: its value.
func (p *profile) end(i int, side float64) float64 {
	half := math.Sqrt(p.bound * p.spread.At(i, i))
	at := func(share float64) trial {
		u := p.t
		for k := range p.axes {
			a := &p.axes[k]
			a.set(&u, a.get(&p.t)+side*share*half*p.spread.At(k, i)/p.spread.At(i, i))
		}
		return u
	}
	beyond := func(share float64) bool { u := at(share); return p.fall(&u) >= p.bound }
	share := 1.0
	if beyond(share) {
		for share > 0.3 && beyond(share/profileStep) {
			share /= profileStep
		}
	} else {
		for share *= profileStep; share < profileMost && !beyond(share); share *= profileStep {
		}
	}
	u := at(share)
	return *p.axes[i].at(&u)
}

// intervals are the intervals of 95 % of each axis at the optimum t, by the likelihood. An interval may end at a bound
// of its parameter: [0, 0.01].
func (s *search) intervals(t *trial) []estimate {
	found := make([]estimate, len(s.axes))
	for i := range s.axes {
		found[i] = estimate{*s.axes[i].at(t), math.NaN(), math.NaN()}
	}
	if p, ok := s.newProfile(t); ok {
		s.each(func(i int) {
			found[i].low = math.Min(found[i].value, p.end(i, -1))
			found[i].high = math.Max(found[i].value, p.end(i, 1))
		})
	}
	return found
}

// quantile is the value that a share of values is below. It sorts them.
func quantile(values []float64, share float64) float64 {
	slices.Sort(values)
	return values[int(share*float64(len(values)-1)+0.5)]
}

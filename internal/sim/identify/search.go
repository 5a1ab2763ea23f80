package identify

import (
	"math"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"

	"github.com/halyard-robotics/halyard/sim/actuator"
)

// search is one problem: the axes of trials that come near the recordings.
type search struct {
	runs   []*Run
	hidden [][]bool // of each run the samples that do not count; nil: all count
	axes   []axis
	step   float64 // s, of the simulation
	width  float64 // rad: residuals below count by their square, above by their size (pseudo-Huber)
	belief *belief // what is known without the runs; nil: nothing
}

// residuals of t, rad, simulated less recorded, run after run.
func (s *search) residuals(t *trial, into []float64) []float64 {
	into = into[:0]
	smooth := withoutTicks(t.spec)
	for k, r := range s.runs {
		n := len(into)
		into = append(into, make([]float64, len(r.Samples))...)
		r.play(&smooth, t.bench, s.step, into[n:])
		for i := range r.Samples {
			if into[n+i] -= r.Samples[i].Position; s.hidden != nil && s.hidden[k][i] {
				into[n+i] = 0
			}
		}
	}
	return into
}

// withoutTicks is spec with an encoder fine enough to have no visible ticks: their rounding adds noise to every
// simulation, in which a search fails. On average the ticks of a real encoder have no effect.
func withoutTicks(spec actuator.Spec) actuator.Spec {
	const finer = 256
	spec.TicksPerTurn *= finer
	spec.CentreTicks *= finer
	spec.MinTicks *= finer
	spec.MaxTicks *= finer
	return spec
}

// cost is the misfit of the residuals of t, and more where t is unlike what is known without them.
func (s *search) cost(t *trial, residuals []float64) float64 {
	return s.fit(residuals) * math.Exp(s.missed(t)/s.beliefCount())
}

// fit is the mean over the runs, each with the same weight, of the pseudo-Huber loss.
func (s *search) fit(residuals []float64) float64 {
	sum, at := 0.0, 0
	for _, r := range s.runs {
		one := 0.0
		for range r.Samples {
			x := residuals[at] / s.width
			one += math.Sqrt(1+x*x) - 1
			at++
		}
		sum += one / float64(len(r.Samples))
	}
	return sum / float64(len(s.runs)) * s.width
}

// explore is the global search: CMA-ES of gonum from t, with so many simulations.
func (s *search) explore(t trial, plays int, seed uint64) trial {
	start := make([]float64, len(s.axes))
	for i := range s.axes {
		start[i] = s.axes[i].get(&t)
	}
	var res []float64
	at := func(x []float64) (u trial, beyond float64) {
		u = t
		for i := range s.axes {
			d := s.axes[i].set(&u, x[i]) - x[i]
			beyond += d * d
		}
		return u, beyond
	}
	problem := optimize.Problem{Func: func(x []float64) float64 {
		u, beyond := at(x)
		res = s.residuals(&u, res)
		return s.cost(&u, res) * (1 + beyond)
	}}
	method := &optimize.CmaEsChol{InitStepSize: 0.5, Population: 12, Src: rand.NewPCG(seed, 0)}
	found, err := optimize.Minimize(problem, start,
		&optimize.Settings{FuncEvaluations: plays, Converger: optimize.NeverTerminate{}}, method)
	if err != nil || found == nil {
		return t // its only errors are of settings: the local search begins where this one did
	}
	best, _ := at(found.X)
	return best
}

// slopes are the derivatives of the residuals by each axis, at t where the residuals are res: one row an axis, by a
// difference of h. The encoder's ticks add noise to a simulation; a wide h makes it negligible.
func (s *search) slopes(t *trial, res []float64, h float64) [][]float64 {
	rows := make([][]float64, len(s.axes))
	s.each(func(i int) { rows[i] = s.slope(t, &s.axes[i], res, h) })
	return rows
}

// each calls f for the index of each axis, on all processors.
func (s *search) each(f func(i int)) {
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(len(s.axes), runtime.GOMAXPROCS(0)) {
		workers.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(s.axes); i = int(next.Add(1)) - 1 {
				f(i)
			}
		})
	}
	workers.Wait()
}

// slope is the derivative of the residuals by one axis.
func (s *search) slope(t *trial, a *axis, res []float64, h float64) []float64 {
	u, x := *t, a.get(t)
	to := a.set(&u, x+h)
	if to-x < h/2 { // at its upper bound
		to = a.set(&u, x-h)
	}
	row := s.residuals(&u, nil)
	for k := range row {
		row[k] = (row[k] - res[k]) / (to - x)
	}
	return row
}

// normal adds the normal equations of samples from..to of the residuals, each sample with weight: the matrix h and the
// gradient g of the pseudo-Huber loss. The matrix of a search is that of reweighted least squares, which never
// overshoots; with exact it has the loss's own curvature, which reports how far noise moves the optimum.
func (s *search) normal(rows [][]float64, res []float64, from, to int, weight float64, exact bool, h *mat.SymDense,
	g *mat.VecDense) {
	n := to - from
	slope, curve := make([]float64, n), make([]float64, n)
	for i, e := range res[from:to] {
		x := e / s.width
		w := 1 / math.Sqrt(1+x*x)
		if slope[i], curve[i] = w*e*weight, w*weight; exact {
			curve[i] *= w * w
		}
	}
	for a := range rows {
		ra := rows[a][from:to]
		for b := a; b < len(rows); b++ {
			rb, sum := rows[b][from:to], 0.0
			for i, c := range curve {
				sum += ra[i] * rb[i] * c
			}
			h.SetSym(a, b, h.At(a, b)+sum)
		}
		sum := 0.0
		for i, c := range slope {
			sum += ra[i] * c
		}
		g.SetVec(a, g.AtVec(a)+sum)
	}
}

// refine is the local search: Gauss-Newton with damping (Levenberg, Marquardt), from t. gonum does not have it.
func (s *search) refine(t trial, rounds int) trial {
	k := len(s.axes)
	res := s.residuals(&t, nil)
	best, damping := s.cost(&t, res), 1e-3
	var other []float64
	for range rounds {
		rows := s.slopes(&t, res, 0.03)
		h, g := mat.NewSymDense(k, nil), mat.NewVecDense(k, nil)
		at := 0
		for _, r := range s.runs {
			n := len(r.Samples)
			s.normal(rows, res, at, at+n, 1/float64(n), false, h, g)
			at += n
		}
		s.believe(&t, best, h, g)
		gained := 0.0
		for range 8 {
			u, ok := s.leap(&t, h, g, damping)
			if ok {
				other = s.residuals(&u, other)
				if c := s.cost(&u, other); c < best {
					gained = (best - c) / best
					t, best = u, c
					res, other = other, res
					damping = math.Max(damping/5, 1e-9)
					break
				}
			}
			damping *= 5
		}
		if gained < 1e-6 {
			break
		}
	}
	return t
}

// believe adds to the normal equations at t, where the cost is cost, what is known without the runs.
func (s *search) believe(t *trial, cost float64, h *mat.SymDense, g *mat.VecDense) {
	if s.belief == nil {
		return
	}
	const step = 0.01
	m := s.belief.misses(t, nil)
	// of the equations, which are not those of a mean
	scale := 2 * cost * float64(len(s.runs)) * s.width / s.belief.count
	rows := make([][]float64, len(s.axes))
	for i := range s.axes {
		u := *t
		x := s.axes[i].get(t)
		by := s.axes[i].set(&u, x+step) - x
		if by < step/2 { // at its upper bound
			by = s.axes[i].set(&u, x-step) - x
		}
		rows[i] = s.belief.misses(&u, nil)
		for k := range rows[i] {
			rows[i][k] = (rows[i][k] - m[k]) / by
		}
	}
	for k := range m {
		for a := range rows {
			g.SetVec(a, g.AtVec(a)+scale*m[k]*rows[a][k])
			for b := a; b < len(rows); b++ {
				h.SetSym(a, b, h.At(a, b)+scale*rows[a][k]*rows[b][k])
			}
		}
	}
}

// leap is t after one damped step, of at most one unit an axis.
func (s *search) leap(t *trial, h *mat.SymDense, g *mat.VecDense, damping float64) (trial, bool) {
	k := len(s.axes)
	m := mat.NewSymDense(k, nil)
	m.CopySym(h)
	for a := range k {
		m.SetSym(a, a, h.At(a, a)*(1+damping)+1e-15)
	}
	var c mat.Cholesky
	var d mat.VecDense
	if !c.Factorize(m) || c.SolveVecTo(&d, g) != nil {
		return *t, false
	}
	u := *t
	for i := range s.axes {
		s.axes[i].set(&u, s.axes[i].get(t)-math.Max(-1, math.Min(1, d.AtVec(i))))
	}
	return u, true
}

// widths refines with one width of the loss after the other, so many rounds each: with a wide one first, in which stick
// and slip at the wrong moment weigh little.
func (s *search) widths(t trial, rounds int, widths ...float64) trial {
	for _, s.width = range widths {
		t = s.refine(t, rounds)
	}
	return t
}

// narrow is the width of the final loss, rad: about the noise of a good recording, so that it nearly is the absolute
// error.
const narrow = 0.005

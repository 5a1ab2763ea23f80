package identify

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"
)

// A bootstrap draws this many sets of pieces. Its pieces are recordings, since a model error affects a whole recording.
// With fewer than leastPieces recordings, each is cut into pieces of at least pieceSeconds, several times the
// correlation time of errors.
const (
	draws        = 500
	leastPieces  = 8
	pieceSeconds = 1.0
)

// piece is a stretch of the residuals with its normal equations.
type piece struct {
	h *mat.SymDense
	g *mat.VecDense
}

// pieces cuts the runs of s, at the trial t, into the pieces of the bootstrap.
func (s *search) pieces(t *trial) []piece {
	res := s.residuals(t, nil)
	rows := s.slopes(t, res, 0.1)
	cut := 1
	if len(s.runs) < leastPieces {
		cut = (leastPieces + len(s.runs) - 1) / len(s.runs)
	}
	var all []piece
	at, k := 0, len(s.axes)
	for _, r := range s.runs {
		n := len(r.Samples)
		seconds := r.Samples[n-1].Time - r.Samples[0].Time
		parts := max(1, min(cut, int(seconds/pieceSeconds)))
		for i := range parts {
			p := piece{mat.NewSymDense(k, nil), mat.NewVecDense(k, nil)}
			s.normal(rows, res, at+n*i/parts, at+n*(i+1)/parts, 1/float64(n), true, p.h, p.g)
			all = append(all, p)
		}
		at += n
	}
	return all
}

// intervals are the intervals of 95 % of each axis at the optimum t, by a bootstrap over pieces: each draw is a set of
// as many pieces, with repeats, and its Gauss-Newton step. Axes at a bound of their parameter have no interval: NaN.
func (s *search) intervals(t *trial, seed uint64) []estimate {
	all := s.pieces(t)
	free := s.free(t)
	k, n := len(free), len(all)
	steps := make([][]float64, k)
	random := rand.New(rand.NewPCG(seed, 1))
	for range draws {
		h, g := mat.NewSymDense(k, nil), mat.NewVecDense(k, nil)
		for range n {
			p := &all[random.IntN(n)]
			for a, i := range free {
				for b := a; b < k; b++ {
					h.SetSym(a, b, h.At(a, b)+p.h.At(i, free[b]))
				}
				g.SetVec(a, g.AtVec(a)+p.g.AtVec(i))
			}
		}
		var c mat.Cholesky
		var d mat.VecDense
		if !c.Factorize(h) || c.SolveVecTo(&d, g) != nil {
			continue
		}
		for a := range k {
			steps[a] = append(steps[a], d.AtVec(a))
		}
	}
	found := make([]estimate, len(s.axes))
	for i := range s.axes {
		found[i] = estimate{*s.axes[i].at(t), math.NaN(), math.NaN()}
	}
	if n < 3 {
		return found
	}
	factor := distuv.StudentsT{Nu: float64(n - 1), Sigma: 1}.Quantile(0.975) * math.Sqrt(float64(n)/float64(n-1))
	for a, i := range free {
		ax, u := &s.axes[i], *t
		half := factor * spread(steps[a])
		x := ax.get(t)
		ax.set(&u, x-half)
		found[i].low = *ax.at(&u)
		ax.set(&u, x+half)
		found[i].high = *ax.at(&u)
	}
	return found
}

// free are the indexes of the axes that are not at a bound.
func (s *search) free(t *trial) []int {
	var all []int
	for i := range s.axes {
		if a := &s.axes[i]; *a.at(t) > a.low && *a.at(t) < a.high {
			all = append(all, i)
		}
	}
	return all
}

// spread is the standard deviation as the middle 68 % of values have it, which single wild draws do not change.
func spread(values []float64) float64 {
	if len(values) < 20 {
		return math.Inf(1)
	}
	return (quantile(values, 0.8413) - quantile(values, 0.1587)) / 2
}

// quantile is the value that a share of values is below. It sorts them.
func quantile(values []float64, share float64) float64 {
	slices.Sort(values)
	return values[int(share*float64(len(values)-1)+0.5)]
}

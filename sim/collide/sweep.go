package collide

import (
	"cmp"
	"math"
	"slices"

	"github.com/halyard-robotics/halyard/internal/sim/r3"
)

// sweep is the broad phase: sweep and prune [E 7.5.1] along the axis on which the moving geoms are farthest apart: a
// robot that stands is sorted by height. Moving geoms are kept sorted from step to step, which an insertion sort does
// in nearly one pass; fixed geoms are sorted once. Ties are resolved by index, so that the order, and with it the set
// dropped by an overflow, depends only on the poses.
type sweep struct {
	placed  []int32    // all that belong to bodies, by index
	moving  []int32    // those with a box, sorted by from at the last step
	still   [3][]int32 // the world's with a box, sorted along each axis for good
	endless []int32    // planes: no box holds them

	along    int       // the axis
	from, to []float64 // the boxes' ends on it
}

func (w *sweep) init(s *Space) {
	w.from, w.to = make([]float64, len(s.geoms)), make([]float64, len(s.geoms))
	w.along = -1 // none yet
	for i := range s.geoms {
		g, k := &s.geoms[i], int32(i)
		if g.Body >= 0 {
			w.placed = append(w.placed, k)
		}
		switch {
		case g.Kind == Plane:
			w.endless = append(w.endless, k)
		case g.Body >= 0:
			w.moving = append(w.moving, k)
		case s.present[i]:
			w.still[0] = append(w.still[0], k)
		}
	}
	for axis := range w.still {
		list := slices.Clone(w.still[0])
		slices.SortFunc(list, func(a, b int32) int {
			return cmp.Or(cmp.Compare(s.lo[a].Array()[axis], s.lo[b].Array()[axis]), cmp.Compare(a, b))
		})
		w.still[axis] = list
	}
}

// aim chooses the axis on which the lower ends of the moving boxes vary most, and lists all ends on it.
func (w *sweep) aim(s *Space) {
	along := 0
	if len(w.moving) > few {
		along = w.widest(s)
	}
	if along != w.along {
		w.along = along
		w.ends(s, w.still[0])
	}
	w.ends(s, w.moving)
}

// few is the number of moving geoms for which the choice of an axis costs more than it saves.
const few = 8

// widest is the axis on which the lower ends of the moving boxes vary most.
func (w *sweep) widest(s *Space) int {
	var sum, squares r3.Vec
	n := 0.0
	for _, k := range w.moving {
		if s.present[k] {
			p := s.lo[k]
			n++
			sum = sum.Add(p)
			squares = squares.Add(r3.XYZ(float64(p.X*p.X), float64(p.Y*p.Y), float64(p.Z*p.Z)))
		}
	}
	x := float64(n*squares.X) - float64(sum.X*sum.X)
	y := float64(n*squares.Y) - float64(sum.Y*sum.Y)
	z := float64(n*squares.Z) - float64(sum.Z*sum.Z)
	switch {
	case z > x && z > y:
		return 2
	case y > x:
		return 1
	}
	return 0
}

// ends lists the ends of boxes on the axis.
func (w *sweep) ends(s *Space, list []int32) {
	for _, k := range list {
		lo, hi := &s.lo[k], &s.hi[k]
		switch w.along {
		case 0:
			w.from[k], w.to[k] = lo.X, hi.X
		case 1:
			w.from[k], w.to[k] = lo.Y, hi.Y
		default:
			w.from[k], w.to[k] = lo.Z, hi.Z
		}
		if !s.present[k] {
			w.from[k] = math.MaxFloat64 // it sorts to the end
		}
	}
}

// find calls s.pair once for each two geoms whose boxes overlap and of which one may move.
func (w *sweep) find(s *Space) {
	w.aim(s)
	w.sort()
	still := w.still[w.along]
	first := 0
	for k, a := range w.moving {
		if !s.present[a] {
			break // the absent sort to the end
		}
		end := w.to[a]
		for _, b := range w.moving[k+1:] {
			if w.from[b] > end {
				break
			}
			if s.present[b] && s.overlap(a, b) {
				s.pair(a, b)
			}
		}
		// Fixed geoms that begin within a's span. Both lists are sorted, so the search never goes back.
		for first < len(still) && w.from[still[first]] < w.from[a] {
			first++
		}
		for _, b := range still[first:] {
			if w.from[b] > end {
				break
			}
			if s.overlap(a, b) {
				s.pair(a, b)
			}
		}
	}
	// Moving geoms that begin within the span of a fixed one.
	first = 0
	for _, b := range still {
		for first < len(w.moving) && w.from[w.moving[first]] <= w.from[b] {
			first++
		}
		for _, a := range w.moving[first:] {
			if w.from[a] > w.to[b] || !s.present[a] {
				break
			}
			if s.overlap(a, b) {
				s.pair(a, b)
			}
		}
	}
	w.findEndless(s)
}

// findEndless pairs each plane with all that it may touch: a support point below it is the whole test.
func (w *sweep) findEndless(s *Space) {
	for _, p := range w.endless {
		if !s.present[p] {
			continue
		}
		for _, a := range w.moving {
			if s.present[a] && s.below(a, p) {
				s.pair(a, p)
			}
		}
		if s.geoms[p].Body < 0 {
			continue
		}
		for _, b := range w.still[0] {
			if s.below(b, p) {
				s.pair(b, p)
			}
		}
	}
}

// overlap reports whether two boxes overlap.
func (s *Space) overlap(a, b int32) bool {
	p, q, r, t := &s.lo[a], &s.hi[a], &s.lo[b], &s.hi[b]
	return p.X <= t.X && r.X <= q.X && p.Y <= t.Y && r.Y <= q.Y && p.Z <= t.Z && r.Z <= q.Z
}

// below reports whether the box of a reaches below plane p [E 5.2.3].
func (s *Space) below(a, p int32) bool {
	n, lo, hi := s.placed[p].axis[2], s.lo[a], s.hi[a]
	low := lo
	if n.X < 0 {
		low.X = hi.X
	}
	if n.Y < 0 {
		low.Y = hi.Y
	}
	if n.Z < 0 {
		low.Z = hi.Z
	}
	return low.Sub(s.placed[p].pos).Dot(n) <= 0
}

// sort is an insertion sort: from one step to the next few geoms change places.
func (w *sweep) sort() {
	for i := 1; i < len(w.moving); i++ {
		k := w.moving[i]
		x := w.from[k]
		j := i
		for ; j > 0; j-- {
			m := w.moving[j-1]
			if y := w.from[m]; y < x || y == x && m < k {
				break
			}
			w.moving[j] = m
		}
		w.moving[j] = k
	}
}

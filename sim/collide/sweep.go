package collide

import (
	"cmp"
	"slices"

	"github.com/halyard-robotics/halyard/sim/r3"
)

// sweep is the broad phase: sweep and prune along x [E 7.5.1]. Moving geoms are kept sorted from step to step, which an
// insertion sort does in nearly one pass; fixed geoms are sorted once. Ties are resolved by index, so that the order, and
// with it the set dropped by an overflow, depends only on the poses.
type sweep struct {
	placed  []int32 // all that belong to bodies, by index
	moving  []int32 // those with a box, sorted by lo.x at the last step
	still   []int32 // the world's with a box, sorted by lo.x for good
	endless []int32 // planes: no box holds them
}

func (w *sweep) init(s *Space) {
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
			w.still = append(w.still, k)
		}
	}
	slices.SortFunc(w.still, func(a, b int32) int {
		return cmp.Or(cmp.Compare(s.lo[a].X, s.lo[b].X), cmp.Compare(a, b))
	})
}

// find calls s.pair once for each two geoms whose boxes overlap and of which one may move.
func (w *sweep) find(s *Space) {
	w.sort(s.lo)
	first := 0
	for k, a := range w.moving {
		if !s.present[a] {
			break // the absent sort to the end
		}
		for _, b := range w.moving[k+1:] {
			if s.lo[b].X > s.hi[a].X {
				break
			}
			if s.present[b] && s.beside(a, b) {
				s.pair(a, b)
			}
		}
		// Fixed geoms that begin within a's span along x. Both lists are sorted, so the search never goes back.
		for first < len(w.still) && s.lo[w.still[first]].X < s.lo[a].X {
			first++
		}
		for _, b := range w.still[first:] {
			if s.lo[b].X > s.hi[a].X {
				break
			}
			if s.beside(a, b) {
				s.pair(a, b)
			}
		}
	}
	// Moving geoms that begin within the span of a fixed one.
	first = 0
	for _, b := range w.still {
		for first < len(w.moving) && s.lo[w.moving[first]].X <= s.lo[b].X {
			first++
		}
		for _, a := range w.moving[first:] {
			if s.lo[a].X > s.hi[b].X || !s.present[a] {
				break
			}
			if s.beside(a, b) {
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
		for _, b := range w.still {
			if s.below(b, p) {
				s.pair(b, p)
			}
		}
	}
}

// beside reports whether two boxes that overlap along x overlap along y and z.
func (s *Space) beside(a, b int32) bool {
	return s.lo[a].Y <= s.hi[b].Y && s.lo[b].Y <= s.hi[a].Y && s.lo[a].Z <= s.hi[b].Z && s.lo[b].Z <= s.hi[a].Z
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
func (w *sweep) sort(lo []r3.Vec) {
	for i := 1; i < len(w.moving); i++ {
		k := w.moving[i]
		x := lo[k].X
		j := i
		for ; j > 0; j-- {
			m := w.moving[j-1]
			if y := lo[m].X; y < x || y == x && m < k {
				break
			}
			w.moving[j] = m
		}
		w.moving[j] = k
	}
}

package collide

import "github.com/halyard-robotics/halyard/internal/sim/r3"

// sphereAgainst meets a sphere with any convex solid: the nearest point of the solid's surface [E 5.2.5-5.2.7].
func (w *work) sphereAgainst(centre r3.Vec, radius float64, s *solid, feature uint32) {
	d, n := s.distance(centre)
	depth := radius - d
	w.put(centre.Along(-0.5*(d+radius), n), n, depth, feature)
}

// core returns the start and the whole length of a capsule's middle line.
func (s *solid) core() (from, along r3.Vec) {
	return s.pos.Along(-s.Half[2], s.axis[2]), s.axis[2].Mul(2 * s.Half[2])
}

// capsules meets two capsules: the nearest points of their middle lines [E 4.5.1]; if they are parallel, the two ends
// of their common part.
func (w *work) capsules() {
	x, y := &w.x, &w.y
	p, d := x.core()
	q, e := y.core()
	s, t := closest(p, d, q, e)
	gap := p.Along(s, d).Sub(q.Along(t, e))
	depth := x.Radius + y.Radius - gap.Norm()
	if !(depth > 0) {
		return // most of the ridges around a capsule
	}
	// Middle lines that cross give no direction; then it is the one at right angles to both.
	n := gap.Unit(x.axis[2].Cross(y.axis[2]).Unit(across(x.axis[2])))
	w.manifold(n, depth)
}

// capsuleAgainst meets a capsule with a box or a cylinder: the point of its middle line that is nearest to the solid,
// and where the line enters the solid, the shortest way out.
func (w *work) capsuleAgainst() {
	x, y := &w.x, &w.y
	p, d := x.core()
	t := y.nearest(p, d)
	distance, n := y.distance(p.Along(t, d))
	if distance > 1e-9*y.Half[2] {
		w.manifold(n, x.Radius-distance)
		return
	}
	w.rounds()
}

func clamp(x, lo, hi float64) float64 {
	if x < lo {
		return lo
	}
	if x > hi {
		return hi
	}
	return x
}

// finite reports whether x, and so the terms it was computed from, did not overflow.
func finite(x float64) bool { return x-x == 0 }

package collide

import "github.com/halyard-robotics/halyard/internal/sim/r3"

// onPlane meets the shape s with the half space below the plane through at with unit normal up: the points of s that
// lie deepest, four at most [E 5.2.2-5.2.4]. The features are those of s: its ends and corners.
func (w *work) onPlane(s *solid, at, up r3.Vec) {
	first := w.n
	switch s.Kind {
	case Sphere:
		w.dip(s.pos, s.Radius, at, up, 0)
	case Capsule:
		arm := s.axis[2].Mul(s.Half[2])
		w.dip(s.pos.Sub(arm), s.Radius, at, up, 0)
		w.dip(s.pos.Add(arm), s.Radius, at, up, 1)
	case Box:
		w.dipBox(s, at, up)
	case Cylinder:
		w.dipCylinder(s, at, up)
	case Hull:
		w.dipHull(s, at, up)
		return
	}
	w.keepDeepest(first, 4)
}

// keepDeepest drops the shallowest of the meetings from first on until most are left, of equals the last: a plate
// thinner than its depth keeps the corners of its lower face.
func (w *work) keepDeepest(first, most int) {
	for w.n-first > most {
		drop := first
		for k := first + 1; k < w.n; k++ {
			if w.found[k].depth <= w.found[drop].depth {
				drop = k
			}
		}
		copy(w.found[drop:], w.found[drop+1:w.n])
		w.n--
	}
}

// dip puts the lowest point of a ball that lies below the plane; a corner is a ball of radius 0. On a field it counts
// where the ground's point nearest to the centre lies on the triangle, and with the centre in the ground where that is
// under the triangle: every buried point has just one.
func (w *work) dip(centre r3.Vec, radius float64, at, up r3.Vec, feature uint32) {
	high := centre.Sub(at).Dot(up)
	depth := radius - high
	if depth > 0 && w.gate.holds(centre.Along(-max(high, 0), up)) {
		w.put(centre.Along(float64(0.5*depth)-radius, up), up, depth, feature)
	}
}

func (w *work) dipBox(s *solid, at, up r3.Vec) {
	x, y, z := s.axis[0].Mul(s.Half[0]), s.axis[1].Mul(s.Half[1]), s.axis[2].Mul(s.Half[2])
	// Bit 0, 1, 2 of a corner's number: its side along x, y, z.
	for i := range 8 {
		p := s.pos
		p = choose(p, x, i&1)
		p = choose(p, y, i&2)
		p = choose(p, z, i&4)
		w.dip(p, 0, at, up, uint32(i))
	}
}

// dipHull keeps the deepest corner and three that span the area with it.
func (w *work) dipHull(s *solid, at, up r3.Vec) {
	first := w.n
	for i, p := range s.Hull.points {
		if w.n-first == perPart {
			w.reduce(first, perPair)
		}
		w.dip(s.outward(p), 0, at, up, uint32(i))
	}
	w.reduce(first, 4)
}

func choose(p, d r3.Vec, bit int) r3.Vec {
	if bit != 0 {
		return p.Add(d)
	}
	return p.Sub(d)
}

// dipCylinder takes four points of each rim: the deepest and those a quarter turn from it. Upright, the four carry the
// cap, wherever "deepest" points; lying, the two deepest carry the side.
func (w *work) dipCylinder(s *solid, at, up r3.Vec) {
	down, side := s.rimDown(up)
	for end := range 2 {
		centre := s.pos.Along(float64(float64(2*end-1)*s.Half[2]), s.axis[2])
		feature := uint32(4 * end)
		w.dip(centre.Along(s.Radius, down), 0, at, up, feature)
		w.dip(centre.Along(s.Radius, side), 0, at, up, feature+1)
		w.dip(centre.Along(-s.Radius, down), 0, at, up, feature+2)
		w.dip(centre.Along(-s.Radius, side), 0, at, up, feature+3)
	}
}

// rimDown returns the direction in the caps' planes that points most against up, and the one across it. If the caps
// face up, it is the shape's own x, and near there it approaches x continuously.
func (s *solid) rimDown(up r3.Vec) (down, side r3.Vec) {
	c := up.Dot(s.axis[2])
	// The part of -up across the axis; its length is the sine of the tilt.
	flat := s.axis[2].Mul(c).Sub(up)
	const small = 1e-6
	if sin := flat.Norm(); sin < small {
		flat = flat.Along(small-sin, s.axis[0])
	}
	down = flat.Unit(s.axis[0])
	return down, s.axis[2].Cross(down).Unit(s.axis[1])
}

// spheres meets two spheres [E 4.3].
func (w *work) spheres() {
	d := w.x.pos.Sub(w.y.pos)
	distance := d.Norm()
	depth := w.x.Radius + w.y.Radius - distance
	if depth > 0 {
		n := d.Unit(r3.XYZ(0, 0, 1))
		w.put(w.y.pos.Along(w.y.Radius-float64(0.5*depth), n), n, depth, 0)
	}
}

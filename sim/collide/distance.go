package collide

import "math"

// distance returns the signed distance of p from the surface of s, negative inside, and the outward normal at the
// nearest point of the surface [E 5.1]. It is convex in p, as it is for every convex solid. Planes and fields have
// their own ways.
func (s *solid) distance(p vec) (d float64, n vec) {
	q := s.inward(p)
	switch s.Kind {
	case Sphere:
		n = q.unit(vec{0, 0, 1})
		d = q.norm() - s.Radius
	case Capsule:
		q.z -= clamp(q.z, -s.Half[2], s.Half[2])
		n = q.unit(vec{1, 0, 0})
		d = q.norm() - s.Radius
	case Box:
		d, n = boxDistance(q, pack(s.Half))
	case Cylinder:
		d, n = cylinderDistance(q, s.Radius, s.Half[2])
	}
	return d, s.outwardTurn(n)
}

// boxDistance works in the frame of the box. Inside, the nearest face counts, x before y before z where they tie;
// outside, the parts by which p lies beyond the faces make up the way to the surface, be it to a face, an edge or a
// corner [E 5.1.4].
func boxDistance(q, half vec) (float64, vec) {
	x, y, z := math.Abs(q.x)-half.x, math.Abs(q.y)-half.y, math.Abs(q.z)-half.z
	nearest, face := x, vec{math.Copysign(1, q.x), 0, 0}
	if y > nearest {
		nearest, face = y, vec{0, math.Copysign(1, q.y), 0}
	}
	if z > nearest {
		nearest, face = z, vec{0, 0, math.Copysign(1, q.z)}
	}
	if nearest <= 0 {
		return nearest, face
	}
	v := vec{
		math.Copysign(math.Max(x, 0), q.x),
		math.Copysign(math.Max(y, 0), q.y),
		math.Copysign(math.Max(z, 0), q.z),
	}
	return v.norm(), v.unit(face)
}

// cylinderDistance works in the frame of the cylinder, in the half plane of p and the axis, where the solid is a
// rectangle. On the axis itself every way out is as short: it takes the shape's own x.
func cylinderDistance(q vec, radius, half float64) (float64, vec) {
	rho := vec{q.x, q.y, 0}
	out := rho.unit(vec{1, 0, 0})
	r, z := rho.norm()-radius, math.Abs(q.z)-half
	cap := vec{0, 0, math.Copysign(1, q.z)}
	switch {
	case z <= 0 && r <= 0:
		if r > z {
			return r, out
		}
		return z, cap
	case z <= 0:
		return r, out
	case r <= 0:
		return z, cap
	}
	v := out.mul(r).along(z, cap)
	return v.norm(), v.unit(out)
}

// reach returns how far s extends from its centre along the unit vector n: its support function. All kinds are
// symmetric, so it is the same along -n.
func (s *solid) reach(n vec) float64 {
	switch s.Kind {
	case Sphere:
		return s.Radius
	case Capsule:
		return s.Radius + float64(s.Half[2]*math.Abs(n.dot(s.axis[2])))
	case Box:
		return float64(s.Half[0]*math.Abs(n.dot(s.axis[0]))) +
			float64(s.Half[1]*math.Abs(n.dot(s.axis[1]))) +
			float64(s.Half[2]*math.Abs(n.dot(s.axis[2])))
	}
	// A cylinder: its axis and a disc across it.
	c := n.dot(s.axis[2])
	return float64(s.Half[2]*math.Abs(c)) + float64(s.Radius*sine(c))
}

// farthest returns the point of s that lies farthest along d, from the centre of s.
func (s *solid) farthest(d vec) vec {
	switch s.Kind {
	case Sphere:
		return d.unit(vec{0, 0, 1}).mul(s.Radius)
	case Capsule:
		return s.axis[2].mul(math.Copysign(s.Half[2], d.dot(s.axis[2]))).along(s.Radius, d.unit(vec{0, 0, 1}))
	case Box:
		return s.axis[0].mul(math.Copysign(s.Half[0], d.dot(s.axis[0]))).
			along(math.Copysign(s.Half[1], d.dot(s.axis[1])), s.axis[1]).
			along(math.Copysign(s.Half[2], d.dot(s.axis[2])), s.axis[2])
	}
	c := d.dot(s.axis[2])
	rim := d.along(-c, s.axis[2]).unit(s.axis[0])
	return s.axis[2].mul(math.Copysign(s.Half[2], c)).along(s.Radius, rim)
}

// nearest returns where on the segment from p along d, 0..1, the distance from s is least, if the segment stays
// outside; it is some point inside otherwise. The slope of the squared distance rises along the segment, in straight
// pieces for a box, so false position with the Illinois rule finds its root in a few steps.
func (s *solid) nearest(p, d vec) float64 {
	lo, hi := 0.0, 1.0
	slope := func(t float64) float64 {
		q := p.along(t, d)
		far, n := s.distance(q)
		return float64(math.Max(0, far) * n.dot(d))
	}
	// At an end that slopes outward, that end is nearest. A slope of nothing there ends the search as well: inside the
	// solid it is nothing everywhere.
	a, b := slope(lo), slope(hi)
	if a >= 0 {
		return lo
	}
	if b <= 0 {
		return hi
	}
	last := 0 // which end moved last: the other is halved, or it would stay for ever
	for range 60 {
		t := lo + float64((hi-lo)*(a/(a-b)))
		if !(t > lo && t < hi) || hi-lo < 1e-15 {
			break
		}
		c := slope(t)
		switch {
		case c == 0:
			return t
		case c < 0:
			lo, a = t, c
			if last < 0 {
				b *= 0.5
			}
			last = -1
		default:
			hi, b = t, c
			if last > 0 {
				a *= 0.5
			}
			last = 1
		}
	}
	if -a < b {
		return lo
	}
	return hi
}

// closest returns the nearest points of two segments as shares of d and e: from p along d and from q along e [E 5.1.9].
// Of parallel segments it takes the first such pair along d.
func closest(p, d, q, e vec) (s, t float64) {
	r := p.sub(q)
	a, b, c := d.dot(d), d.dot(e), d.dot(r)
	ee, f := e.dot(e), e.dot(r)
	if ee <= 0 || a <= 0 {
		switch {
		case a > 0:
			return clamp(-c/a, 0, 1), 0
		case ee > 0:
			return 0, clamp(f/ee, 0, 1)
		}
		return 0, 0
	}
	// Nearest points of the endless lines; of parallel lines any will do, so s stays at the start of d.
	if den := float64(a*ee) - float64(b*b); den > float64(1e-14*float64(a*ee)) {
		s = clamp((float64(b*f)-float64(c*ee))/den, 0, 1)
	}
	// The point of e nearest to that; where it lies beyond an end, d must answer to the end.
	t = (float64(b*s) + f) / ee
	if t < 0 {
		t, s = 0, clamp(-c/a, 0, 1)
	} else if t > 1 {
		t, s = 1, clamp((b-c)/a, 0, 1)
	}
	return s, t
}

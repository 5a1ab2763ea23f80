package collide

import (
	"math"

	"github.com/halyard-robotics/halyard/internal/sim/r3"
)

// distance returns the signed distance of p from the surface of s, negative inside, and the outward normal at the
// nearest point of the surface [E 5.1]. It is convex in p, as it is for every convex solid. Planes and fields have
// their own ways.
func (s *solid) distance(p r3.Vec) (d float64, n r3.Vec) {
	q := s.inward(p)
	switch s.Kind {
	case Sphere:
		n = q.Unit(r3.XYZ(0, 0, 1))
		d = q.Norm() - s.Radius
	case Capsule:
		q.Z -= clamp(q.Z, -s.Half[2], s.Half[2])
		n = q.Unit(r3.XYZ(1, 0, 0))
		d = q.Norm() - s.Radius
	case Box:
		d, n = boxDistance(q, r3.Pack(s.Half))
	case Cylinder:
		d, n = cylinderDistance(q, s.Radius, s.Half[2])
	}
	return d, s.outwardTurn(n)
}

// boxDistance works in the frame of the box. Inside, the nearest face counts, x before y before z where they tie;
// outside, the parts by which p lies beyond the faces make up the way to the surface, be it to a face, an edge or a
// corner [E 5.1.4].
func boxDistance(q, half r3.Vec) (float64, r3.Vec) {
	x, y, z := math.Abs(q.X)-half.X, math.Abs(q.Y)-half.Y, math.Abs(q.Z)-half.Z
	nearest, face := x, r3.XYZ(math.Copysign(1, q.X), 0, 0)
	if y > nearest {
		nearest, face = y, r3.XYZ(0, math.Copysign(1, q.Y), 0)
	}
	if z > nearest {
		nearest, face = z, r3.XYZ(0, 0, math.Copysign(1, q.Z))
	}
	if nearest <= 0 {
		return nearest, face
	}
	v := r3.XYZ(
		math.Copysign(math.Max(x, 0), q.X),
		math.Copysign(math.Max(y, 0), q.Y),
		math.Copysign(math.Max(z, 0), q.Z),
	)
	return v.Norm(), v.Unit(face)
}

// cylinderDistance works in the frame of the cylinder, in the half plane of p and the axis, where the solid is a
// rectangle. On the axis itself every way out is as short: it takes the shape's own x.
func cylinderDistance(q r3.Vec, radius, half float64) (float64, r3.Vec) {
	rho := r3.XYZ(q.X, q.Y, 0)
	out := rho.Unit(r3.XYZ(1, 0, 0))
	r, z := rho.Norm()-radius, math.Abs(q.Z)-half
	cap := r3.XYZ(0, 0, math.Copysign(1, q.Z))
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
	v := out.Mul(r).Along(z, cap)
	return v.Norm(), v.Unit(out)
}

// reach returns how far s extends from its centre along the unit vector -n: its support function. All kinds but hulls
// are symmetric, so it is the same along n.
func (s *solid) reach(n r3.Vec) float64 {
	switch s.Kind {
	case Sphere:
		return s.Radius
	case Capsule:
		return s.Radius + float64(s.Half[2]*math.Abs(n.Dot(s.axis[2])))
	case Hull:
		n = s.inwardTurn(n.Neg())
		return s.Hull.points[s.Hull.farthest(n)].Dot(n)
	case Box:
		return float64(s.Half[0]*math.Abs(n.Dot(s.axis[0]))) +
			float64(s.Half[1]*math.Abs(n.Dot(s.axis[1]))) +
			float64(s.Half[2]*math.Abs(n.Dot(s.axis[2])))
	}
	// A cylinder: its axis and a disc across it.
	c := n.Dot(s.axis[2])
	return float64(s.Half[2]*math.Abs(c)) + float64(s.Radius*sine(c))
}

// farthest returns the point of s that lies farthest along d, from the centre of s.
func (s *solid) farthest(d r3.Vec) r3.Vec {
	switch s.Kind {
	case Sphere:
		return d.Unit(r3.XYZ(0, 0, 1)).Mul(s.Radius)
	case Capsule:
		return s.axis[2].Mul(math.Copysign(s.Half[2], d.Dot(s.axis[2]))).Along(s.Radius, d.Unit(r3.XYZ(0, 0, 1)))
	case Hull:
		return s.outwardTurn(s.Hull.points[s.Hull.farthest(s.inwardTurn(d))])
	case Box:
		return s.axis[0].Mul(math.Copysign(s.Half[0], d.Dot(s.axis[0]))).
			Along(math.Copysign(s.Half[1], d.Dot(s.axis[1])), s.axis[1]).
			Along(math.Copysign(s.Half[2], d.Dot(s.axis[2])), s.axis[2])
	}
	c := d.Dot(s.axis[2])
	rim := s.axis[0] // of what is left by rounding, Unit makes any direction
	if e := d.Along(-c, s.axis[2]); e.Norm() > float64(1e-9*math.Abs(c)) {
		rim = e.Unit(rim)
	}
	return s.axis[2].Mul(math.Copysign(s.Half[2], c)).Along(s.Radius, rim)
}

// nearest returns where on the segment from p along d, 0..1, the distance from s is least, if the segment stays
// outside; it is some point inside otherwise. The slope of the squared distance rises along the segment, in straight
// pieces for a box, so false position with the Illinois rule finds its root in a few steps.
func (s *solid) nearest(p, d r3.Vec) float64 {
	lo, hi := 0.0, 1.0
	slope := func(t float64) float64 {
		q := p.Along(t, d)
		far, n := s.distance(q)
		return float64(math.Max(0, far) * n.Dot(d))
	}
	// If the distance rises from an end, that end is nearest. A slope of zero there also ends the search: inside the
	// solid it is zero everywhere.
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
func closest(p, d, q, e r3.Vec) (s, t float64) {
	r := p.Sub(q)
	a, b, c := d.Dot(d), d.Dot(e), d.Dot(r)
	ee, f := e.Dot(e), e.Dot(r)
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

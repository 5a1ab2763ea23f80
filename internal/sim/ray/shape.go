package ray

import (
	"math"

	"github.com/halyard-robotics/halyard/internal/sim/r3"
	"github.com/halyard-robotics/halyard/sim/collide"
)

// span is where a line runs inside a convex solid, in its frame: from t0 to t1, with the outward normals there.
type span struct {
	t0, t1 float64
	n0, n1 r3.Vec
}

// crossing is where a ray first meets a surface.
type crossing struct {
	t      float64
	normal r3.Vec
	inside bool
}

// first returns the crossing of a ray that starts at t = 0: the way in, or from inside the way out.
func (s *span) first() (c crossing, ok bool) {
	switch {
	case !(s.t0 <= s.t1):
		return c, false
	case s.t0 >= 0:
		return crossing{s.t0, s.n0, false}, true
	case s.t1 >= 0:
		return crossing{s.t1, s.n1, true}, true
	}
	return c, false
}

// meet returns where the ray from o along the unit vector d, both in the shape's frame, first meets the shape within
// limit.
func meet(s *collide.Shape, o, d r3.Vec, limit float64) (crossing, bool) {
	var in span
	ok := false
	switch s.Kind {
	case collide.Sphere:
		in, ok = sphere(o, d, s.Radius)
	case collide.Capsule:
		in, ok = capsule(o, d, s.Radius, s.Half[2])
	case collide.Box:
		in, ok = box(o, d, r3.Pack(s.Half))
	case collide.Cylinder:
		in, ok = cylinder(o, d, s.Radius, s.Half[2])
	case collide.Hull:
		in, ok = hull(o, d, s.Hull)
	case collide.Plane:
		t := -o.Z / d.Z
		return crossing{t, r3.XYZ(0, 0, 1), o.Z < 0}, t >= 0 && t <= limit
	case collide.HeightField:
		return field(s.Field, o, d, limit)
	}
	if !ok {
		return crossing{}, false
	}
	c, ok := in.first()
	return c, ok && c.t <= limit
}

// sphere takes the distance of the centre from the line first, which keeps its digits far away [P 3.9.4].
func sphere(o, d r3.Vec, radius float64) (s span, ok bool) {
	b := o.Dot(d)
	q := o.Along(-b, d)
	rest := float64(radius*radius) - q.Dot(q)
	if !(rest >= 0) {
		return s, false
	}
	h := math.Sqrt(rest)
	s.t0, s.t1 = -b-h, -b+h
	s.n0 = q.Along(-h, d).Mul(1 / radius)
	s.n1 = q.Along(h, d).Mul(1 / radius)
	return s, true
}

// box is the slab test [K 3], with the face that each bound belongs to.
func box(o, d, half r3.Vec) (s span, ok bool) {
	s.t0, s.t1 = math.Inf(-1), math.Inf(1)
	ok = s.slab(o.X, d.X, half.X, r3.XYZ(1, 0, 0)) && s.slab(o.Y, d.Y, half.Y, r3.XYZ(0, 1, 0)) &&
		s.slab(o.Z, d.Z, half.Z, r3.XYZ(0, 0, 1))
	return s, ok
}

// slab cuts the span to the part between -half and half along an axis; it reports whether the rest is not empty.
func (s *span) slab(o, d, half float64, axis r3.Vec) bool {
	// Along the slab there is no crossing: the line is inside completely or not at all.
	if d == 0 {
		return math.Abs(o) <= half
	}
	near, far := (-half-o)/d, (half-o)/d
	out := axis.Neg()
	if near > far {
		near, far, out = far, near, axis
	}
	if near > s.t0 {
		s.t0, s.n0 = near, out
	}
	if far < s.t1 {
		s.t1, s.n1 = far, out.Neg()
	}
	return s.t0 <= s.t1
}

// tube returns the span within the endless cylinder about z.
func tube(o, d r3.Vec, radius float64) (s span, ok bool) {
	// In the plane across the axis the line runs at the speed sqrt(a); b is where it is nearest to the axis.
	a := float64(d.X*d.X) + float64(d.Y*d.Y)
	if a == 0 {
		s.t0, s.t1 = math.Inf(-1), math.Inf(1)
		return s, float64(o.X*o.X)+float64(o.Y*o.Y) <= float64(radius*radius)
	}
	b := (float64(o.X*d.X) + float64(o.Y*d.Y)) / a
	qx, qy := o.X-float64(b*d.X), o.Y-float64(b*d.Y)
	rest := float64(radius*radius) - float64(qx*qx) - float64(qy*qy)
	if !(rest >= 0) {
		return s, false
	}
	h := math.Sqrt(rest / a)
	s.t0, s.t1 = -b-h, -b+h
	s.n0 = r3.XYZ((qx-float64(h*d.X))/radius, (qy-float64(h*d.Y))/radius, 0)
	s.n1 = r3.XYZ((qx+float64(h*d.X))/radius, (qy+float64(h*d.Y))/radius, 0)
	return s, true
}

func cylinder(o, d r3.Vec, radius, half float64) (s span, ok bool) {
	s, ok = tube(o, d, radius)
	return s, ok && s.slab(o.Z, d.Z, half, r3.XYZ(0, 0, 1))
}

// capsule is a tube with balls for ends: where the line leaves the tube beyond an end, the ball counts.
func capsule(o, d r3.Vec, radius, half float64) (s span, ok bool) {
	s, ok = tube(o, d, radius)
	if !ok {
		return s, false
	}
	// Where the line crosses the tube decides which part of the surface it meets: a line within the tube along its axis
	// crosses it at both far ends.
	along := d.Z != 0 && math.IsInf(s.t0, -1)
	z0, z1 := o.Z+float64(s.t0*d.Z), o.Z+float64(s.t1*d.Z)
	if along {
		z0, z1 = math.Copysign(math.Inf(1), -d.Z), math.Copysign(math.Inf(1), d.Z)
	}
	if math.Abs(z0) > half {
		end, hit := ball(o, d, radius, math.Copysign(half, z0))
		if !hit {
			return s, false
		}
		s.t0, s.n0 = end.t0, end.n0
	}
	if math.Abs(z1) > half {
		end, hit := ball(o, d, radius, math.Copysign(half, z1))
		if !hit {
			return s, false
		}
		s.t1, s.n1 = end.t1, end.n1
	}
	return s, true
}

// hull is cut by its faces, as a box by its slabs.
func hull(o, d r3.Vec, c *collide.Convex) (s span, ok bool) {
	s.t0, s.t1 = math.Inf(-1), math.Inf(1)
	for i := range c.Faces() {
		n, far := c.Face(i)
		out, speed := n.Dot(o)-far, n.Dot(d)
		switch t := -out / speed; {
		case speed == 0:
			if out > 0 {
				return s, false
			}
		case speed < 0:
			if t > s.t0 {
				s.t0, s.n0 = t, n
			}
		case t < s.t1:
			s.t1, s.n1 = t, n
		}
		if s.t0 > s.t1 {
			return s, false
		}
	}
	return s, true
}

func ball(o, d r3.Vec, radius, z float64) (span, bool) {
	return sphere(r3.XYZ(o.X, o.Y, o.Z-z), d, radius)
}

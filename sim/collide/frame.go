package collide

import "math"

// solid is a shape placed in the axes and about the origin of the moment: those of the world, or of the pair at work.
type solid struct {
	*Shape
	pos  vec
	axis [3]vec // where the shape's own x, y, z point
}

// inward takes a point into the shape's frame.
func (s *solid) inward(p vec) vec { return s.inwardTurn(p.sub(s.pos)) }

// inwardTurn takes a direction into the shape's frame.
func (s *solid) inwardTurn(d vec) vec {
	return vec{d.dot(s.axis[0]), d.dot(s.axis[1]), d.dot(s.axis[2])}
}

// outward takes a point out of the shape's frame.
func (s *solid) outward(p vec) vec { return s.pos.add(s.outwardTurn(p)) }

// outwardTurn takes a direction out of the shape's frame.
func (s *solid) outwardTurn(d vec) vec {
	return s.axis[0].mul(d.x).along(d.y, s.axis[1]).along(d.z, s.axis[2])
}

// Frame is a pose with its rotation as a matrix, row by row: what rays and bounds are computed from.
type Frame struct {
	Position [3]float64
	Rotation [9]float64
}

// Frame places the geom when its body stands at pose; pose is ignored for a geom of the world. ok is false where the
// pose is not finite or has no rotation: such a geom is nowhere.
func (g *Geom) Frame(pose Pose) (f Frame, ok bool) {
	var s solid
	if !g.place(&s, &pose) {
		return f, false
	}
	f.Position = s.pos.array()
	for i, a := range s.axis {
		f.Rotation[i], f.Rotation[3+i], f.Rotation[6+i] = a.x, a.y, a.z
	}
	return f, true
}

// place is Frame for the package itself.
func (g *Geom) place(s *solid, pose *Pose) bool {
	s.Shape = &g.Shape
	local := g.Local.Rotation
	if local == [4]float64{} {
		local[0] = 1
	}
	var body solid
	if g.Body < 0 {
		s.pos = pack(g.Local.Position)
		return turn(local, &s.axis) && s.pos.finite()
	}
	if !turn(pose.Rotation, &body.axis) {
		return false
	}
	body.pos = pack(pose.Position)
	s.pos = body.outward(pack(g.Local.Position))
	return turn(product(pose.Rotation, local), &s.axis) && s.pos.norm() < huge
}

// turn writes the axes of the frame turned by q, which may have any length but none.
func turn(q [4]float64, axis *[3]vec) bool {
	w, x, y, z := q[0], q[1], q[2], q[3]
	n := float64(w*w) + float64(x*x) + float64(y*y) + float64(z*z)
	if !(n > 1e-200 && n < 1e200) {
		return false
	}
	s := 2 / n
	// Scaled by the squared length, so a quaternion that drifted still gives a rotation.
	xx, yy, zz := float64(s*float64(x*x)), float64(s*float64(y*y)), float64(s*float64(z*z))
	xy, xz, yz := float64(s*float64(x*y)), float64(s*float64(x*z)), float64(s*float64(y*z))
	wx, wy, wz := float64(s*float64(w*x)), float64(s*float64(w*y)), float64(s*float64(w*z))
	axis[0] = vec{1 - (yy + zz), xy + wz, xz - wy}
	axis[1] = vec{xy - wz, 1 - (xx + zz), yz + wx}
	axis[2] = vec{xz + wy, yz - wx, 1 - (xx + yy)}
	return true
}

// product returns the rotation that turns by b and then by a.
func product(a, b [4]float64) [4]float64 {
	return [4]float64{
		float64(a[0]*b[0]) - float64(a[1]*b[1]) - float64(a[2]*b[2]) - float64(a[3]*b[3]),
		float64(a[0]*b[1]) + float64(a[1]*b[0]) + float64(a[2]*b[3]) - float64(a[3]*b[2]),
		float64(a[0]*b[2]) - float64(a[1]*b[3]) + float64(a[2]*b[0]) + float64(a[3]*b[1]),
		float64(a[0]*b[3]) + float64(a[1]*b[2]) - float64(a[2]*b[1]) + float64(a[3]*b[0]),
	}
}

// Bounds returns the smallest box in world axes around the shape at f [E 4.2.6]; a plane has none and gives infinities.
func (s *Shape) Bounds(f *Frame) (lo, hi [3]float64) {
	p := solid{Shape: s, pos: pack(f.Position)}
	for i := range p.axis {
		p.axis[i] = vec{f.Rotation[i], f.Rotation[3+i], f.Rotation[6+i]}
	}
	l, h := p.bounds(0)
	return l.array(), h.array()
}

// bounds is Bounds; a field reaches below further than its lowest height.
func (s *solid) bounds(below float64) (lo, hi vec) {
	var r vec
	centre := s.pos
	switch s.Kind {
	case Sphere:
		r = vec{s.Radius, s.Radius, s.Radius}
	case Capsule:
		a, h := s.axis[2], s.Half[2]
		r = vec{
			s.Radius + float64(h*math.Abs(a.x)),
			s.Radius + float64(h*math.Abs(a.y)),
			s.Radius + float64(h*math.Abs(a.z)),
		}
	case Box:
		r = s.span(pack(s.Half))
	case Cylinder:
		a, h := s.axis[2], s.Half[2]
		r = vec{
			float64(s.Radius*sine(a.x)) + float64(h*math.Abs(a.x)),
			float64(s.Radius*sine(a.y)) + float64(h*math.Abs(a.y)),
			float64(s.Radius*sine(a.z)) + float64(h*math.Abs(a.z)),
		}
	case HeightField:
		half := vec{
			float64(0.5 * float64(s.Field.cell[0]*float64(s.Field.columns-1))),
			float64(0.5 * float64(s.Field.cell[1]*float64(s.Field.rows-1))),
			0.5 * (s.Field.top - s.Field.bottom + below),
		}
		centre = s.outward(vec{0, 0, 0.5 * (s.Field.top + s.Field.bottom - below)})
		r = s.span(half)
	default:
		r = vec{math.Inf(1), math.Inf(1), math.Inf(1)}
	}
	return centre.sub(r), centre.add(r)
}

// span returns half the size in world axes of a box with the half sizes h.
func (s *solid) span(h vec) vec {
	x, y, z := s.axis[0], s.axis[1], s.axis[2]
	return vec{
		float64(h.x*math.Abs(x.x)) + float64(h.y*math.Abs(y.x)) + float64(h.z*math.Abs(z.x)),
		float64(h.x*math.Abs(x.y)) + float64(h.y*math.Abs(y.y)) + float64(h.z*math.Abs(z.y)),
		float64(h.x*math.Abs(x.z)) + float64(h.y*math.Abs(y.z)) + float64(h.z*math.Abs(z.z)),
	}
}

// sine returns the sine that belongs to the cosine c, without the root of something negative.
func sine(c float64) float64 {
	return math.Sqrt(math.Max(0, float64((1-c)*(1+c))))
}

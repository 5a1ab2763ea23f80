package collide

import (
	"math"

	"github.com/halyard-robotics/halyard/internal/sim/r3"
)

// frame is a place and where its own x, y, z point.
type frame struct {
	at   r3.Vec
	axis [3]r3.Vec
}

// placement is where a body is.
type placement struct {
	frame
	present bool // it has a finite pose
	held    bool // it stays where it is
}

// solid is a shape placed in the axes and about the origin of the moment: those of the world, or of the pair at work.
type solid struct {
	*Shape
	pos  r3.Vec
	axis [3]r3.Vec // where the shape's own x, y, z point
}

// inward takes a point into the shape's frame.
func (s *solid) inward(p r3.Vec) r3.Vec { return s.inwardTurn(p.Sub(s.pos)) }

// inwardTurn takes a direction into the shape's frame.
func (s *solid) inwardTurn(d r3.Vec) r3.Vec {
	return r3.XYZ(d.Dot(s.axis[0]), d.Dot(s.axis[1]), d.Dot(s.axis[2]))
}

// outward takes a point out of the shape's frame.
func (s *solid) outward(p r3.Vec) r3.Vec { return s.pos.Add(s.outwardTurn(p)) }

// outwardTurn takes a direction out of the shape's frame.
func (s *solid) outwardTurn(d r3.Vec) r3.Vec {
	return s.axis[0].Mul(d.X).Along(d.Y, s.axis[1]).Along(d.Z, s.axis[2])
}

// Frame is a pose with its rotation as a matrix, for rays and bounds.
type Frame struct {
	At   r3.Vec
	Turn r3.Mat
}

// Frame is the frame of the geom with its body at pose; pose is ignored for a geom of the world. ok is false if the
// pose is not finite or has no rotation: such a geom takes no part.
func (g *Geom) Frame(pose Pose) (f Frame, ok bool) {
	var s solid
	var body frame
	local := g.local()
	if g.Body >= 0 {
		body.at = r3.Pack(pose.Position)
		if !turn(r3.PackQuat(pose.Rotation), &body.axis) {
			return f, false
		}
	}
	if !g.place(&s, &local, &body) {
		return f, false
	}
	return Frame{s.pos, r3.Mat{X: s.axis[0], Y: s.axis[1], Z: s.axis[2]}}, true
}

// local is the frame of the geom in its body; its axes are 0 where they are not turned.
func (g *Geom) local() (f frame) {
	f.at = r3.Pack(g.Local.Position)
	q := r3.PackQuat(g.Local.Rotation)
	if q.X != 0 || q.Y != 0 || q.Z != 0 {
		turn(q, &f.axis)
	}
	return f
}

// place is Frame for the package itself, with what local returns; body is ignored for a geom of the world.
func (g *Geom) place(s *solid, local, body *frame) bool {
	s.Shape = &g.Shape
	turned := local.axis[0] != r3.Vec{}
	if g.Body < 0 {
		s.pos, s.axis = local.at, local.axis
		if !turned {
			s.axis = [3]r3.Vec{{X: 1}, {Y: 1}, {Z: 1}}
		}
		return s.pos.Finite()
	}
	x, y, z := body.axis[0], body.axis[1], body.axis[2]
	p := local.at
	s.pos = body.at.Add(x.Mul(p.X).Along(p.Y, y).Along(p.Z, z))
	s.axis = body.axis
	if turned {
		for i, a := range local.axis {
			s.axis[i] = x.Mul(a.X).Along(a.Y, y).Along(a.Z, z)
		}
	}
	return s.pos.Norm() < r3.Huge
}

// turn writes the axes of the frame rotated by q, which may have any length but 0.
func turn(q r3.Quat, axis *[3]r3.Vec) bool {
	w, x, y, z := q.W, q.X, q.Y, q.Z
	n := float64(w*w) + float64(x*x) + float64(y*y) + float64(z*z)
	if !(n > 1e-200 && n < 1e200) {
		return false
	}
	s := 2 / n
	// Scaled by the squared length, so a quaternion that drifted still gives a rotation.
	xx, yy, zz := float64(s*float64(x*x)), float64(s*float64(y*y)), float64(s*float64(z*z))
	xy, xz, yz := float64(s*float64(x*y)), float64(s*float64(x*z)), float64(s*float64(y*z))
	wx, wy, wz := float64(s*float64(w*x)), float64(s*float64(w*y)), float64(s*float64(w*z))
	axis[0] = r3.XYZ(1-(yy+zz), xy+wz, xz-wy)
	axis[1] = r3.XYZ(xy-wz, 1-(xx+zz), yz+wx)
	axis[2] = r3.XYZ(xz+wy, yz-wx, 1-(xx+yy))
	return true
}

// across returns some unit vector at right angles to the unit vector a: always the same one for the same a.
func across(a r3.Vec) r3.Vec { return a.Across().Unit(r3.XYZ(0, 1, 0)) }

// Bounds returns the smallest box in world axes around the shape at f [E 4.2.6]; a plane has none and gives infinities.
func (s *Shape) Bounds(f *Frame) (lo, hi r3.Vec) {
	p := solid{Shape: s, pos: f.At, axis: [3]r3.Vec{f.Turn.X, f.Turn.Y, f.Turn.Z}}
	return p.bounds(0)
}

// bounds is Bounds; a field reaches below further than its lowest height.
func (s *solid) bounds(below float64) (lo, hi r3.Vec) {
	var r r3.Vec
	centre := s.pos
	switch s.Kind {
	case Sphere:
		r = r3.XYZ(s.Radius, s.Radius, s.Radius)
	case Capsule:
		a, h := s.axis[2], s.Half[2]
		r = r3.XYZ(
			s.Radius+float64(h*math.Abs(a.X)),
			s.Radius+float64(h*math.Abs(a.Y)),
			s.Radius+float64(h*math.Abs(a.Z)),
		)
	case Box:
		r = s.span(r3.Pack(s.Half))
	case Cylinder:
		a, h := s.axis[2], s.Half[2]
		r = r3.XYZ(
			float64(s.Radius*sine(a.X))+float64(h*math.Abs(a.X)),
			float64(s.Radius*sine(a.Y))+float64(h*math.Abs(a.Y)),
			float64(s.Radius*sine(a.Z))+float64(h*math.Abs(a.Z)),
		)
	case Hull:
		r = s.span(s.Hull.half)
	case HeightField:
		half := r3.XYZ(
			float64(0.5*float64(s.Field.cell[0]*float64(s.Field.columns-1))),
			float64(0.5*float64(s.Field.cell[1]*float64(s.Field.rows-1))),
			0.5*(s.Field.top-s.Field.bottom+below),
		)
		centre = s.outward(r3.XYZ(0, 0, 0.5*(s.Field.top+s.Field.bottom-below)))
		r = s.span(half)
	default:
		r = r3.XYZ(math.Inf(1), math.Inf(1), math.Inf(1))
	}
	return centre.Sub(r), centre.Add(r)
}

// span returns half the size in world axes of a box with the half sizes h.
func (s *solid) span(h r3.Vec) r3.Vec {
	x, y, z := s.axis[0], s.axis[1], s.axis[2]
	return r3.XYZ(
		float64(h.X*math.Abs(x.X))+float64(h.Y*math.Abs(y.X))+float64(h.Z*math.Abs(z.X)),
		float64(h.X*math.Abs(x.Y))+float64(h.Y*math.Abs(y.Y))+float64(h.Z*math.Abs(z.Y)),
		float64(h.X*math.Abs(x.Z))+float64(h.Y*math.Abs(y.Z))+float64(h.Z*math.Abs(z.Z)),
	)
}

// sine returns the sine that belongs to the cosine c, without the root of something negative.
func sine(c float64) float64 {
	return math.Sqrt(math.Max(0, float64((1-c)*(1+c))))
}

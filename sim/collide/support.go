package collide

import (
	"math"

	"github.com/halyard-robotics/halyard/internal/sim/r3"
)

// resting writes the face, edge or corner of s that lies farthest along the unit vector d and flat across it, to within
// aligned. Of a capsule it is that of the middle line.
func (s *solid) resting(d r3.Vec, out *polygon) {
	c := d.Dot(s.axis[2])
	switch s.Kind {
	case Capsule:
		s.side(d, c, r3.Vec{}, math.Abs(c) < aligned, out)
	case Cylinder:
		if sine(c) < aligned {
			s.cap(d, c, out)
			return
		}
		rim, _ := s.rimDown(d.Neg())
		s.side(d, c, rim.Mul(s.Radius), math.Abs(c) < aligned, out)
	case Box:
		s.corner(d, out)
	case Hull:
		s.hullResting(d, out)
	default:
		out.n, out.code = 1, 0
		out.p[0] = s.pos
	}
}

// facing writes the widest part of s that faces along d, flat across it or not, to be clipped by a face of the other
// solid.
func (s *solid) facing(d r3.Vec, out *polygon) {
	c := d.Dot(s.axis[2])
	switch s.Kind {
	case Capsule:
		s.side(d, c, r3.Vec{}, true, out)
	case Cylinder:
		if math.Abs(c) > math.Sqrt2/2 {
			s.cap(d, c, out)
			return
		}
		rim, _ := s.rimDown(d.Neg())
		s.side(d, c, rim.Mul(s.Radius), true, out)
	case Box:
		axis := 0
		for i := 1; i < 3; i++ {
			if math.Abs(d.Dot(s.axis[i])) > math.Abs(d.Dot(s.axis[axis])) {
				axis = i
			}
		}
		s.face(d, axis, out)
	case Hull:
		s.hullFace(s.hullFacing(s.inwardTurn(d)), out)
	}
}

// side writes the line along the axis of a capsule or cylinder, off it by rim, or its end along d.
func (s *solid) side(d r3.Vec, c float64, rim r3.Vec, whole bool, out *polygon) {
	// Codes: 0 the whole line, 1 its low end, 2 its high end.
	arm := s.axis[2].Mul(s.Half[2])
	p := s.pos.Add(rim)
	if whole {
		out.n, out.code = 2, 0
		out.p[0], out.p[1] = p.Sub(arm), p.Add(arm)
		out.id[0], out.id[1] = 0, 1
		out.edge[0], out.edge[1] = 0, 1
		return
	}
	out.n, out.id[0], out.edge[0] = 1, 0, 0
	if c < 0 {
		out.p[0], out.code = p.Sub(arm), 1
		return
	}
	out.p[0], out.code = p.Add(arm), 2
}

// cap writes eight points of the rim that faces d, the first the farthest along it.
func (s *solid) cap(d r3.Vec, c float64, out *polygon) {
	out.n, out.code = 8, 3
	out.normal = s.axis[2]
	if c < 0 {
		out.normal, out.code = s.axis[2].Neg(), 4
	}
	centre := s.pos.Along(s.Half[2], out.normal)
	// u and v span the cap, u towards d, so that the lowest point of a tilted cap is among the eight.
	u, _ := s.rimDown(d.Neg())
	v := out.normal.Cross(u)
	const h = math.Sqrt2 / 2
	rim := [8]r3.Vec{u, u.Add(v).Mul(h), v, v.Sub(u).Mul(h), u.Neg(), u.Add(v).Mul(-h), v.Neg(), u.Sub(v).Mul(h)}
	for i, r := range rim {
		out.p[i] = centre.Along(s.Radius, r)
		out.id[i], out.edge[i] = uint32(i), uint32(i)
	}
}

// corner writes the corner of a box along d, or the edge or face that lies across d.
func (s *solid) corner(d r3.Vec, out *polygon) {
	// The corner along d, in steps along the axes; an axis across d is left in the middle.
	p := s.pos
	code, free, count := uint32(0), 0, 0
	for i, place := range [3]uint32{1, 3, 9} { // low, high or free along each axis
		m := d.Dot(s.axis[i])
		switch {
		case math.Abs(m) < aligned:
			free, count = i, count+1
			code += 2 * place
		case m < 0:
			p = p.Along(-s.Half[i], s.axis[i])
		default:
			p = p.Along(s.Half[i], s.axis[i])
			code += place
		}
	}
	// Two axes across: the whole face.
	if count >= 2 {
		s.facing(d, out)
		return
	}
	out.n, out.code = 1, code
	out.p[0] = p
	if count == 1 {
		arm := s.axis[free].Mul(s.Half[free])
		out.n = 2
		out.p[0], out.p[1] = p.Sub(arm), p.Add(arm)
		out.id[0], out.id[1] = 0, 1
		out.edge[0], out.edge[1] = 0, 1
	}
}

// face writes the face of a box across the axis, on the side of d.
func (s *solid) face(d r3.Vec, axis int, out *polygon) {
	// Codes: two for each axis, the odd one on its low side.
	j, k := (axis+1)%3, (axis+2)%3
	out.n, out.code, out.normal = 4, uint32(2*axis), s.axis[axis]
	u, v := s.axis[j].Mul(s.Half[j]), s.axis[k].Mul(s.Half[k])
	if d.Dot(s.axis[axis]) < 0 {
		out.normal = out.normal.Neg()
		out.code++
		u = u.Neg() // keeps the turn against the clock
	}
	centre := s.pos.Along(s.Half[axis], out.normal)
	out.p[0] = centre.Add(u).Add(v)
	out.p[1] = centre.Sub(u).Add(v)
	out.p[2] = centre.Sub(u).Sub(v)
	out.p[3] = centre.Add(u).Sub(v)
	for i := range 4 {
		out.id[i], out.edge[i] = uint32(i), uint32(i)
	}
}

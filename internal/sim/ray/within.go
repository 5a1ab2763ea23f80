package ray

import (
	"math"

	"github.com/halyard-robotics/halyard/internal/sim/r3"
	"github.com/halyard-robotics/halyard/sim/collide"
)

// Within appends to dst the geoms that a ray of this mask can meet that runs within a pyramid: from its tip at origin
// between four directions, which go around it either way. The list is conservative, in the order of the geoms, and
// holds until the next Update. Rays of one tile of a picture share it: see Sheaf. It does not allocate while dst has
// room.
func (b *BVH) Within(dst []int32, origin [3]float64, corners *[4][3]float64, mask uint32) []int32 {
	if mask == 0 {
		mask = math.MaxUint32
	}
	tip := r3.Pack(origin)
	var side [4]r3.Vec // inward
	var middle r3.Vec
	for i := range corners {
		middle = middle.Add(r3.Pack(corners[i]))
	}
	for i := range corners {
		n := r3.Pack(corners[i]).Cross(r3.Pack(corners[(i+1)%4])).Unit(r3.Vec{})
		if n.Dot(middle) < 0 {
			n = n.Neg()
		}
		side[i] = n
	}
	for k := range b.geoms {
		if b.geoms[k].Group&mask == 0 || !b.present[k] {
			continue
		}
		if box := &b.box[k]; box.lo.X <= box.hi.X { // a plane has none
			out := false
			for i := range side {
				out = out || box.beyond(tip, side[i])
			}
			if out {
				continue
			}
		}
		dst = append(dst, int32(k))
	}
	return dst
}

// beyond reports whether all of a box lies on the far side of the plane through p with the inward normal n, by more
// than rounding.
func (b *bounds) beyond(p, n r3.Vec) bool {
	far := b.lo
	if n.X > 0 {
		far.X = b.hi.X
	}
	if n.Y > 0 {
		far.Y = b.hi.Y
	}
	if n.Z > 0 {
		far.Z = b.hi.Z
	}
	d := far.Sub(p)
	return d.Dot(n) < -1e-9*(1+d.Norm())
}

// MaxSheaf is how many geoms a Sheaf can be cast among.
const MaxSheaf = 12

// Sheaf is the rays of a part of a picture's row: from one eye, through consecutive points along a line. Their common
// values are computed once. Its zero value is ready to be aimed.
type Sheaf struct {
	bvh   *BVH
	beams [MaxSheaf]beam
	count int
}

// beam is a sheaf in the frame of one geom.
type beam struct {
	geom       int32
	kind       collide.Kind
	shape      *collide.Shape
	o, d, step r3.Vec
}

// Aim makes s the rays from eye with the directions first + i step, from <= i <= to, among the given geoms, as Within
// lists them, at most MaxSheaf; those that no such ray can meet are left out. It holds until the next Update.
func (s *Sheaf) Aim(b *BVH, geoms []int32, eye, first, step [3]float64, from, to float64) {
	s.bvh, s.count = b, 0
	at, d, e := r3.Pack(eye), r3.Pack(first), r3.Pack(step)
	// The rays fill a corner: a part of a plane, between the first and the last of them.
	left, right := d.Along(from, e), d.Along(to, e)
	across := left.Cross(right)
	sides := [...]r3.Vec{across, across.Neg(), across.Cross(left), right.Cross(across)}
	for _, k := range geoms {
		f, shape := &b.frame[k], &b.geoms[k].Shape
		o := f.Turn.Back(at.Sub(f.At))
		m := &s.beams[s.count]
		m.geom, m.kind, m.shape = k, shape.Kind, shape
		m.o, m.d, m.step = o, f.Turn.Back(d), f.Turn.Back(e)
		if half, ok := within(shape); ok {
			out := false
			for i := range sides {
				n := f.Turn.Back(sides[i])
				size := float64(half.X*math.Abs(n.X)) + float64(half.Y*math.Abs(n.Y)) + float64(half.Z*math.Abs(n.Z))
				// by more than rounding
				out = out || n.Dot(o) > size+float64(1e-9*(size+float64(n.Norm()*(1+o.Norm()))))
			}
			if out {
				continue
			}
		}
		s.count++
	}
}

// within returns half the size of a box about the origin of a shape's frame that holds the shape, if one does.
func within(s *collide.Shape) (half r3.Vec, ok bool) {
	switch s.Kind {
	case collide.Sphere:
		return r3.XYZ(s.Radius, s.Radius, s.Radius), true
	case collide.Capsule:
		return r3.XYZ(s.Radius, s.Radius, s.Radius+s.Half[2]), true
	case collide.Box:
		return r3.Pack(s.Half), true
	case collide.Cylinder:
		return r3.XYZ(s.Radius, s.Radius, s.Half[2]), true
	case collide.Hull:
		return r3.Pack(s.Hull.Half()), true
	}
	return half, false
}

// Cast writes the first hit of ray i at near to far times its direction, which is long metres in length, to h, and
// returns false if there is no hit; the distance is from the eye. It equals, to rounding, that of BVH.Cast for a ray
// that begins at near.
func (s *Sheaf) Cast(i, near, far, long float64, h *Hit) bool {
	best, first, normal, inside := int32(-1), 0.0, r3.Vec{}, false
	unit := 1 / long
	for j := range s.beams[:s.count] {
		b := &s.beams[j]
		var c crossing
		var ok bool
		switch b.kind {
		case collide.Box:
			c, ok = boxFrom(b.o, b.d.Along(i, b.step), &b.shape.Half, near, far)
		case collide.Plane: // as meet, for which only one axis matters
			d := b.d.Z + float64(i*b.step.Z)
			o := b.o.Z + float64(near*d)
			t := -o / float64(d*unit)
			ok = t >= 0 && t <= float64((far-near)*long)
			c.t, c.normal.Z, c.inside = near+t/long, 1, o < 0
			ok = ok && c.t <= far
		default:
			// The others need a direction of unit length.
			d := b.d.Along(i, b.step)
			c, ok = meet(b.shape, b.o.Along(near, d), d.Mul(unit), float64((far-near)*long))
			c.t = near + c.t/long
			ok = ok && c.t <= far
		}
		if ok && (best < 0 || c.t < first) { // of equals the first, as the geoms are in order
			best, first, normal, inside, far = b.geom, c.t, c.normal, c.inside, c.t
		}
	}
	if best < 0 {
		return false
	}
	n := s.bvh.frame[best].Turn.Of(normal)
	h.Geom, h.Inside, h.Distance = best, inside, float64(first*long)
	h.Normal[0], h.Normal[1], h.Normal[2] = n.X, n.Y, n.Z
	return true
}

// boxFrom is where the ray from o along d meets a box first within near to most, in units of d.
func boxFrom(o, d r3.Vec, half *[3]float64, near, most float64) (c crossing, ok bool) {
	x, y, z := 1/d.X, 1/d.Y, 1/d.Z
	// The bounds of each slab, the nearer first. Along a slab they are infinite, and not numbers in its very faces.
	ax, bx := slabFrom(o.X, x, half[0])
	ay, by := slabFrom(o.Y, y, half[1])
	az, bz := slabFrom(o.Z, z, half[2])
	from, to := greater(greater(ax, ay), az), lesser(lesser(bx, by), bz)
	if !(from <= to && to >= near && from <= most) {
		return c, false
	}
	c.t, c.inside = from, from < near
	sign := -1.0
	if c.inside {
		if c.t, sign, ax, ay = to, 1, bx, by; to > most {
			return c, false
		}
	}
	switch c.t {
	case ax:
		c.normal.X = math.Copysign(1, float64(sign*x))
	case ay:
		c.normal.Y = math.Copysign(1, float64(sign*y))
	default:
		c.normal.Z = math.Copysign(1, float64(sign*z))
	}
	return c, true
}

// slabFrom is the part of a line between -half and half; inverse is that of its direction.
func slabFrom(o, inverse, half float64) (near, far float64) {
	near, far = float64((-half-o)*inverse), float64((half-o)*inverse)
	if inverse < 0 {
		return far, near
	}
	return near, far
}

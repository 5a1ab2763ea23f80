package collide

import (
	"math"

	"github.com/halyard-robotics/halyard/internal/sim/r3"
)

// The shortest way to part two symmetric solids X and Y along a direction n is
//
//	f(n) = reach of X + reach of Y - n . (centre of X - centre of Y)
//
// and the contact's normal is where f is least [B 4.3.8]. f < 0 anywhere parts them: no contact. Reaches are sums of |n
// . a| for the edges a of boxes and the axes of capsules and cylinders, of discs r |n x c|, and of constants, so f is
// smooth but for creases where n is at right angles to some a. While the solids overlap, f can be least only
//
//	at a face's normal, or at right angles to two edges:  points, the separating axes of [E 4.4.1, 5.2.1]
//	at right angles to one edge, where a rim is round:    circles
//	where two rims meet:                                  the open sphere between, for two cylinders
//
// The search visits just these.

// faceFirst is how much shorter than through a face the way past an edge must be: without it, boxes that rest face on
// face would now and then see an edge, and rock.
const faceFirst = 0.98

type search struct {
	x, y  *solid
	c     r3.Vec // centre of X - centre of Y
	n     r3.Vec
	least float64 // f(n), the least so far
}

// try evaluates direction d, either way; it reports whether X and Y part along it. favour < 1 asks for more than a tie.
func (s *search) try(d r3.Vec, favour float64) (apart bool) {
	// Of d and -d the one that leads from Y to X parts them sooner, since the solids are symmetric.
	if d.Dot(s.c) < 0 {
		d = d.Neg()
	}
	f := s.f(d)
	if f < 0 {
		return true
	}
	if f < float64(s.least*favour) {
		s.least, s.n = f, d
	}
	return false
}

func (s *search) f(n r3.Vec) float64 { return s.x.reach(n) + s.y.reach(n) - n.Dot(s.c) }

// slope returns how f changes when n turns towards the unit tangent t.
func (s *search) slope(n, t r3.Vec) float64 { return s.x.slope(n, t) + s.y.slope(n, t) - t.Dot(s.c) }

func (s *solid) slope(n, t r3.Vec) float64 {
	part := func(i int) float64 {
		return float64(math.Copysign(s.Half[i], n.Dot(s.axis[i])) * t.Dot(s.axis[i]))
	}
	switch s.Kind {
	case Capsule:
		return part(2)
	case Box:
		return part(0) + part(1) + part(2)
	}
	c := n.Dot(s.axis[2])
	return part(2) - float64(float64(s.Radius*c)*t.Dot(s.axis[2]))/math.Max(sine(c), r3.Tiny)
}

// edges returns the directions of the edges of s, or of its side.
func (s *solid) edges() []r3.Vec {
	if s.Kind == Box {
		return s.axis[:]
	}
	return s.axis[2:]
}

// rounds meets any two of capsule, box and cylinder, the capsule with its middle line inside the other. Of two boxes it
// tries the fifteen axes of [E 4.4.1].
func (w *work) rounds() {
	s := search{x: &w.x, y: &w.y, c: w.x.pos.Sub(w.y.pos), least: math.Inf(1)}
	// Faces first, so that at a tie they stay.
	discs := 0
	for _, k := range [...]*solid{s.x, s.y} {
		if k.Kind == Cylinder {
			discs++
		}
		if k.Kind == Capsule {
			continue // its ends are round: no face
		}
		for _, a := range k.edges() {
			if s.try(a, 1) {
				return
			}
		}
	}
	// Nearly parallel edges span no direction; a face or a circle has theirs.
	for _, a := range s.x.edges() {
		for _, b := range s.y.edges() {
			n := a.Cross(b)
			if l := n.Norm(); l > 1e-6 && s.try(n.Mul(1/l), faceFirst) {
				return
			}
		}
	}
	if discs > 0 {
		if s.part() {
			return
		}
		for _, k := range [...]*solid{s.x, s.y} {
			for _, a := range k.edges() {
				if s.circle(a) {
					return
				}
			}
		}
	}
	if discs == 2 && s.descend() {
		return
	}
	w.manifold(s.n, s.least)
}

// part searches for a direction that separates X and Y: Gilbert's walk to the point of Y - X nearest to the origin
// [B 4.3.1]. The last direction is tried in any case: it is the one at which two rims nearly touch.
func (s *search) part() (apart bool) {
	p := s.c.Neg()
	if p == (r3.Vec{}) {
		return false
	}
	for range 16 {
		m := s.y.farthest(p.Neg()).Sub(s.x.farthest(p)).Sub(s.c)
		// All of Y - X lies beyond m along p, and m beyond the origin.
		if p.Dot(m) > 0 {
			return true
		}
		// On to the point nearest to the origin between p and m.
		e := m.Sub(p)
		t := clamp(-p.Dot(e)/math.Max(e.Dot(e), r3.Tiny), 0, 1)
		if t <= 0 {
			break
		}
		p = p.Along(t, e)
	}
	n := p.Neg().Unit(s.n)
	return s.try(n, faceFirst)
}

// The half circle is checked in steps of an eighth of a right angle.
const (
	steps   = 16
	stepCos = 0.98078528040323044913
	stepSin = 0.19509032201612826785
)

// circle evaluates the directions at right angles to a, on the side of the centre of X.
func (s *search) circle(a r3.Vec) (apart bool) {
	to := s.c.Along(-s.c.Dot(a), a).Unit(across(a))
	n := to.Cross(a).Unit(across(a)) // a quarter turn before
	best, at := math.Inf(1), n
	for range steps + 1 {
		f := s.f(n)
		if f < 0 {
			return true
		}
		if f < best {
			best, at = f, n
		}
		n = n.Mul(stepCos).Along(stepSin, a.Cross(n))
	}
	// From sample to sample f changes by less than the sizes allow.
	if best-float64(stepSin*(s.x.reach(at)+s.y.reach(at))) > s.least {
		return false
	}
	return s.try(s.lower(at, a.Cross(at), stepCos, stepSin), faceFirst)
}

// lower returns the minimum of f between n rotated back and forward towards the tangent t, by the angle with the given
// cosine and sine: bisection by the sign of the slope.
func (s *search) lower(n, t r3.Vec, cos, sin float64) r3.Vec {
	axis := n.Cross(t)
	lo, hi := n.Mul(cos).Along(-sin, t), n.Mul(cos).Along(sin, t)
	for range 40 {
		n = lo.Add(hi).Unit(n)
		if s.slope(n, axis.Cross(n)) < 0 {
			lo = n
		} else {
			hi = n
		}
	}
	return n
}

// descend goes down the slope of f from the best direction so far, to where two rims touch.
func (s *search) descend() (apart bool) {
	n := s.n
	for range 12 {
		// The steepest way down, and along it to the lowest point nearby.
		u := across(n)
		v := n.Cross(u)
		t := u.Mul(-s.slope(n, u)).Along(-s.slope(n, v), v)
		if t.Norm() < float64(1e-12*(s.x.Radius+s.y.Radius)) {
			break
		}
		t = t.Unit(u)
		m := s.lower(n, t, stepCos, stepSin)
		f := s.f(m)
		if f < 0 {
			return true
		}
		if !(f < s.f(n)) {
			break
		}
		n = m
	}
	return s.try(n, faceFirst)
}

package dynamics

import (
	"math"

	"github.com/halyard-robotics/halyard/internal/sim/exact"
	"github.com/halyard-robotics/halyard/internal/sim/r3"
)

// moving is where a link is now, in world axes about the reference point of its tree.
type moving struct {
	r       r3.Mat // its own frame
	p, c    r3.Vec // its origin and its COM
	inertia inertia
	v, a    motion  // a: with qdd as far as it is prescribed, and with minus gravity
	f       force   // force of its joint for that; then also for all links beyond it
	all     inertia // of the link and all that it carries
}

// place computes everything that depends only on Q and V: the poses of the links, their inertias, the joint axes,
// velocities, and the accelerations for constant joint velocities.
func (s *System) place() {
	m := s.m
	for t := range m.trees {
		// The anchor of the root joint is the point about which everything in the tree is written.
		if root := &m.links[m.trees[t].link]; root.kind == Free {
			q := s.Q[root.q:]
			s.reference[t] = r3.XYZ(q[0], q[1], q[2])
		} else {
			s.reference[t] = root.offset
		}
	}
	s.placedIn = s.Gravity
	// The world accelerates upwards: so gravity acts on every link without being added to each (RBDA 5.3).
	gravity := motion{v: r3.Pack(s.Gravity).Neg()}
	still := moving{r: r3.Identity(), a: gravity}
	links := m.links
	now := s.links[:len(links)]
	for i := range links {
		l, n := &links[i], &now[i]
		if s.parked[l.tree] {
			continue // it is where it was
		}
		parent := &still
		if l.parent >= 0 {
			parent = &now[l.parent]
		}
		switch l.kind {
		case Hinge:
			s.placeHinge(l, n, parent)
		case Slide:
			s.placeSlide(l, n, parent)
		case Ball:
			s.placeBall(l, n, parent)
		case Free:
			s.placeFree(l, n, parent)
		}
		n.weigh(l)
	}
	if len(s.wet) > 0 {
		s.soak()
	}
}

// joint sets the frame of n to that of its joint at position 0.
func (n *moving) joint(l *link, parent *moving) {
	if l.straight {
		n.r = parent.r
	} else {
		n.r = parent.r.Times(&l.turn)
	}
	if l.parent >= 0 {
		n.p = parent.p.Add(parent.r.Of(l.offset))
	} else {
		n.p = r3.Vec{} // the reference is there
	}
}

// placeHinge turns the first two columns of the frame about the third, which is the axis: a product of matrices is not
// needed.
func (s *System) placeHinge(l *link, n, parent *moving) {
	n.joint(l, parent)
	q := s.Q[l.q]
	if !(math.Abs(q) < 1e5) {
		q = math.Mod(q, 2*math.Pi) // a wheel after days; the reduction of exact is for less
	}
	sin, cos := exact.Sin(q), exact.Cos(q)
	x, y := n.r.X, n.r.Y
	n.r.X = x.Mul(cos).Along(sin, y)
	n.r.Y = y.Mul(cos).Along(-sin, x)
	axis := &s.axes[l.v]
	axis.w, axis.v = n.r.Z, n.p.Cross(n.r.Z)
	n.advance(s.V[l.v], axis, parent)
}

// placeSlide moves the origin along the axis.
func (s *System) placeSlide(l *link, n, parent *moving) {
	n.joint(l, parent)
	n.p = n.p.Along(s.Q[l.q], n.r.Z)
	axis := &s.axes[l.v]
	axis.w, axis.v = r3.Vec{}, n.r.Z
	n.advance(s.V[l.v], axis, parent)
}

// advance adds to the parent's motion what one axis, fixed in the parent, adds at speed qd: v = vp + S qd and
// a = ap + vp x S qd.
func (n *moving) advance(qd float64, axis *motion, parent *moving) {
	// Written out: a motion has six fields and would pass through memory.
	jw, jv := axis.w.Mul(qd), axis.v.Mul(qd)
	pw, pv := parent.v.w, parent.v.v
	n.v.w, n.v.v = pw.Add(jw), pv.Add(jv)
	n.a.w = parent.a.w.Add(pw.Cross(jw))
	n.a.v = parent.a.v.Add(pw.Cross(jv).Add(pv.Cross(jw)))
}

// placeBall: the three axes are fixed in the parent, as those of a hinge are, so that their rate is vp x S qd too, and
// the coordinates turn the link after them.
func (s *System) placeBall(l *link, n, parent *moving) {
	n.joint(l, parent)
	axes := s.axes[l.v : l.v+3]
	for k, w := range [...]r3.Vec{n.r.X, n.r.Y, n.r.Z} {
		axes[k] = motion{w, n.p.Cross(w)}
	}
	var j motion
	for k := range axes {
		j.along(s.V[int(l.v)+k], &axes[k])
	}
	n.v = motion{parent.v.w.Add(j.w), parent.v.v.Add(j.v)}
	c := parent.v.cross(&j)
	n.a = motion{parent.a.w.Add(c.w), parent.a.v.Add(c.v)}
	q := s.Q[l.q : l.q+4]
	turn := r3.PackQuat([4]float64(q)).Unit().Mat()
	n.r = n.r.Times(&turn)
}

// placeFree: the origin is the reference, and the axes are those of the world, so S is the identity. The point they
// are written about moves with the body, which makes the rate of S qd (0, v x w).
func (s *System) placeFree(l *link, n, parent *moving) {
	q, qd := s.Q[l.q:l.q+7], s.V[l.v:l.v+6]
	n.r = r3.PackQuat([4]float64(q[3:])).Unit().Mat()
	n.p = r3.Vec{}
	n.v = motion{r3.XYZ(qd[3], qd[4], qd[5]), r3.XYZ(qd[0], qd[1], qd[2])}
	n.a = motion{parent.a.w, parent.a.v.Add(n.v.v.Cross(n.v.w))}
}

// weigh computes the inertia of the link where it is now.
func (n *moving) weigh(l *link) {
	c := n.p.Add(n.r.Of(l.com))
	n.c = c
	i := &n.inertia
	i.m, i.h = l.mass, c.Mul(l.mass)
	// R I R' = base + ..., and m (c.c - c c') to move it to the reference
	// Of the products of h and c, six serve both.
	b := i.h
	xx, yy, zz := float64(b.X*c.X), float64(b.Y*c.Y), float64(b.Z*c.Z)
	i.i = sym{
		l.base + (yy + zz), -float64(b.X * c.Y), -float64(b.X * c.Z),
		l.base + (xx + zz), -float64(b.Y * c.Z),
		l.base + (xx + yy),
	}
	if l.ext1 != 0 {
		a := n.r.Of(l.axis1)
		i.i.outer(a.Mul(l.ext1), a)
	}
	if l.ext2 != 0 {
		a := n.r.Of(l.axis2)
		i.i.outer(a.Mul(l.ext2), a)
	}
}

package dynamics

import (
	"math"

	"github.com/halyard-robotics/halyard/sim/exact"
)

// moving is where a link is now, in world axes about the reference point of its tree.
type moving struct {
	r       mat // its own frame
	p, c    vec // its origin and its COM
	inertia inertia
	v, a    motion  // a: with qdd as far as it is prescribed, and with minus gravity
	f       force   // what its joint must give for that; then also for all links that it carries
	all     inertia // of the link and all that it carries
}

// place computes everything that follows from Q and V alone: where the links are, their inertias, the joint axes,
// velocities, and the accelerations that they would have if the velocities of the joints stayed as they are.
func (s *System) place() {
	m := s.m
	for t := range m.trees {
		// The anchor of the root joint is the point about which everything in the tree is written.
		if root := &m.links[m.trees[t].link]; root.kind == Free {
			q := s.Q[root.q:]
			s.reference[t] = vec{q[0], q[1], q[2]}
		} else {
			s.reference[t] = root.offset
		}
	}
	// The world accelerates upwards: so gravity acts on every link without being added to each (RBDA 5.3).
	gravity := motion{v: pack(s.Gravity).neg()}
	still := moving{r: identity(), a: gravity}
	links := m.links
	now := s.links[:len(links)]
	for i := range links {
		l, n := &links[i], &now[i]
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
}

// joint sets the frame of n to that of its joint at position 0.
func (n *moving) joint(l *link, parent *moving) {
	if l.straight {
		n.r = parent.r
	} else {
		n.r = parent.r.times(&l.turn)
	}
	if l.parent >= 0 {
		n.p = parent.p.add(parent.r.of(l.offset))
	} else {
		n.p = vec{} // the reference is there
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
	x, y := n.r.x, n.r.y
	n.r.x = x.mul(cos).along(sin, y)
	n.r.y = y.mul(cos).along(-sin, x)
	axis := &s.axes[l.v]
	axis.w, axis.v = n.r.z, n.p.cross(n.r.z)
	n.advance(s.V[l.v], axis, parent)
}

// placeSlide moves the origin along the axis.
func (s *System) placeSlide(l *link, n, parent *moving) {
	n.joint(l, parent)
	n.p = n.p.along(s.Q[l.q], n.r.z)
	axis := &s.axes[l.v]
	axis.w, axis.v = vec{}, n.r.z
	n.advance(s.V[l.v], axis, parent)
}

// advance adds to the parent's motion what one axis, fixed in the parent, adds at speed qd: v = vp + S qd and
// a = ap + vp x S qd.
func (n *moving) advance(qd float64, axis *motion, parent *moving) {
	// Written out: a motion has six fields and would pass through memory.
	jw, jv := axis.w.mul(qd), axis.v.mul(qd)
	pw, pv := parent.v.w, parent.v.v
	n.v.w, n.v.v = pw.add(jw), pv.add(jv)
	n.a.w = parent.a.w.add(pw.cross(jw))
	n.a.v = parent.a.v.add(pw.cross(jv).add(pv.cross(jw)))
}

// placeBall: the three axes are fixed in the parent, as those of a hinge are, so that their rate is vp x S qd too, and
// the coordinates turn the link after them.
func (s *System) placeBall(l *link, n, parent *moving) {
	n.joint(l, parent)
	axes := s.axes[l.v : l.v+3]
	for k, w := range [...]vec{n.r.x, n.r.y, n.r.z} {
		axes[k] = motion{w, n.p.cross(w)}
	}
	var j motion
	for k := range axes {
		j.along(s.V[int(l.v)+k], &axes[k])
	}
	n.v = motion{parent.v.w.add(j.w), parent.v.v.add(j.v)}
	c := parent.v.cross(&j)
	n.a = motion{parent.a.w.add(c.w), parent.a.v.add(c.v)}
	q := s.Q[l.q : l.q+4]
	turn := quat{q[0], q[1], q[2], q[3]}.unit().turn()
	n.r = n.r.times(&turn)
}

// placeFree: the origin is the reference, and the axes are those of the world, so S is the identity. The point they
// are written about moves with the body, which makes the rate of S qd (0, v x w).
func (s *System) placeFree(l *link, n, parent *moving) {
	q, qd := s.Q[l.q:l.q+7], s.V[l.v:l.v+6]
	n.r = quat{q[3], q[4], q[5], q[6]}.unit().turn()
	n.p = vec{}
	n.v = motion{vec{qd[3], qd[4], qd[5]}, vec{qd[0], qd[1], qd[2]}}
	n.a = motion{parent.a.w, parent.a.v.add(n.v.v.cross(n.v.w))}
}

// weigh computes the inertia of the link where it is now.
func (n *moving) weigh(l *link) {
	c := n.p.add(n.r.of(l.com))
	n.c = c
	i := &n.inertia
	i.m, i.h = l.mass, c.mul(l.mass)
	// R I R' = base + ..., and m (c.c - c c') to move it to the reference
	// Of the products of h and c, six serve both.
	b := i.h
	xx, yy, zz := float64(b.x*c.x), float64(b.y*c.y), float64(b.z*c.z)
	i.i = sym{
		l.base + (yy + zz), -float64(b.x * c.y), -float64(b.x * c.z),
		l.base + (xx + zz), -float64(b.y * c.z),
		l.base + (xx + yy),
	}
	if l.ext1 != 0 {
		a := n.r.of(l.axis1)
		i.i.outer(a.mul(l.ext1), a)
	}
	if l.ext2 != 0 {
		a := n.r.of(l.axis2)
		i.i.outer(a.mul(l.ext2), a)
	}
}

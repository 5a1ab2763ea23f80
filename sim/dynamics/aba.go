package dynamics

import "github.com/halyard-robotics/halyard/internal/sim/r3"

// articulated is the inertia of a link with all that hangs from its joints, where those are free to move: symmetric,
// [i h; h' m] (RBDA 7.1).
type articulated struct {
	i sym
	h r3.Mat // by columns
	m sym
}

// rise is the recursion's data of a degree of freedom.
type rise struct {
	u       motion // IA S, as moment and force
	inverse float64
	rest    float64 // the remaining torque of this joint
}

// set makes a the inertia of a rigid body: its children are added later, from the tips down.
func (a *articulated) set(n *inertia) {
	a.i = n.i
	h := n.h
	// h x, the cross product as a matrix
	a.h.X, a.h.Y, a.h.Z = r3.XYZ(0, h.Z, -h.Y), r3.XYZ(-h.Z, 0, h.X), r3.XYZ(h.Y, -h.X, 0)
	a.m = sym{xx: n.m, yy: n.m, zz: n.m}
}

// add adds the inertia that a child's joint transmits. All values are about one point, so it is a plain sum; the
// textbook shifts each child's matrix to its parent's frame.
func (a *articulated) add(b *articulated) {
	a.i.add(&b.i)
	a.h.X, a.h.Y, a.h.Z = a.h.X.Add(b.h.X), a.h.Y.Add(b.h.Y), a.h.Z.Add(b.h.Z)
	a.m.add(&b.m)
}

// reduce subtracts the part that a joint's motion does not transmit: IA - U U'/d.
func (a *articulated) reduce(u *motion, inverse float64) {
	w := u.w.Mul(-inverse)
	a.i.outer(w, u.w)
	a.m.outer(u.v.Mul(-inverse), u.v)
	a.h.X = a.h.X.Along(u.v.X, w)
	a.h.Y = a.h.Y.Along(u.v.Y, w)
	a.h.Z = a.h.Z.Along(u.v.Z, w)
}

// recurse solves H x = x for a tree in time proportional to its size: the articulated-body recursion (RBDA 7.3) of a
// tree at rest, since the effects of velocities are already in the right side. The diagonal has solid added; followed
// joints are held. It returns the first degree of freedom whose pivot is not positive, or -1.
func (s *System) recurse(t *tree, x []float64) int {
	m := s.m
	for i := t.link; i < t.link+t.links; i++ {
		s.bodies[i].set(&s.links[i].inertia)
		s.links[i].f = force{}
	}
	if t.wet {
		s.fill(t)
	}
	for i := t.link + t.links - 1; i >= t.link; i-- {
		l, n, a := &m.links[i], &s.links[i], &s.bodies[i]
		for k := l.v + int32(l.kind.dofs()) - 1; k >= l.v; k-- {
			if s.State.follow[k].active {
				continue
			}
			// A joint of several degrees of freedom is eliminated one by one, as if massless links lay between them.
			axis, r := &s.axes[k], &s.rises[k]
			r.u.w = a.i.of(axis.w).Add(a.h.Of(axis.v))
			r.u.v = a.h.Back(axis.w).Add(a.m.of(axis.v))
			pivot := axis.w.Dot(r.u.w) + axis.v.Dot(r.u.v) + s.solid[k]
			if !(pivot > 0) {
				return int(k)
			}
			r.inverse = 1 / pivot
			r.rest = float64((x[k] - n.f.dot(axis)) * r.inverse)
			a.reduce(&r.u, r.inverse)
			n.f.w, n.f.v = n.f.w.Along(r.rest, r.u.w), n.f.v.Along(r.rest, r.u.v)
		}
		if l.parent >= 0 {
			s.bodies[l.parent].add(a)
			s.links[l.parent].f.add(&n.f)
		}
	}
	// From the root up: a joint's acceleration is that by its torque, minus the effect of its parent's motion.
	for i := t.link; i < t.link+t.links; i++ {
		l := &m.links[i]
		var a motion
		if l.parent >= 0 {
			a = s.extra[l.parent]
		}
		for k := l.v; k < l.v+int32(l.kind.dofs()); k++ {
			if s.State.follow[k].active {
				x[k] = 0
				continue
			}
			r := &s.rises[k]
			x[k] = r.rest - float64(r.inverse*(r.u.w.Dot(a.w)+r.u.v.Dot(a.v)))
			a.along(x[k], &s.axes[k])
		}
		s.extra[i] = a
	}
	return -1
}

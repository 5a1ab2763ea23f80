package dynamics

import "github.com/halyard-robotics/halyard/internal/sim/r3"

// Spatial vectors are in world axes about the reference point of their tree (Featherstone, RBDA, chapter 2): of a
// motion, v is the velocity of the body's point at the reference; of a force, w is the moment about it.

// motion is an angular part w and a linear part v.
type motion struct{ w, v r3.Vec }

// force is a moment w and a force v.
type force struct{ w, v r3.Vec }

// along adds s n to m.
func (m *motion) along(s float64, n *motion) {
	m.w, m.v = m.w.Along(s, n.w), m.v.Along(s, n.v)
}

// add joins two forces that act on the same body.
func (f *force) add(g *force) { f.w, f.v = f.w.Add(g.w), f.v.Add(g.v) }

// dot is the power of f on m.
func (f *force) dot(m *motion) float64 { return f.w.Dot(m.w) + f.v.Dot(m.v) }

// cross returns m x n: the rate of n, fixed in a body that moves as m (RBDA 2.31).
func (m *motion) cross(n *motion) motion {
	return motion{m.w.Cross(n.w), m.w.Cross(n.v).Add(m.v.Cross(n.w))}
}

// sym is a symmetric 3x3 matrix.
type sym struct{ xx, xy, xz, yy, yz, zz float64 }

// of returns s a.
func (s *sym) of(a r3.Vec) r3.Vec {
	return r3.XYZ(
		float64(s.xx*a.X)+float64(s.xy*a.Y)+float64(s.xz*a.Z),
		float64(s.xy*a.X)+float64(s.yy*a.Y)+float64(s.yz*a.Z),
		float64(s.xz*a.X)+float64(s.yz*a.Y)+float64(s.zz*a.Z),
	)
}

// outer adds b a' to s, where b is along a.
func (s *sym) outer(b, a r3.Vec) {
	s.xx += float64(b.X * a.X)
	s.xy += float64(b.X * a.Y)
	s.xz += float64(b.X * a.Z)
	s.yy += float64(b.Y * a.Y)
	s.yz += float64(b.Y * a.Z)
	s.zz += float64(b.Z * a.Z)
}

// add adds t to s.
func (s *sym) add(t *sym) {
	s.xx += t.xx
	s.xy += t.xy
	s.xz += t.xz
	s.yy += t.yy
	s.yz += t.yz
	s.zz += t.zz
}

// moved returns the inertia s of a mass m about its centre as it is about a point that lies -c from there.
func (s *sym) moved(m float64, c r3.Vec) sym {
	cc := float64(m * c.Dot(c))
	t := *s
	t.xx += cc
	t.yy += cc
	t.zz += cc
	t.outer(c.Mul(-m), c)
	return t
}

// turned returns R s R'.
func (s *sym) turned(r *r3.Mat) sym {
	a, b, c := r.Transpose(), r3.Mat{}, sym{}
	// columns of s R'
	b.X, b.Y, b.Z = s.of(a.X), s.of(a.Y), s.of(a.Z)
	b = r.Times(&b)
	c.xx, c.xy, c.xz, c.yy, c.yz, c.zz = b.X.X, b.Y.X, b.Z.X, b.Y.Y, b.Z.Y, b.Z.Z
	return c
}

// inertia is the spatial inertia of a rigid body, ten numbers: mass m, first moment h = m c, and second moment i, about
// the reference point (RBDA 2.63).
type inertia struct {
	m float64
	h r3.Vec
	i sym
}

// add joins two bodies to one: about one point, ten sums.
func (a *inertia) add(b *inertia) {
	a.m += b.m
	a.h = a.h.Add(b.h)
	a.i.add(&b.i)
}

// of returns the momentum v of a body that moves as s, and its moment w. Two vectors are handed over in registers; a
// force has six fields and would pass through memory, which costs a chain of ten links a sixth of its step.
func (a *inertia) of(s *motion) (w, v r3.Vec) {
	return a.i.of(s.w).Add(a.h.Cross(s.v)), s.v.Mul(a.m).Sub(a.h.Cross(s.w))
}

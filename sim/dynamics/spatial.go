package dynamics

// Spatial vectors are in world axes about the reference point of their tree (Featherstone, RBDA, chapter 2): of a
// motion, v is the velocity of the body's point at the reference; of a force, w is the moment about it.

// motion is an angular part w and a linear part v.
type motion struct{ w, v vec }

// force is a moment w and a force v.
type force struct{ w, v vec }

// along adds s n to m.
func (m *motion) along(s float64, n *motion) {
	m.w, m.v = m.w.along(s, n.w), m.v.along(s, n.v)
}

// add joins two forces that act on the same body.
func (f *force) add(g *force) { f.w, f.v = f.w.add(g.w), f.v.add(g.v) }

// dot is the power of f on m.
func (f *force) dot(m *motion) float64 { return f.w.dot(m.w) + f.v.dot(m.v) }

// cross returns m x n: the rate of n, fixed in a body that moves as m (RBDA 2.31).
func (m *motion) cross(n *motion) motion {
	return motion{m.w.cross(n.w), m.w.cross(n.v).add(m.v.cross(n.w))}
}

// sym is a symmetric 3x3 matrix.
type sym struct{ xx, xy, xz, yy, yz, zz float64 }

// of returns s a.
func (s *sym) of(a vec) vec {
	return vec{
		float64(s.xx*a.x) + float64(s.xy*a.y) + float64(s.xz*a.z),
		float64(s.xy*a.x) + float64(s.yy*a.y) + float64(s.yz*a.z),
		float64(s.xz*a.x) + float64(s.yz*a.y) + float64(s.zz*a.z),
	}
}

// outer adds b a' to s, where b is along a.
func (s *sym) outer(b, a vec) {
	s.xx += float64(b.x * a.x)
	s.xy += float64(b.x * a.y)
	s.xz += float64(b.x * a.z)
	s.yy += float64(b.y * a.y)
	s.yz += float64(b.y * a.z)
	s.zz += float64(b.z * a.z)
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
func (s *sym) moved(m float64, c vec) sym {
	cc := float64(m * c.dot(c))
	t := *s
	t.xx += cc
	t.yy += cc
	t.zz += cc
	t.outer(c.mul(-m), c)
	return t
}

// turned returns R s R'.
func (s *sym) turned(r *mat) sym {
	a, b, c := r.transpose(), mat{}, sym{}
	// columns of s R'
	b.x, b.y, b.z = s.of(a.x), s.of(a.y), s.of(a.z)
	b = mat{r.of(b.x), r.of(b.y), r.of(b.z)}
	c.xx, c.xy, c.xz, c.yy, c.yz, c.zz = b.x.x, b.y.x, b.z.x, b.y.y, b.z.y, b.z.z
	return c
}

// inertia is the spatial inertia of a rigid body, ten numbers: mass m, first moment h = m c, and second moment i, about
// the reference point (RBDA 2.63).
type inertia struct {
	m float64
	h vec
	i sym
}

// add joins two bodies to one: about one point, ten sums.
func (a *inertia) add(b *inertia) {
	a.m += b.m
	a.h = a.h.add(b.h)
	a.i.add(&b.i)
}

// of returns the momentum of a body that moves as s.
func (a *inertia) of(s *motion) force {
	return force{a.i.of(s.w).add(a.h.cross(s.v)), s.v.mul(a.m).sub(a.h.cross(s.w))}
}

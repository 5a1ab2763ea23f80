package dynamics

import (
	"math"

	"github.com/halyard-robotics/halyard/internal/sim/r3"
)

// Water is the water around a body with Added inertia. The displaced water moves with the body and adds to its inertia:
// the added mass A, which is in the mass matrix, so that it may be many times the body's. It includes the centripetal
// and Munk moments C_A(v) v, and A uses the velocity relative to the current: T. Fossen, Handbook of Marine Craft
// Hydrodynamics and Motion Control (2011), 6.3 and 8.3; G. Kirchhoff, 1869. Gravity does not act on it.
//
// Drag is a force and a moment -Drag times the velocity through the water at Centre. With Euler it is implicit: drag
// that grows with the speed, updated before every sub-step, neither overshoots nor changes the terminal speed.
type Water struct {
	Share   float64    // of Added: 1 under water, 0 out of it
	Current [3]float64 // m/s, of the water, in world axes; steady and even
	Drag    [6]float64 // N·s/m along x, y, z and N·m·s/rad about them, in the link frame; none below 0
	Centre  [3]float64 // m, in the link frame
}

// wet is a body in water.
type wet struct {
	body, link int32
	added      articulated // in the own frame of its link, about that frame's origin
}

// soaked is a wet body in world axes about the reference of its tree.
type soaked struct {
	mass articulated // Added, as far as it counts
	drag articulated
}

// wets finds the wet bodies. Water has no effect on those welded to the world.
func (m *Model) wets() {
	for i := range m.spec.Bodies {
		a, l := m.spec.Bodies[i].Added, m.on[i]
		if a == nil || l == World {
			continue
		}
		w := wet{body: int32(i), link: l, added: articulated{
			i: sym{a[3][3], a[3][4], a[3][5], a[4][4], a[4][5], a[5][5]},
			h: r3.Mat{X: r3.XYZ(a[3][0], a[4][0], a[5][0]), Y: r3.XYZ(a[3][1], a[4][1], a[5][1]),
				Z: r3.XYZ(a[3][2], a[4][2], a[5][2])},
			m: sym{a[0][0], a[0][1], a[0][2], a[1][1], a[1][2], a[2][2]},
		}}
		w.added = w.added.turned(&m.turns[i])
		w.added.move(m.offsets[i])
		m.wet = append(m.wet, w)
		m.trees[m.links[l].tree].wet = true
	}
}

// added checks that the matrix is symmetric and not negative: the energy in the water is conserved.
func (f *Faults) added(path string, a *[6][6]float64) {
	if a == nil {
		return
	}
	var square [36]float64
	for i := range a {
		if !f.within(path, -maxInertia, maxInertia, a[i][:]...) {
			return
		}
		for j := range i {
			// A coupling is at most the geometric mean of its two diagonal entries, so a row with 0 has none.
			size := math.Sqrt(float64(a[i][i] * a[j][j]))
			if x := a[i][j]; !(math.Abs(x-a[j][i]) <= float64(1e-6*size)) || !(math.Abs(x) <= float64(size*(1+1e-6))) {
				f.add(path, "got %g and %g at %d, %d, want a symmetric matrix without negative energy", x, a[j][i], i,
					j)
				return
			}
		}
	}
	// Of any units: each row and column over the root of its diagonal.
	for i := range a {
		for j := range a {
			if size := math.Sqrt(float64(a[i][i] * a[j][j])); size > 0 {
				square[6*i+j] = a[i][j] / size
			}
		}
		square[7*i] += 1e-6 + 1e-9
		if !(a[i][i] >= 0) {
			f.add(path, "got %g on the diagonal, want none below 0", a[i][i])
			return
		}
	}
	if !cholesky(square[:], 6) {
		f.add(path, "got a matrix that is not positive, want a matrix without negative energy")
	}
}

// soak computes the added masses of the wet bodies in world axes. The links must be placed.
func (s *System) soak() {
	m := s.m
	for i := range m.wet {
		w, to := &m.wet[i], &s.wet[i]
		n, now := &s.links[w.link], &s.State.Water[w.body]
		to.mass = w.added.turned(&n.r)
		to.mass.scale(now.Share)
		to.mass.move(n.p)
		d := &now.Drag
		to.drag = articulated{i: sym{xx: d[3], yy: d[4], zz: d[5]}, m: sym{xx: d[0], yy: d[1], zz: d[2]}}
		r := n.r.Times(&m.turns[w.body])
		to.drag = to.drag.turned(&r)
		to.drag.move(n.p.Add(n.r.Of(m.offsets[w.body].Add(m.turns[w.body].Of(r3.Pack(now.Centre))))))
	}
}

// flow is the velocity of the link of wet body i through its water.
func (s *System) flow(i int) motion {
	w := &s.m.wet[i]
	v := s.links[w.link].v
	v.v = v.v.Sub(r3.Pack(s.State.Water[w.body].Current))
	return v
}

// wade adds to the links the forces that move the water: A a + v x* A v and the drag. v and a are relative to the
// current.
func (s *System) wade() {
	for i := range s.wet {
		w, n := &s.wet[i], &s.links[s.m.wet[i].link]
		v := s.flow(i)
		c := r3.Pack(s.State.Water[s.m.wet[i].body].Current)
		// Without gravity, which does not pull at it; a spatial acceleration holds w x v, which the drift changes.
		a := motion{n.a.w, n.a.v.Add(r3.Pack(s.Gravity)).Add(v.w.Cross(c))}
		p, f, d := w.mass.of(&v), w.mass.of(&a), w.drag.of(&v)
		n.f.w = n.f.w.Add(f.w.Add(v.w.Cross(p.w).Add(v.v.Cross(p.v)))).Add(d.w)
		n.f.v = n.f.v.Add(f.v.Add(v.w.Cross(p.v))).Add(d.v)
	}
}

// fill adds to the inertias in bodies those of the water, and its drag as far as that is implicit.
func (s *System) fill(t *tree) {
	for i := range s.wet {
		l := s.m.wet[i].link
		if l < t.link || l >= t.link+t.links {
			continue
		}
		a, w := &s.bodies[l], &s.wet[i]
		a.add(&w.mass)
		if s.ahead > 0 {
			d := w.drag
			d.scale(s.ahead)
			a.add(&d)
		}
	}
}

// compositeWet is composite for a tree with wet bodies, whose inertias have 21 values.
func (s *System) compositeWet(t *tree) {
	m := s.m
	for i := t.link; i < t.link+t.links; i++ {
		s.bodies[i].set(&s.links[i].inertia)
	}
	s.fill(t)
	for i := t.link + t.links - 1; i >= t.link; i-- {
		l, a := &m.links[i], &s.bodies[i]
		for k := l.v + int32(l.kind.dofs()) - 1; k >= l.v; k-- {
			d := &m.dofs[k]
			path := m.path[d.row : d.row+d.depth+1]
			row := s.matrix[d.row:][:len(path)]
			f := a.of(&s.axes[k])
			for x, j := range path {
				row[x] = f.dot(&s.axes[j])
			}
			row[len(row)-1] += s.solid[k]
		}
		if l.parent >= 0 {
			s.bodies[l.parent].add(a)
		}
	}
}

// flood adds the water to a dense mass matrix: J' A J.
func (s *System) flood(dst []float64) {
	m := s.m
	nv := len(m.dofs)
	for i := range s.wet {
		last := m.last(int(m.wet[i].body))
		for k := last; k >= 0; k = m.dofs[k].parent {
			f := s.wet[i].mass.of(&s.axes[k])
			for j := last; j >= 0; j = m.dofs[j].parent {
				dst[int(k)*nv+int(j)] += f.dot(&s.axes[j])
			}
		}
	}
}

// murky returns the first wet body whose water is not all finite numbers, and one of them; or World.
func (s *System) murky() (body int, value float64) {
	for i := range s.m.wet {
		b := int(s.m.wet[i].body)
		w := &s.State.Water[b]
		y := w.Share + w.Current[0] + w.Current[1] + w.Current[2] + w.Centre[0] + w.Centre[1] + w.Centre[2]
		for _, d := range w.Drag {
			y += d
		}
		if y-y != 0 {
			return b, y
		}
	}
	return World, 0
}

// of returns the force or momentum that goes with a motion.
func (a *articulated) of(s *motion) force {
	return force{a.i.of(s.w).Add(a.h.Of(s.v)), a.h.Back(s.w).Add(a.m.of(s.v))}
}

// turned returns a in the axes of which r is the turn.
func (a *articulated) turned(r *r3.Mat) articulated {
	back := r.Transpose()
	h := a.h.Times(&back)
	return articulated{i: a.i.turned(r), h: r.Times(&h), m: a.m.turned(r)}
}

// scale multiplies a.
func (a *articulated) scale(x float64) {
	for _, s := range [...]*sym{&a.i, &a.m} {
		*s = sym{float64(x * s.xx), float64(x * s.xy), float64(x * s.xz), float64(x * s.yy), float64(x * s.yz),
			float64(x * s.zz)}
	}
	a.h = r3.Mat{X: a.h.X.Mul(x), Y: a.h.Y.Mul(x), Z: a.h.Z.Mul(x)}
}

// move writes a about a point from which its own lies at p: h + p x m, and i - h p x + p x h' - p x m p x.
func (a *articulated) move(p r3.Vec) {
	m, h := &a.m, &a.h
	back := h.Transpose()
	px := func(v r3.Vec) r3.Vec { return p.Cross(v) }
	to := r3.Mat{
		X: h.X.Add(px(r3.XYZ(m.xx, m.xy, m.xz))),
		Y: h.Y.Add(px(r3.XYZ(m.xy, m.yy, m.yz))),
		Z: h.Z.Add(px(r3.XYZ(m.xz, m.yz, m.zz))),
	}
	// Column j of the addition to i is p x (column j of h') - to (p x e_j).
	var col [3]r3.Vec
	for j, c := range [...]r3.Vec{back.X, back.Y, back.Z} {
		col[j] = px(c).Sub(to.Of(px(unitAxes[j])))
	}
	a.i.add(&sym{col[0].X, col[1].X, col[2].X, col[1].Y, col[2].Y, col[2].Z})
	a.h = to
}

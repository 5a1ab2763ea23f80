package collide

import (
	"math"

	"github.com/halyard-robotics/halyard/internal/sim/r3"
)

// A hull meets any convex solid by the difference of the two, D = X - Y, which holds the origin if they overlap.
// Spheres and capsules take part with their middle, a point or a line; their round skin is added. The walk of E.
// Gilbert finds the point of D nearest to the origin [B 4.3.1]; if the origin is inside, a polytope of points of D's
// surface swells until its face nearest to the origin is one of D: the shortest way to part them [B 4.3.8]. Both see
// only the farthest points of X and Y.

// inner returns the point of the middle of s farthest along d, from the centre of s.
func (s *solid) inner(d r3.Vec) r3.Vec {
	switch s.Kind {
	case Sphere:
		return r3.Vec{}
	case Capsule:
		return s.axis[2].Mul(math.Copysign(s.Half[2], d.Dot(s.axis[2])))
	case Cylinder:
		return s.prism(d)
	}
	return s.farthest(d)
}

// prism is farthest for a cylinder of 24 sides: a rim would make the polytope swell without end.
func (s *solid) prism(d r3.Vec) r3.Vec {
	// Sines of 15, 30 ... 75 degrees.
	const s1, s2, s3, s4, s5 = 0.25881904510252074, 0.5, math.Sqrt2 / 2, 0.86602540378443864676, 0.96592582628906831
	x, y := d.Dot(s.axis[0]), d.Dot(s.axis[1])
	best, far := [2]float64{1, 0}, -1.0
	for _, v := range [...][2]float64{{1, 0}, {s5, s1}, {s4, s2}, {s3, s3}, {s2, s4}, {s1, s5}, {0, 1}} {
		if f := float64(v[0]*math.Abs(x)) + float64(v[1]*math.Abs(y)); f > far {
			best, far = v, f
		}
	}
	return s.axis[2].Mul(math.Copysign(s.Half[2], d.Dot(s.axis[2]))).
		Along(math.Copysign(float64(s.Radius*best[0]), x), s.axis[0]).Along(math.Copysign(float64(s.Radius*best[1]), y),
		s.axis[1])
}

// skin is the thickness around inner.
func (s *solid) skin() float64 {
	if s.Kind == Sphere || s.Kind == Capsule {
		return s.Radius
	}
	return 0
}

// apex is the point of D farthest along d.
func (w *work) apex(d r3.Vec) r3.Vec {
	return w.x.inner(d).Sub(w.y.inner(d.Neg())).Add(w.x.pos.Sub(w.y.pos))
}

// hulls meets a hull with any convex solid, or a ridge.
func (w *work) hulls() {
	thick := w.x.skin() + w.y.skin()
	v := w.x.pos.Sub(w.y.pos)
	if v == (r3.Vec{}) {
		v = r3.XYZ(1, 0, 0)
	}
	var s simplex
	scale := 0.0
	for range 48 {
		p := w.apex(v.Neg())
		scale = math.Max(scale, p.Norm())
		near := p.Dot(v)
		size := v.Norm()
		if near > float64(thick*size) {
			return // all of D lies beyond
		}
		if s.n > 0 && float64(size*size)-near <= float64(1e-12*float64(size*size)) || s.has(p) {
			break // no point of D is nearer
		}
		s.add(p)
		v = s.nearest()
		if s.n == 4 || v.Norm() <= float64(1e-10*scale) {
			w.swellFrom(&s, thick)
			return
		}
	}
	far := v.Norm()
	if far <= float64(1e-10*scale) {
		w.swellFrom(&s, thick)
		return
	}
	w.along(v.Mul(1/far), thick-far)
}

// along puts the contacts of a known normal and depth.
func (w *work) along(n r3.Vec, depth float64) {
	if w.x.Kind == Sphere {
		w.put(w.x.pos.Along(float64(0.5*depth)-w.x.Radius, n), n, depth, 0)
		return
	}
	w.manifold(n, depth)
}

// simplex is up to four points of D.
type simplex struct {
	n int
	p [4]r3.Vec
}

func (s *simplex) has(p r3.Vec) bool {
	for _, q := range s.p[:s.n] {
		if p == q {
			return true
		}
	}
	return false
}

func (s *simplex) add(p r3.Vec) {
	s.p[s.n] = p
	s.n++
}

// keep leaves the points with the given indexes.
func (s *simplex) keep(index ...int) {
	var p [4]r3.Vec
	for k, i := range index {
		p[k] = s.p[i]
	}
	s.p, s.n = p, len(index)
}

// nearest returns the point of the simplex nearest to the origin and keeps the points that span its part; all four
// where the origin is inside.
func (s *simplex) nearest() r3.Vec {
	switch s.n {
	case 1:
		return s.p[0]
	case 2:
		return s.onLine()
	case 3:
		return s.onTriangle()
	}
	// The side of each face on which the origin is but the fourth point is not.
	best, found := r3.Vec{}, simplex{}
	least := math.Inf(1)
	for _, f := range [...][4]int{{0, 1, 2, 3}, {0, 1, 3, 2}, {0, 2, 3, 1}, {1, 2, 3, 0}} {
		a, b, c := s.p[f[0]], s.p[f[1]], s.p[f[2]]
		n := b.Sub(a).Cross(c.Sub(a))
		o, d := -a.Dot(n), s.p[f[3]].Sub(a).Dot(n)
		if o*d > 0 {
			continue
		}
		t := simplex{3, [4]r3.Vec{a, b, c}}
		if v := t.onTriangle(); v.Dot(v) < least {
			least, best, found = v.Dot(v), v, t
		}
	}
	if math.IsInf(least, 1) {
		return r3.Vec{}
	}
	*s = found
	return best
}

func (s *simplex) onLine() r3.Vec {
	e := s.p[1].Sub(s.p[0])
	t := -s.p[0].Dot(e) / math.Max(e.Dot(e), r3.Tiny)
	switch {
	case t <= 0:
		s.keep(0)
		return s.p[0]
	case t >= 1:
		s.keep(1)
		return s.p[0]
	}
	return s.p[0].Along(t, e)
}

// onTriangle is the nearest point of a triangle [E 5.1.5].
func (s *simplex) onTriangle() r3.Vec {
	a, b, c := s.p[0], s.p[1], s.p[2]
	ab, ac := b.Sub(a), c.Sub(a)
	d1, d2 := -ab.Dot(a), -ac.Dot(a)
	if d1 <= 0 && d2 <= 0 {
		s.keep(0)
		return a
	}
	d3, d4 := -ab.Dot(b), -ac.Dot(b)
	if d3 >= 0 && d4 <= d3 {
		s.keep(1)
		return b
	}
	if vc := float64(d1*d4) - float64(d3*d2); vc <= 0 && d1 >= 0 && d3 <= 0 {
		s.keep(0, 1)
		return a.Along(d1/(d1-d3), ab)
	}
	d5, d6 := -ab.Dot(c), -ac.Dot(c)
	if d6 >= 0 && d5 <= d6 {
		s.keep(2)
		return c
	}
	if vb := float64(d5*d2) - float64(d1*d6); vb <= 0 && d2 >= 0 && d6 <= 0 {
		s.keep(0, 2)
		return a.Along(d2/(d2-d6), ac)
	}
	if va := float64(d3*d6) - float64(d5*d4); va <= 0 && d4-d3 >= 0 && d5-d6 >= 0 {
		s.keep(1, 2)
		return b.Along((d4-d3)/((d4-d3)+(d5-d6)), c.Sub(b))
	}
	n := ab.Cross(ac)
	return n.Mul(a.Dot(n) / math.Max(n.Dot(n), r3.Tiny))
}

// swell is a polytope inside D, with its scratch.
type swell struct {
	p                  [64]r3.Vec
	f                  [256]swellFace
	edges              [128][2]uint8
	points, faces, rim int
}

type swellFace struct {
	v    [3]uint8
	n    r3.Vec
	far  float64
	gone bool
}

// swellFrom finds the face of D nearest to the origin, which is in D, from a simplex around it.
func (w *work) swellFrom(s *simplex, thick float64) {
	e := &w.swell
	if !w.solid(s) {
		return // D is flat: nothing to push out of
	}
	e.points, e.faces = 4, 0
	copy(e.p[:], s.p[:])
	if s.p[1].Sub(s.p[0]).Cross(s.p[2].Sub(s.p[0])).Dot(s.p[3].Sub(s.p[0])) > 0 {
		e.p[0], e.p[1] = e.p[1], e.p[0]
	}
	for _, v := range [...][3]uint8{{0, 1, 2}, {0, 3, 1}, {1, 3, 2}, {2, 3, 0}} {
		e.face(v)
	}
	var best swellFace
	for {
		best = e.f[0]
		for i := range e.f[:e.faces] {
			if f := &e.f[i]; f.far < best.far {
				best = *f
			}
		}
		p := w.apex(best.n)
		grown := p.Dot(best.n) - best.far
		if grown <= float64(1e-7*(best.far+p.Norm())) || !e.grow(p) {
			break
		}
	}
	deep := best.far
	if w.x.Kind == Cylinder { // the true way along that normal
		exact := w.x.reach(best.n) + w.x.pos.Sub(w.y.pos).Sub(w.y.inner(best.n.Neg())).Dot(best.n)
		if exact > deep+float64(1e-6*w.x.Radius) {
			deep = exact
		}
	}
	w.along(best.n.Neg(), math.Max(deep, 0)+thick)
}

// solid adds points of D to the simplex until it has a volume.
func (w *work) solid(s *simplex) bool {
	axes := [...]r3.Vec{{X: 1}, {X: -1}, {Y: 1}, {Y: -1}, {Z: 1}, {Z: -1}}
	small := 0.0
	for _, a := range axes {
		small = math.Max(small, float64(1e-9*w.apex(a).Norm()))
	}
	for i := 0; s.n == 1 && i < len(axes); i++ {
		if p := w.apex(axes[i]); p.Sub(s.p[0]).Norm() > small {
			s.add(p)
		}
	}
	for i := 0; s.n == 2 && i < len(axes); i++ {
		u := s.p[1].Sub(s.p[0]).Unit(r3.XYZ(1, 0, 0))
		d := u.Cross(axes[i])
		if d.Norm() < 0.1 {
			continue
		}
		if p := w.apex(d); p.Sub(s.p[0]).Cross(u).Norm() > small {
			s.add(p)
		}
	}
	if s.n == 3 {
		n := s.p[1].Sub(s.p[0]).Cross(s.p[2].Sub(s.p[0])).Unit(r3.XYZ(1, 0, 0))
		for _, d := range [...]r3.Vec{n, n.Neg()} {
			if p := w.apex(d); s.n == 3 && math.Abs(p.Sub(s.p[0]).Dot(n)) > small {
				s.add(p)
			}
		}
	}
	return s.n == 4
}

func (e *swell) face(v [3]uint8) {
	a, b, c := e.p[v[0]], e.p[v[1]], e.p[v[2]]
	n := b.Sub(a).Cross(c.Sub(a))
	f := swellFace{v: v, n: n.Unit(r3.Vec{})}
	if f.far = f.n.Dot(a); f.n == (r3.Vec{}) {
		f.far = r3.Huge // without area: never the nearest
	}
	e.f[e.faces] = f
	e.faces++
}

// grow takes a point into the polytope; it reports false where there is no room.
func (e *swell) grow(p r3.Vec) bool {
	if e.points == len(e.p) {
		return false
	}
	e.rim = 0
	full, slack := false, float64(1e-11*p.Norm())
	for i := range e.f[:e.faces] {
		f := &e.f[i]
		// A triangle in whose plane the point lies goes too, so that no new one is without area.
		if p.Dot(f.n) <= f.far-slack {
			continue
		}
		f.gone = true
		for k := range 3 {
			full = e.edge(f.v[k], f.v[(k+1)%3]) || full
		}
	}
	// Triangles that are gone leave room.
	n := 0
	for i := range e.f[:e.faces] {
		if !e.f[i].gone {
			e.f[n] = e.f[i]
			n++
		}
	}
	e.faces = n
	if full || e.rim == 0 || n+e.rim > len(e.f) {
		return false
	}
	e.p[e.points] = p
	for _, k := range e.edges[:e.rim] {
		e.face([3]uint8{k[0], k[1], uint8(e.points)})
	}
	e.points++
	return true
}

// edge notes an edge of a triangle that is gone; of two that are gone it is inside.
func (e *swell) edge(a, b uint8) (full bool) {
	for i := range e.edges[:e.rim] {
		if e.edges[i] == [2]uint8{b, a} {
			e.rim--
			e.edges[i] = e.edges[e.rim]
			return false
		}
	}
	if e.rim == len(e.edges) {
		return true
	}
	e.edges[e.rim] = [2]uint8{a, b}
	e.rim++
	return false
}

// hullFacing is the face that faces most along d, in the hull's frame.
func (s *solid) hullFacing(d r3.Vec) int {
	best, most := 0, math.Inf(-1)
	for i := range s.Hull.faces {
		if x := s.Hull.faces[i].normal.Dot(d); x > most {
			best, most = i, x
		}
	}
	return best
}

// hullFace writes a face.
func (s *solid) hullFace(i int, out *polygon) {
	f := &s.Hull.faces[i]
	out.n, out.code, out.normal = len(f.corners), uint32(i)&63, s.outwardTurn(f.normal)
	for k, c := range f.corners {
		out.p[k] = s.outward(s.Hull.points[c])
		out.id[k], out.edge[k] = uint32(k), uint32(k)
	}
}

// hullResting is resting for a hull.
func (s *solid) hullResting(d r3.Vec, out *polygon) {
	d = s.inwardTurn(d)
	c := s.Hull
	if i := s.hullFacing(d); c.faces[i].normal.Dot(d) > 1-float64(aligned*aligned/2) {
		s.hullFace(i, out)
		return
	}
	top := c.farthest(d)
	best, least := -1, aligned
	for i, e := range c.edges {
		if int(e[0]) != top && int(e[1]) != top {
			continue
		}
		u := c.points[e[1]].Sub(c.points[e[0]]).Unit(d)
		if x := math.Abs(u.Dot(d)); x < least {
			best, least = i, x
		}
	}
	if best < 0 {
		out.n, out.code = 1, uint32(top)&63
		out.p[0] = s.outward(c.points[top])
		return
	}
	out.n, out.code = 2, uint32(best)&63
	for k, i := range c.edges[best] {
		out.p[k] = s.outward(c.points[i])
		out.id[k], out.edge[k] = uint32(k), uint32(k)
	}
}

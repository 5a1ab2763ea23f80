package collide

import (
	"math"

	"github.com/halyard-robotics/halyard/internal/sim/r3"
)

// Contacts with a height field are found in two parts, which together cover the surface's faces, edges and peaks.
//
// Faces: each triangle under the shape is a piece of a plane. It keeps the points of the shape's contact with the plane
// that are above or below it. Every point of the grid belongs to one triangle, so flat ground of many cells gives the
// same contacts as a plane, without seams.
//
// Ridges: a convex edge is a capsule without thickness. Its contact counts if the normal is between those of its two
// faces, and at its ends between those of all faces around, which is the edge's Voronoi region [E 3.9]; all others
// belong to a face. So wheels do not bump over the inner edges of flat ground.

// gate lets only contacts over one triangle pass; without a field, all.
type gate struct {
	field      *Field
	i, j, half int
}

func (g *gate) holds(p r3.Vec) bool {
	if g.field == nil {
		return true
	}
	i, j, half, ok := g.field.locate(p.X, p.Y)
	return ok && i == g.i && j == g.j && half == g.half
}

// onField meets x with the field y, in the frame of the field.
func (w *work) onField() {
	ground, f := w.y, w.y.Field
	x := &w.x
	x.pos = ground.inward(x.pos)
	for i, a := range x.axis {
		x.axis[i] = ground.inwardTurn(a)
	}
	lo, hi := x.bounds(0)
	if lo.Z <= f.top {
		i0, i1 := cells(lo.X, hi.X, f.cell[0], f.columns)
		j0, j1 := cells(lo.Y, hi.Y, f.cell[1], f.rows)
		w.onFaces(f, lo.Z, i0, i1, j0, j1)
		w.onRidges(f, lo, hi, i0, i1, j0, j1)
		w.sort()
		w.reduce(0, perPair)
	}
	for k := range w.found[:w.n] {
		m := &w.found[k]
		m.pos, m.normal = ground.outward(m.pos), ground.outwardTurn(m.normal)
	}
}

// sort orders the contacts by feature, so that their order does not change when the shape slides over the cells.
func (w *work) sort() {
	for i := 1; i < w.n; i++ {
		m, j := w.found[i], i
		for ; j > 0 && w.found[j-1].feature > m.feature; j-- {
			w.found[j] = w.found[j-1]
		}
		w.found[j] = m
	}
}

// cells returns the range of cells that lo..hi covers along one side of the grid; the last is not one of them.
func cells(lo, hi, size float64, samples int) (from, to int) {
	last := float64(samples - 1)
	from = int(clamp(math.Floor(lo/size+float64(last/2)), 0, last))
	to = int(clamp(math.Floor(hi/size+float64(last/2))+1, 0, last))
	return from, to
}

func (w *work) onFaces(f *Field, low float64, i0, i1, j0, j1 int) {
	x := &w.x
	for j := j0; j < j1; j++ {
		for i := i0; i < i1; i++ {
			k := j*f.columns + i
			if h := f.height; low > h[k] && low > h[k+1] && low > h[k+f.columns] && low > h[k+f.columns+1] {
				continue
			}
			for half := range 2 {
				at, up := f.triangle(i, j, half)
				if x.pos.Sub(at).Dot(up) >= x.reach(up) {
					continue
				}
				w.room()
				first := w.n
				w.gate = gate{f, i, j, half}
				w.onPlane(x, at, up)
				w.gate = gate{}
				w.rename(first)
			}
		}
	}
}

// rename gives a corner that touches a second triangle, in a valley, a name of its own.
func (w *work) rename(first int) {
	for k := first; k < w.n; k++ {
		m := &w.found[k]
		for again := true; again; {
			again = false
			for l := range w.found[:k] {
				if w.found[l].feature == m.feature {
					m.feature += 16
					again = true
				}
			}
		}
	}
}

func (w *work) onRidges(f *Field, lo, hi r3.Vec, i0, i1, j0, j1 int) {
	for j := j0; j <= j1; j++ {
		for i := i0; i <= i1; i++ {
			bits := f.convex[j*f.columns+i]
			for kind := 0; bits != 0; kind, bits = kind+1, bits>>1 {
				if bits&1 == 0 {
					continue
				}
				e, _ := f.edge(i, j, kind)
				if apart(e.from.X, e.to.X, lo.X, hi.X) || apart(e.from.Y, e.to.Y, lo.Y, hi.Y) ||
					apart(e.from.Z, e.to.Z, lo.Z, hi.Z) {
					continue
				}
				w.onRidge(f, &e, uint32(3*(j*f.columns+i)+kind))
			}
		}
	}
}

// apart reports whether the span between a and b misses that from lo to hi.
func apart(a, b, lo, hi float64) bool {
	return a < lo && b < lo || a > hi && b > hi
}

// onRidge finds the contacts of x with one edge and keeps those of the edge's region.
func (w *work) onRidge(f *Field, e *ridge, name uint32) {
	w.room()
	x, first := w.x, w.n
	along := e.to.Sub(e.from)
	length := along.Norm()
	w.line = Shape{Kind: Capsule, Half: [3]float64{2: 0.5 * length}}
	r := solid{Shape: &w.line, pos: e.from.Along(0.5, along)}
	r.axis[2] = along.Mul(1 / length)
	r.axis[0] = across(r.axis[2])
	r.axis[1] = r.axis[2].Cross(r.axis[0])
	flip := false
	switch w.y = r; x.Kind {
	case Sphere:
		w.sphereAgainst(x.pos, x.Radius, &r, 0)
	case Capsule:
		w.capsules()
	case Hull:
		w.x, w.y, flip = r, x, true
		w.hulls()
	default:
		// Boxes and cylinders come second to a capsule.
		w.x, w.y, flip = r, x, true
		w.capsuleAgainst()
	}
	w.x = x
	n := first
	for k := first; k < w.n; k++ {
		m := w.found[k]
		if flip {
			m.normal = m.normal.Neg()
		}
		if !f.owns(e, r.axis[2], length, &m) || w.repeats(n, &m) {
			continue
		}
		m.feature = 1<<31 | name<<3 | uint32(n-first)&7
		w.found[n] = m
		n++
	}
	w.n = n
}

// repeats reports whether one of the first n contacts is where m is: ridges that meet at a peak all find it.
func (w *work) repeats(n int, m *meeting) bool {
	for k := range w.found[:n] {
		o := &w.found[k]
		d := o.pos.Sub(m.pos)
		if d.Dot(d) < float64(1e-4*float64(m.depth*m.depth)) && o.normal.Dot(m.normal) > 1-1e-6 {
			return true
		}
	}
	return false
}

// slack is how far, as a sine, a normal may lie outside the Voronoi region: a box lies flat on the edge of a step.
const slack = 1e-6

// owns reports whether the normal of m lies in the Voronoi region of the edge, or at its ends of the sample there.
func (f *Field) owns(e *ridge, u r3.Vec, length float64, m *meeting) bool {
	into, sides := f.intoTriangles(e, u)
	for _, v := range into[:sides] {
		if m.normal.Dot(v) > slack {
			return false
		}
	}
	t := m.pos.Along(0.5*m.depth, m.normal).Sub(e.from).Dot(u) // where the contact lies on the edge
	switch {
	case t < 1e-6*length:
		return f.peak(e.i, e.j, m.normal)
	case t > (1-1e-6)*length:
		return f.peak(e.i2, e.j2, m.normal)
	}
	return true
}

// peak reports whether n leads away from all six edges at sample (i, j).
func (f *Field) peak(i, j int, n r3.Vec) bool {
	p := f.sample(i, j)
	for _, d := range [...][2]int{{1, 0}, {1, 1}, {0, 1}, {-1, 0}, {-1, -1}, {0, -1}} {
		i2, j2 := i+d[0], j+d[1]
		if i2 < 0 || j2 < 0 || i2 >= f.columns || j2 >= f.rows {
			continue
		}
		if n.Dot(f.sample(i2, j2).Sub(p).Unit(r3.Vec{})) > slack {
			return false
		}
	}
	return true
}

// ridge is an edge of the grid.
type ridge struct {
	i, j, i2, j2, kind int
	from, to           r3.Vec
}

// edge returns the edge that starts at sample (i, j) and goes along x (0), along y (1) or along the cut (2).
func (f *Field) edge(i, j, kind int) (e ridge, ok bool) {
	e = ridge{i: i, j: j, i2: i, j2: j, kind: kind}
	if kind != 1 {
		e.i2++
	}
	if kind != 0 {
		e.j2++
	}
	if e.i2 >= f.columns || e.j2 >= f.rows {
		return e, false
	}
	e.from, e.to = f.sample(i, j), f.sample(e.i2, e.j2)
	return e, true
}

// intoTriangles writes, for each triangle adjacent to the edge, the unit vector into it, across the edge. At the rim
// there is only one.
func (f *Field) intoTriangles(e *ridge, u r3.Vec) (into [2]r3.Vec, sides int) {
	// The third corners of the triangles on the two sides, as steps from the edge's start.
	third := [3][2][2]int{
		{{1, 1}, {0, -1}},
		{{1, 1}, {-1, 0}},
		{{1, 0}, {0, 1}},
	}
	for _, d := range third[e.kind] {
		i, j := e.i+d[0], e.j+d[1]
		if i < 0 || j < 0 || i >= f.columns || j >= f.rows {
			continue
		}
		v := f.sample(i, j).Sub(e.from)
		into[sides] = v.Along(-v.Dot(u), u).Unit(r3.Vec{})
		sides++
	}
	return into, sides
}

// bends reports whether the edge is convex: its two triangles slope down from it, or there is only one.
func (f *Field) bends(e *ridge) bool {
	u := e.to.Sub(e.from).Unit(r3.Vec{})
	into, sides := f.intoTriangles(e, u)
	if sides < 2 {
		return true
	}
	// Up, at right angles to the edge and to the first triangle.
	up := u.Cross(into[0])
	if up.Z < 0 {
		up = up.Neg()
	}
	return into[1].Dot(up) < -1e-4
}

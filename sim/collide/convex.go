package collide

import (
	"errors"
	"math"
	"slices"

	"github.com/halyard-robotics/halyard/internal/sim/r3"
)

// The vertices of a hull: as few as a contact needs, more where a coarse hull would miss the shape.
const (
	fewVertices  = 64
	mostVertices = 128
	nearShare    = 0.01  // of the diagonal
	nearEnough   = 0.002 // m
	faceVertices = 8     // of one face, as of a cylinder's cap
)

// Convex is a convex polytope, the hull of points. It never changes.
type Convex struct {
	points []r3.Vec
	faces  []face
	edges  [][2]uint8 // points, the lesser first
	round  float64    // greatest distance of a point from the origin
	half   r3.Vec     // of the box about the origin that holds it

	Volume  float64    // m³
	Centre  [3]float64 // m, of the mass
	Inertia [6]float64 // per mass, about Centre, m²: xx, yy, zz, xy, xz, yz
	Outside float64    // m, greatest distance of a given point outside of the hull
}

type face struct {
	corners []uint8 // counter-clockwise from outside, at most faceVertices
	normal  r3.Vec
	far     float64 // from the origin along the normal
}

// errFlat means that points span no volume.
var errFlat = errors.New("got points in one plane, want a solid")

// NewConvex returns the hull of points, of at most 128 vertices: 64 where all points are then within 2 mm and 1 % of
// the diagonal. It lies within the true hull; Outside says how far that reaches beyond. The origin must be inside: it
// is Moved.
func NewConvex(points [][3]float64) (*Convex, error) {
	h := hullOf(points)
	if h == nil {
		return nil, errFlat
	}
	c := &Convex{Outside: h.reach()}
	index := map[int32]uint8{}
	for i := range h.tris {
		if h.tris[i].dead {
			continue
		}
		for _, v := range h.tris[i].v {
			if _, ok := index[v]; !ok {
				index[v] = uint8(len(c.points))
				c.points = append(c.points, r3.Pack(points[v]))
			}
		}
	}
	h.merge(c, index)
	c.weigh(h, points)
	c.measure()
	return c, nil
}

// Moved is the same hull with the origin at p.
func (c *Convex) Moved(p [3]float64) *Convex {
	d := r3.Pack(p)
	out := *c
	out.points = make([]r3.Vec, len(c.points))
	for i, v := range c.points {
		out.points[i] = v.Sub(d)
	}
	for i := range out.Centre {
		out.Centre[i] -= p[i]
	}
	out.faces = slices.Clone(c.faces)
	out.measure()
	return &out
}

// measure finds what depends on where the origin is.
func (c *Convex) measure() {
	c.round, c.half = 0, r3.Vec{}
	for _, p := range c.points {
		c.round = math.Max(c.round, p.Norm())
		c.half = r3.XYZ(math.Max(c.half.X, math.Abs(p.X)), math.Max(c.half.Y, math.Abs(p.Y)),
			math.Max(c.half.Z, math.Abs(p.Z)))
	}
	for i := range c.faces {
		f := &c.faces[i]
		f.far = math.Inf(-1)
		for _, k := range f.corners {
			f.far = math.Max(f.far, c.points[k].Dot(f.normal))
		}
	}
}

// Points returns the vertices.
func (c *Convex) Points() [][3]float64 {
	out := make([][3]float64, len(c.points))
	for i, p := range c.points {
		out[i] = p.Array()
	}
	return out
}

// Faces is the number of faces.
func (c *Convex) Faces() int { return len(c.faces) }

// Face is the unit normal of face i and its distance from the origin.
func (c *Convex) Face(i int) (normal r3.Vec, far float64) { return c.faces[i].normal, c.faces[i].far }

// Half is half the size of the box about the origin that holds the hull.
func (c *Convex) Half() [3]float64 { return c.half.Array() }

// farthest is the vertex farthest along d.
func (c *Convex) farthest(d r3.Vec) int {
	best, far := 0, math.Inf(-1)
	for i := range c.points {
		if x := c.points[i].Dot(d); x > far {
			best, far = i, x
		}
	}
	return best
}

// The hull is made by quickhull, the farthest point of all first, so that it is good at any number of vertices (C.
// Barber, D. Dobkin, H. Huhdanpaa, The Quickhull Algorithm, 1996).
type quickhull struct {
	p    [][3]float64
	eps  float64
	diag float64
	tris []tri
	at   map[[2]int32]int32 // triangle by directed edge
}

type tri struct {
	v    [3]int32
	n    r3.Vec
	d    float64
	out  []int32 // points outside of it
	far  int32
	high float64
	dead bool
}

// hullOf is nil where the points span no volume.
func hullOf(points [][3]float64) *quickhull {
	h := &quickhull{p: points, at: map[[2]int32]int32{}}
	if !h.begin() {
		return nil
	}
	for {
		best := -1
		vertices := map[int32]bool{}
		for i := range h.tris {
			t := &h.tris[i]
			if t.dead {
				continue
			}
			for _, v := range t.v {
				vertices[v] = true
			}
			if len(t.out) > 0 && (best < 0 || t.high > h.tris[best].high) {
				best = i
			}
		}
		if best < 0 {
			return h
		}
		err := h.tris[best].high
		near := err <= math.Min(nearShare*h.diag, nearEnough)
		if err <= 1e-6*h.diag || len(vertices) >= mostVertices || len(vertices) >= fewVertices && near {
			return h
		}
		h.grow(int32(best))
	}
}

func (h *quickhull) at3(i int32) r3.Vec { return r3.Pack(h.p[i]) }

// begin makes a tetrahedron of points far apart.
func (h *quickhull) begin() bool {
	if len(h.p) < 4 {
		return false
	}
	low, high := h.p[0], h.p[0]
	var ends [2]int32
	widest := -1.0
	for i := range 3 {
		a, b := int32(0), int32(0)
		for k := range h.p {
			if h.p[k][i] < h.p[a][i] {
				a = int32(k)
			}
			if h.p[k][i] > h.p[b][i] {
				b = int32(k)
			}
		}
		low[i], high[i] = h.p[a][i], h.p[b][i]
		if w := high[i] - low[i]; w > widest {
			widest, ends = w, [2]int32{a, b}
		}
	}
	h.diag = r3.Pack(high).Sub(r3.Pack(low)).Norm()
	h.eps = 1e-10 * h.diag
	if !(h.diag > 1e-9) {
		return false
	}
	farthest := func(f func(p r3.Vec) float64) (best int32, far float64) {
		for i := range h.p {
			if x := f(h.at3(int32(i))); x > far {
				best, far = int32(i), x
			}
		}
		return best, far
	}
	a, b := h.at3(ends[0]), h.at3(ends[1])
	u := b.Sub(a).Unit(r3.Vec{})
	third, off := farthest(func(p r3.Vec) float64 { return p.Sub(a).Cross(u).Norm() })
	if off < 1e-5*h.diag {
		return false
	}
	n := u.Cross(h.at3(third).Sub(a)).Unit(r3.Vec{})
	fourth, off := farthest(func(p r3.Vec) float64 { return math.Abs(p.Sub(a).Dot(n)) })
	if off < 1e-5*h.diag {
		return false
	}
	v := [4]int32{ends[0], ends[1], third, fourth}
	if h.at3(fourth).Sub(a).Dot(n) > 0 {
		v[0], v[1] = v[1], v[0]
	}
	for _, t := range [4][3]int32{{v[0], v[1], v[2]}, {v[0], v[3], v[1]}, {v[1], v[3], v[2]}, {v[2], v[3], v[0]}} {
		h.put(t)
	}
	all := make([]int32, len(h.p))
	for i := range all {
		all[i] = int32(i)
	}
	h.share(all, 0)
	return true
}

// put adds a triangle.
func (h *quickhull) put(v [3]int32) {
	a, b, c := h.at3(v[0]), h.at3(v[1]), h.at3(v[2])
	n := b.Sub(a).Cross(c.Sub(a)).Unit(r3.Vec{})
	for k := range 3 {
		h.at[[2]int32{v[k], v[(k+1)%3]}] = int32(len(h.tris))
	}
	h.tris = append(h.tris, tri{v: v, n: n, d: n.Dot(a)})
}

// share gives each point to a triangle from index first on that it is outside of.
func (h *quickhull) share(points []int32, first int) {
	for _, i := range points {
		p := h.at3(i)
		for k := first; k < len(h.tris); k++ {
			t := &h.tris[k]
			if x := p.Dot(t.n) - t.d; x > h.eps {
				if t.out = append(t.out, i); x > t.high {
					t.far, t.high = i, x
				}
				break
			}
		}
	}
}

// grow takes the farthest point of triangle i into the hull. Triangles in whose plane it lies go with those that it
// sees, so no new one is without area.
func (h *quickhull) grow(i int32) {
	eye := h.tris[i].far
	p := h.at3(eye)
	seen, rim, orphans := []int32{i}, [][2]int32{}, []int32{}
	h.tris[i].dead = true
	for k := 0; k < len(seen); k++ {
		t := &h.tris[seen[k]]
		orphans = append(orphans, t.out...)
		t.out = nil
		for e := range 3 {
			a, b := t.v[e], t.v[(e+1)%3]
			next := &h.tris[h.at[[2]int32{b, a}]]
			if next.dead {
				continue
			}
			if p.Dot(next.n)-next.d > -h.eps {
				next.dead = true
				seen = append(seen, h.at[[2]int32{b, a}])
			}
		}
	}
	for _, k := range seen {
		v := h.tris[k].v
		for e := range 3 {
			a, b := v[e], v[(e+1)%3]
			if !h.tris[h.at[[2]int32{b, a}]].dead {
				rim = append(rim, [2]int32{a, b})
			}
		}
	}
	first := len(h.tris)
	for _, e := range rim {
		h.put([3]int32{e[0], e[1], eye})
	}
	h.share(orphans, first)
}

// reach is how far a point lies outside of the hull.
func (h *quickhull) reach() (far float64) {
	for i := range h.tris {
		if t := &h.tris[i]; !t.dead && len(t.out) > 0 {
			far = math.Max(far, t.high)
		}
	}
	return far
}

// flat is the sine below which neighbouring triangles are one face.
const flat = 0.005

// merge makes the faces of c: neighbouring triangles in one plane are one face.
func (h *quickhull) merge(c *Convex, index map[int32]uint8) {
	group := make([]int32, len(h.tris))
	seen := map[[2]uint8]bool{}
	for i := range h.tris {
		if h.tris[i].dead || group[i] != 0 {
			continue
		}
		mark, members := int32(i+1), []int32{int32(i)}
		group[i] = mark
		for k := 0; k < len(members); k++ {
			v := h.tris[members[k]].v
			for e := range 3 {
				next := h.at[[2]int32{v[(e+1)%3], v[e]}]
				if n := &h.tris[next]; group[next] == 0 && n.n.Dot(h.tris[i].n) > 1-float64(flat*flat/2) {
					group[next], members = mark, append(members, next)
				}
			}
		}
		next := map[int32]int32{} // along the rim
		var sum r3.Vec
		for _, m := range members {
			v := h.tris[m].v
			sum = sum.Add(h.at3(v[1]).Sub(h.at3(v[0])).Cross(h.at3(v[2]).Sub(h.at3(v[0]))))
			for e := range 3 {
				a, b := v[e], v[(e+1)%3]
				if group[h.at[[2]int32{b, a}]] == mark {
					continue
				}
				next[a] = b
				if x, y := index[a], index[b]; !seen[[2]uint8{min(x, y), max(x, y)}] {
					seen[[2]uint8{min(x, y), max(x, y)}] = true
					c.edges = append(c.edges, [2]uint8{min(x, y), max(x, y)})
				}
			}
		}
		var loop []uint8
		start := h.tris[i].v[0]
		for _, v := range h.tris[i].v {
			if _, ok := next[v]; ok {
				start = v
				break
			}
		}
		for at := start; len(loop) <= len(next); {
			loop = append(loop, index[at])
			to, ok := next[at]
			if !ok || to == start {
				break
			}
			at = to
		}
		c.faces = append(c.faces, face{corners: thin(loop), normal: sum.Unit(h.tris[i].n)})
	}
}

// thin leaves faceVertices corners of a loop.
func thin(loop []uint8) []uint8 {
	n := len(loop)
	if n <= faceVertices {
		return loop
	}
	out := make([]uint8, faceVertices)
	for i := range out {
		out[i] = loop[i*n/faceVertices]
	}
	return out
}

// weigh finds volume, centre and inertia.
func (c *Convex) weigh(h *quickhull, points [][3]float64) {
	var m Moments
	for i := range h.tris {
		if t := &h.tris[i]; !t.dead {
			m.Add(points[t.v[0]], points[t.v[1]], points[t.v[2]])
		}
	}
	c.Volume, c.Centre, c.Inertia, _ = m.Solid()
}

// Moments add up the volume, centre and inertia of a solid from the triangles of its surface (B. Mirtich, Fast and
// Accurate Computation of Polyhedral Mass Properties, 1996: here as a sum of tetrahedra with a corner at the first
// point).
type Moments struct {
	from   r3.Vec
	begun  bool
	volume float64
	first  r3.Vec
	second [6]float64 // xx yy zz xy xz yz
	apart  bool       // each tetrahedron counts as positive
}

// MomentsFrom add up tetrahedra with a corner at from; with absolute each counts as positive regardless of its side.
func MomentsFrom(from [3]float64, absolute bool) *Moments {
	return &Moments{from: r3.Pack(from), begun: true, apart: absolute}
}

// Add adds a triangle, counter-clockwise from outside.
func (m *Moments) Add(p, q, r [3]float64) {
	if !m.begun {
		m.from, m.begun = r3.Pack(p), true
	}
	a, b, c := r3.Pack(p).Sub(m.from), r3.Pack(q).Sub(m.from), r3.Pack(r).Sub(m.from)
	v := a.Dot(b.Cross(c)) / 6
	if m.apart {
		v = math.Abs(v)
	}
	m.volume += v
	s := a.Add(b).Add(c)
	m.first = m.first.Along(v/4, s)
	k := v / 20
	term := func(x, y func(r3.Vec) float64) float64 {
		return float64(k * (float64(x(s)*y(s)) + float64(x(a)*y(a)) + float64(x(b)*y(b)) + float64(x(c)*y(c))))
	}
	x, y, z := func(u r3.Vec) float64 { return u.X }, func(u r3.Vec) float64 { return u.Y },
		func(u r3.Vec) float64 { return u.Z }
	for i, t := range [6]float64{term(x, x), term(y, y), term(z, z), term(x, y), term(x, z), term(y, z)} {
		m.second[i] += t
	}
}

// Solid returns the volume, its centre, and the inertia per mass about the centre; ok is false where the triangles hold
// no volume. A surface that is inside out counts as if it were not.
func (m *Moments) Solid() (volume float64, centre [3]float64, inertia [6]float64, ok bool) {
	if !(math.Abs(m.volume) > 0) {
		return 0, m.from.Array(), inertia, false
	}
	d := m.first.Mul(1 / m.volume)
	s := m.second
	for i := range s {
		s[i] /= m.volume
	}
	xx, yy, zz := s[0]-float64(d.X*d.X), s[1]-float64(d.Y*d.Y), s[2]-float64(d.Z*d.Z)
	inertia = [6]float64{yy + zz, xx + zz, xx + yy, float64(d.X*d.Y) - s[3], float64(d.X*d.Z) - s[4],
		float64(d.Y*d.Z) - s[5]}
	return math.Abs(m.volume), m.from.Add(d).Array(), inertia, true
}

// About returns the inertia per mass about the common corner of the tetrahedra; 0 where there is no volume.
func (m *Moments) About() (inertia [6]float64) {
	if m.volume == 0 {
		return inertia
	}
	s := m.second
	for i := range s {
		s[i] /= m.volume
	}
	return [6]float64{s[1] + s[2], s[0] + s[2], s[0] + s[1], -s[3], -s[4], -s[5]}
}

// Holds reports whether a point is well inside the hull.
func (c *Convex) Holds(p [3]float64) bool {
	v := r3.Pack(p)
	for i := range c.faces {
		if !(v.Dot(c.faces[i].normal) < c.faces[i].far-float64(1e-6*c.round)) {
			return false
		}
	}
	return true
}

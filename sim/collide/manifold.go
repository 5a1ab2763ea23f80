package collide

import (
	"math"

	"github.com/halyard-robotics/halyard/internal/sim/r3"
)

// polygon is a face, an edge or a corner of a solid: three points or more, two, or one. Around a face the points go
// against the clock seen from outside.
type polygon struct {
	n      int
	p      [16]r3.Vec
	id     [16]uint32 // which corner, or where which edge was cut
	edge   [16]uint32 // the edge from this point to the next
	normal r3.Vec     // outward, of a face
	code   uint32     // which face, edge or corner of the solid: below 64
}

// aligned is the sine below which a face or an edge counts as lying flat on the contact plane.
const aligned = 0.02

// manifold puts the contacts of x and y, with known normal and greatest depth: a face on a face gives up to four, an
// edge along a face or an edge two, all others one [E 5.2.1, B 4.4]. Solids that only touch have none.
func (w *work) manifold(n r3.Vec, depth float64) {
	if !(depth > 0) {
		return
	}
	x, y := &w.x, &w.y
	first := w.n
	// X looks down the normal, Y up.
	x.resting(n.Neg(), &w.first)
	y.resting(n, &w.second)
	switch {
	case w.first.n > 2:
		y.facing(n, &w.other)
		w.clip(&w.first, n, 1, y)
	case w.second.n > 2:
		x.facing(n.Neg(), &w.other)
		w.clip(&w.second, n, -1, x)
	case w.first.n == 2 && w.second.n == 2:
		w.edges(n, depth)
	}
	w.reduce(first, 4)
	// A face counts as flat within aligned, so the contacts may miss the depth by as much; the deepest gets all of it.
	most := 0.0
	for _, m := range w.found[first:w.n] {
		most = math.Max(most, m.depth)
	}
	share := depth / most
	// Nothing left of the faces in each other, by rounding: the point that touches is still known.
	if math.IsInf(share, 1) {
		w.n = first
		w.single(n, depth)
		return
	}
	kept := w.found[:first]
	for _, m := range w.found[first:w.n] {
		if m.depth *= share; m.depth > 0 {
			kept = append(kept, m)
		}
	}
	w.n = len(kept)
}

// rounding is how far the surface lies outside the points of resting and facing.
func (s *solid) rounding() float64 {
	if s.Kind == Capsule {
		return s.Radius
	}
	return 0
}

// single puts one contact at the corner that touches, or where two edges cross.
func (w *work) single(n r3.Vec, depth float64) {
	a, b := &w.first, &w.second
	feature := 1<<30 | a.code<<8 | b.code
	// From a point of X the middle of the contact lies half the depth along the normal, from one of Y against it. The
	// round skin of a capsule lies between.
	p, side := a.p[0], float64(0.5*depth)-w.x.rounding()
	switch {
	case a.n == 2 && b.n == 2:
		s, _ := closest(a.p[0], a.p[1].Sub(a.p[0]), b.p[0], b.p[1].Sub(b.p[0]))
		p = p.Along(s, a.p[1].Sub(a.p[0]))
	case a.n > 1 && b.n == 1:
		p, side = b.p[0], w.y.rounding()-float64(0.5*depth)
	}
	w.put(p.Along(side, n), n, depth, feature)
}

// edges puts the two ends of the common part of two parallel edges.
func (w *work) edges(n r3.Vec, depth float64) {
	a, b := &w.first, &w.second
	d, e := a.p[1].Sub(a.p[0]), b.p[1].Sub(b.p[0])
	length := d.Norm()
	u := d.Unit(r3.Vec{})
	if v := e.Unit(r3.Vec{}); u.Cross(v).Norm() > aligned {
		return
	}
	// Where B's ends lie along A, in A's order.
	k := e.Dot(u)
	from, to := b.p[0].Sub(a.p[0]).Dot(u), b.p[1].Sub(a.p[0]).Dot(u)
	base, turn := from, 0
	if from > to {
		from, to, turn = to, from, 1
	}
	from, to = math.Max(from, 0), math.Min(to, length)
	if !(to-from > 1e-6*length) {
		return
	}
	for i, t := range [...]float64{from, to} {
		p := a.p[0].Along(t, u)
		q := b.p[0].Along((t-base)/k, e)
		deep := math.Min(depth, q.Sub(p).Dot(n)+w.x.rounding()+w.y.rounding())
		w.put(p.Along(float64(0.5*deep)-w.x.rounding(), n), n, deep, 1<<29|uint32(i^turn)<<16|a.code<<8|b.code)
	}
}

// clip clips the incident face w.other to the sides of the face ref and puts its points below ref's plane [E 5.2.1].
// towards is 1 if ref belongs to x, whose faces look along -n.
func (w *work) clip(ref *polygon, n r3.Vec, towards float64, incident *solid) {
	// Against each side in turn, from one buffer to the other [E 8.3.4]: the outside is cut off.
	in, out := &w.other, &w.spare
	for k := range ref.n {
		p := ref.p[k]
		side := ref.p[(k+1)%ref.n].Sub(p).Cross(ref.normal)
		in.cut(out, p, side, uint32(k))
		in, out = out, in
	}
	feature := ref.code<<24 | w.other.code<<16
	if towards < 0 {
		feature |= 1 << 31
	}
	// The depth counts along the normal, which may slant a little against the face.
	slant := n.Dot(ref.normal) // about -towards
	round := incident.rounding()
	for k := range in.n {
		p := in.p[k]
		deep := float64(p.Sub(ref.p[0]).Dot(ref.normal)*towards)/slant + round
		w.put(p.Along(float64(towards*(round-float64(0.5*deep))), n), n, deep, feature|in.id[k])
	}
}

// cut writes the part of in inside the plane through p with the outward direction side to out. A new point is named by
// the cut edge and the plane: an edge meets a plane once, so names are unique.
func (in *polygon) cut(out *polygon, p, side r3.Vec, plane uint32) {
	out.n = 0
	count := in.n
	if count == 2 {
		count = 1 // an edge has no way back
	}
	if in.n == 0 {
		return
	}
	add := func(q r3.Vec, id, edge uint32) {
		if out.n < len(out.p) {
			out.p[out.n], out.id[out.n], out.edge[out.n] = q, id, edge
			out.n++
		}
	}
	// Heights over the plane, of this point and the next; 0 is still inside, so a face cut to its own rim stays whole.
	last := in.p[0].Sub(p).Dot(side)
	if in.n <= 2 && last <= 0 {
		add(in.p[0], in.id[0], in.edge[0])
	}
	for i := range count {
		j := i + 1
		if j == in.n {
			j = 0
		}
		if in.n == 1 {
			break
		}
		next := in.p[j].Sub(p).Dot(side)
		if in.n > 2 && last <= 0 {
			add(in.p[i], in.id[i], in.edge[i])
		}
		if (last <= 0) != (next <= 0) {
			q := in.p[i].Along(last/(last-next), in.p[j].Sub(in.p[i]))
			edge := in.edge[i]
			name := 1<<10 | edge<<4 | plane
			if last <= 0 {
				edge = 16 + plane // continues along the plane
			}
			add(q, name, edge)
		}
		if in.n == 2 && next <= 0 {
			add(in.p[1], in.id[1], in.edge[1])
		}
		last = next
	}
}

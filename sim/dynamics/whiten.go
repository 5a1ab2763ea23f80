package dynamics

import (
	"math"

	"github.com/halyard-robotics/halyard/internal/sim/r3"
)

// whiten computes the rows of a block as Y = J L^-1 D^-1/2.
func (v *solver) whiten(s *System, k *block) {
	m := s.m
	if !s.following && k.paths > 0 && k.kind != equal {
		v.whitenPaths(s, k)
		return
	}
	n := int(k.rows)
	index := v.index[k.index:][:k.count]
	w := v.work
	rows := v.row[k.row:][:n]
	// Rows of joints have one entry, or two.
	if len(rows) == 1 && (k.kind == dry || k.kind == stop) {
		for _, j := range index {
			w[j] = 0
		}
		w[k.a] = rows[0].way.X
	} else if k.kind == equal && n == 1 {
		for _, j := range index {
			w[j] = 0
		}
		w[k.a] = 1
		w[k.b] -= m.spec.Equalities[k.source].Ratio
	} else {
		v.jacobian(s, k, index)
	}
	if s.following {
		for i := range rows {
			rows[i].given = 0
			for _, j := range index {
				if s.State.follow[j].active { // it moves as prescribed, under any force
					rows[i].given += float64(w[int(j)*n+i] * s.given[j])
					w[int(j)*n+i] = 0
				}
			}
		}
	}
	// w <- L^-T w, from the tips down; the ancestors of all in index are in index
	for x := len(index) - 1; x >= 0; x-- {
		d := &m.dofs[index[x]]
		path := m.path[d.row : d.row+d.depth]
		l := s.matrix[d.row:][:len(path)]
		switch own := w[int(index[x])*n:][:n]; n {
		case 1:
			a := own[0]
			for i, j := range path {
				w[j] -= float64(l[i] * a)
			}
		case 3:
			a, b, c := own[0], own[1], own[2]
			for i, j := range path {
				li, to := l[i], w[int(j)*3:][:3]
				to[0] -= float64(li * a)
				to[1] -= float64(li * b)
				to[2] -= float64(li * c)
			}
		default:
			for i, j := range path {
				li, to := l[i], w[int(j)*n:][:n]
				for c, a := range own {
					to[c] -= float64(li * a)
				}
			}
		}
	}
	y := v.values[k.values:]
	for x, j := range index {
		root := s.root[j]
		for c, a := range w[int(j)*n:][:n] {
			y[x*n+c] = float64(a * root)
		}
	}
}

// whitenPaths is whiten for blocks that act on one path of each of their trees, without a followed joint: the ancestors
// of each degree of freedom of a path are those before it, so that L is a triangle there.
func (v *solver) whitenPaths(s *System, k *block) {
	m := s.m
	n := int(k.rows)
	index := v.index[k.index:][:k.count]
	y := v.values[k.values:][:len(index)*n]
	if k.kind == dry || k.kind == stop {
		way := v.row[k.row].way.X
		if s.dense(k.a) {
			for x, a := range s.whole[m.dofs[k.a].row:][:len(y)] {
				y[x] = float64(way * a)
			}
			return
		}
		clear(y)
		y[len(y)-1] = way
		s.whitenPath(m, index, y, n)
		return
	}
	push := &v.thrusts
	v.pushes(s, k, push)
	side := 0
	if k.a < 0 || k.b >= 0 && k.b < k.a {
		side = 1
	}
	for len(index) > 0 {
		path := index[:min(len(index), int(k.first))]
		if len(index) < int(k.count) {
			path = index
		}
		sign, p := float64(1-2*side), push[side][:n]
		for x, j := range path {
			axis := &s.axes[j]
			to := y[x*n:][:n]
			for i := range p {
				f := &p[i]
				to[i] = float64(sign * (f.w.Dot(axis.w) + f.v.Dot(axis.v)))
			}
		}
		s.whitenPath(m, path, y[:len(path)*n], n)
		index, y, side = index[len(path):], y[len(path)*n:], 1-side
	}
}

// whitenPath computes y <- D^-1/2 L^-T y of a path, from the tip down.
func (s *System) whitenPath(m *Model, path []int32, y []float64, n int) {
	for x := len(path) - 1; x >= 0; x-- {
		j := path[x]
		l := s.matrix[m.dofs[j].row:][:x]
		root := s.root[j]
		switch n {
		case 1:
			a := y[x]
			y[x] = float64(a * root)
			if a == 0 {
				continue
			}
			for i, li := range l {
				y[i] -= float64(li * a)
			}
		case 3:
			own, to := y[3*x:][:3], y
			a, b, c := own[0], own[1], own[2]
			own[0], own[1], own[2] = float64(a*root), float64(b*root), float64(c*root)
			for _, li := range l {
				t := to[:3]
				t[0] -= float64(li * a)
				t[1] -= float64(li * b)
				t[2] -= float64(li * c)
				to = to[3:]
			}
		case 4:
			own, to := y[4*x:][:4], y
			a, b, c, d := own[0], own[1], own[2], own[3]
			own[0], own[1], own[2], own[3] = float64(a*root), float64(b*root), float64(c*root), float64(d*root)
			for _, li := range l {
				t := to[:4]
				t[0] -= float64(li * a)
				t[1] -= float64(li * b)
				t[2] -= float64(li * c)
				t[3] -= float64(li * d)
				to = to[4:]
			}
		case 6:
			own, to := y[6*x:][:6], y
			a, b, c, d, e, f := own[0], own[1], own[2], own[3], own[4], own[5]
			own[0], own[1], own[2] = float64(a*root), float64(b*root), float64(c*root)
			own[3], own[4], own[5] = float64(d*root), float64(e*root), float64(f*root)
			for _, li := range l {
				t := to[:6]
				t[0] -= float64(li * a)
				t[1] -= float64(li * b)
				t[2] -= float64(li * c)
				t[3] -= float64(li * d)
				t[4] -= float64(li * e)
				t[5] -= float64(li * f)
				to = to[6:]
			}
		default:
			own := y[x*n:][:n]
			for i, li := range l {
				to := y[i*n:][:n]
				for c, a := range own {
					to[c] -= float64(li * a)
				}
			}
			for c := range own {
				own[c] = float64(own[c] * root)
			}
		}
	}
}

// patch is the number of contacts from the beginning of island on that touch between the same two links with the same
// directions, as the corners of a box on a face do; 0 where these are too few for whitenPatch.
func (v *solver) patch(s *System, island []int32) int {
	k := &v.blocks[island[0]]
	if k.kind != contact || k.paths == 0 || s.following || k.rows != 3 && k.rows != 4 {
		return 0
	}
	own := v.row[k.row:][:3]
	n := 1
	for ; n < len(island); n++ {
		o := &v.blocks[island[n]]
		if o.kind != contact || o.a != k.a || o.b != k.b || o.rows != k.rows {
			break
		}
		// The third is the product of these two.
		if other := v.row[o.row:][:3]; other[0].way != own[0].way || other[1].way != own[1].way {
			break
		}
	}
	if n*int(k.rows) <= patchRows {
		return 0
	}
	return n
}

// patchRows is the number of rows that whitenPatch makes from six.
const patchRows = 7

// whitenPatch is whitenPaths for the contacts of a patch: those of a force along, and a moment about, each of their
// three directions at the first of them are computed alone, and each contact's rows are sums of these.
func (v *solver) whitenPatch(s *System, blocks []int32) {
	k := &v.blocks[blocks[0]]
	n := int(k.rows)
	index := v.index[k.index:][:k.count]
	way := [3]r3.Vec{v.row[k.row].way, v.row[k.row+1].way, v.row[k.row+2].way}
	first := r3.Pack(v.contacts[k.source].Position)
	base := v.work[:6*len(index)]
	for done := 0; done < len(index); {
		path := index[done:]
		if done == 0 {
			path = index[:k.first]
		}
		last, sign := k.a, 1.0
		if k.a < 0 || k.b >= 0 && (k.b < k.a) == (done == 0) {
			last, sign = k.b, -1
		}
		arm := first.Sub(s.reference[s.m.tree(last)])
		var moment [3]r3.Vec
		for i := range way {
			moment[i] = arm.Cross(way[i])
		}
		to := base[6*done:][:6*len(path)]
		for x, j := range path {
			axis, t := &s.axes[j], to[6*x:][:6]
			for i := range way {
				t[i] = float64(sign * (moment[i].Dot(axis.w) + way[i].Dot(axis.v)))
				t[3+i] = float64(sign * way[i].Dot(axis.w))
			}
		}
		s.whitenPath(s.m, path, to, 6)
		done += len(path)
	}
	for _, i := range blocks {
		k := &v.blocks[i]
		arm := r3.Pack(v.contacts[k.source].Position).Sub(first)
		p, q, r := arm.Dot(way[0]), arm.Dot(way[1]), arm.Dot(way[2])
		y, from := v.values[k.values:][:len(index)*n], base
		for len(y) >= n && len(from) >= 6 {
			b, to := from[:6], y[:n]
			to[0] = b[0] + (float64(r*b[4]) - float64(q*b[5]))
			to[1] = b[1] + (float64(p*b[5]) - float64(r*b[3]))
			to[2] = b[2] + (float64(q*b[3]) - float64(p*b[4]))
			if n == 4 {
				to[3] = b[3]
			}
			y, from = y[n:], from[6:]
		}
	}
}

// pushes are the rows of a block as forces on its two links, about the references of their trees.
func (v *solver) pushes(s *System, k *block, push *[2][maxRows]force) {
	rows := v.row[k.row:][:k.rows]
	at := v.place(s, k)
	for t, last := range [...]int32{k.a, k.b} {
		if last < 0 {
			continue
		}
		// An equality acts on each body at that body's own anchor.
		arm := at[t].Sub(s.reference[s.m.tree(last)])
		for i := range rows {
			r, p := &rows[i], &push[t][i]
			if r.angular {
				p.w, p.v = r.way, r3.Vec{}
			} else {
				p.w, p.v = arm.Cross(r.way), r.way
			}
		}
	}
}

// jacobian writes the rows of J into work: the effect of each joint on the velocity of the first link at the point,
// minus that on the second. Common ancestors of both have no effect.
func (v *solver) jacobian(s *System, k *block, index []int32) {
	n := int(k.rows)
	push := &v.thrusts
	v.pushes(s, k, push)
	for x, j := range index {
		to := v.work[int(j)*n:][:n]
		axis := &s.axes[j]
		switch v.moves(k, x) {
		case 1:
			for i := range to {
				to[i] = push[0][i].dot(axis)
			}
		case 2:
			for i := range to {
				to[i] = -push[1][i].dot(axis)
			}
		case 3:
			// The distance between the two anchors of an equality is its violation.
			for i := range to {
				to[i] = 0
				if k.kind == equal {
					to[i] = push[0][i].dot(axis) - push[1][i].dot(axis)
				}
			}
		}
	}
}

// moves reports which of the two links of a block its degree of freedom number x moves: 1, 2 or both, 3.
func (v *solver) moves(k *block, x int) uint8 {
	switch {
	case k.paths == 0:
		return v.side[int(k.side)+x]
	case k.b < 0, k.a >= 0 && (x < int(k.first)) == (k.a < k.b):
		return 1
	}
	return 2
}

// place returns where the forces of a block act on its two links, in the world.
func (v *solver) place(s *System, k *block) [2]r3.Vec {
	if k.kind == contact {
		at := r3.Pack(v.contacts[k.source].Position)
		return [2]r3.Vec{at, at}
	}
	e := &s.m.spec.Equalities[k.source]
	return [2]r3.Vec{s.spot(e.A, e.AnchorA).at, s.spot(e.B, e.AnchorB).at}
}

// cholesky factors a symmetric positive matrix n x n in place, the lower half.
func cholesky(a []float64, n int) bool {
	for j := range n {
		for i := j; i < n; i++ {
			sum := a[i*n+j]
			for x := range j {
				sum -= float64(a[i*n+x] * a[j*n+x])
			}
			if i > j {
				a[i*n+j] = sum / a[j*n+j]
				continue
			}
			if !(sum > 0) {
				return false
			}
			a[j*n+j] = math.Sqrt(sum)
		}
	}
	return true
}

// substitute solves for the matrix that cholesky factored.
func substitute(a []float64, n int, x []float64) {
	for i := range n {
		for j := range i {
			x[i] -= float64(a[i*n+j] * x[j])
		}
		x[i] /= a[i*n+i]
	}
	for i := n - 1; i >= 0; i-- {
		for j := i + 1; j < n; j++ {
			x[i] -= float64(a[j*n+i] * x[j])
		}
		x[i] /= a[i*n+i]
	}
}

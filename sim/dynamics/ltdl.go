package dynamics

import "math"

// composite computes the mass matrix of tree t, one entry for each degree of freedom and ancestor: CRBA, RBDA 6.2. The
// diagonal gets the values of solid: armature and, for an implicit integrator, damping.
func (s *System) composite(t *tree) {
	if t.wet {
		s.compositeWet(t)
		return
	}
	m := s.m
	links := s.links[:len(m.links)]
	for i := t.link; i < t.link+t.links; i++ {
		links[i].all = links[i].inertia
	}
	axes := s.axes
	for i := t.link + t.links - 1; i >= t.link; i-- {
		l, n := &m.links[i], &links[i]
		for k := l.v + int32(l.kind.dofs()) - 1; k >= l.v; k-- {
			d := &m.dofs[k]
			path := m.path[d.row : d.row+d.depth+1]
			row := s.matrix[d.row:][:len(path)]
			// the force for an acceleration of this joint and all links beyond it, at each ancestor
			w, v := n.all.of(&axes[k])
			for x, j := range path {
				row[x] = w.Dot(axes[j].w) + v.Dot(axes[j].v)
			}
			row[len(row)-1] += s.solid[k]
		}
		if l.parent >= 0 {
			links[l.parent].all.add(&n.all)
		}
	}
}

// lock takes the followed joints out of the mass matrix: their rows become those of the identity.
func (s *System) lock(t *tree) {
	m := s.m
	for k := t.dof; k < t.dof+t.dofs; k++ {
		d := &m.dofs[k]
		path := m.path[d.row : d.row+d.depth+1]
		row := s.matrix[d.row:][:len(path)]
		for x, j := range path {
			if s.State.follow[j].active || s.State.follow[k].active {
				row[x] = 0
			}
		}
		if s.State.follow[k].active {
			row[len(row)-1] = 1
		}
	}
}

// factor turns the part of a tree in a matrix, such as the mass matrix, into L and D with H = L' D L, in place, without
// fill-in (RBDA 6.5), and writes the inverses of D. It returns
// the first degree of freedom whose pivot is not positive, or -1.
func (m *Model) factor(t *tree, matrix, inverses []float64) int {
	for k := t.dof + t.dofs - 1; k >= t.dof; k-- {
		d := &m.dofs[k]
		path := m.path[d.row : d.row+d.depth]
		row := matrix[d.row:][:len(path)+1]
		pivot := row[len(path)]
		if !(pivot > 0) {
			return int(k)
		}
		inverse := 1 / pivot
		inverses[k] = inverse
		for x := len(path) - 1; x >= 0; x-- {
			// Zeros are common: a followed joint, a wheel about its own axis.
			h := row[x]
			if h == 0 {
				continue
			}
			a := float64(h * inverse)
			// Ancestor's row and this one begin with the same path, so the update is of two slices side by side.
			up := matrix[m.dofs[path[x]].row:][:x+1]
			for y, b := range row[:x+1] {
				up[y] -= float64(a * b)
			}
			row[x] = a
		}
	}
	return -1
}

// descend computes x <- L^-T x, of all degrees of freedom of a tree.
func (m *Model) descend(t *tree, matrix, x []float64) {
	for k := t.dof + t.dofs - 1; k > t.dof; k-- {
		d := &m.dofs[k]
		path := m.path[d.row : d.row+d.depth]
		row := matrix[d.row:][:len(path)]
		xk := x[k]
		for y, j := range path {
			x[j] -= float64(row[y] * xk)
		}
	}
}

// ascend computes x <- L^-1 x.
func (m *Model) ascend(t *tree, matrix, x []float64) {
	for k := t.dof + 1; k < t.dof+t.dofs; k++ {
		d := &m.dofs[k]
		path := m.path[d.row : d.row+d.depth]
		row := matrix[d.row:][:len(path)]
		sum := x[k]
		for y, j := range path {
			sum -= float64(row[y] * x[j])
		}
		x[k] = sum
	}
}

// roots computes the square roots of the pivots' inverses, with which constraint rows are made.
func (s *System) roots(t *tree) {
	for k := t.dof; k < t.dof+t.dofs; k++ {
		s.root[k] = math.Sqrt(s.inverse[k])
	}
}

// invert computes L^-1 D^-1/2 of a tree, by rows as the matrix is: row k is e_k less the ancestors' rows times those of
// L.
func (s *System) invert(t *tree) {
	m := s.m
	for k := t.dof; k < t.dof+t.dofs; k++ {
		d := &m.dofs[k]
		path := m.path[d.row : d.row+d.depth]
		l, to := s.matrix[d.row:][:len(path)], s.whole[d.row:][:len(path)+1]
		clear(to)
		x := 0
		for ; x+1 < len(path); x += 2 { // two ancestors at a time: half the passes over the row
			a, b := l[x], l[x+1]
			p, q := s.whole[m.dofs[path[x]].row:][:x+1], s.whole[m.dofs[path[x+1]].row:][:x+2]
			for y, py := range p {
				to[y] -= float64(a*py) + float64(b*q[y])
			}
			to[x+1] = -float64(b * q[x+1])
		}
		if x < len(path) {
			for y, py := range s.whole[m.dofs[path[x]].row:][:x+1] {
				to[y] -= float64(l[x] * py)
			}
		}
		to[len(path)] = s.root[k]
	}
}

// dense reports whether so many joints of the tree of a degree of freedom have rows of their own that invert computes
// all of them.
func (s *System) dense(dof int32) bool {
	t := s.m.tree(dof)
	return 2*s.solver.stiff[t] >= s.m.trees[t].dofs
}

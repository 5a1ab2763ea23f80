package dynamics

import "math"

// Sweeps converge to the forces of stiff and redundant contacts, such as four corners of a sole, by only a few percent
// each. But after one or two sweeps it is usually known which contacts are open, which hold and which slide. For these
// roles the forces follow from a linear system, with the holding rows as springs:
//
//	f = c - S y z and z = z0 + Y' f: (1 + Y' S Y) z = z0 + Y' c.
//
// If each block acts on one path of one tree, the matrix has an entry for each degree of freedom and ancestor, like the
// mass matrix, and its factor has no fill-in either; else see envelope.go. The friction of sliding contacts is
// proportional to their normal force. That is not symmetric, and is solved with these normal forces in a small separate
// system. A leap solves both. The next sweep corrects the roles, or finds that they are right. So the sweeps define the
// solution, and leaps only accelerate it: Newton's method on the roles, which is semi-smooth, with the sweep as its
// check.

const (
	mostLeaps = 12 // maximum number of linear systems in one solve of an island
	mostRoles = 4  // maximum number of these in one leap
	// A leap has failed if the sweep after it changes the accelerations by this factor more than the sweep before it.
	// Then this many sweeps follow without leaps.
	astray, sweepsAlone = 2, 4
	mostSlides          = 12 // maximum number of sliding contacts within a leap
	// Redundant contacts of one tree with the world leap after the first sweep if it changed more than this multiple of
	// the tolerance. Else sweeps will do: one costs about an eighth of a leap, and a robot that stands still needs one
	// or two. Where constraints join trees, as in a heap, it needs eight.
	mild = 4
)

// trees lists the trees of an island into members, and reports whether it may leap, and whether there are three
// contacts or more between the same two links, over which sweeps take long: they may leap after the first sweep, others
// after the second.
func (v *solver) trees(m *Model, island []int32) (small, redundant bool) {
	v.members = v.members[:0]
	v.turn++
	dofs, alike := int32(0), 0
	for n, i := range island {
		k := &v.blocks[i]
		if n > 0 && k.kind == contact && v.blocks[island[n-1]].kind == contact && v.blocks[island[n-1]].a == k.a &&
			v.blocks[island[n-1]].b == k.b {
			alike++
			redundant = redundant || alike >= 2
		} else {
			alike = 0
		}
		for _, last := range [...]int32{k.a, k.b} {
			if last < 0 {
				continue
			}
			if t := m.tree(last); v.met[t] != v.turn {
				v.met[t] = v.turn
				v.members = append(v.members, t)
				dofs += m.trees[t].dofs
			}
		}
	}
	return dofs <= maxEnvelope, redundant
}

// prepare lays out the island's matrix. It returns how many systems may be solved for its roles, and the change of a
// sweep as a share of the scale from which on that pays: of a large matrix only near the solution, where few roles
// change.
func (v *solver) prepare(m *Model, island []int32) (budget int, near float64) {
	v.coupled = false
	for _, i := range island {
		if !v.single(m, &v.blocks[i]) {
			v.coupled = true
			if !v.joint.plan(v, m, island) {
				return -1, 0
			}
			if v.joint.products > fewProducts {
				return min(v.leaps, 3), 0.002
			}
			break
		}
	}
	return v.leaps, math.Inf(1)
}

// restart makes z that of the island without its forces; with keep, it notes z as that instead.
func (v *solver) restart(m *Model, z []float64, keep bool) {
	for _, t := range v.members {
		tree := &m.trees[t]
		to, from := z[tree.dof:tree.dof+tree.dofs], v.free[tree.dof:]
		if keep {
			copy(from, to)
		} else {
			copy(to, from)
		}
	}
}

// apply makes z that of the island with the forces of its rows.
func (v *solver) apply(m *Model, island []int32, z []float64) {
	v.restart(m, z, false)
	var f [maxRows]float64
	for _, i := range island {
		k := &v.blocks[i]
		for c := range k.rows {
			f[c] = v.row[k.row+c].f
		}
		v.push(k, z, &f)
	}
}

// leap solves the island for the roles that its blocks have, and again for those that come of it, as long as the budget
// of solved systems lasts. It is false where that is not possible; the forces are then as they were.
func (v *solver) leap(s *System, island []int32, budget *int, first bool) bool {
	for _, i := range island {
		k := &v.blocks[i]
		rows := v.row[k.row:][:k.rows]
		for j := range rows {
			rows[j].last = rows[j].f
			if first {
				rows[j].origin = rows[j].f
			}
		}
	}
	for i := 0; i < mostRoles && *budget > 0; i++ {
		*budget--
		if !v.solveRoles(s, island) {
			v.back(s.m, island, s.qdd, false)
			return false
		}
		same := true
		for _, i := range island {
			k := &v.blocks[i]
			if v.answer(k, v.row[k.row:][:k.rows], s.qdd) {
				same = false
			}
		}
		if same {
			break
		}
	}
	v.apply(s.m, island, s.qdd)
	return true
}

// solveRoles makes z that of the roles.
func (v *solver) solveRoles(s *System, island []int32) bool {
	m, z := s.m, s.qdd
	v.restart(m, z, false)
	if v.coupled {
		v.joint.unit()
	} else {
		for _, t := range v.members {
			v.unit(m, &m.trees[t])
		}
	}
	v.slides = v.slides[:0]
	var c [maxRows]float64
	for _, i := range island {
		k := &v.blocks[i]
		rows := v.row[k.row:][:k.rows]
		if v.role(k, rows) && len(v.slides) < mostSlides {
			v.slides = append(v.slides, i)
			k.follows = true
		}
		v.constant(k, rows, &c)
		v.push(k, z, &c)
		v.stiffen(m, k)
	}
	if v.coupled {
		if !v.joint.factor() {
			return false
		}
	} else {
		for _, t := range v.members {
			if m.factor(&m.trees[t], v.near, v.pivot) >= 0 {
				return false
			}
		}
	}
	v.settleTrees(m, z)
	v.followers(m, z)
	return true
}

// back takes the last leap back, or all of them.
func (v *solver) back(m *Model, island []int32, z []float64, all bool) {
	for _, i := range island {
		k := &v.blocks[i]
		for c := range k.rows {
			r := &v.row[k.row+c]
			if r.f = r.last; all {
				r.f = r.origin
			}
		}
	}
	v.apply(m, island, z)
}

// single reports whether a block acts on one path of one tree.
func (v *solver) single(m *Model, k *block) bool {
	depth := int32(0)
	for _, last := range [...]int32{k.a, k.b} {
		if last >= 0 {
			depth = max(depth, m.dofs[last].depth+1)
		}
	}
	return k.count == depth
}

// unit makes the part of a tree in the leap's matrix the identity.
func (v *solver) unit(m *Model, t *tree) {
	for k := t.dof; k < t.dof+t.dofs; k++ {
		d := &m.dofs[k]
		row := v.near[d.row : d.row+d.depth+1]
		clear(row)
		row[d.depth] = 1
	}
}

// settleTrees solves for the leap's matrix, which is factored, in x, of all trees of the island.
func (v *solver) settleTrees(m *Model, x []float64) {
	if v.coupled {
		v.joint.solve(m, x)
		return
	}
	for _, t := range v.members {
		tree := &m.trees[t]
		m.descend(tree, v.near, x)
		for k := tree.dof; k < tree.dof+tree.dofs; k++ {
			x[k] = float64(x[k] * v.pivot[k])
		}
		m.ascend(tree, v.near, x)
	}
}

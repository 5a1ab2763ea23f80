package dynamics

// Trees connected by constraints, directly or through others, are an island. Islands do not affect each other within a
// step, so each is solved independently, to its own tolerance. Two hundred stones at rest cost one sweep each, even
// next to a robot that needs many, and a distant island does not change the last bit of another.

// islands sorts the blocks by island. The islands are in the order of their first blocks, the blocks of an island in
// the order in which they were gathered.
func (v *solver) islands(m *Model) {
	if len(m.trees) == 1 { // all blocks in their order
		v.order, v.starts = v.order[:0], append(v.starts[:0], 0)
		for i := range v.blocks {
			v.order = append(v.order, int32(i))
		}
		v.starts = append(v.starts, int32(len(v.order)))
		return
	}
	// The island of a tree is named by its tree with the lowest number: union and find over trees, with the paths
	// halved.
	for i := range v.joined {
		v.joined[i] = int32(i)
	}
	for i := range v.blocks {
		k := &v.blocks[i]
		if k.a < 0 || k.b < 0 {
			continue
		}
		a, b := v.root(m.tree(k.a)), v.root(m.tree(k.b))
		v.joined[max(a, b)] = min(a, b)
	}
	// Sorting by counting: v.room reports how many blocks an island has, then where the next of them goes.
	clear(v.room)
	v.order, v.starts = v.order[:len(v.blocks)], v.starts[:0]
	for i := range v.blocks {
		v.room[v.home(m, &v.blocks[i])]++
	}
	next := int32(0)
	for i := range v.blocks {
		at := &v.room[v.home(m, &v.blocks[i])]
		if *at > 0 { // the first block of its island
			v.starts = append(v.starts, next)
			next, *at = next+*at, -next-1
		}
		v.order[-*at-1] = int32(i)
		*at--
	}
	v.starts = append(v.starts, next)
}

// tree is the tree of a degree of freedom.
func (m *Model) tree(dof int32) int32 { return m.links[m.dofs[dof].link].tree }

// root is the name of the island of tree t.
func (v *solver) root(t int32) int32 {
	for v.joined[t] != t {
		v.joined[t] = v.joined[v.joined[t]]
		t = v.joined[t]
	}
	return t
}

// home is the name of the island of a block, which acts on one tree at least.
func (v *solver) home(m *Model, k *block) int32 {
	return v.root(m.tree(max(k.a, k.b)))
}

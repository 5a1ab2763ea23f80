package dynamics

import (
	"fmt"
	"slices"

	"github.com/halyard-robotics/halyard/internal/sim/r3"
)

// Model is a Spec made ready to simulate. It does not change, and any number of Systems may share it.
//
// Welded bodies become one link. A link's own frame is at its joint's anchor, z along the axis, so that a hinge rotates
// only its first two columns.
type Model struct {
	spec  Spec
	links []link
	trees []tree
	wet   []wet
	dofs  []dof
	nq    int
	// Trees that may sleep.
	drowsy []int32

	// Where each body of the spec is: on a link (World: it never moves), in the link's own frame.
	on      []int32
	turns   []r3.Mat
	offsets []r3.Vec

	// The path of dof i from the root of its tree down to itself: path[row[i] : row[i]+depth+1]. The mass matrix has
	// one entry for each: branch-induced sparsity (RBDA 6.4). Both are nil where a model is so deep that only the
	// articulated-body recursion can handle it.
	path []int32
}

// link is a group of bodies that move as one.
type link struct {
	kind     JointKind
	parent   int32 // link, or World
	body     int32 // the body with its joint
	tree     int32
	q, v     int32  // its first coordinate and degree of freedom
	straight bool   // turn is the identity
	turn     r3.Mat // of its own frame at joint position 0, in that of the parent
	offset   r3.Vec // of its own origin there

	mass float64
	com  r3.Vec // in its own frame
	// The inertia about the COM is base + ext1 axis1 axis1' + ext2 axis2 axis2'.
	base, ext1, ext2 float64
	axis1, axis2     r3.Vec
}

type tree struct {
	link, links int32 // first and count; likewise
	dof, dofs   int32
	depth       int32 // longest path
	wet         bool
}

// dof is a degree of freedom.
type dof struct {
	parent int32 // dof, or -1
	link   int32
	depth  int32
	row    int32 // of the mass matrix
	q      int32 // its coordinate; -1 for balls and free joints, which have no separate one
	// Its path is start0 .. start0+count0-1, then start1 .. start1+count1-1; count0 is 0 where it has more gaps.
	start0, count0, start1, count1 int32
}

// maxPath bounds the mass matrix; beyond it, a model may have no constraints.
const maxPath = 1 << 22

// New checks a spec and makes a model of it. The error is Faults: everything that is wrong, each with its path.
func New(spec Spec) (*Model, error) {
	var f Faults
	for _, c := range [...]struct {
		path     string
		got, max int
	}{{"bodies", len(spec.Bodies), maxBodies}, {"geoms", len(spec.Geoms), maxGeoms},
		{"equalities", len(spec.Equalities), maxEqualities}} {
		if c.got > c.max {
			f.add(c.path, "got %d, want at most %d", c.got, c.max)
		}
	}
	if len(f) > 0 {
		return nil, f
	}
	m := &Model{spec: spec}
	m.spec.Bodies, m.spec.Geoms = slices.Clone(spec.Bodies), slices.Clone(spec.Geoms)
	m.spec.Equalities, m.spec.NoContact = slices.Clone(spec.Equalities), slices.Clone(spec.NoContact)
	for i := range m.spec.Bodies {
		f.body(fmt.Sprintf("bodies[%d]", i), &m.spec.Bodies[i])
	}
	for i := range m.spec.Geoms {
		g := &m.spec.Geoms[i]
		f.index(fmt.Sprintf("geoms[%d].body", i), g.Body, World, &m.spec)
		if err := g.Check(); err != nil {
			f.add(fmt.Sprintf("geoms[%d]", i), "%v", err)
		}
		f.within(fmt.Sprintf("geoms[%d].material", i), 0, maxForce, g.Material.Friction, g.Material.Torsion,
			g.Material.Rolling, g.Material.Factor)
		f.within(fmt.Sprintf("geoms[%d].material.restitution", i), 0, 1, g.Material.Restitution)
	}
	for i := range m.spec.Equalities {
		f.equality(fmt.Sprintf("equalities[%d]", i), &m.spec.Equalities[i], &m.spec)
	}
	for i, p := range spec.NoContact {
		for _, b := range p {
			f.index(fmt.Sprintf("noContact[%d]", i), b, World, &m.spec)
		}
	}
	f.options(&m.spec.Options)
	order := f.order(m.spec.Bodies)
	if len(f) > 0 {
		return nil, f
	}
	m.grow(order)
	m.inertias(&f)
	m.wets()
	m.sleepers()
	m.paths(&f)
	if len(f) > 0 {
		return nil, f
	}
	return m, nil
}

// order returns the bodies parents first, each with all its descendants before its next sibling.
func (f *Faults) order(bodies []Body) []int {
	n := len(bodies)
	// children of each body, the World last; 0 ends a list, so count from 1
	first, next := make([]int, n+1), make([]int, n)
	for i := n - 1; i >= 0; i-- {
		p := bodies[i].Parent
		path := fmt.Sprintf("bodies[%d].parent", i)
		switch {
		case p < World || p >= n:
			f.add(path, "got body %d, want -1 to %d", p, n-1)
			continue
		case p != World && bodies[i].Joint.Kind == Free:
			f.add(path, "got body %d of a free joint, want the world", p)
		case p == World:
			p = n
		}
		next[i], first[p] = first[p], i+1
	}
	order, stack := make([]int, 0, n), []int{}
	if first[n] > 0 {
		stack = append(stack, first[n]-1)
	}
	for len(stack) > 0 {
		i := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		order = append(order, i)
		if next[i] > 0 {
			stack = append(stack, next[i]-1)
		}
		if first[i] > 0 {
			stack = append(stack, first[i]-1)
		}
	}
	if len(order) < n && len(*f) == 0 {
		// an unreachable body is in a loop; one fault for each loop, at its lowest body
		seen := make([]int, n)
		for _, i := range order {
			seen[i] = n + 1
		}
		for i := range bodies {
			j := i
			for seen[j] == 0 {
				seen[j] = i + 1
				j = bodies[j].Parent
			}
			if seen[j] == i+1 {
				f.add(fmt.Sprintf("bodies[%d].parent", i),
					"got a loop through body %d, want a tree; close loops with equalities", j)
			}
		}
	}
	return order
}

// grow makes the links, trees and degrees of freedom.
func (m *Model) grow(order []int) {
	n := len(m.spec.Bodies)
	m.on, m.turns, m.offsets = make([]int32, n), make([]r3.Mat, n), make([]r3.Vec, n)
	for _, i := range order {
		b := &m.spec.Bodies[i]
		parent, turn, offset := int32(World), r3.Identity(), r3.Vec{}
		if p := b.Parent; p != World {
			parent, turn, offset = m.on[p], m.turns[p], m.offsets[p]
		}
		offset = offset.Add(turn.Of(r3.Pack(b.Position)))
		if q := r3.PackQuat(b.Rotation); q != (r3.Quat{}) && q != (r3.Quat{W: 1}) {
			r := q.Unit().Mat()
			turn = turn.Times(&r)
		}
		j := &b.Joint
		// A welded body only hands on where it is, in the frame of the link that carries it.
		if j.Kind == Weld {
			m.on[i], m.turns[i], m.offsets[i] = parent, turn, offset
			continue
		}
		own := r3.Identity()
		anchor := r3.Pack(j.Anchor)
		switch j.Kind {
		case Free:
			anchor = r3.Vec{}
		case Hinge, Slide:
			own = frame(r3.Pack(j.Axis))
		}
		l := link{kind: j.Kind, parent: parent, body: int32(i), q: int32(m.nq), v: int32(len(m.dofs))}
		l.offset, l.turn = offset.Add(turn.Of(anchor)), turn.Times(&own)
		l.straight = l.turn == r3.Identity()
		// A child of the world begins a tree; by the order its links and degrees of freedom are contiguous.
		if parent == World {
			m.trees = append(m.trees, tree{link: int32(len(m.links)), dof: int32(len(m.dofs))})
		}
		l.tree = int32(len(m.trees) - 1)
		up := int32(-1)
		if parent != World {
			up = m.links[parent].v + int32(m.links[parent].kind.dofs()) - 1
		}
		q := l.q
		if j.Kind.dofs() > 1 {
			q = -1
		}
		for range j.Kind.dofs() {
			m.dofs = append(m.dofs, dof{parent: up, link: int32(len(m.links)), q: q})
			up = int32(len(m.dofs) - 1)
		}
		m.nq += j.Kind.coords()
		back := own.Transpose()
		m.on[i], m.turns[i], m.offsets[i] = int32(len(m.links)), back, back.Of(anchor.Neg())
		m.links = append(m.links, l)
		t := &m.trees[l.tree]
		t.links = int32(len(m.links)) - t.link
		t.dofs = int32(len(m.dofs)) - t.dof
	}
}

// frame returns a frame whose z axis is a. Axes along x, y and z give a frame without rounding.
func frame(a r3.Vec) r3.Mat {
	switch (r3.Vec{}) {
	case r3.XYZ(a.Y, a.Z, min(a.X, 0)):
		return r3.Mat{X: r3.Vec{Y: 1}, Y: r3.Vec{Z: 1}, Z: r3.Vec{X: 1}}
	case r3.XYZ(a.Z, a.X, min(a.Y, 0)):
		return r3.Mat{X: r3.Vec{Z: 1}, Y: r3.Vec{X: 1}, Z: r3.Vec{Y: 1}}
	case r3.XYZ(a.X, a.Y, min(a.Z, 0)):
		return r3.Identity()
	}
	z := a.Mul(1 / a.Norm())
	x := z.Across()
	x = x.Mul(1 / x.Norm())
	return r3.Mat{X: x, Y: z.Cross(x), Z: z}
}

// paths lists the ancestors of each degree of freedom.
func (m *Model) paths(f *Faults) {
	total := 0
	for i := range m.dofs {
		d := &m.dofs[i]
		if d.parent >= 0 {
			d.depth = m.dofs[d.parent].depth + 1
		}
		t := &m.trees[m.links[d.link].tree]
		t.depth = max(t.depth, d.depth+1)
		if total <= maxPath {
			d.row = int32(total)
		}
		total += int(d.depth) + 1
	}
	if total > maxPath {
		for i := range m.spec.Bodies {
			j := &m.spec.Bodies[i].Joint
			if j.Limited || j.Dry > 0 || j.Static > 0 {
				f.add(fmt.Sprintf("bodies[%d].joint", i),
					"got limits or dry friction in a model with %d pairs of joint and ancestor, want at most %d", total,
					maxPath)
			}
		}
		if len(m.spec.Geoms)+len(m.spec.Equalities) > 0 {
			f.add("bodies", "got %d pairs of joint and ancestor with geoms or equalities, want at most %d", total,
				maxPath)
		}
		if m.spec.Options.Articulated < 0 {
			f.add("options.articulated", "got never in a model with %d pairs of joint and ancestor, want at most %d",
				total, maxPath)
		}
		return
	}
	m.path = make([]int32, total)
	for i := range m.dofs {
		d := &m.dofs[i]
		own := m.path[d.row : d.row+d.depth+1]
		if p := d.parent; p >= 0 {
			copy(own, m.path[m.dofs[p].row:m.dofs[p].row+m.dofs[p].depth+1])
		}
		own[d.depth] = int32(i) // itself last: the diagonal of its row
		d.runs(own)
	}
}

// runs finds the contiguous parts of a path.
func (d *dof) runs(path []int32) {
	d.start0, d.count0 = path[0], 1
	rest := path[1:]
	for len(rest) > 0 && rest[0] == d.start0+d.count0 {
		d.count0, rest = d.count0+1, rest[1:]
	}
	if len(rest) == 0 {
		d.start1 = d.start0
		return
	}
	d.start1, d.count1 = rest[0], int32(len(rest))
	if rest[len(rest)-1] != d.start1+d.count1-1 {
		d.count0 = 0
	}
}

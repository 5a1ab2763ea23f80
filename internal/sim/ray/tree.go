package ray

import (
	"math"
	"slices"

	"github.com/halyard-robotics/halyard/internal/sim/r3"
)

// bounds is a box in world axes; the empty one is turned inside out.
type bounds struct{ lo, hi r3.Vec }

func empty() bounds {
	inf := math.Inf(1)
	return bounds{r3.XYZ(inf, inf, inf), r3.XYZ(-inf, -inf, -inf)}
}

func (b *bounds) add(c *bounds) {
	b.lo = r3.XYZ(lesser(b.lo.X, c.lo.X), lesser(b.lo.Y, c.lo.Y), lesser(b.lo.Z, c.lo.Z))
	b.hi = r3.XYZ(greater(b.hi.X, c.hi.X), greater(b.hi.Y, c.hi.Y), greater(b.hi.Z, c.hi.Z))
}

// area returns half the surface, which a random line hits in proportion.
func (b *bounds) area() float64 {
	d := b.hi.Sub(b.lo)
	if !(d.X >= 0 && d.Y >= 0 && d.Z >= 0) {
		return 0
	}
	return float64(d.X*d.Y) + float64(d.Y*d.Z) + float64(d.Z*d.X)
}

func (b *bounds) centre(axis int) float64 {
	return float64(0.5 * (b.lo.Array()[axis] + b.hi.Array()[axis]))
}

// node is a box of the tree. Nodes are in depth-first order, so the left child is the next node.
type node struct {
	bounds
	at    int32 // a leaf's first item, or the right child
	count int16 // items of a leaf; 0 for a fork
	axis  int16 // along which a fork was split
}

// tree is a flat bounding volume hierarchy. Items are geoms.
type tree struct {
	nodes []node
	items []int32
}

const (
	bins     = 12
	leafSize = 4
	// Below maxSAH forks the split is at the middle, so that the stack of a cast holds any tree.
	maxSAH   = 28
	maxDepth = 64
)

// build makes the tree over items by binned SAH [W 3]. box holds the bounds of every geom.
func (t *tree) build(items []int32, box []bounds) {
	t.items = items
	t.nodes = make([]node, 0, 2*len(items))
	if len(items) > 0 {
		t.split(0, len(items), 0, box)
	}
}

func (t *tree) split(from, to, depth int, box []bounds) {
	// The place of the right child is known once the left is built.
	me := len(t.nodes)
	t.nodes = append(t.nodes, node{bounds: empty()})
	centres := empty()
	for _, k := range t.items[from:to] {
		t.nodes[me].add(&box[k])
		c := r3.XYZ(box[k].centre(0), box[k].centre(1), box[k].centre(2))
		centres.add(&bounds{c, c})
	}
	axis, middle := t.cut(from, to, depth, box, &centres)
	if middle == from || middle == to {
		t.nodes[me].at, t.nodes[me].count = int32(from), int16(to-from)
		return
	}
	t.split(from, middle, depth+1, box)
	t.nodes[me].at, t.nodes[me].axis = int32(len(t.nodes)), int16(axis)
	t.split(middle, to, depth+1, box)
}

// cut sorts the items into a left and a right part; middle is from where a leaf is as cheap.
func (t *tree) cut(from, to, depth int, box []bounds, centres *bounds) (axis, middle int) {
	count := to - from
	if count == 1 {
		return 0, from
	}
	best, at := math.Inf(1), -1
	for a := range 3 {
		lo, scale := scaling(centres, a)
		if scale == 0 || depth >= maxSAH {
			continue
		}
		var bin [bins]bounds
		var held [bins]int
		for b := range bin {
			bin[b] = empty()
		}
		// Into bins by centre; an item across a boundary counts in the bin of its centre [W 3.2].
		for _, k := range t.items[from:to] {
			b := binOf(&box[k], a, lo, scale)
			bin[b].add(&box[k])
			held[b]++
		}
		// The cost of each plane between bins: from the right, then from the left.
		var right [bins]float64
		side, n := empty(), 0
		for b := bins - 1; b > 0; b-- {
			side.add(&bin[b])
			n += held[b]
			right[b] = float64(side.area() * float64(n))
		}
		side, n = empty(), 0
		for b := 1; b < bins; b++ {
			side.add(&bin[b-1])
			n += held[b-1]
			cost := float64(side.area()*float64(n)) + right[b]
			if n > 0 && n < count && cost < best {
				best, axis, at = cost, a, b
			}
		}
	}
	part := t.items[from:to]
	if at < 0 {
		// All centres in one place, or too deep: halves by index.
		if count <= leafSize {
			return 0, from
		}
		return 0, from + count/2
	}
	// One step down the tree costs about as much as half a shape.
	whole := t.nodes[len(t.nodes)-1].area()
	if count <= leafSize && float64(whole*float64(count)) <= best+float64(whole/2) {
		return 0, from
	}
	// Left before right, each by index: the tree depends only on the boxes.
	lo, scale := scaling(centres, axis)
	slices.SortFunc(part, func(a, b int32) int {
		l, r := binOf(&box[a], axis, lo, scale) < at, binOf(&box[b], axis, lo, scale) < at
		switch {
		case l && !r:
			return -1
		case r && !l:
			return 1
		}
		return int(a - b)
	})
	middle = from
	for middle < to && binOf(&box[t.items[middle]], axis, lo, scale) < at {
		middle++
	}
	return axis, middle
}

// scaling returns where the bins begin along an axis and how many there are to the metre, 0 where all is in one place.
func scaling(centres *bounds, axis int) (lo, scale float64) {
	d := centres.hi.Sub(centres.lo)
	lo = centres.lo.Array()[axis]
	size := d.Array()[axis]
	if !(size > 1e-12) || math.IsInf(size, 1) {
		return lo, 0
	}
	return lo, bins / size
}

func binOf(b *bounds, axis int, lo, scale float64) int {
	return min(max(int(float64((b.centre(axis)-lo)*scale)), 0), bins-1)
}

// refit takes the boxes again, from the leaves up; the shape of the tree stays.
func (t *tree) refit(box []bounds) {
	for i := len(t.nodes) - 1; i >= 0; i-- {
		n := &t.nodes[i]
		n.bounds = empty()
		if n.count == 0 {
			n.add(&t.nodes[i+1].bounds)
			n.add(&t.nodes[n.at].bounds)
			continue
		}
		for _, k := range t.items[n.at : int(n.at)+int(n.count)] {
			n.add(&box[k])
		}
	}
}

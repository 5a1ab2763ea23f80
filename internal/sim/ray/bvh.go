package ray

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/halyard-robotics/halyard/internal/sim/r3"
	"github.com/halyard-robotics/halyard/sim/collide"
)

// Ray is a half line to cast.
type Ray struct {
	Origin    [3]float64 // m
	Direction [3]float64 // any length but 0
	Max       float64    // m; 0 or less means without end
	Mask      uint32     // groups of geoms that the ray sees; 0 means all
}

// Hit is where a ray met a surface.
type Hit struct {
	Geom     int32      // -1 without a hit
	Inside   bool       // the ray came from inside the solid
	Distance float64    // m; without a hit the ray's Max, or +Inf if it has none
	Normal   [3]float64 // unit, out of the solid
}

// BVH holds geoms for casting.
type BVH struct {
	geoms   []collide.Geom
	frame   []collide.Frame
	box     []bounds
	present []bool
	still   tree
	moving  tree
	movers  []int32 // all geoms of bodies
	endless []int32 // planes
}

// New makes a BVH of geoms, which it copies, with the bodies at poses. The tree of the bodies' geoms keeps the shape
// that fits these poses, so choose them as they will mostly be. The error names all faults.
func New(geoms []collide.Geom, poses []collide.Pose) (*BVH, error) {
	var faults []error
	for i := range geoms {
		if err := geoms[i].Check(); err != nil {
			faults = append(faults, fmt.Errorf("geoms[%d]: %w", i, err))
		}
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	n := len(geoms)
	b := &BVH{
		geoms:   slices.Clone(geoms),
		frame:   make([]collide.Frame, n),
		box:     make([]bounds, n),
		present: make([]bool, n),
	}
	var still, moving []int32
	for i := range b.geoms {
		g, k := &b.geoms[i], int32(i)
		g.Group = cmp.Or(g.Group, 1)
		if g.Body < 0 {
			b.place(k, collide.Pose{})
		} else {
			b.movers = append(b.movers, k)
		}
		switch {
		case g.Kind == collide.Plane:
			b.endless = append(b.endless, k)
		case g.Body < 0:
			still = append(still, k)
		default:
			moving = append(moving, k)
		}
	}
	b.placeAll(poses)
	b.still.build(still, b.box)
	b.moving.build(moving, b.box)
	return b, nil
}

// Extent is the box of all fixed geoms but planes; false if there are none.
func (b *BVH) Extent() (lo, hi [3]float64, ok bool) {
	if len(b.still.nodes) == 0 {
		return lo, hi, false
	}
	root := &b.still.nodes[0].bounds
	return root.lo.Array(), root.hi.Array(), true
}

// Update sets the poses of the bodies' geoms and refits the tree. Geoms whose pose is missing or not finite are not
// hit. It does not allocate and must not run concurrently with a cast.
func (b *BVH) Update(poses []collide.Pose) {
	b.placeAll(poses)
	b.moving.refit(b.box)
}

func (b *BVH) placeAll(poses []collide.Pose) {
	for _, k := range b.movers {
		if body := b.geoms[k].Body; body < len(poses) {
			b.place(k, poses[body])
		} else {
			b.present[k], b.box[k] = false, empty()
		}
	}
}

// place also widens the box by more than the rounding errors of its geom.
func (b *BVH) place(k int32, pose collide.Pose) {
	g := &b.geoms[k]
	b.box[k] = empty()
	f, ok := g.Frame(pose)
	b.present[k], b.frame[k] = ok, f
	if !ok || g.Kind == collide.Plane {
		return
	}
	lo, hi := g.Bounds(&f)
	wide := float64(1e-12 * (1 + greater(lo.Norm(), hi.Norm())))
	margin := r3.XYZ(wide, wide, wide)
	if b.present[k] = !math.IsInf(wide, 0); b.present[k] {
		b.box[k] = bounds{lo.Sub(margin), hi.Along(1, margin)}
	}
}

// cast is a ray at work: its direction has unit length, and the hit so far bounds it.
type cast struct {
	o, d    r3.Vec
	inverse r3.Vec
	mask    uint32
	limit   float64
	hit     crossing
	geom    int32
}

// Cast returns the first surface that the ray hits within Max. A ray with values that are not finite or without a
// direction has no hit. It does not allocate.
func (b *BVH) Cast(r *Ray) (Hit, bool) {
	c := cast{o: r3.Pack(r.Origin), d: r3.Pack(r.Direction), mask: r.Mask, limit: r.Max, geom: -1}
	if c.mask == 0 {
		c.mask = math.MaxUint32
	}
	if !(c.limit > 0) {
		c.limit = math.Inf(1)
	}
	miss := Hit{Geom: -1, Distance: c.limit} // c.limit shrinks with each hit
	length := c.d.Norm()
	if reach := c.o.Norm() + length; !(length > r3.Tiny) || !(reach < r3.Huge) {
		return miss, false
	}
	c.d = c.d.Div(length)
	c.inverse = r3.XYZ(1/c.d.X, 1/c.d.Y, 1/c.d.Z)
	// Planes first: the floor bounds the walk through the trees.
	for _, k := range b.endless {
		b.test(&c, k)
	}
	b.walk(&b.still, &c)
	b.walk(&b.moving, &c)
	if c.geom < 0 {
		return miss, false
	}
	// From very far the rounding of the distance affects the normal; beyond the float range there is no valid normal.
	n := b.frame[c.geom].Turn.Of(c.hit.normal)
	long := n.Norm()
	if !(long > r3.Tiny && long < r3.Huge) {
		return miss, false
	}
	return Hit{c.geom, c.hit.inside, c.hit.t, n.Div(long).Array()}, true
}

// walk goes through a tree from near to far with a stack of its own [P 4.3.4].
func (b *BVH) walk(t *tree, c *cast) {
	if len(t.nodes) == 0 {
		return
	}
	var stack [maxDepth]int32
	top, at := 0, int32(0)
	for {
		n := &t.nodes[at]
		if c.enters(&n.bounds) {
			if n.count == 0 {
				// The nearer child first: its geoms may occlude the other.
				near, far := at+1, n.at
				if c.d.Array()[n.axis] < 0 {
					near, far = far, near
				}
				stack[top] = far
				top++
				at = near
				continue
			}
			for _, k := range t.items[n.at : int(n.at)+int(n.count)] {
				b.test(c, k)
			}
		}
		if top == 0 {
			return
		}
		top--
		at = stack[top]
	}
}

// enters is the slab test of a box [K 3]. The comparisons accept NaN, of a ray within the plane of a side.
// The far bound is widened by its rounding [P 3.9.2].
func (c *cast) enters(b *bounds) bool {
	near, far := 0.0, c.limit
	slab := func(lo, hi, o, inverse float64) {
		t0, t1 := float64((lo-o)*inverse), float64((hi-o)*inverse)
		if inverse < 0 {
			t0, t1 = t1, t0
		}
		t1 = float64(t1 * (1 + 4e-16))
		near, far = greater(near, t0), lesser(far, t1)
	}
	slab(b.lo.X, b.hi.X, c.o.X, c.inverse.X)
	slab(b.lo.Y, b.hi.Y, c.o.Y, c.inverse.Y)
	slab(b.lo.Z, b.hi.Z, c.o.Z, c.inverse.Z)
	return near <= far
}

// test casts at one geom and keeps the hit if it is nearer, or as near and of a lower geom.
func (b *BVH) test(c *cast, k int32) {
	g := &b.geoms[k]
	if g.Group&c.mask == 0 || !b.present[k] {
		return
	}
	f := &b.frame[k]
	h, ok := meet(&g.Shape, f.Turn.Back(c.o.Sub(f.At)), f.Turn.Back(c.d), c.limit)
	if ok && h.t-h.t == 0 && (h.t < c.limit || c.geom < 0 || k < c.geom) {
		c.hit, c.geom, c.limit = h, k, h.t
	}
}

package camera

import (
	"cmp"
	"math"
	"slices"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/sim/r3"
	"github.com/halyard-robotics/halyard/internal/sim/ray"
	"github.com/halyard-robotics/halyard/sim/collide"
)

// object is a Object with points spread through its solids, by which its visible share is judged.
type object struct {
	class, name string
	parts       []int
	share       []float64    // of each part in the surface of all
	geom        []int32      // of each point
	point       [][3]float64 // in the geom's frame
}

// samples is how many points a thing has: a share is known to about 2 %.
const samples = 64

func newThing(t *Object, geoms []collide.Geom) object {
	out := object{class: t.Class, name: t.Name, parts: append([]int(nil), t.Geoms...)}
	// From all sides together, a convex solid shows a quarter of its surface (Cauchy): a fair weight of its part.
	var total float64
	for _, g := range t.Geoms {
		total += surface(&geoms[g].Shape)
	}
	for _, g := range t.Geoms {
		s := &geoms[g].Shape
		share := surface(s) / total
		out.share = append(out.share, share)
		// The same points every time: the share does not flicker in a static scene.
		n := max(1, int(math.Round(samples*share)))
		for k := uint64(1); n > 0; k++ {
			p := [3]float64{2*halton(k, 2) - 1, 2*halton(k, 3) - 1, 2*halton(k, 5) - 1}
			if inside(s, &p) {
				out.geom, out.point = append(out.geom, int32(g)), append(out.point, p)
				n--
			}
		}
	}
	return out
}

// surface is about that of the solid, m².
func surface(s *collide.Shape) float64 {
	r, h := s.Radius, s.Half
	switch s.Kind {
	case collide.Hull:
		h = s.Hull.Half() // about half of the box's
		return 4 * (float64(h[0]*h[1]) + float64(h[1]*h[2]) + float64(h[2]*h[0]))
	case collide.Box:
		return 8 * (float64(h[0]*h[1]) + float64(h[1]*h[2]) + float64(h[2]*h[0]))
	case collide.Sphere:
		return 4 * math.Pi * r * r
	case collide.Capsule:
		return 4 * math.Pi * r * (r + h[2])
	}
	return 2 * math.Pi * r * (r + 2*h[2])
}

// inside scales p, within -1..1, to the box around the solid, and reports whether it is well inside.
func inside(s *collide.Shape, p *[3]float64) bool {
	const well = 0.97
	r, h := s.Radius, s.Half
	round := func(z float64) bool { return math.Sqrt(p[0]*p[0]+p[1]*p[1]+z*z) < well*r }
	switch s.Kind {
	case collide.Hull:
		h = s.Hull.Half()
		v := r3.XYZ(h[0]*p[0], h[1]*p[1], h[2]*p[2])
		inward := 1.0 // towards the origin, which is inside
		for i := range s.Hull.Faces() {
			if n, far := s.Hull.Face(i); n.Dot(v) > far {
				inward = math.Min(inward, far/n.Dot(v))
			}
		}
		*p = v.Mul(well * inward).Array()
		return true
	case collide.Box:
		p[0], p[1], p[2] = well*h[0]*p[0], well*h[1]*p[1], well*h[2]*p[2]
		return true
	case collide.Sphere:
		p[0], p[1], p[2] = r*p[0], r*p[1], r*p[2]
		return round(p[2])
	case collide.Capsule:
		p[0], p[1], p[2] = r*p[0], r*p[1], (h[2]+r)*p[2]
		return round(max(0, math.Abs(p[2])-h[2]))
	}
	p[0], p[1], p[2] = r*p[0], r*p[1], well*h[2]*p[2]
	return round(0)
}

// halton is number k of the sequence of a base: points that fill 0..1 evenly (J. Halton, Numerische Mathematik 2,
// 1960).
func halton(k, base uint64) float64 {
	f, x := 1.0, 0.0
	for ; k > 0; k /= base {
		f /= float64(base)
		x += f * float64(k%base)
	}
	return x
}

// tally counts the pixels of each thing. Nothing of it depends on the order in which they came: the shares of colour
// are whole numbers.
type tally []count

type count struct {
	pixels                   int64
	left, top, right, bottom int
	colour                   uint64 // in shares of 1/colourUnit
}

const colourUnit = 1 << 16

func (t tally) clear() {
	for i := range t {
		t[i] = count{left: math.MaxInt, top: math.MaxInt, right: -1, bottom: -1}
	}
}

func (c *count) add(i, j int, left r3.Vec) {
	c.pixels++
	c.left, c.right = min(c.left, i), max(c.right, i)
	c.top, c.bottom = min(c.top, j), max(c.bottom, j)
	c.colour += uint64((left.X + left.Y + left.Z) / 3 * colourUnit)
}

// join adds the counts of another worker.
func (t tally) join(u tally) {
	for i := range t {
		a, b := &t[i], &u[i]
		a.pixels += b.pixels
		a.left, a.right = min(a.left, b.left), max(a.right, b.right)
		a.top, a.bottom = min(a.top, b.top), max(a.bottom, b.bottom)
		a.colour += b.colour
	}
}

// sights appends the detections of the tally to dst, for all things of the scene: those in the picture first, then the
// others, with Visible 0 and no box; both by distance.
func (r *renderer) sights(dst []hal.Detection, v *view, t tally) []hal.Detection {
	for i := range t {
		c, k := &t[i], &r.things[i]
		s := hal.Detection{Class: k.class, Name: k.name, Distance: r.middle(k).Sub(v.eye).Norm()}
		if c.pixels == 0 {
			dst = append(dst, s)
			continue
		}
		// From the outer edges of its outermost pixels.
		w, h := float64(v.Width), float64(v.Height)
		s.Box = [4]float64{float64(c.left) / w, float64(c.top) / h, float64(c.right+1) / w, float64(c.bottom+1) / h}
		s.Visible = max(r.visible(int16(i), v), 1/(w*h)) // a pixel was seen, if by no sample
		s.Fill = float64(c.right-c.left+1) * float64(c.bottom-c.top+1) / (w * h)
		s.Colour = float64(c.colour) / colourUnit / float64(c.pixels)
		dst = append(dst, s)
	}
	slices.SortStableFunc(dst, func(a, b hal.Detection) int {
		if (a.Visible > 0) != (b.Visible > 0) {
			return cmp.Compare(b.Visible, a.Visible)
		}
		return cmp.Compare(a.Distance, b.Distance)
	})
	return dst
}

// middle is that of its parts by their surfaces: of a gate the middle of the way through.
func (r *renderer) middle(t *object) (sum r3.Vec) {
	for i, g := range t.parts {
		sum = sum.Along(t.share[i], r.frames[g].At)
	}
	return sum
}

func (r *renderer) sample(geom int32, p [3]float64) r3.Vec {
	f := &r.frames[geom]
	return f.At.Add(f.Turn.Of(r3.Pack(p)))
}

// visible is the share of a thing that is in the picture and not occluded: of rays towards points in it, the share that
// hits it first. Parts occluded by the thing itself count as visible.
func (r *renderer) visible(index int16, v *view) float64 {
	t, seen := &r.things[index], 0
	for i, g := range t.geom {
		way := r.sample(g, t.point[i]).Sub(v.eye)
		// A point outside the picture is not visible; one inside needs a ray.
		c := v.frame.Turn.Back(way)
		if !(c.X > v.Near) || v.Far > 0 && c.X > v.Far || math.Abs(c.Y) > float64(v.width*c.X) ||
			math.Abs(c.Z) > float64(v.height*c.X) {
			continue
		}
		start := v.eye.Along(v.Near/c.X, way)
		if h, ok := r.bvh.Cast(&ray.Ray{Origin: start.Array(), Direction: way.Array(), Mask: v.Mask}); ok &&
			r.owner[h.Geom] == index {
			seen++
		}
	}
	return float64(seen) / float64(len(t.geom))
}

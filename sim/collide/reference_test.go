package collide

import (
	"math"
	"math/rand/v2"
)

// The reference of the tests is independent of the code under test: shapes as sets of points, directions tried by the
// thousand, distances by formula on its own.

type point = [3]float64

func dotOf(a, b point) float64 { return a[0]*b[0] + a[1]*b[1] + a[2]*b[2] }
func plus(a, b point, s float64) point {
	return point{a[0] + s*b[0], a[1] + s*b[1], a[2] + s*b[2]}
}
func lengthOf(a point) float64 { return math.Sqrt(dotOf(a, a)) }
func unitOf(a point) point {
	n := lengthOf(a)
	return point{a[0] / n, a[1] / n, a[2] / n}
}

// rotate turns v by the quaternion q by the sandwich product, not by a matrix.
func rotate(q [4]float64, v point) point {
	n := math.Sqrt(q[0]*q[0] + q[1]*q[1] + q[2]*q[2] + q[3]*q[3])
	w, u := q[0]/n, point{q[1] / n, q[2] / n, q[3] / n}
	cross := func(a, b point) point {
		return point{a[1]*b[2] - a[2]*b[1], a[2]*b[0] - a[0]*b[2], a[0]*b[1] - a[1]*b[0]}
	}
	t := cross(u, v)
	t = point{2 * t[0], 2 * t[1], 2 * t[2]}
	return plus(plus(v, t, w), cross(u, t), 1)
}

func inverse(q [4]float64) [4]float64 { return [4]float64{q[0], -q[1], -q[2], -q[3]} }

// supportOf returns how far the placed shape reaches along the unit direction n, in world axes from the world's origin.
func supportOf(s *Shape, p Pose, n point) float64 {
	d := rotate(inverse(p.Rotation), n)
	var h float64
	switch s.Kind {
	case Sphere:
		h = s.Radius
	case Capsule:
		h = math.Max(d[2]*s.Half[2], -d[2]*s.Half[2]) + s.Radius
	case Box:
		h = math.Inf(-1)
		for i := range 8 {
			c := point{s.Half[0], s.Half[1], s.Half[2]}
			for k := range 3 {
				if i>>k&1 == 1 {
					c[k] = -c[k]
				}
			}
			h = math.Max(h, dotOf(c, d))
		}
	case Hull:
		h = math.Inf(-1)
		for _, c := range s.Hull.Points() {
			h = math.Max(h, dotOf(c, d))
		}
	case Cylinder:
		h = math.Abs(d[2])*s.Half[2] + s.Radius*math.Hypot(d[0], d[1])
	}
	return h + dotOf(p.Position, n)
}

// overlapAlong is how far a must move along n to part from b.
func overlapAlong(a *Shape, pa Pose, b *Shape, pb Pose, n point) float64 {
	m := point{-n[0], -n[1], -n[2]}
	return supportOf(b, pb, n) + supportOf(a, pa, m)
}

// leastOverlap searches all directions: a spiral of points over the sphere, then small random steps from the best few.
func leastOverlap(a *Shape, pa Pose, b *Shape, pb Pose, rng *rand.Rand) float64 {
	const many = 1500
	type candidate struct {
		n point
		f float64
	}
	best := [6]candidate{}
	for i := range best {
		best[i].f = math.Inf(1)
	}
	for i := range many {
		z := 1 - (2*float64(i)+1)/many
		r, phi := math.Sqrt(1-z*z), float64(i)*math.Pi*(3-math.Sqrt(5))
		n := point{r * math.Cos(phi), r * math.Sin(phi), z}
		c := candidate{n, overlapAlong(a, pa, b, pb, n)}
		for k := range best {
			if c.f < best[k].f {
				best[k], c = c, best[k]
			}
		}
	}
	least := math.Inf(1)
	for _, c := range best {
		for step, fails := 0.05, 0; step > 1e-9; {
			n := unitOf(plus(c.n, point{rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()}, step))
			if f := overlapAlong(a, pa, b, pb, n); f < c.f {
				c, fails = candidate{n, f}, 0
			} else if fails++; fails > 12 {
				step, fails = step/2, 0
			}
		}
		least = math.Min(least, c.f)
	}
	return least
}

// surface returns a random point of the placed shape's surface.
func surface(s *Shape, p Pose, rng *rand.Rand) point {
	d := unitOf(point{rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()})
	var q point
	switch s.Kind {
	case Sphere:
		q = plus(q, d, s.Radius)
	case Capsule:
		q = plus(point{0, 0, (2*rng.Float64() - 1) * s.Half[2]}, d, s.Radius)
		if z := math.Abs(q[2]); z < s.Half[2] {
			r := s.Radius / math.Hypot(q[0], q[1])
			q[0], q[1] = q[0]*r, q[1]*r
		} else {
			q = plus(point{0, 0, math.Copysign(s.Half[2], q[2])}, point{d[0], d[1], math.Copysign(d[2], q[2])},
				s.Radius)
		}
	case Box:
		for k := range 3 {
			q[k] = (2*rng.Float64() - 1) * s.Half[k]
		}
		k := rng.IntN(3)
		q[k] = math.Copysign(s.Half[k], q[k])
	case Hull: // a point of a face
		f := s.Hull.faces[rng.IntN(len(s.Hull.faces))]
		a, b := rng.Float64(), rng.Float64()
		for k, w := range []float64{1 - a, a * (1 - b), a * b} {
			q = plus(q, s.Hull.points[f.corners[k]].Array(), w)
		}
	case Cylinder:
		phi, r := 2*math.Pi*rng.Float64(), s.Radius
		z := (2*rng.Float64() - 1) * s.Half[2]
		if rng.IntN(2) == 0 {
			r, z = r*math.Sqrt(rng.Float64()), math.Copysign(s.Half[2], z)
		}
		q = point{r * math.Cos(phi), r * math.Sin(phi), z}
	}
	return plus(rotate(p.Rotation, q), p.Position, 1)
}

// depthOf returns how deep the point q lies inside the placed shape, negative outside; outside it need only be a bound.
func depthOf(s *Shape, p Pose, q point) float64 {
	l := rotate(inverse(p.Rotation), plus(q, p.Position, -1))
	switch s.Kind {
	case Sphere:
		return s.Radius - lengthOf(l)
	case Capsule:
		l[2] -= math.Max(-s.Half[2], math.Min(s.Half[2], l[2]))
		return s.Radius - lengthOf(l)
	case Box:
		d := math.Inf(1)
		for k := range 3 {
			d = math.Min(d, s.Half[k]-math.Abs(l[k]))
		}
		return d
	case Hull:
		d := math.Inf(1)
		for i := range s.Hull.Faces() {
			n, far := s.Hull.Face(i)
			d = math.Min(d, far-dotOf(n.Array(), l))
		}
		return d
	case Cylinder:
		return math.Min(s.Radius-math.Hypot(l[0], l[1]), s.Half[2]-math.Abs(l[2]))
	}
	return -l[2] // a plane
}

func anyShape(k Kind, rng *rand.Rand) Shape {
	size := func() float64 { return 0.05 + 0.5*rng.Float64() }
	if k == Hull {
		return Shape{Kind: Hull, Hull: pebble(size(), rng)}
	}
	return Shape{Kind: k, Radius: size(), Half: [3]float64{size(), size(), size()}}
}

func anyPose(spread float64, rng *rand.Rand) Pose {
	at := unitOf(point{rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()})
	return Pose{
		Position: plus(point{}, at, spread*rng.Float64()),
		Rotation: [4]float64{rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()},
	}
}

// pebble is a hull of 8 to 40 points within a box of about that size, with the origin inside.
func pebble(size float64, rng *rand.Rand) *Convex {
	stretch := point{0.3 + rng.Float64(), 0.3 + rng.Float64(), 0.3 + rng.Float64()}
	points := []point{}
	for range 8 + rng.IntN(33) {
		d := unitOf(point{rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()})
		for k := range d {
			d[k] *= size * stretch[k]
		}
		points = append(points, d)
	}
	c, err := NewConvex(points)
	if err != nil {
		panic(err)
	}
	return c.Moved(c.Centre)
}

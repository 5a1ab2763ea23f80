package camera

import (
	"math"

	"github.com/halyard-robotics/halyard/internal/sim/r3"
	"github.com/halyard-robotics/halyard/internal/sim/ray"
)

// coat is a paint in linear light.
type coat struct {
	colour, second r3.Vec
	pattern        Pattern
	size           float64
	mirror         bool
}

// linear takes a colour as screens have it to light (IEC 61966-2-1).
func linear(c [3]float64) r3.Vec {
	one := func(x float64) float64 {
		if x <= 0.04045 {
			return x / 12.92
		}
		return math.Pow((x+0.055)/1.055, 2.4)
	}
	return r3.XYZ(one(c[0]), one(c[1]), one(c[2]))
}

// screen is the way back: light to bytes, from a table that is finest where the eye is.
type screen struct{ at [screenSize + 1]byte }

const screenSize = 4096

func (s *screen) fill() {
	for i := range s.at {
		x := float64(i) / screenSize
		x *= x // the table goes by the square root
		y := 12.92 * x
		if x > 0.0031308 {
			y = 1.055*math.Pow(x, 1/2.4) - 0.055
		}
		s.at[i] = byte(math.Round(255 * y))
	}
}

func (s *screen) of(x float64) byte {
	if !(x > 0) {
		return 0
	}
	return s.at[int(math.Sqrt(min(x, 1))*screenSize)]
}

// at is the colour of the coat at point p of the geom's frame, where the surface looks to n.
func (c *coat) at(p, n r3.Vec) r3.Vec {
	if c.pattern == Plain {
		return c.colour
	}
	// A little under the surface: a face that lies between two fields belongs to one of them.
	p = p.Along(-1e-3*c.size, n)
	fields := math.Floor(p.Z / c.size)
	if c.pattern == Checks {
		fields += math.Floor(p.X/c.size) + math.Floor(p.Y/c.size)
	}
	if int64(fields)&1 != 0 {
		return c.second
	}
	return c.colour
}

// filter returns the light after a filter, colour by colour.
func filter(light, by r3.Vec) r3.Vec {
	return r3.XYZ(float64(light.X*by.X), float64(light.Y*by.Y), float64(light.Z*by.Z))
}

// lit is a lamp where it is now.
type lit struct {
	at, towards r3.Vec
	cosine      float64
	power       float64
}

// shade returns the light that leaves the surface at a hit towards the camera.
func (r *renderer) shade(h *ray.Hit, at, d r3.Vec) r3.Vec {
	// Surfaces have two sides, so that a pool may be a box seen from within.
	n := r3.Pack(h.Normal)
	if n.Dot(d) > 0 { // from inside
		n = n.Mul(-1)
	}
	f := &r.frames[h.Geom]
	c := r.coats[h.Geom].at(f.Turn.Back(at.Sub(f.At)), f.Turn.Back(n))
	o := &r.optics
	// The sun from one side, the sky from all of above, and a little of it from the floor.
	sky := 0.6 + float64(0.4*n.Z)
	var light r3.Vec
	if depth := o.surface - at.Z; depth > 0 {
		light = filter(o.sun, o.fall.through(o.day, depth/o.bent.Z)).Mul(max(0, n.Dot(o.bent)))
		light = light.Add(filter(o.sky, o.fall.through(o.day, depth)).Mul(sky))
	} else {
		light = o.sun.Mul(max(0, n.Dot(o.towards))).Along(sky, o.sky)
	}
	for i := range r.lit {
		light = light.Add(r.lamp(&r.lit[i], at, n))
	}
	return filter(light, c)
}

// lamp returns the light of a lamp on a surface: it falls off with the square of the distance, and in water besides.
func (r *renderer) lamp(l *lit, at, n r3.Vec) r3.Vec {
	way := l.at.Sub(at)
	s := way.Norm()
	facing := n.Dot(way) / s
	ahead := -way.Dot(l.towards) / s
	if !(facing > 0) || !(ahead > l.cosine) {
		return r3.Vec{}
	}
	// Soft at the rim of the cone.
	edge := min(1, 8*(ahead-l.cosine)/(1-l.cosine+1e-9))
	power := float64(l.power*facing*edge) / max(float64(s*s), 0.01)
	white := r3.XYZ(power, power, power)
	if at.Z < r.optics.surface {
		return filter(white, r.optics.fall.through(r.optics.beam, s))
	}
	return white
}

// see returns the light that reaches the eye at o along the unit vector d, with the hit or without one, and the share
// of the surface's own light that arrives.
func (r *renderer) see(o, d r3.Vec, h *ray.Hit, hit bool) (seen, left r3.Vec) {
	w := &r.optics
	left = r3.XYZ(1, 1, 1)
	reach := math.Inf(1)
	if hit {
		reach = h.Distance
		seen = r.shade(h, o.Along(reach, d), d)
	} else {
		seen = w.above(d)
	}
	if !w.wet {
		return seen, left
	}
	// Where eye and surface lie decides which part of the way is in water.
	depth := w.surface - o.Z
	cross := depth / d.Z // where the ray meets the surface
	switch {
	case depth > 0 && d.Z > 0 && cross < reach: // from below through the surface
		var beyond *r3.Vec
		if hit {
			beyond = &seen
		}
		seen = w.window(d, beyond)
		reach = cross
	case depth > 0: // all of it in water
	case d.Z < 0 && cross < reach: // from above through the surface
		share := schlick(-d.Z)
		left = w.fall.through(w.beam, reach-cross)
		if !hit {
			left = r3.Vec{}
		}
		down := w.glow(0, d.Z, reach-cross).Add(filter(seen, left))
		left = left.Mul(1 - share)
		return down.Mul(1-share).Along(share, w.above(r3.XYZ(d.X, d.Y, -d.Z))), left
	default:
		return seen, left
	}
	left = w.fall.through(w.beam, reach)
	return w.glow(depth, d.Z, reach).Add(filter(seen, left)), left
}

// Reflectance of a mirror, and maximum number of reflections.
const (
	silver    = 0.9
	maxTurned = 4
)

// turn follows a ray along the unit vector d over mirrors: h becomes the hit after the last reflection, o and d its
// ray, and share the remaining share of its light. A thing seen in a mirror does not count as detected.
func (r *renderer) turn(o, d *r3.Vec, h *ray.Hit, mask uint32) (hit bool, share float64) {
	hit, share = true, 1
	for n := 0; hit && n < maxTurned && r.coats[h.Geom].mirror; n++ {
		at, normal := o.Along(h.Distance, *d), r3.Pack(h.Normal)
		if normal.Dot(*d) > 0 {
			normal = normal.Mul(-1)
		}
		*d = d.Along(-2*normal.Dot(*d), normal)
		*o = at.Along(1e-6, normal)
		one := ray.Ray{Origin: o.Array(), Direction: d.Array(), Mask: mask}
		*h, hit = r.bvh.Cast(&one)
		share *= silver
	}
	return hit, share
}

package ray

import (
	"math"

	"github.com/halyard-robotics/halyard/sim/exact"
	"github.com/halyard-robotics/halyard/sim/r3"
)

// Batch casts all rays, as a laser or a row of a camera does, and writes the hits into dst, which must be as long or
// longer. It returns how many rays hit something.
func (b *BVH) Batch(dst []Hit, rays []Ray) (hits int) {
	dst = dst[:len(rays)]
	for i := range rays {
		h, ok := b.Cast(&rays[i])
		dst[i] = h
		if ok {
			hits++
		}
	}
	return hits
}

// MinCone and MaxCone bound the number of rays of a cone.
const (
	MinCone = 5
	MaxCone = 9
)

// Cone casts the rays of a sonar: the ray r and others spread around it up to the half angle, rad, below a quarter turn. It
// returns the nearest hit. The rays, from MinCone to MaxCone, are the middle one and others evenly around it. From seven on
// every other one is only halfway out, so that a wide cone has no gap. An object thinner than the gaps may be missed.
func (b *BVH) Cone(r *Ray, half float64, rays int) (nearest Hit, ok bool) {
	nearest, ok = b.Cast(r)
	axis := r3.Pack(r.Direction)
	length := axis.Norm()
	if !(half > 0 && half < math.Pi/2) || !(length > r3.Tiny && length < r3.Huge) {
		return nearest, ok
	}
	axis = axis.Div(length)
	around := min(max(rays, MinCone), MaxCone) - 1
	u := axis.Across()
	u = u.Mul(1 / u.Norm())
	v := axis.Cross(u)
	one := *r
	for i := range around {
		wide := half
		if around > 5 && i%2 == 1 {
			wide = 0.5 * half
		}
		turn := float64(2*math.Pi*float64(i)) / float64(around)
		side := u.Mul(exact.Cos(turn)).Along(exact.Sin(turn), v)
		one.Direction = axis.Mul(exact.Cos(wide)).Along(exact.Sin(wide), side).Array()
		if h, hit := b.Cast(&one); hit && (!ok || h.Distance < nearest.Distance) {
			nearest, ok = h, true
		}
	}
	return nearest, ok
}

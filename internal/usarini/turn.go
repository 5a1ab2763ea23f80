package usarini

import (
	"math"

	"github.com/halyard-robotics/halyard/hal"
)

// align returns the rotation from a to b that also brings c as near to d as possible; zero axes are ignored.
func align(a, c, b, d [3]float64) [4]float64 {
	zero := [3]float64{}
	if a == zero {
		a = b
	}
	q := least(a, b)
	if c == zero || d == zero {
		return q
	}
	// then about b, until c is aligned with d as seen along b
	turned := hal.Pose{Rotation: q}.Turn(c)
	u, v := across(turned, b), across(d, b)
	angle := math.Atan2(inner(b, outer(u, v)), inner(u, v))
	s, cos := math.Sincos(angle / 2)
	about := hal.Pose{Rotation: [4]float64{cos, b[0] * s, b[1] * s, b[2] * s}}
	return about.Times(hal.Pose{Rotation: q}).Rotation
}

// least is the smallest rotation from a to b, both unit vectors. For opposite vectors the axis is any perpendicular
// one.
func least(a, b [3]float64) [4]float64 {
	n := outer(a, b)
	d := inner(a, b)
	if d < -1+1e-12 {
		n = outer(a, [3]float64{1})
		if inner(n, n) < 1e-6 {
			n = outer(a, [3]float64{0, 1})
		}
		n = unit(n)
		return [4]float64{0, n[0], n[1], n[2]}
	}
	q := [4]float64{1 + d, n[0], n[1], n[2]}
	size := math.Sqrt(q[0]*q[0] + inner(n, n))
	for i := range q {
		q[i] /= size
	}
	return q
}

func inner(a, b [3]float64) float64 { return a[0]*b[0] + a[1]*b[1] + a[2]*b[2] }
func outer(a, b [3]float64) [3]float64 {
	return [3]float64{a[1]*b[2] - a[2]*b[1], a[2]*b[0] - a[0]*b[2], a[0]*b[1] - a[1]*b[0]}
}

// across returns the component of a perpendicular to the unit vector b.
func across(a, b [3]float64) [3]float64 {
	along := inner(a, b)
	return [3]float64{a[0] - along*b[0], a[1] - along*b[1], a[2] - along*b[2]}
}

package gamebots

import (
	"math"

	"github.com/halyard-robotics/halyard/hal"
)

// flip turns a vector by π about x: from hal's axes to those of SAE J670, and back.
func flip(v [3]float64) [3]float64 { return [3]float64{v[0], -v[1], -v[2]} }

// angles are the turns of q, a quaternion in hal's axes, about SAE's x, y and z: roll, pitch and yaw. They are to be
// taken yaw first, about the axes that turn with it.
func angles(q [4]float64) [3]float64 {
	if q == [4]float64{} {
		return [3]float64{}
	}
	w, x, y, z := q[0], q[1], -q[2], -q[3]
	return [3]float64{
		math.Atan2(2*(w*x+y*z), 1-2*(x*x+y*y)),
		math.Asin(math.Max(-1, math.Min(1, 2*(w*y-z*x)))),
		math.Atan2(2*(w*z+x*y), 1-2*(y*y+z*z)),
	}
}

// attitude is the inverse of angles.
func attitude(a [3]float64) [4]float64 {
	var s, c [3]float64
	for i := range a {
		s[i], c[i] = math.Sincos(a[i] / 2)
	}
	return [4]float64{
		c[0]*c[1]*c[2] + s[0]*s[1]*s[2],
		s[0]*c[1]*c[2] - c[0]*s[1]*s[2],
		-(c[0]*s[1]*c[2] + s[0]*c[1]*s[2]),
		-(c[0]*c[1]*s[2] - s[0]*s[1]*c[2]),
	}
}

// pose is a place and attitude of the wire in hal's axes.
func pose(location, rotation [3]float64) hal.Pose {
	return hal.Pose{Position: flip(location), Rotation: attitude(rotation)}
}

// turned is p with a turn of angle, rad, about axis, a unit vector in p's own axes, after it.
func turned(p hal.Pose, axis [3]float64, angle float64) hal.Pose {
	s, c := math.Sincos(angle / 2)
	return p.Times(hal.Pose{Rotation: [4]float64{c, axis[0] * s, axis[1] * s, axis[2] * s}})
}

// nearest is the axis of SAE J670 (0, 1, 2 for x, y, z) that a line in hal's axes lies nearest to, and the sign that
// turns about the line have about it.
func nearest(axis [3]float64) (k int, sign float64) {
	for i := range axis {
		if math.Abs(axis[i]) > math.Abs(axis[k]) {
			k = i
		}
	}
	sign = 1
	if (axis[k] < 0) != (k > 0) {
		sign = -1
	}
	return k, sign
}

package okon

import (
	"math"

	"github.com/halyard-robotics/halyard/hal"
)

// The protocol's axes are Unity's: x right, y up, z forward, and turns are left-handed. hal's are x forward, y left, z
// up, right-handed. Between them a vector keeps its length and a turn its angle:
//
//	vector        Unity (-y, z, x) of hal
//	turn, rates   Unity (y, -z, -x) of hal's, as for a quaternion's vector part
//
// so that a positive yaw of the protocol goes right, a positive pitch lowers the nose, and a positive roll the left
// side.

func fromUnity(v Vector) [3]float64 { return [3]float64{float64(v.Z), -float64(v.X), float64(v.Y)} }
func toUnity(v [3]float64) Vector   { return vector(-v[1], v[2], v[0]) }

func turnFromUnity(v Vector) [3]float64 {
	return [3]float64{-float64(v.Z), float64(v.X), -float64(v.Y)}
}
func turnToUnity(v [3]float64) Vector { return vector(v[1], -v[2], -v[0]) }

// vector returns x, y, z as a Vector, never with -0; an unknown value stays NaN.
func vector(x, y, z float64) Vector { return Vector{float32(x) + 0, float32(y) + 0, float32(z) + 0} }

var unknown = vector(math.NaN(), math.NaN(), math.NaN())

const degree = math.Pi / 180

// attitude is the quaternion of Unity's Euler angles, degrees: about z, then x, then y.
func attitude(rot Vector) [4]float64 {
	about := func(axis int, deg float32) hal.Pose {
		q := [4]float64{math.Cos(float64(deg) * degree / 2)}
		var v [3]float64
		v[axis] = math.Sin(float64(deg) * degree / 2)
		// hal's vector of Unity's axis
		copy(q[1:], []float64{-v[2], v[0], -v[1]})
		return hal.Pose{Rotation: q}
	}
	return about(1, rot.Y).Times(about(0, rot.X)).Times(about(2, rot.Z)).Rotation
}

// euler is the inverse of attitude, each angle 0..360 as Unity gives them. Straight up or down there is no roll.
func euler(q [4]float64) Vector {
	if math.IsNaN(q[0] + q[1] + q[2] + q[3]) {
		return unknown
	}
	w, x, y, z := q[0], q[2], -q[3], -q[1] // Unity's
	down := 2 * (w*x - y*z)
	if math.Abs(down) > 0.999999 {
		return degrees(math.Copysign(math.Pi/2, down), 2*math.Atan2(y, w), 0)
	}
	return degrees(math.Asin(down), math.Atan2(2*(w*y+x*z), 1-2*(x*x+y*y)), math.Atan2(2*(w*z+x*y), 1-2*(x*x+z*z)))
}

// degrees converts angles to degrees. It adds a full turn to an angle below 0, except within Unity's tolerance.
func degrees(x, y, z float64) Vector {
	positive := func(v float64) float64 {
		const little = 0.0001 // rad
		if v < -little {
			v += 2 * math.Pi
		}
		return v / degree
	}
	return vector(positive(x), positive(y), positive(z))
}

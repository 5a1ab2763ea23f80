package r3

import (
	"math"

	"github.com/halyard-robotics/halyard/internal/sim/exact"
)

// Quat is a quaternion; of a turn, its length is 1.
type Quat struct{ W, X, Y, Z float64 }

// PackQuat is the quaternion of an array, and Array the way back.
func PackQuat(a [4]float64) Quat { return Quat{a[0], a[1], a[2], a[3]} }

func (q Quat) Array() [4]float64 { return [4]float64{q.W, q.X, q.Y, q.Z} }

// Norm returns the length.
func (q Quat) Norm() float64 {
	return math.Sqrt(float64(q.W*q.W) + float64(q.X*q.X) + float64(q.Y*q.Y) + float64(q.Z*q.Z))
}

// Unit returns q with length 1; what has no length becomes no turn at all.
func (q Quat) Unit() Quat {
	n := q.Norm()
	if !(n > Tiny) {
		return Quat{W: 1}
	}
	return Quat{q.W / n, q.X / n, q.Y / n, q.Z / n}
}

// Inverse returns the turn back, of a q of length 1.
func (q Quat) Inverse() Quat { return Quat{q.W, -q.X, -q.Y, -q.Z} }

// Times returns the turn r followed by q.
func (q Quat) Times(r Quat) Quat {
	return Quat{
		float64(q.W*r.W) - float64(q.X*r.X) - float64(q.Y*r.Y) - float64(q.Z*r.Z),
		float64(q.W*r.X) + float64(q.X*r.W) + float64(q.Y*r.Z) - float64(q.Z*r.Y),
		float64(q.W*r.Y) - float64(q.X*r.Z) + float64(q.Y*r.W) + float64(q.Z*r.X),
		float64(q.W*r.Z) + float64(q.X*r.Y) - float64(q.Y*r.X) + float64(q.Z*r.W),
	}
}

// Mat returns the rotation matrix of the unit quaternion q.
func (q Quat) Mat() Mat {
	xx, yy, zz := float64(q.X*q.X), float64(q.Y*q.Y), float64(q.Z*q.Z)
	xy, xz, yz := float64(q.X*q.Y), float64(q.X*q.Z), float64(q.Y*q.Z)
	wx, wy, wz := float64(q.W*q.X), float64(q.W*q.Y), float64(q.W*q.Z)
	return Mat{
		Vec{1 - 2*(yy+zz), 2 * (xy + wz), 2 * (xz - wy)},
		Vec{2 * (xy - wz), 1 - 2*(xx+zz), 2 * (yz + wx)},
		Vec{2 * (xz + wy), 2 * (yz - wx), 1 - 2*(xx+yy)},
	}
}

// Spin returns the rotation by the vector a: about a by its length, rad.
func Spin(a Vec) Quat {
	angle := a.Norm()
	if angle < 1e-6 {
		// sin(x/2)/x to the last bit, without 0/0
		s := 0.5 - float64(angle*angle)/48
		return Quat{1 - float64(float64(angle*angle)/8), float64(s * a.X), float64(s * a.Y), float64(s * a.Z)}
	}
	s := exact.Sin(angle/2) / angle
	return Quat{exact.Cos(angle / 2), float64(s * a.X), float64(s * a.Y), float64(s * a.Z)}
}

// Log returns the rotation vector of q, rad, at most half a turn long: the way back from Spin.
func (q Quat) Log() Vec {
	if q.W < 0 {
		q = Quat{-q.W, -q.X, -q.Y, -q.Z}
	}
	v := Vec{q.X, q.Y, q.Z}
	n := v.Norm()
	if n < 1e-9 {
		return v.Mul(2)
	}
	return v.Mul(2 * arctan(n, q.W) / n)
}

// arctan returns the angle of the point (x, y), x and y >= 0, the same on every machine. Each pass adds the tangent of
// what is missing, which leaves a third of its cube: from an eighth of a turn, rounding is reached in five.
func arctan(y, x float64) float64 {
	a := 0.0
	if y > x {
		a = math.Pi / 2
	}
	for range 5 {
		s, c := exact.Sin(a), exact.Cos(a)
		a += (float64(y*c) - float64(x*s)) / (float64(x*c) + float64(y*s))
	}
	return a
}

// Package r3 has the vectors, rotations and matrices of space, with the same bits on every machine: what collide, ray
// and dynamics compute with.
//
// Products are rounded by explicit conversions, so that no compiler fuses them with a sum (Go specification,
// "Floating-point operators"), and the order of every sum is fixed. What is done with vectors, and a matrix times a
// vector, is small enough for the compiler to inline.
//
// At the borders of packages vectors are [3]float64 and rotations [4]float64, w first: Pack and PackQuat read them.
package r3

import "math"

// Vec is a vector. A struct of three fields lives in registers, which an array does not.
type Vec struct{ X, Y, Z float64 }

// XYZ is the vector with these parts.
func XYZ(x, y, z float64) Vec { return Vec{x, y, z} }

// Pack is the vector of an array, and Array the way back.
func Pack(a [3]float64) Vec     { return Vec{a[0], a[1], a[2]} }
func (a Vec) Array() [3]float64 { return [3]float64{a.X, a.Y, a.Z} }

func (a Vec) Add(b Vec) Vec { return Vec{a.X + b.X, a.Y + b.Y, a.Z + b.Z} }
func (a Vec) Sub(b Vec) Vec { return Vec{a.X - b.X, a.Y - b.Y, a.Z - b.Z} }
func (a Vec) Neg() Vec      { return Vec{-a.X, -a.Y, -a.Z} }

// Mul returns s a.
func (a Vec) Mul(s float64) Vec {
	return Vec{float64(a.X * s), float64(a.Y * s), float64(a.Z * s)}
}

// Div returns a / s, which is rounded once where Mul(1/s) is twice.
func (a Vec) Div(s float64) Vec { return Vec{a.X / s, a.Y / s, a.Z / s} }

// Along returns a + s b.
func (a Vec) Along(s float64, b Vec) Vec {
	return Vec{a.X + float64(s*b.X), a.Y + float64(s*b.Y), a.Z + float64(s*b.Z)}
}

// Dot returns the inner product.
func (a Vec) Dot(b Vec) float64 {
	return float64(a.X*b.X) + float64(a.Y*b.Y) + float64(a.Z*b.Z)
}

// Cross returns the vector product.
func (a Vec) Cross(b Vec) Vec {
	return Vec{
		float64(a.Y*b.Z) - float64(a.Z*b.Y),
		float64(a.Z*b.X) - float64(a.X*b.Z),
		float64(a.X*b.Y) - float64(a.Y*b.X),
	}
}

// Norm returns the length, with all its digits between Tiny and Huge.
func (a Vec) Norm() float64 { return math.Sqrt(a.Dot(a)) }

// The ends of the lengths that can be squared.
const (
	Tiny = 1e-150 // the smallest length whose square is still a normal number
	Huge = 1e150  // the greatest whose square is finite
)

// Unit returns a with length 1, or fallback where a has no direction.
func (a Vec) Unit(fallback Vec) Vec {
	n := a.Norm()
	if !(n > Tiny) || n > Huge {
		return fallback
	}
	return a.Div(n)
}

// Across returns a vector at right angles to the unit vector a, always the same one for the same a. Its length is
// within [0.6, 1]: the caller makes it 1.
func (a Vec) Across() Vec {
	if math.Abs(a.X) < 0.6 {
		return Vec{0, a.Z, -a.Y}
	}
	return Vec{-a.Z, 0, a.X}
}

// Finite reports that no part is infinite or not a number.
func (a Vec) Finite() bool { return a.X-a.X == 0 && a.Y-a.Y == 0 && a.Z-a.Z == 0 }

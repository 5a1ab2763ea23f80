package hal

import "math"

// Products that are added are rounded first, so that every machine gets the same bits (Go spec, "Floating-point
// operators").

// quaternion is the pose's rotation; no rotation if it has none.
func (p Pose) quaternion() [4]float64 {
	if p.Rotation == ([4]float64{}) {
		return [4]float64{1}
	}
	return p.Rotation
}

// Turn is v, given in p's axes, in the axes that p is given in.
func (p Pose) Turn(v [3]float64) [3]float64 {
	q := p.quaternion()
	w, x, y, z := q[0], q[1], q[2], q[3]
	// v + 2w (u x v) + 2 u x (u x v) with u the quaternion's vector
	a := [3]float64{
		2 * (float64(y*v[2]) - float64(z*v[1])),
		2 * (float64(z*v[0]) - float64(x*v[2])),
		2 * (float64(x*v[1]) - float64(y*v[0])),
	}
	return [3]float64{
		v[0] + float64(w*a[0]) + (float64(y*a[2]) - float64(z*a[1])),
		v[1] + float64(w*a[1]) + (float64(z*a[0]) - float64(x*a[2])),
		v[2] + float64(w*a[2]) + (float64(x*a[1]) - float64(y*a[0])),
	}
}

// Of is the point v of p's frame in the frame that p is given in, m.
func (p Pose) Of(v [3]float64) [3]float64 {
	t := p.Turn(v)
	return [3]float64{p.Position[0] + t[0], p.Position[1] + t[1], p.Position[2] + t[2]}
}

// Times is the pose b, given in the frame of p, in the frame that p is given in.
func (p Pose) Times(b Pose) Pose {
	return Pose{Position: p.Of(b.Position), Rotation: multiply(p.quaternion(), b.quaternion())}
}

// Inverse takes Times back: p.Inverse().Times(p) is the identity.
func (p Pose) Inverse() Pose {
	q := p.quaternion()
	back := Pose{Rotation: [4]float64{q[0], -q[1], -q[2], -q[3]}}
	t := back.Turn(p.Position)
	back.Position = [3]float64{-t[0], -t[1], -t[2]}
	return back
}

// RollPitchYaw are the turns about x, y and z that p's rotation is, rad, yaw first.
func (p Pose) RollPitchYaw() [3]float64 {
	q := p.quaternion()
	w, x, y, z := q[0], q[1], q[2], q[3]
	square := func(a, b float64) float64 { return float64(a*a) + float64(b*b) }
	return [3]float64{
		math.Atan2(2*(float64(w*x)+float64(y*z)), 1-2*square(x, y)),
		math.Asin(math.Max(-1, math.Min(1, 2*(float64(w*y)-float64(z*x))))),
		math.Atan2(2*(float64(w*z)+float64(x*y)), 1-2*square(y, z)),
	}
}

// RotationOf is the unit quaternion, w first, of turns about x, y and z, rad, yaw first: the inverse of RollPitchYaw.
func RotationOf(r [3]float64) [4]float64 {
	sr, cr := math.Sincos(r[0] / 2)
	sp, cp := math.Sincos(r[1] / 2)
	sy, cy := math.Sincos(r[2] / 2)
	return [4]float64{
		float64(cr*cp*cy) + float64(sr*sp*sy), float64(sr*cp*cy) - float64(cr*sp*sy),
		float64(cr*sp*cy) + float64(sr*cp*sy), float64(cr*cp*sy) - float64(sr*sp*cy),
	}
}

// multiply is the turn b followed by the turn a.
func multiply(a, b [4]float64) [4]float64 {
	return [4]float64{
		float64(a[0]*b[0]) - float64(a[1]*b[1]) - float64(a[2]*b[2]) - float64(a[3]*b[3]),
		float64(a[0]*b[1]) + float64(a[1]*b[0]) + float64(a[2]*b[3]) - float64(a[3]*b[2]),
		float64(a[0]*b[2]) - float64(a[1]*b[3]) + float64(a[2]*b[0]) + float64(a[3]*b[1]),
		float64(a[0]*b[3]) + float64(a[1]*b[2]) - float64(a[2]*b[1]) + float64(a[3]*b[0]),
	}
}

package dynamics

import (
	"math"

	"github.com/halyard-robotics/halyard/sim/exact"
)

// vec is a vector inside the package: a struct of three fields lives in registers, which an array does not. Products
// are rounded by explicit conversions, so that no compiler fuses them with a sum (Go specification, "Floating-point
// operators").
type vec struct{ x, y, z float64 }

func pack(a [3]float64) vec     { return vec{a[0], a[1], a[2]} }
func (a vec) array() [3]float64 { return [3]float64{a.x, a.y, a.z} }

func (a vec) add(b vec) vec { return vec{a.x + b.x, a.y + b.y, a.z + b.z} }
func (a vec) sub(b vec) vec { return vec{a.x - b.x, a.y - b.y, a.z - b.z} }
func (a vec) neg() vec      { return vec{-a.x, -a.y, -a.z} }

func (a vec) mul(s float64) vec {
	return vec{float64(a.x * s), float64(a.y * s), float64(a.z * s)}
}

// along returns a + s b.
func (a vec) along(s float64, b vec) vec {
	return vec{a.x + float64(s*b.x), a.y + float64(s*b.y), a.z + float64(s*b.z)}
}

func (a vec) dot(b vec) float64 {
	return float64(a.x*b.x) + float64(a.y*b.y) + float64(a.z*b.z)
}

func (a vec) cross(b vec) vec {
	return vec{
		float64(a.y*b.z) - float64(a.z*b.y),
		float64(a.z*b.x) - float64(a.x*b.z),
		float64(a.x*b.y) - float64(a.y*b.x),
	}
}

func (a vec) norm() float64 { return math.Sqrt(a.dot(a)) }

// across returns a unit vector at right angles to the unit vector a: always the same one for the same a.
func (a vec) across() vec {
	b := vec{0, a.z, -a.y}
	if math.Abs(a.x) > 0.6 {
		b = vec{-a.z, 0, a.x}
	}
	return b.mul(1 / b.norm())
}

// mat is a matrix by its columns; of a rotation they are the axes of the turned frame.
type mat struct{ x, y, z vec }

// identity is no turn.
func identity() mat { return mat{vec{x: 1}, vec{y: 1}, vec{z: 1}} }

// of returns m a.
func (m *mat) of(a vec) vec {
	return vec{
		float64(m.x.x*a.x) + float64(m.y.x*a.y) + float64(m.z.x*a.z),
		float64(m.x.y*a.x) + float64(m.y.y*a.y) + float64(m.z.y*a.z),
		float64(m.x.z*a.x) + float64(m.y.z*a.y) + float64(m.z.z*a.z),
	}
}

// back returns the transpose of m, of a rotation its inverse, times a.
func (m *mat) back(a vec) vec { return vec{m.x.dot(a), m.y.dot(a), m.z.dot(a)} }

// times returns m n.
func (m *mat) times(n *mat) mat { return mat{m.of(n.x), m.of(n.y), m.of(n.z)} }

// transpose is the inverse of a rotation.
func (m *mat) transpose() mat {
	return mat{vec{m.x.x, m.y.x, m.z.x}, vec{m.x.y, m.y.y, m.z.y}, vec{m.x.z, m.y.z, m.z.z}}
}

// quat is a unit quaternion.
type quat struct{ w, x, y, z float64 }

func packQuat(a [4]float64) quat { return quat{a[0], a[1], a[2], a[3]} }

func (q quat) array() [4]float64 { return [4]float64{q.w, q.x, q.y, q.z} }

func (q quat) norm() float64 {
	return math.Sqrt(float64(q.w*q.w) + float64(q.x*q.x) + float64(q.y*q.y) + float64(q.z*q.z))
}

// unit returns q with length 1; what has no length becomes no turn at all.
func (q quat) unit() quat {
	n := q.norm()
	if !(n > 1e-150) {
		return quat{w: 1}
	}
	return quat{q.w / n, q.x / n, q.y / n, q.z / n}
}

// times returns the turn r followed by q.
func (q quat) times(r quat) quat {
	return quat{
		float64(q.w*r.w) - float64(q.x*r.x) - float64(q.y*r.y) - float64(q.z*r.z),
		float64(q.w*r.x) + float64(q.x*r.w) + float64(q.y*r.z) - float64(q.z*r.y),
		float64(q.w*r.y) - float64(q.x*r.z) + float64(q.y*r.w) + float64(q.z*r.x),
		float64(q.w*r.z) + float64(q.x*r.y) - float64(q.y*r.x) + float64(q.z*r.w),
	}
}

// turn returns the rotation matrix of the unit quaternion q.
func (q quat) turn() mat {
	xx, yy, zz := float64(q.x*q.x), float64(q.y*q.y), float64(q.z*q.z)
	xy, xz, yz := float64(q.x*q.y), float64(q.x*q.z), float64(q.y*q.z)
	wx, wy, wz := float64(q.w*q.x), float64(q.w*q.y), float64(q.w*q.z)
	return mat{
		vec{1 - 2*(yy+zz), 2 * (xy + wz), 2 * (xz - wy)},
		vec{2 * (xy - wz), 1 - 2*(xx+zz), 2 * (yz + wx)},
		vec{2 * (xz + wy), 2 * (yz - wx), 1 - 2*(xx+yy)},
	}
}

// quat returns the quaternion of the rotation m, its greatest part positive (Shepperd, J. Guidance 1, 1978).
func (m *mat) quat() quat {
	var q quat
	switch trace := m.x.x + m.y.y + m.z.z; {
	case trace >= m.x.x && trace >= m.y.y && trace >= m.z.z:
		q = quat{1 + trace, m.y.z - m.z.y, m.z.x - m.x.z, m.x.y - m.y.x}
	case m.x.x >= m.y.y && m.x.x >= m.z.z:
		q = quat{m.y.z - m.z.y, 1 + m.x.x - m.y.y - m.z.z, m.x.y + m.y.x, m.z.x + m.x.z}
	case m.y.y >= m.z.z:
		q = quat{m.z.x - m.x.z, m.x.y + m.y.x, 1 + m.y.y - m.x.x - m.z.z, m.y.z + m.z.y}
	default:
		q = quat{m.x.y - m.y.x, m.z.x + m.x.z, m.y.z + m.z.y, 1 + m.z.z - m.x.x - m.y.y}
	}
	return q.unit()
}

// spin returns the rotation by the vector a, rad, as a quaternion.
func spin(a vec) quat {
	angle := a.norm()
	if angle < 1e-6 {
		// sin(x/2)/x to the last bit, without dividing nothing by nothing
		s := 0.5 - float64(angle*angle)/48
		return quat{1 - float64(angle*angle)/8, float64(s * a.x), float64(s * a.y), float64(s * a.z)}
	}
	s := exact.Sin(angle/2) / angle
	return quat{exact.Cos(angle / 2), float64(s * a.x), float64(s * a.y), float64(s * a.z)}
}

// log returns the rotation vector of q, at most half a turn.
func (q quat) log() vec {
	if q.w < 0 {
		q = quat{-q.w, -q.x, -q.y, -q.z}
	}
	v := vec{q.x, q.y, q.z}
	n := v.norm()
	if n < 1e-9 {
		return v.mul(2)
	}
	return v.mul(2 * arctan(n, q.w) / n)
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

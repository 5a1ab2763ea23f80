package kinematics

import "math"

// standardGravity is the conventional value, m/s² (CGPM 1901).
const standardGravity = 9.80665

func norm(a [3]float64) float64 { return math.Sqrt(dot(a, a)) }

// plus is a + k·b.
func plus(a, b [3]float64, k float64) [3]float64 {
	return [3]float64{a[0] + k*b[0], a[1] + k*b[1], a[2] + k*b[2]}
}

// unit is a at length 1; false where it has no direction.
func unit(a [3]float64) ([3]float64, bool) {
	n := norm(a)
	if !(n > 1e-12) || math.IsInf(n, 0) {
		return a, false
	}
	return [3]float64{a[0] / n, a[1] / n, a[2] / n}, true
}

// turn is v, in the axes that the unit quaternion q (w x y z) turns, in the axes it turns into; turnBack is the
// inverse.
func turn(q [4]float64, v [3]float64) [3]float64 {
	u := [3]float64{q[1], q[2], q[3]}
	t := cross(u, v)
	return plus(plus(v, t, 2*q[0]), cross(u, t), 2)
}

func turnBack(q [4]float64, v [3]float64) [3]float64 {
	return turn([4]float64{q[0], -q[1], -q[2], -q[3]}, v)
}

// advance is q after dt seconds of turning at rates, rad/s in its own axes: the exact rotation for a constant rate.
func advance(q [4]float64, rates [3]float64, dt float64) [4]float64 {
	half := norm(rates) * dt / 2
	k := dt / 2 // sin(half)/half·dt/2 as half goes to 0
	if half > 1e-6 {
		k *= math.Sin(half) / half
	}
	c, x, y, z := math.Cos(half), rates[0]*k, rates[1]*k, rates[2]*k
	return normal([4]float64{
		q[0]*c - q[1]*x - q[2]*y - q[3]*z,
		q[0]*x + q[1]*c + q[2]*z - q[3]*y,
		q[0]*y - q[1]*z + q[2]*c + q[3]*x,
		q[0]*z + q[1]*y - q[2]*x + q[3]*c,
	})
}

// normal is q at length 1, with w at least 0.
func normal(q [4]float64) [4]float64 {
	n := math.Sqrt(q[0]*q[0] + q[1]*q[1] + q[2]*q[2] + q[3]*q[3])
	if !(n > 0) || math.IsInf(n, 0) {
		return [4]float64{1}
	}
	if q[0] < 0 {
		n = -n
	}
	return [4]float64{q[0] / n, q[1] / n, q[2] / n, q[3] / n}
}

// ofRows is the unit quaternion of the rotation with rows x, y and z (Shepperd's method: the largest component first).
func ofRows(x, y, z [3]float64) [4]float64 {
	switch trace := x[0] + y[1] + z[2]; {
	case trace >= x[0] && trace >= y[1] && trace >= z[2]:
		return normal([4]float64{1 + trace, z[1] - y[2], x[2] - z[0], y[0] - x[1]})
	case x[0] >= y[1] && x[0] >= z[2]:
		return normal([4]float64{z[1] - y[2], 1 + x[0] - y[1] - z[2], y[0] + x[1], x[2] + z[0]})
	case y[1] >= z[2]:
		return normal([4]float64{x[2] - z[0], y[0] + x[1], 1 + y[1] - x[0] - z[2], z[1] + y[2]})
	default:
		return normal([4]float64{y[0] - x[1], x[2] + z[0], z[1] + y[2], 1 + z[2] - x[0] - y[1]})
	}
}

package calibration

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// leastCover is the share of an axis's radius that points must reach on both sides of its centre.
const leastCover = 0.7

// FitEllipsoid computes the correction of a three-axis sensor from readings of one constant vector in all directions. The
// corrected readings lie on a sphere of radius: gravity for an accelerometer, m/s², the earth's field for a magnetometer,
// T. A radius of 0 means the mean of the three axes. The ellipsoid's axes are assumed to be the chip's. residual is the root
// mean square distance from the sphere.
func FitEllipsoid(points [][3]float64, radius float64) (c Correction, residual float64, err error) {
	if len(points) < 6 {
		return c, 0, fmt.Errorf("got %d points, want 6 or more, one on each side", len(points))
	}
	size := 0.0 // of the points, so that the equations are well scaled
	for _, p := range points {
		for _, v := range p {
			size = math.Max(size, math.Abs(v))
		}
	}
	if !(size > 0) || math.IsInf(size, 0) {
		return c, 0, fmt.Errorf("got points that are nothing, want those of a sensor")
	}
	// a·x² + b·y² + c·z² + d·x + e·y + f·z = 1, by least squares.
	m, one := mat.NewDense(len(points), 6, nil), mat.NewVecDense(len(points), nil)
	for i, p := range points {
		for k, v := range p {
			m.Set(i, k, v*v/(size*size))
			m.Set(i, 3+k, v/size)
		}
		one.SetVec(i, 1)
	}
	var x mat.VecDense
	if err := x.SolveVec(m, one); err != nil {
		return c, 0, fmt.Errorf("got points that lie on no ellipsoid: turn it to every side")
	}
	scale := 1.0 // of the equation, with the centre moved to 0
	for k := range 3 {
		q, l := x.AtVec(k), x.AtVec(3+k)
		c.Offset[k] = -l / (2 * q) * size
		scale += l * l / (4 * q)
	}
	var semi [3]float64
	mean := 0.0
	for k := range semi {
		semi[k] = math.Sqrt(scale/x.AtVec(k)) * size
		mean += semi[k] / 3
		if !(semi[k] > 0) || math.IsInf(semi[k], 0) {
			return c, 0, fmt.Errorf("got points that lie on no ellipsoid: turn it to every side")
		}
	}
	for k, name := range [3]string{"x", "y", "z"} {
		low, high := math.Inf(1), math.Inf(-1)
		for _, p := range points {
			low, high = math.Min(low, p[k]-c.Offset[k]), math.Max(high, p[k]-c.Offset[k])
		}
		if -low < leastCover*semi[k] || high < leastCover*semi[k] {
			return c, 0, fmt.Errorf("got %.0f %% to %.0f %% of axis %s, want %.0f %% on both sides: turn it there too", 100*low/semi[k], 100*high/semi[k], name, 100*leastCover)
		}
	}
	if radius == 0 {
		radius = mean
	}
	for k := range semi {
		c.Scale[k] = radius / semi[k]
	}
	for _, p := range points {
		length := 0.0
		for k, v := range p {
			v = (v - c.Offset[k]) * c.Scale[k]
			length += v * v
		}
		residual += (math.Sqrt(length) - radius) * (math.Sqrt(length) - radius) / float64(len(points))
	}
	return c, math.Sqrt(residual), nil
}

// AxesOf returns the mounting of a chip from two readings, m/s²: level while its mount is level, and nose while the mount's
// front is raised. Both are corrected by the result of FitEllipsoid. The error describes an impossible pair.
func AxesOf(level, nose [3]float64) (axes [3]Axis, err error) {
	up, sign := largest(level)
	for k := range nose {
		nose[k] -= level[k] // gravity moves towards the front
	}
	nose[up] = 0
	front, way := largest(nose)
	if math.Abs(nose[front]) < 2 {
		return axes, fmt.Errorf("got the same attitude twice, want the front raised by 20 degrees or more")
	}
	var u, f, left [3]float64
	u[up], f[front] = sign, way
	for k := range left {
		left[k] = u[(k+1)%3]*f[(k+2)%3] - u[(k+2)%3]*f[(k+1)%3]
	}
	for i, v := range [3][3]float64{f, left, u} {
		k, s := largest(v)
		axes[i] = axesOf(k, s)
	}
	return axes, nil
}

// largest is the axis along which v is longest, and its sign there.
func largest(v [3]float64) (k int, sign float64) {
	for i := range v {
		if math.Abs(v[i]) > math.Abs(v[k]) {
			k = i
		}
	}
	return k, math.Copysign(1, v[k])
}

func axesOf(k int, sign float64) Axis {
	if sign < 0 {
		k += 3
	}
	return axes[k]
}

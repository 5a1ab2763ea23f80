package calibration

import (
	"cmp"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// leastCover is the share of an axis's radius that points must reach on both sides of its centre.
const leastCover = 0.7

// FitEllipsoid computes the correction of a three-axis sensor from readings of one constant vector in all directions.
// The corrected readings lie on a sphere of radius: gravity for an accelerometer, m/s², the earth's field for a
// magnetometer, T. A radius of 0 means the mean of the three axes. The ellipsoid's axes are assumed to be the chip's.
// residual is the root mean square distance from the sphere.
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
	radius = cmp.Or(radius, mean)
	for k := range semi {
		c.Scale[k] = radius / semi[k]
	}
	residual, err = c.onSphere(points, radius)
	return c, residual, err
}

// onSphere is how far the corrected points are from a sphere of radius, root mean square. The error names a side
// without points.
func (c *Correction) onSphere(points [][3]float64, radius float64) (residual float64, err error) {
	low, high := [3]float64{}, [3]float64{}
	for _, p := range points {
		for k := range p {
			p[k] -= c.Offset[k]
		}
		p = c.weigh(p)
		for k, v := range p {
			low[k], high[k] = math.Min(low[k], v), math.Max(high[k], v)
		}
		off := math.Sqrt(p[0]*p[0]+p[1]*p[1]+p[2]*p[2]) - radius
		residual += off * off / float64(len(points))
	}
	for k, name := range [3]string{"x", "y", "z"} {
		if -low[k] < leastCover*radius || high[k] < leastCover*radius {
			return 0, fmt.Errorf("got %.0f %% to %.0f %% of axis %s, want %.0f %% on both sides: turn it there too",
				100*low[k]/radius, 100*high[k]/radius, name, 100*leastCover)
		}
	}
	return math.Sqrt(residual), nil
}

// minField is the number of readings that a fit of the magnetic field needs.
const minField = 50

// FitField finds what a magnetometer must be corrected by so that its readings of the earth's field, T, turned to every
// side, lie on a sphere: hard iron is the offset, soft iron the scale and what the axes have of each other. The radius
// is the mean of the ellipsoid's axes, since only the direction of the field is used. residual is the root mean square
// distance from the sphere, T. The error describes a side that the points lack, or that they lie on no ellipsoid.
func FitField(points [][3]float64) (c Correction, residual float64, err error) {
	none := fmt.Errorf("got readings that lie on no ellipsoid: turn it to every side")
	if len(points) < minField {
		return c, 0, fmt.Errorf("got %d readings, want %d or more", len(points), minField)
	}
	var middle [3]float64
	size := 0.0
	for _, p := range points {
		for k, v := range p {
			middle[k] += v / float64(len(points))
		}
	}
	for _, p := range points {
		for k, v := range p {
			size = math.Max(size, math.Abs(v-middle[k]))
		}
	}
	if !(size > 0) || math.IsInf(size, 0) {
		return c, 0, none
	}
	// x'Ax + b·x = 1 by least squares, about the middle and in units of the size, so that the equations are well
	// scaled.
	m, one := mat.NewDense(len(points), 9, nil), mat.NewVecDense(len(points), nil)
	for i, p := range points {
		for k := range p {
			p[k] = (p[k] - middle[k]) / size
		}
		m.SetRow(i, []float64{p[0] * p[0], p[1] * p[1], p[2] * p[2], 2 * p[0] * p[1], 2 * p[0] * p[2], 2 * p[1] * p[2],
			p[0], p[1], p[2]})
		one.SetVec(i, 1)
	}
	var x, centre mat.VecDense
	if err := x.SolveVec(m, one); err != nil {
		return c, 0, none
	}
	v := x.RawVector().Data
	a := mat.NewSymDense(3, []float64{v[0], v[3], v[4], v[3], v[1], v[5], v[4], v[5], v[2]})
	if err := centre.SolveVec(a, mat.NewVecDense(3, []float64{-v[6] / 2, -v[7] / 2, -v[8] / 2})); err != nil {
		return c, 0, none
	}
	whole := 1 + mat.Inner(&centre, a, &centre) // of the equation, with the centre moved to 0
	var eigen mat.EigenSym
	if !eigen.Factorize(a, true) {
		return c, 0, none
	}
	var turn mat.Dense
	eigen.VectorsTo(&turn)
	var semi [3]float64
	radius := 0.0
	for k, value := range eigen.Values(nil) {
		if semi[k] = math.Sqrt(whole / value); !(semi[k] > 0) || math.IsInf(semi[k], 0) {
			return c, 0, none
		}
		radius += semi[k] / 3
	}
	entry := func(i, j int) (sum float64) { // of the matrix that makes the ellipsoid a sphere
		for k := range semi {
			sum += turn.At(i, k) * turn.At(j, k) * radius / semi[k]
		}
		return sum
	}
	for k := range middle {
		c.Offset[k], c.Scale[k] = middle[k]+size*centre.AtVec(k), entry(k, k)
	}
	c.Cross = [3]float64{entry(0, 1), entry(0, 2), entry(1, 2)}
	radius *= size
	residual, err = c.onSphere(points, radius)
	return c, residual, err
}

// AxesOf returns the mounting of a chip from two readings, m/s²: level while its mount is level, and nose while the
// mount's front is raised. Both are corrected by the result of FitEllipsoid. The error describes an impossible pair.
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

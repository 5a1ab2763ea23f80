package model

import (
	"math"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/sim/exact"
	"github.com/halyard-robotics/halyard/internal/sim/r3"
)

// The little geometry that reading a robot needs. A robot is read once, on any machine with the same bits: products
// that are added are rounded first (see package exact).

type vec = [3]float64
type mat [3][3]float64 // rows

func add(a, b vec) vec           { return vec{a[0] + b[0], a[1] + b[1], a[2] + b[2]} }
func scale(k float64, a vec) vec { return vec{k * a[0], k * a[1], k * a[2]} }

func cross(a, b vec) vec {
	return vec{float64(a[1]*b[2]) - float64(a[2]*b[1]), float64(a[2]*b[0]) - float64(a[0]*b[2]),
		float64(a[0]*b[1]) - float64(a[1]*b[0])}
}

func dot(a, b vec) float64 {
	return float64(a[0]*b[0]) + float64(a[1]*b[1]) + float64(a[2]*b[2])
}

// unit is a of length 1; false for a vector that has no direction.
func unit(a vec) (vec, bool) {
	n := math.Sqrt(dot(a, a))
	if !(n > 1e-9 && n < 1e9) {
		return vec{}, false
	}
	return scale(1/n, a), true
}

func (m *mat) times(v vec) vec { return vec{dot(m[0], v), dot(m[1], v), dot(m[2], v)} }

func (m *mat) transposed() mat {
	var t mat
	for i := range 3 {
		for k := range 3 {
			t[k][i] = m[i][k]
		}
	}
	return t
}

func (m *mat) by(n *mat) mat {
	t := n.transposed()
	var p mat
	for i := range 3 {
		for k := range 3 {
			p[i][k] = dot(m[i], t[k])
		}
	}
	return p
}

// matrix of a unit quaternion; the zero quaternion means no rotation, as in hal.Pose.
func matrix(q [4]float64) mat {
	if q == ([4]float64{}) {
		q[0] = 1
	}
	m := r3.PackQuat(q).Mat()
	m = m.Transpose() // by rows
	return mat{m.X.Array(), m.Y.Array(), m.Z.Array()}
}

func multiply(a, b [4]float64) [4]float64 {
	return r3.PackQuat(a).Times(r3.PackQuat(b)).Array()
}

// rollPitchYaw is the turn of URDF and of the config: about x, then about the fixed y, then about the fixed z, rad.
func rollPitchYaw(r, p, y float64) [4]float64 {
	half := func(angle float64, axis int) [4]float64 {
		q := [4]float64{exact.Cos(angle / 2)}
		q[axis] = exact.Sin(angle / 2)
		return q
	}
	return multiply(half(y, 3), multiply(half(p, 2), half(r, 1)))
}

// place is a point of pose's frame in the frame that pose is given in.
func place(p hal.Pose, v vec) vec {
	m := matrix(p.Rotation)
	return add(p.Position, m.times(v))
}

// within is the pose b, given in the frame of a, in the frame that a is given in.
func within(a, b hal.Pose) hal.Pose {
	p := hal.Pose{Position: place(a, b.Position), Rotation: a.Rotation}
	if p.Rotation == ([4]float64{}) {
		p.Rotation[0] = 1
	}
	if b.Rotation != ([4]float64{}) {
		p.Rotation = multiply(p.Rotation, b.Rotation)
	}
	return p
}

// inverse takes within back: within(a, within(inverse(a), b)) = b.
func inverse(a hal.Pose) hal.Pose {
	q := a.Rotation
	if q == ([4]float64{}) {
		q[0] = 1
	}
	q = [4]float64{q[0], -q[1], -q[2], -q[3]}
	m := matrix(q)
	return hal.Pose{Position: scale(-1, m.times(a.Position)), Rotation: q}
}

// symmetric is an inertia in the order of a file, xx yy zz xy xz yz, as a matrix; list is the way back.
func symmetric(i [6]float64) mat {
	return mat{{i[0], i[3], i[4]}, {i[3], i[1], i[5]}, {i[4], i[5], i[2]}}
}

func (m *mat) list() [6]float64 {
	return [6]float64{m[0][0], m[1][1], m[2][2], m[0][1], m[0][2], m[1][2]}
}

// turned is the inertia m, given in axes that q turns, in the axes q is given in.
func turned(m mat, q [4]float64) mat {
	r := matrix(q)
	t := r.transposed()
	p := r.by(&m)
	return p.by(&t)
}

// moved is the contribution of a mass at d to an inertia about the origin (Steiner).
func moved(mass float64, d vec) mat {
	var m mat
	for i := range 3 {
		for k := range 3 {
			m[i][k] = -float64(mass * d[i] * d[k])
		}
		m[i][i] += float64(mass * dot(d, d))
	}
	return m
}

func (m *mat) add(n mat) {
	for i := range 3 {
		for k := range 3 {
			m[i][k] += n[i][k]
		}
	}
}

// principal returns the eigenvalues of a symmetric matrix and the eigenvectors, the columns of a rotation (Jacobi's
// method).
func principal(a mat) (values vec, axes mat) {
	axes = mat{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}
	for range 30 {
		for _, p := range [...][2]int{{0, 1}, {0, 2}, {1, 2}} {
			i, k := p[0], p[1]
			if math.Abs(a[i][k]) <= 1e-18*(math.Abs(a[i][i])+math.Abs(a[k][k])) {
				continue
			}
			tau := (a[k][k] - a[i][i]) / (2 * a[i][k])
			t := math.Copysign(1, tau) / (math.Abs(tau) + math.Sqrt(1+float64(tau*tau)))
			c := 1 / math.Sqrt(1+float64(t*t))
			turn := mat{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}
			turn[i][i], turn[k][k], turn[i][k], turn[k][i] = c, c, t*c, -t*c
			back := turn.transposed()
			half := back.by(&a)
			a, axes = half.by(&turn), axes.by(&turn)
		}
	}
	return vec{a[0][0], a[1][1], a[2][2]}, axes
}

// diagonal is the inertia with the given principal moments about the axes m, in the order of a file.
func (m *mat) diagonal(moments vec) [6]float64 {
	d := mat{{moments[0], 0, 0}, {0, moments[1], 0}, {0, 0, moments[2]}}
	half := m.by(&d)
	t := m.transposed()
	full := half.by(&t)
	return full.list()
}

package dynamics

import (
	"math"

	"github.com/halyard-robotics/halyard/sim/collide"
)

// rows returns how many rows a contact with this material has.
func (m *mixture) rows() int {
	switch {
	case m.Rolling > 0 && !m.ForceLimit:
		return 6
	case m.Torsion > 0 && !m.ForceLimit:
		return 4
	case m.Friction > 0:
		return 3
	}
	return 1
}

// mixture holds the combined contact values of two surfaces.
type mixture struct{ collide.Material }

// along is the friction along the grain.
func (m *mixture) along() float64 {
	if m.Factor > 0 {
		return float64(m.Friction * m.Factor)
	}
	return m.Friction
}

// grip solves a contact: first the normal with the present friction, then the friction within the bound of the new
// normal force. Each is a convex problem with one solution. So Coulomb's law holds at convergence, without the lift
// that the jointly convex problem gives to a sliding body.
func grip(k *block, rows []row, a []float64, rest, df *[maxRows]float64) {
	n := len(rows)
	f := rows[0].f
	normal := f - rest[0]/a[0]
	if normal < 0 {
		normal = 0
	}
	df[0] = normal - f
	if n == 1 {
		return
	}
	for i := 1; i < n; i++ {
		rest[i] += float64(a[i*n] * df[0])
	}
	if k.box {
		for i := 1; i < n; i++ {
			f := rows[i].f
			df[i] = max(-rows[i].bound, min(rows[i].bound, f-rest[i]/a[i*n+i])) - f
			for j := i + 1; j < n; j++ {
				rest[j] += float64(a[j*n+i] * df[i])
			}
		}
		return
	}
	if normal == 0 { // open: no friction
		for i := 1; i < n; i++ {
			df[i] = -rows[i].f
		}
		return
	}
	if n == 3 {
		df[1], df[2] = k.friction(rows, a, normal, rest[1], rest[2])
		return
	}
	// A contact that held in the last visit usually holds in this one, too.
	if k.push == 0 && n == 4 && k.holds(rows, normal, rest, df) {
		return
	}
	k.push = cone(rows, a, normal, rest, df)
}

// holds finds the friction of a contact of four rows that stops it, and reports whether the normal force allows it.
func (k *block) holds(rows []row, normal float64, rest, df *[maxRows]float64) bool {
	h, nn := &k.stick, float64(normal*normal)
	if h[0] == 0 {
		return false
	}
	p, q, r := rest[1], rest[2], rest[3]
	a := -(float64(h[0]*p) + float64(h[1]*q) + float64(h[2]*r))
	b := -(float64(h[1]*p) + float64(h[3]*q) + float64(h[4]*r))
	c := -(float64(h[2]*p) + float64(h[4]*q) + float64(h[5]*r))
	s, t, u := rows[1].bound, rows[2].bound, rows[3].bound
	x, y, z := float64((rows[1].f+a)*float64(t*u)), float64((rows[2].f+b)*float64(s*u)),
		float64((rows[3].f+c)*float64(s*t))
	most := float64(s * float64(t*u))
	if float64(x*x)+float64(y*y)+float64(z*z) <= float64(nn*float64(most*most)) && most > 0 {
		df[1], df[2], df[3] = a, b, c
		return true
	}
	return false
}

// friction is cone for the common contact with two rows of friction, which is worth closed formulas: how their forces
// change, where the accelerations rest1 and rest2 are left.
func (k *block) friction(rows []row, a []float64, normal, rest1, rest2 float64) (df1, df2 float64) {
	a = a[:9]
	r, s := &rows[1], &rows[2]
	b, c := r.bound, s.bound
	if m := &k.stick; k.push == 0 && m[0] != 0 {
		// A contact that held in the last visit usually holds in this one, too.
		d, e := -(float64(m[0]*rest1) + float64(m[1]*rest2)), -(float64(m[1]*rest1) + float64(m[2]*rest2))
		x, y, most := float64((r.f+d)*c), float64((s.f+e)*b), float64(b*c)
		if float64(x*x)+float64(y*y) <= float64(float64(normal*normal)*float64(most*most)) && most > 0 {
			return d, e
		}
	}
	p, q, w := float64(a[4]*float64(b*b)), float64(a[5]*float64(b*c)), float64(a[8]*float64(c*c))
	// the right side, in units of the bounds, without the present forces
	g := float64(b * (float64(a[4]*r.f) + float64(a[5]*s.f) - rest1))
	h := float64(c * (float64(a[5]*r.f) + float64(a[8]*s.f) - rest2))
	lambda := k.push // of the last sweep: near to that of this one
	var x, y float64
	for range 20 {
		pl, wl := p+lambda, w+lambda
		over := 1 / (float64(pl*wl) - float64(q*q))
		x, y = float64((float64(wl*g)-float64(q*h))*over), float64((float64(pl*h)-float64(q*g))*over)
		xx, yy := float64(x*x), float64(y*y)
		// Without a multiplier this force would hold the point; if it is within the cone, it does.
		if lambda == 0 && xx+yy <= float64(normal*normal) {
			break
		}
		size := math.Sqrt(xx + yy)
		miss := size - normal
		if math.Abs(miss) <= float64(1e-8*normal) {
			break
		}
		slope := float64((float64(wl*xx) - float64(2*float64(q*float64(x*y))) + float64(pl*yy)) * over)
		lambda += float64((xx+yy)*miss) / float64(slope*normal)
		if lambda < 0 {
			lambda = 0
		}
	}
	k.push = lambda
	if size := math.Sqrt(float64(x*x) + float64(y*y)); size > normal {
		x, y = float64(x*(normal/size)), float64(y*(normal/size))
	}
	return float64(x*b) - r.f, float64(y*c) - s.f
}

// cone finds the friction forces f that minimise f'Af/2 + f'c within sum (f/bound)² <= normal²; c is rest without the
// present forces. It uses Newton's method on the multiplier of the bound (More and Sorensen, SIAM J. Sci. Stat. Comput.
// 4, 1983; MuJoCo's QCQP does the same), which it returns.
func cone(rows []row, a []float64, normal float64, rest, df *[maxRows]float64) float64 {
	const most = maxRows - 1
	n := len(rows)
	var at [most]int // rows that have a bound
	d := 0
	for i := 1; i < n; i++ {
		if rows[i].bound > 0 {
			at[d] = i
			d++
		} else {
			df[i] = -rows[i].f
		}
	}
	// in units of the bounds the ellipsoid is a ball
	var m, l [most * most]float64
	var c, y, u [most]float64
	trace := 0.0
	for i := range d {
		r := &rows[at[i]]
		c[i] = rest[at[i]]
		for j := range n {
			if j > 0 {
				c[i] -= float64(a[at[i]*n+j] * rows[j].f)
			}
		}
		c[i] = float64(c[i] * r.bound)
		for j := range d {
			m[i*d+j] = float64(float64(a[at[i]*n+at[j]]*r.bound) * rows[at[j]].bound)
		}
		trace += m[i*d+i]
	}
	lambda := 0.0
	for range 20 { // each pass squares the error; five are enough, but for extreme values
		copy(l[:d*d], m[:d*d])
		for i := range d {
			l[i*d+i] += lambda + float64(1e-14*trace)
		}
		cholesky(l[:d*d], d)
		for i := range d {
			y[i] = -c[i]
		}
		substitute(l[:d*d], d, y[:d])
		yy := 0.0
		for i := range d {
			yy += float64(y[i] * y[i])
			u[i] = y[i]
		}
		size := math.Sqrt(yy)
		if size <= normal || size-normal <= float64(1e-9*normal) {
			break
		}
		substitute(l[:d*d], d, u[:d])
		yu := 0.0
		for i := range d {
			yu += float64(y[i] * u[i])
		}
		lambda += float64(yy / yu * ((size - normal) / normal))
	}
	yy := 0.0
	for i := range d {
		yy += float64(y[i] * y[i])
	}
	shrink := 1.0
	if size := math.Sqrt(yy); size > normal {
		shrink = normal / size
	}
	for i := range d {
		r := &rows[at[i]]
		df[at[i]] = float64(float64(y[i]*shrink)*r.bound) - r.f
	}
	return lambda
}

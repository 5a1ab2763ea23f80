package dynamics

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/halyard-robotics/halyard/internal/sim/r3"
)

func close3(t *testing.T, what string, got, want r3.Vec, within float64) {
	t.Helper()
	if !(got.Sub(want).Norm() <= within) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func randomVec(r *rand.Rand) r3.Vec { return r3.XYZ(r.NormFloat64(), r.NormFloat64(), r.NormFloat64()) }

func randomQuat(r *rand.Rand) r3.Quat {
	return r3.Quat{W: r.NormFloat64(), X: r.NormFloat64(), Y: r.NormFloat64(), Z: r.NormFloat64()}.Unit()
}

// A frame on an axis is a rotation, its z that axis, without rounding along x, y and z.
func TestFrame(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	axes := []r3.Vec{{X: 1}, {Y: 1}, {Z: 1}, {X: -1}, {Y: -1}, {Z: -1}, {X: 5}, {X: 1e-5, Y: 1}}
	for range 200 {
		axes = append(axes, randomVec(r))
	}
	for i, a := range axes {
		m := frame(a)
		close3(t, "axis", m.Z, a.Mul(1/a.Norm()), 1e-15)
		close3(t, "right-handed", m.X.Cross(m.Y), m.Z, 1e-14)
		if x := math.Abs(m.X.Dot(m.Y)) + math.Abs(m.X.Dot(m.X)-1); x > 1e-14 {
			t.Errorf("axis %v: not a rotation, by %g", a, x)
		}
		if i < 3 && m.Z != a {
			t.Errorf("axis %v: rounded to %v", a, m.Z)
		}
	}
}

// Spatial vectors about one point against the laws for a rigid body.
func TestSpatial(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for range 200 {
		mass := 0.1 + r.Float64()
		c, w, v := randomVec(r), randomVec(r), randomVec(r)
		about := sym{xx: 1 + r.Float64(), yy: 1 + r.Float64(), zz: 1 + r.Float64(), xy: 0.1, xz: -0.2, yz: 0.3}
		i := inertia{m: mass, h: c.Mul(mass), i: about.moved(mass, c)}
		m := motion{w, v}
		var p, q force
		p.w, p.v = i.of(&m)
		// momentum is m times the COM's velocity, and its moment that of the COM plus the spin
		speed := v.Add(w.Cross(c))
		close3(t, "momentum", p.v, speed.Mul(mass), 1e-13)
		close3(t, "angular momentum", p.w, c.Cross(speed).Mul(mass).Add(about.of(w)), 1e-13)
		// kinetic energy
		if got, want := p.dot(&m), mass*speed.Dot(speed)+w.Dot(about.of(w)); math.Abs(got-want) > 1e-12 {
			t.Errorf("energy: got %g, want %g", got, want)
		}
		// the sum of two bodies is the body of both
		j := i
		j.add(&i)
		q.w, q.v = j.of(&m)
		close3(t, "sum", q.w, p.w.Mul(2), 1e-12)
		// power of m x* f on n is minus that of f on m x n
		n := motion{randomVec(r), randomVec(r)}
		mn := m.cross(&n)
		fw, fv := m.w.Cross(p.w).Add(m.v.Cross(p.v)), m.w.Cross(p.v)
		if got, want := fw.Dot(n.w)+fv.Dot(n.v), -p.dot(&mn); math.Abs(got-want) > 1e-12 {
			t.Errorf("cross products: got %g, want %g", got, want)
		}
		// a rigid body as an articulated one
		var a articulated
		a.set(&i)
		close3(t, "articulated moment", a.i.of(w).Add(a.h.Of(v)), p.w, 1e-13)
		close3(t, "articulated force", a.h.Back(w).Add(a.m.of(v)), p.v, 1e-13)
	}
}

// The eigenvalues and axes of an inertia give it back; a link stores it in three numbers and two axes.
func TestPrincipal(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	for i := range 300 {
		d := [3]float64{1 + r.Float64(), 1 + r.Float64(), 1 + r.Float64()}
		switch i % 3 {
		case 1:
			d[1] = d[0] // a rod or a wheel
		case 2:
			d[1], d[2] = d[0], d[0] // a ball
		}
		turn := randomQuat(r).Mat()
		diagonal := sym{xx: d[0], yy: d[1], zz: d[2]}
		s := diagonal.turned(&turn)
		got, axes := principal(s)
		var l link
		l.shape(got, axes)
		back := sym{xx: l.base, yy: l.base, zz: l.base}
		back.outer(l.axis1.Mul(l.ext1), l.axis1)
		back.outer(l.axis2.Mul(l.ext2), l.axis2)
		a := randomVec(r)
		close3(t, "inertia", back.of(a), s.of(a), 1e-13)
	}
	d, axes := principal(sym{xx: 3, yy: 1, zz: 2})
	if d != [3]float64{3, 1, 2} || axes != r3.Identity() {
		t.Errorf("diagonal: got %v, %v, want it as it was", d, axes)
	}
	var l link
	l.shape([3]float64{2, 5, 2}, r3.Identity())
	if l.ext1 != 0 || l.base != 2 || l.ext2 != 3 || l.axis2 != (r3.Vec{Y: 1}) {
		t.Errorf("rod: got %g, %g, %g about %v", l.base, l.ext1, l.ext2, l.axis2)
	}
}

func TestCholesky(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	for n := 1; n <= maxRows; n++ {
		for range 20 {
			a, x, b := make([]float64, n*n), make([]float64, n), make([]float64, n)
			for i := range n {
				x[i] = r.NormFloat64()
				for j := range i {
					a[i*n+j] = 0.2 * r.NormFloat64()
					a[j*n+i] = a[i*n+j]
				}
				a[i*n+i] = 2 + r.Float64()
			}
			for i := range n {
				for j := range n {
					b[i] += a[i*n+j] * x[j]
				}
			}
			if !cholesky(a, n) {
				t.Fatal("got not positive, want positive")
			}
			substitute(a, n, b)
			for i := range x {
				if math.Abs(b[i]-x[i]) > 1e-12 {
					t.Fatalf("order %d: got %v, want %v", n, b, x)
				}
			}
		}
	}
	if cholesky([]float64{1, 2, 2, 1}, 2) {
		t.Error("indefinite: got positive")
	}
}

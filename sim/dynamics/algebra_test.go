package dynamics

import (
	"math"
	"math/rand/v2"
	"testing"
)

func close3(t *testing.T, what string, got, want vec, within float64) {
	t.Helper()
	if !(got.sub(want).norm() <= within) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func randomVec(r *rand.Rand) vec { return vec{r.NormFloat64(), r.NormFloat64(), r.NormFloat64()} }

func randomQuat(r *rand.Rand) quat {
	return quat{r.NormFloat64(), r.NormFloat64(), r.NormFloat64(), r.NormFloat64()}.unit()
}

// Every way to write a turn is the same turn.
func TestTurns(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 500 {
		p, q, a := randomQuat(r), randomQuat(r), randomVec(r)
		m, n := p.turn(), q.turn()
		mn := m.times(&n)
		pq := p.times(q)
		turn := pq.turn()
		close3(t, "product", mn.of(a), turn.of(a), 1e-14)
		close3(t, "back", m.back(m.of(a)), a, 1e-14)
		tr := m.transpose()
		close3(t, "transpose", tr.of(a), m.back(a), 1e-14)
		again := m.quat().turn()
		close3(t, "matrix to quaternion", again.of(a), m.of(a), 1e-14)
		// exp and log, up to half a turn
		w := a.mul(math.Min(1, 3.1/a.norm()))
		close3(t, "log of exp", spin(w).log(), w, 1e-13)
		close3(t, "a small turn", spin(w.mul(1e-8)).log(), w.mul(1e-8), 1e-22)
		sw := spin(w.mul(1e-4)).turn()
		close3(t, "an almost small turn", sw.of(a), a.add(w.mul(1e-4).cross(a)), 1e-6)
	}
	// each branch of the quaternion of a matrix: half turns about the axes
	for _, q := range []quat{{w: 1}, {x: 1}, {y: 1}, {z: 1}} {
		m := q.turn()
		if got := m.quat(); got != q {
			t.Errorf("half turn: got %v, want %v", got, q)
		}
	}
	if got := (quat{}).unit(); got != (quat{w: 1}) {
		t.Errorf("no quaternion: got %v, want no turn", got)
	}
}

func TestArctan(t *testing.T) {
	for i := range 1000 {
		a := float64(i) / 999 * math.Pi / 2
		for _, size := range []float64{1, 1e-8, 1e8} {
			if got := arctan(size*math.Sin(a), size*math.Cos(a)); math.Abs(got-a) > 4e-16 {
				t.Fatalf("angle %g: got %g", a, got)
			}
		}
	}
}

// A frame on an axis is a rotation, its z that axis, without rounding along x, y and z.
func TestFrame(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	axes := []vec{{x: 1}, {y: 1}, {z: 1}, {x: -1}, {y: -1}, {z: -1}, {x: 5}, {x: 1e-5, y: 1}}
	for range 200 {
		axes = append(axes, randomVec(r))
	}
	for i, a := range axes {
		m := frame(a)
		close3(t, "axis", m.z, a.mul(1/a.norm()), 1e-15)
		close3(t, "right-handed", m.x.cross(m.y), m.z, 1e-14)
		if x := math.Abs(m.x.dot(m.y)) + math.Abs(m.x.dot(m.x)-1); x > 1e-14 {
			t.Errorf("axis %v: not a rotation, by %g", a, x)
		}
		if i < 3 && m.z != a {
			t.Errorf("axis %v: rounded to %v", a, m.z)
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
		i := inertia{m: mass, h: c.mul(mass), i: about.moved(mass, c)}
		m := motion{w, v}
		p := i.of(&m)
		// momentum is m times the COM's velocity, and its moment that of the COM plus the spin
		speed := v.add(w.cross(c))
		close3(t, "momentum", p.v, speed.mul(mass), 1e-13)
		close3(t, "angular momentum", p.w, c.cross(speed).mul(mass).add(about.of(w)), 1e-13)
		// kinetic energy
		if got, want := p.dot(&m), mass*speed.dot(speed)+w.dot(about.of(w)); math.Abs(got-want) > 1e-12 {
			t.Errorf("energy: got %g, want %g", got, want)
		}
		// the sum of two bodies is the body of both
		j := i
		j.add(&i)
		q := j.of(&m)
		close3(t, "sum", q.w, p.w.mul(2), 1e-12)
		// power of m x* f on n is minus that of f on m x n
		n := motion{randomVec(r), randomVec(r)}
		mn := m.cross(&n)
		fw, fv := m.w.cross(p.w).add(m.v.cross(p.v)), m.w.cross(p.v)
		if got, want := fw.dot(n.w)+fv.dot(n.v), -p.dot(&mn); math.Abs(got-want) > 1e-12 {
			t.Errorf("cross products: got %g, want %g", got, want)
		}
		// a rigid body as an articulated one
		var a articulated
		a.set(&i)
		close3(t, "articulated moment", a.i.of(w).add(a.h.of(v)), p.w, 1e-13)
		close3(t, "articulated force", a.h.back(w).add(a.m.of(v)), p.v, 1e-13)
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
		turn := randomQuat(r).turn()
		diagonal := sym{xx: d[0], yy: d[1], zz: d[2]}
		s := diagonal.turned(&turn)
		got, axes := principal(s)
		var l link
		l.shape(got, axes)
		back := sym{xx: l.base, yy: l.base, zz: l.base}
		back.outer(l.axis1.mul(l.ext1), l.axis1)
		back.outer(l.axis2.mul(l.ext2), l.axis2)
		a := randomVec(r)
		close3(t, "inertia", back.of(a), s.of(a), 1e-13)
	}
	d, axes := principal(sym{xx: 3, yy: 1, zz: 2})
	if d != [3]float64{3, 1, 2} || axes != identity() {
		t.Errorf("diagonal: got %v, %v, want it as it was", d, axes)
	}
	var l link
	l.shape([3]float64{2, 5, 2}, identity())
	if l.ext1 != 0 || l.base != 2 || l.ext2 != 3 || l.axis2 != (vec{y: 1}) {
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

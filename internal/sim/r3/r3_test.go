package r3

import (
	"math"
	"math/rand/v2"
	"testing"
)

func near(t *testing.T, what string, got, want Vec, within float64) {
	t.Helper()
	if !(got.Sub(want).Norm() <= within) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func randomVec(r *rand.Rand) Vec { return XYZ(r.NormFloat64(), r.NormFloat64(), r.NormFloat64()) }

func randomQuat(r *rand.Rand) Quat {
	return Quat{r.NormFloat64(), r.NormFloat64(), r.NormFloat64(), r.NormFloat64()}.Unit()
}

func TestVec(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for range 500 {
		a, b, c := randomVec(r), randomVec(r), randomVec(r)
		n := a.Cross(b)
		if x := math.Abs(n.Dot(a)) + math.Abs(n.Dot(b)); x > 1e-14 {
			t.Errorf("cross product: got %g along its factors, want 0", x)
		}
		// Lagrange's identity, and the triple product
		if got, want := n.Dot(n), a.Dot(a)*b.Dot(b)-a.Dot(b)*a.Dot(b); math.Abs(got-want) > 1e-12 {
			t.Errorf("cross product: got square %g, want %g", got, want)
		}
		near(t, "triple product", a.Cross(b.Cross(c)), b.Mul(a.Dot(c)).Sub(c.Mul(a.Dot(b))), 1e-12)
		near(t, "along", a.Along(2.5, b), a.Add(b.Mul(2.5)), 0)
		near(t, "neg", a.Neg(), a.Mul(-1), 0)
		near(t, "div", a.Div(4), a.Mul(0.25), 0)
		if Pack(a.Array()) != a {
			t.Errorf("array: got %v, want %v", Pack(a.Array()), a)
		}
		u := a.Unit(Vec{})
		v := u.Across()
		if n := v.Norm(); math.Abs(u.Norm()-1) > 1e-15 || math.Abs(u.Dot(v)) > 1e-16 || n < 0.6-1e-15 || n > 1+1e-15 {
			t.Errorf("across %v: got %v", u, v)
		}
	}
}

// What has no direction, or one that its length hides, gives the fallback.
func TestUnit(t *testing.T) {
	for _, c := range []struct{ a, want Vec }{
		{Vec{}, Vec{X: 7}},
		{XYZ(0, 1e-160, 0), Vec{X: 7}},
		{XYZ(0, 1e-140, 0), Vec{Y: 1}},
		{XYZ(0, 0, -1e149), Vec{Z: -1}},
		{XYZ(0, 0, 1e155), Vec{X: 7}},
		{XYZ(math.NaN(), 1, 0), Vec{X: 7}},
		{XYZ(0, math.Inf(1), 0), Vec{X: 7}},
		{XYZ(0, 0, math.Inf(-1)), Vec{X: 7}},
		{XYZ(0, 3, -4), XYZ(0, 0.6, -0.8)},
	} {
		if got := c.a.Unit(Vec{X: 7}); got != c.want {
			t.Errorf("unit of %v: got %v, want %v", c.a, got, c.want)
		}
		want := c.a.X == c.a.X && !math.IsInf(c.a.Y, 0) && !math.IsInf(c.a.Z, 0)
		if got := c.a.Finite(); got != want {
			t.Errorf("finite %v: got %v, want %v", c.a, got, want)
		}
	}
	for _, a := range []Vec{{X: 1}, {Y: 1}, {Z: 1}, {X: -1}, {Y: -1}, {Z: -1}} {
		if b := a.Across(); a.Dot(b) != 0 || b.Norm() != 1 {
			t.Errorf("across %v: got %v", a, b)
		}
	}
}

// Every way to write a turn is the same turn.
func TestTurns(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 500 {
		p, q, a := randomQuat(r), randomQuat(r), randomVec(r)
		m, n := p.Mat(), q.Mat()
		mn, turn := m.Times(&n), p.Times(q).Mat()
		near(t, "product", mn.Of(a), turn.Of(a), 1e-14)
		near(t, "back", m.Back(m.Of(a)), a, 1e-14)
		transpose, inverse := m.Transpose(), p.Inverse().Mat()
		near(t, "transpose", transpose.Of(a), m.Back(a), 1e-14)
		near(t, "inverse", inverse.Of(a), m.Back(a), 1e-14)
		again := m.Quat().Mat()
		near(t, "matrix to quaternion", again.Of(a), m.Of(a), 1e-14)
		if PackQuat(p.Array()) != p {
			t.Errorf("array: got %v, want %v", PackQuat(p.Array()), p)
		}
		// exp and log, up to half a turn
		w := a.Mul(math.Min(1, 3.1/a.Norm()))
		near(t, "log of exp", Spin(w).Log(), w, 1e-13)
		s := Spin(w)
		near(t, "log of the other sign", Quat{-s.W, -s.X, -s.Y, -s.Z}.Log(), w, 1e-13)
		near(t, "a small turn", Spin(w.Mul(1e-8)).Log(), w.Mul(1e-8), 1e-22)
		// the series for small turns ends before it is seen
		for _, k := range []float64{1e-2, 1e-3, 1e-6, 1e-7} {
			if got := Spin(w.Mul(k)).Norm(); math.Abs(got-1) > 4e-16 {
				t.Errorf("turn by %g: got length %.17g, want 1", k*w.Norm(), got)
			}
		}
		small := Spin(w.Mul(1e-4)).Mat()
		near(t, "an almost small turn", small.Of(a), a.Add(w.Mul(1e-4).Cross(a)), 1e-6)
	}
	// A quarter turn about z takes x to y, so no sign is wrong everywhere alike.
	quarter := Spin(Vec{Z: math.Pi / 2}).Mat()
	near(t, "a quarter turn", quarter.Of(Vec{X: 1}), Vec{Y: 1}, 1e-15)
	// each branch of the quaternion of a matrix: half turns about the axes
	for _, q := range []Quat{{W: 1}, {X: 1}, {Y: 1}, {Z: 1}} {
		m := q.Mat()
		if got := m.Quat(); got != q {
			t.Errorf("half turn: got %v, want %v", got, q)
		}
	}
	none := Quat{}.Unit().Mat()
	if none != Identity() {
		t.Errorf("no quaternion: got %v, want no turn", none)
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

package collide

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/halyard-robotics/halyard/hal/haltest"
	"github.com/halyard-robotics/halyard/internal/sim/r3"
)

func rough(t testing.TB, columns, rows int, height float64, rng *rand.Rand) *Field {
	t.Helper()
	h := make([]float64, columns*rows)
	for i := range h {
		h[i] = height * rng.Float64()
	}
	return field(t, columns, rows, 0.25, h)
}

func field(t testing.TB, columns, rows int, cell float64, h []float64) *Field {
	t.Helper()
	f, err := NewField(columns, rows, cell, cell, h)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// sloped is a field whose height is f(x, y).
func sloped(t testing.TB, n int, cell float64, f func(x, y float64) float64) *Field {
	h := make([]float64, n*n)
	for j := range n {
		for i := range n {
			h[j*n+i] = f(cell*(float64(i)-0.5*float64(n-1)), cell*(float64(j)-0.5*float64(n-1)))
		}
	}
	return field(t, n, n, cell, h)
}

// TestFieldIsPlane: an even slope of many cells gives the contacts of a plane, for all shapes in all poses.
func TestFieldIsPlane(t *testing.T) {
	ground := Geom{Shape: Shape{Kind: HeightField,
		Field: sloped(t, 41, 0.17, func(x, y float64) float64 { return 0.3*x - 0.2*y })}, Body: -1}
	half := math.Atan(math.Hypot(0.3, 0.2)) / 2
	k := math.Sin(half) / math.Hypot(0.3, 0.2)
	slope := Geom{Shape: Shape{Kind: Plane}, Body: -1,
		Local: Pose{Rotation: [4]float64{math.Cos(half), -0.2 * k, -0.3 * k, 0}}}
	rng := rand.New(rand.NewPCG(6, 6))
	for kind := Sphere; kind <= Hull; kind++ {
		touched := 0
		for range 500 {
			p := anyPose(0.6, rng)
			shape := anyShape(kind, rng)
			on := func(g Geom) []Contact {
				s, err := New([]Geom{{Shape: shape, Body: 0}, g}, nil, 0)
				if err != nil {
					t.Fatal(err)
				}
				s.Update([]Pose{p})
				return s.Contacts()
			}
			got, want := on(ground), on(slope)
			// A field keeps more corners of what is deep in it.
			if len(got) < len(want) || len(got) > 0 && len(want) == 0 {
				t.Fatalf("%s %v %v: %d contacts, a plane gives %d\n%v\n%v", kind, shape, p, len(got), len(want), got,
					want)
			}
			touched += len(got)
			// of its many corners those that span the area are kept, on a field part by part
			if kind == Hull && len(want) > 0 {
				want = []Contact{deepest(want)}
			}
			for _, c := range want {
				found := false
				for _, d := range got {
					found = found || lengthOf(plus(c.Position, d.Position, -1)) < 1e-9 &&
						math.Abs(c.Depth-d.Depth) < 1e-9 &&
						lengthOf(plus(c.Normal, d.Normal, -1)) < 1e-9
				}
				if !found {
					t.Fatalf("%s: no contact %v among %v", kind, c, got)
				}
			}
		}
		t.Logf("%s: %d contacts", kind, touched)
	}
}

// TestSphereOnField holds a sphere on rough ground against the nearest point of all triangles, found by sampling.
func TestSphereOnField(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 7))
	f := rough(t, 12, 12, 0.3, rng)
	touched := 0
	for range haltest.Sample(60, 300) {
		r := 0.05 + 0.3*rng.Float64()
		at := point{2 * (rng.Float64() - 0.5), 2 * (rng.Float64() - 0.5), 0.1 + 0.5*rng.Float64()}
		if z, _ := f.Height(at[0], at[1]); at[2] < z {
			continue // the middle in the ground: another case
		}
		near := math.Inf(1)
		for j := range 11 {
			for i := range 11 {
				near = math.Min(near, triangleNear(at, f.Sample(i, j), f.Sample(i+1, j), f.Sample(i+1, j+1)))
				near = math.Min(near, triangleNear(at, f.Sample(i, j), f.Sample(i+1, j+1), f.Sample(i, j+1)))
			}
		}
		c := deepest(meet(t, ball(r), At(at[0], at[1], at[2]), Shape{Kind: HeightField, Field: f}, Identity()))
		want := math.Max(0, r-near)
		if math.Abs(c.Depth-want) > 1e-4 {
			t.Errorf("sphere %g at %v: depth %g, want %g", r, at, c.Depth, want)
		}
		if want > 0 {
			touched++
		}
	}
	if touched < haltest.Sample(10, 50) {
		t.Errorf("only %d touch", touched)
	}
}

// triangleNear returns the distance of p from a triangle by going down a grid of points that closes in on the nearest.
func triangleNear(p, a, b, c point) float64 {
	u0, v0, size, best := 0.5, 0.5, 0.5, math.Inf(1)
	for range 30 {
		bu, bv := u0, v0
		for i := -2; i <= 2; i++ {
			for j := -2; j <= 2; j++ {
				u := math.Max(0, math.Min(1, u0+size*float64(i)/2))
				v := math.Max(0, math.Min(1, v0+size*float64(j)/2))
				// The square folds onto the triangle.
				q := plus(plus(point{a[0] * (1 - u), a[1] * (1 - u), a[2] * (1 - u)}, b, u*(1-v)), c, u*v)
				if d := lengthOf(plus(p, q, -1)); d < best {
					best, bu, bv = d, u, v
				}
			}
		}
		u0, v0, size = bu, bv, size*0.7
	}
	return best
}

// TestRidge: along a roof, shapes rest on the ridge, and a box lies on the edge of a step.
func TestRidge(t *testing.T) {
	roof := Shape{Kind: HeightField, Field: sloped(t, 21, 0.2, func(x, y float64) float64 { return -math.Abs(x) })}
	lying := [4]float64{math.Sqrt2 / 2, math.Sqrt2 / 2, 0, 0} // axis along y
	for _, c := range []struct {
		name  string
		shape Shape
		pose  Pose
		depth float64
		least int
	}{
		{"sphere", ball(0.3), At(0, 0.05, 0.29), 0.01, 1},
		{"capsule across", pill(0.1, 0.3),
			Pose{[3]float64{0.01, 0.05, 0.09}, [4]float64{math.Sqrt2 / 2, 0, math.Sqrt2 / 2, 0}}, 0.01, 1},
		{"capsule along", pill(0.1, 0.3), Pose{[3]float64{0, 0.05, 0.09}, lying}, 0.01, 2},
		{"box", block(0.2, 0.3, 0.1), At(0, 0.05, 0.09), 0.01, 2},
		{"cylinder along", can(0.1, 0.3), Pose{[3]float64{0, 0.05, 0.09}, lying}, 0.01, 2},
		{"cylinder upright", can(0.3, 0.1), At(0.02, 0.05, 0.09), 0.01, 2},
	} {
		got := meet(t, c.shape, c.pose, roof, Identity())
		if len(got) < c.least {
			t.Errorf("%s: %d contacts, want at least %d: %v", c.name, len(got), c.least, got)
		}
		for _, k := range got {
			if k.Normal[2] < 0.999 || math.Abs(k.Depth-c.depth) > 1e-9 || math.Abs(k.Position[0]) > 1e-9 {
				t.Errorf("%s: %+v", c.name, k)
			}
		}
	}
	// A peak carries one contact, though six ridges meet there.
	peak := make([]float64, 25)
	peak[12] = 0.5
	spike := Shape{Kind: HeightField, Field: field(t, 5, 5, 0.5, peak)}
	for _, shape := range []Shape{ball(0.3), pill(0.3, 0.2), block(0.3, 0.3, 0.3)} {
		got := meet(t, shape, At(0.01, 0.02, 0.79+shape.Half[2]*float64(shape.Kind&1)), spike, Identity())
		if len(got) != 1 || got[0].Normal[2] < 0.99 {
			t.Errorf("%s on a peak: %v", shape.Kind, got)
		}
	}
	// A step 0.3 high between x = 0 and x = 0.1; the box's middle is over the upper half.
	step := Shape{Kind: HeightField, Field: sloped(t, 21, 0.1, func(x, _ float64) float64 {
		if x > 0.05 {
			return 0.3
		}
		return 0
	})}
	got := meet(t, block(0.3, 0.2, 0.1), At(0.2, 0, 0.395), step, Identity())
	left := false
	for _, k := range got {
		left = left || math.Abs(k.Position[0]-0.1) < 1e-6
		if k.Normal[2] < 0.999 || math.Abs(k.Depth-0.005) > 1e-9 {
			t.Errorf("box on a step: %+v", k)
		}
	}
	if !left || len(got) < 4 {
		t.Errorf("box on a step: nothing carries its left: %v", got)
	}
}

// TestRolling rolls a ball and a wheel over flat ground of cells: the height at which they touch never jumps.
func TestRolling(t *testing.T) {
	flat := Shape{Kind: HeightField, Field: sloped(t, 41, 0.1, func(x, y float64) float64 { return 0 })}
	lying := [4]float64{math.Sqrt2 / 2, math.Sqrt2 / 2, 0, 0}
	for _, shape := range []Shape{ball(0.15), can(0.15, 0.05), pill(0.15, 0.1)} {
		for k := range 500 {
			x := -1 + 0.004*float64(k)
			for _, c := range meet(t, shape, Pose{[3]float64{x, 0.013, 0.149}, lying}, flat, Identity()) {
				if math.Abs(c.Depth-0.001) > 1e-12 || c.Normal[2] < 1-1e-12 {
					t.Fatalf("%s at %g: %+v", shape.Kind, x, c)
				}
			}
		}
	}
}

// TestFieldTurns: a field that is turned and moved turns and moves its contacts.
func TestFieldTurns(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 9))
	ground := Shape{Kind: HeightField, Field: rough(t, 12, 12, 0.2, rng)}
	for kind := Sphere; kind <= Hull; kind++ {
		for range 100 {
			shape, p := anyShape(kind, rng), anyPose(0.5, rng)
			c := append([]Contact(nil), meet(t, shape, p, ground, Identity())...)
			by := Pose{point{3, -2, 1}, anyPose(1, rng).Rotation}
			moved := Pose{plus(rotate(by.Rotation, p.Position), by.Position, 1),
				r3.PackQuat(by.Rotation).Times(r3.PackQuat(p.Rotation)).Array()}
			d := meet(t, shape, moved, ground, by)
			if len(c) != len(d) {
				t.Fatalf("%s %v %v: %d contacts, turned %d: %v, %v", kind, shape, p, len(c), len(d), c, d)
			}
			for i := range c {
				want := plus(rotate(by.Rotation, c[i].Position), by.Position, 1)
				if lengthOf(plus(want, d[i].Position, -1)) > 1e-8 || math.Abs(c[i].Depth-d[i].Depth) > 1e-8 {
					t.Errorf("%s: %v, turned %v", kind, c[i], d[i])
				}
			}
		}
	}
}

func TestHeight(t *testing.T) {
	f := field(t, 3, 2, 1, []float64{0, 1, 2, 0, 3, 2})
	for _, c := range []struct{ x, y, want float64 }{
		{-1, -0.5, 0}, {0, -0.5, 1}, {1, 0.5, 2}, {0, 0.5, 3}, {-0.5, 0, 1.5}, {-0.25, -0.25, 1.25},
		{-0.75, 0.25, 0.75},
	} {
		if z, ok := f.Height(c.x, c.y); !ok || math.Abs(z-c.want) > 1e-12 {
			t.Errorf("at %g, %g: got %g %v, want %g", c.x, c.y, z, ok, c.want)
		}
	}
	if _, ok := f.Height(1.1, 0); ok {
		t.Error("outside: ok")
	}
}

// A large shape deep in rough ground meets more edges and faces than the scratch holds.
func TestManyMeetings(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for k := range 6 {
		ground := rough(t, 60, 60, []float64{0.05, 0.4, 2}[k%3], rng)
		for _, kind := range []Kind{Box, Cylinder, Capsule} {
			size := func(least, span float64) float64 { return least + float64(span*rng.Float64()) }
			s, err := New([]Geom{
				{Shape: Shape{Kind: kind, Radius: size(0.5, 6),
					Half: [3]float64{size(0.3, 6), size(0.3, 6), size(0.1, 3)}}, Body: 0},
				{Shape: Shape{Kind: HeightField, Field: ground}, Body: -1},
			}, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			for range 5 {
				s.Update([]Pose{{
					Position: [3]float64{rng.Float64(), rng.Float64(), 3 * rng.Float64()},
					Rotation: [4]float64{1, 0.2 * rng.NormFloat64(), 0.2 * rng.NormFloat64(), rng.NormFloat64()},
				}})
				if n := len(s.Contacts()); n > perPair {
					t.Errorf("%v on field %d: got %d contacts, want at most %d", kind, k, n, perPair)
				}
			}
		}
	}
}

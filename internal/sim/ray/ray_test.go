package ray

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/halyard-robotics/halyard/internal/sim/r3"
	"github.com/halyard-robotics/halyard/sim/collide"
)

func turned(rng *rand.Rand) [4]float64 {
	return [4]float64{rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()}
}

func direction(rng *rand.Rand) [3]float64 {
	v := r3.XYZ(rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64())
	return v.Mul(1 / v.Norm()).Array()
}

func hills(t testing.TB, columns, rows int, rng *rand.Rand) *collide.Field {
	t.Helper()
	h := make([]float64, columns*rows)
	for i := range h {
		h[i] = 0.6 * rng.Float64()
	}
	f, err := collide.NewField(columns, rows, 0.5, 0.4, h)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// scene has n geoms of all kinds within size metres, half of them on bodies.
func scene(t testing.TB, n int, size float64, seed uint64) ([]collide.Geom, []collide.Pose) {
	rng := rand.New(rand.NewPCG(seed, 5))
	var geoms []collide.Geom
	var poses []collide.Pose
	for i := range n {
		p := collide.Pose{Rotation: turned(rng)}
		for k := range p.Position {
			p.Position[k] = size * (rng.Float64() - 0.5)
		}
		length := func() float64 { return 0.05 + 0.3*rng.Float64() }
		g := collide.Geom{Shape: collide.Shape{
			Kind: collide.Kind(i % 4), Radius: length(), Half: [3]float64{length(), length(), length()},
		}, Body: -1, Local: p, Group: 1 << (i % 3)}
		if i%8 >= 4 {
			g.Body = len(poses)
			g.Local = collide.Pose{Position: [3]float64{0.1, 0, 0}, Rotation: turned(rng)}
			poses = append(poses, p)
		}
		geoms = append(geoms, g)
	}
	geoms = append(geoms,
		collide.Geom{Shape: collide.Shape{Kind: collide.Plane}, Body: -1, Local: collide.At(0, 0, -0.6*size)},
		collide.Geom{Shape: collide.Shape{Kind: collide.HeightField, Field: hills(t, 21, 25, rng)}, Body: -1,
			Local: collide.At(0, 0, -0.4*size)})
	return geoms, poses
}

// brute casts at every geom.
func brute(b *BVH, r Ray) (Hit, bool) {
	c := cast{o: r3.Pack(r.Origin), d: r3.Pack(r.Direction), mask: r.Mask, limit: r.Max, geom: -1}
	if c.mask == 0 {
		c.mask = math.MaxUint32
	}
	if c.limit <= 0 {
		c.limit = math.Inf(1)
	}
	c.d = c.d.Mul(1 / c.d.Norm())
	for k := range b.geoms {
		b.test(&c, int32(k))
	}
	if c.geom < 0 {
		return Hit{Geom: -1, Distance: c.limit}, false
	}
	return Hit{c.geom, c.hit.inside, c.hit.t, b.frame[c.geom].Turn.Of(c.hit.normal).Array()}, true
}

// TestAgainstBrute casts 1e5 rays through the trees and at every geom, in four poses of the bodies.
func TestAgainstBrute(t *testing.T) {
	geoms, poses := scene(t, 200, 8, 1)
	b, err := New(geoms, poses)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(2, 2))
	hits, worst := 0, 0.0
	for range 4 {
		for range 25000 {
			r := Ray{Direction: direction(rng), Max: 20 * rng.Float64(), Mask: uint32(rng.IntN(8))}
			for k := range r.Origin {
				r.Origin[k] = 10 * (rng.Float64() - 0.5)
			}
			if rng.IntN(4) == 0 {
				r.Direction[rng.IntN(3)] = 0 // along the sides of boxes
			}
			got, ok := b.Cast(&r)
			want, wantOK := brute(b, r)
			if ok != wantOK || got.Geom != want.Geom || got.Inside != want.Inside ||
				r3.Pack(got.Normal).Sub(r3.Pack(want.Normal)).Norm() > 1e-12 {
				t.Fatalf("%+v: got %+v, want %+v", r, got, want)
			}
			if ok {
				hits++
				worst = math.Max(worst, math.Abs(got.Distance-want.Distance))
			}
		}
		for i := range poses {
			for k := range poses[i].Position {
				poses[i].Position[k] += 0.5 * rng.NormFloat64()
			}
			poses[i].Rotation = turned(rng)
		}
		b.Update(poses)
	}
	t.Logf("100000 rays, %d hits, farthest from brute force %g m", hits, worst)
	if worst > 1e-9 || hits < 20000 {
		t.Errorf("worst %g m of %d hits", worst, hits)
	}
}

// outside returns a number above 0 outside the solid and below 0 inside, in its frame: written apart from the code.
func outside(s *collide.Shape, p r3.Vec) float64 {
	switch s.Kind {
	case collide.Sphere:
		return p.Norm() - s.Radius
	case collide.Capsule:
		p.Z -= math.Max(-s.Half[2], math.Min(s.Half[2], p.Z))
		return p.Norm() - s.Radius
	case collide.Box:
		return math.Max(math.Abs(p.X)-s.Half[0], math.Max(math.Abs(p.Y)-s.Half[1], math.Abs(p.Z)-s.Half[2]))
	case collide.Cylinder:
		return math.Max(math.Hypot(p.X, p.Y)-s.Radius, math.Abs(p.Z)-s.Half[2])
	}
	if s.Kind == collide.Hull {
		far := math.Inf(-1)
		for i := range s.Hull.Faces() {
			n, d := s.Hull.Face(i)
			far = math.Max(far, n.Dot(p)-d)
		}
		return far
	}
	return p.Z
}

// TestShapes walks along each ray in small steps and looks for the first change of side.
func TestShapes(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	for kind := collide.Sphere; kind <= collide.Plane; kind++ {
		s := collide.Shape{Kind: kind, Radius: 0.4, Half: [3]float64{0.3, 0.5, 0.7}}
		if kind == collide.Hull {
			var points [][3]float64
			for range 40 {
				points = append(points, direction(rng))
			}
			c, err := collide.NewConvex(points)
			if err != nil {
				t.Fatal(err)
			}
			s.Hull = c.Moved(c.Centre)
		}
		from := map[bool]int{}
		for range 3000 {
			o, d := r3.Pack(direction(rng)).Mul(2*rng.Float64()), r3.Pack(direction(rng))
			if rng.IntN(5) == 0 {
				d = [...]r3.Vec{{Z: 1}, {Z: -1}, {X: 1}, {Y: -1}}[rng.IntN(4)]
			}
			c, ok := meet(&s, o, d, 5)
			end := 5.0
			if ok {
				end = c.t
				p := o.Along(c.t, d)
				if off := math.Abs(outside(&s, p)); off > 1e-12 {
					t.Fatalf("%s: hit %g m off the surface", kind, off)
				}
				if math.Abs(c.normal.Norm()-1) > 1e-12 {
					t.Fatalf("%s: normal %v", kind, c.normal)
				}
				// Along the normal is out, against it in.
				if outside(&s, p.Along(1e-7, c.normal)) <= 0 || outside(&s, p.Along(-1e-7, c.normal)) >= 0 {
					t.Fatalf("%s: normal %v at %v does not point out", kind, c.normal, p)
				}
				if c.inside != (outside(&s, o) < 0) {
					t.Fatalf("%s: inside %v from %v", kind, c.inside, o)
				}
				from[c.inside]++
			}
			for k := range 400 {
				at := end * float64(k) / 400
				if outside(&s, o.Along(at, d)) > 1e-12 != (outside(&s, o) > 1e-12) {
					t.Fatalf("%s: from %v along %v: the side changes by %g m, hit %v at %g", kind, o, d, at, ok, end)
				}
			}
		}
		t.Logf("%s: %d hits from outside, %d from inside", kind, from[false], from[true])
		if from[false] < 100 || from[true] < 100 {
			t.Errorf("%s: too few hits", kind)
		}
	}
}

// triangleHit is the test of Möller and Trumbore.
func triangleHit(a, b, c, o, d r3.Vec) (float64, bool) {
	e, f := b.Sub(a), c.Sub(a)
	p := d.Cross(f)
	det := e.Dot(p)
	s := o.Sub(a)
	q := s.Cross(e)
	u, v, t := s.Dot(p)/det, d.Dot(q)/det, f.Dot(q)/det
	return t, u >= 0 && v >= 0 && u+v <= 1 && t >= 0
}

// TestField casts at every triangle of a rough field.
func TestField(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	f := hills(t, 13, 17, rng)
	s := collide.Shape{Kind: collide.HeightField, Field: f}
	columns, rows := f.Size()
	hits := 0
	for range 20000 {
		o := r3.XYZ(6*(rng.Float64()-0.5), 6*(rng.Float64()-0.5), 1.5*rng.Float64()-0.4)
		d := r3.Pack(direction(rng))
		d.Z *= 0.3
		d = d.Mul(1 / d.Norm())
		want, edge := math.Inf(1), false
		for j := range rows - 1 {
			for i := range columns - 1 {
				p00, p10 := r3.Pack(f.Sample(i, j)), r3.Pack(f.Sample(i+1, j))
				p01, p11 := r3.Pack(f.Sample(i, j+1)), r3.Pack(f.Sample(i+1, j+1))
				for _, tri := range [...][3]r3.Vec{{p00, p10, p11}, {p00, p11, p01}} {
					if at, ok := triangleHit(tri[0], tri[1], tri[2], o, d); ok && at < want {
						want = at
						// Within rounding of the rim or an edge either answer is right.
						q := o.Along(at, d)
						edge = math.Abs(math.Abs(q.X)-3) < 1e-9 || math.Abs(math.Abs(q.Y)-3.2) < 1e-9
					}
				}
			}
		}
		got, ok := meet(&s, o, d, math.Inf(1))
		if edge {
			continue
		}
		if ok != !math.IsInf(want, 1) || ok && math.Abs(got.t-want) > 1e-9 {
			t.Fatalf("from %v along %v: got %g %v, want %g", o, d, got.t, ok, want)
		}
		if ok {
			hits++
			if got.inside != (got.normal.Dot(d) > 0) || got.normal.Z <= 0 {
				t.Fatalf("normal %v, inside %v, along %v", got.normal, got.inside, d)
			}
		}
	}
	t.Logf("%d hits of 20000", hits)
	if hits < 5000 {
		t.Error("too few hits")
	}
}

func TestCases(t *testing.T) {
	ball := collide.Geom{Shape: collide.Shape{Kind: collide.Sphere, Radius: 1}, Body: -1, Local: collide.At(5, 0, 0),
		Group: 2}
	wall := collide.Geom{Shape: collide.Shape{Kind: collide.Box, Half: [3]float64{0.5, 9, 9}}, Body: 0}
	floor := collide.Geom{Shape: collide.Shape{Kind: collide.Plane}, Body: -1, Local: collide.At(0, 0, -1)}
	b, err := New([]collide.Geom{ball, wall, floor}, []collide.Pose{collide.At(10, 0, 0)})
	if err != nil {
		t.Fatal(err)
	}
	inf := math.Inf(1)
	cases := []struct {
		name string
		ray  Ray
		want Hit
	}{
		{"ball", Ray{Direction: [3]float64{3, 0, 0}}, Hit{0, false, 4, [3]float64{-1, 0, 0}}},
		{"masked", Ray{Direction: [3]float64{1, 0, 0}, Mask: 1}, Hit{1, false, 9.5, [3]float64{-1, 0, 0}}},
		{"too far", Ray{Direction: [3]float64{1, 0, 0}, Max: 3.9}, Hit{-1, false, 3.9, [3]float64{}}},
		{"from inside", Ray{Origin: [3]float64{5, 0, 0}, Direction: [3]float64{1, 0, 0}},
			Hit{0, true, 1, [3]float64{1, 0, 0}}},
		{"down", Ray{Direction: [3]float64{0, 0, -1}}, Hit{2, false, 1, [3]float64{0, 0, 1}}},
		{"from below", Ray{Origin: [3]float64{0, 0, -3}, Direction: [3]float64{0, 0, 1}},
			Hit{2, true, 2, [3]float64{0, 0, 1}}},
		{"sky", Ray{Direction: [3]float64{-1, 0, 1}}, Hit{-1, false, inf, [3]float64{}}},
		{"no direction", Ray{}, Hit{-1, false, inf, [3]float64{}}},
		{"no number", Ray{Direction: [3]float64{math.NaN(), 0, 1}}, Hit{-1, false, inf, [3]float64{}}},
		{"too big", Ray{Direction: [3]float64{inf, 0, 1}}, Hit{-1, false, inf, [3]float64{}}},
	}
	for _, c := range cases {
		if got, ok := b.Cast(&c.ray); got != c.want || ok != (c.want.Geom >= 0) {
			t.Errorf("%s: got %+v %v, want %+v", c.name, got, ok, c.want)
		}
	}
	// The wall leaves, and is nowhere, and comes back.
	along := Ray{Direction: [3]float64{1, 0, 0}, Mask: 1}
	for _, c := range []struct {
		pose collide.Pose
		want float64
	}{{collide.At(20, 0, 0), 19.5}, {collide.At(math.NaN(), 0, 0), inf}, {collide.Pose{}, inf},
		{collide.At(7, 0, 0), 6.5}} {
		b.Update([]collide.Pose{c.pose})
		if got, _ := b.Cast(&along); got.Distance != c.want {
			t.Errorf("wall at %v: got %g m, want %g", c.pose, got.Distance, c.want)
		}
	}
	b.Update(nil)
	if got, ok := b.Cast(&along); ok {
		t.Errorf("without poses: got %+v", got)
	}
	if _, err := New([]collide.Geom{{}, {Body: -7}}, nil); err == nil {
		t.Error("faulty geoms: no error")
	}
}

func TestNoAllocation(t *testing.T) {
	geoms, poses := scene(t, 100, 6, 3)
	b, err := New(geoms, poses)
	if err != nil {
		t.Fatal(err)
	}
	rays, hits := fan(256)
	if n := testing.AllocsPerRun(20, func() {
		b.Update(poses)
		castAll(b, hits, rays)
	}); n != 0 {
		t.Errorf("got %g allocations, want 0", n)
	}
}

func castAll(b *BVH, hits []Hit, rays []Ray) {
	for i := range rays {
		hits[i], _ = b.Cast(&rays[i])
	}
}

func fan(n int) ([]Ray, []Hit) {
	rays := make([]Ray, n)
	for i := range rays {
		a := 2 * math.Pi * float64(i) / float64(n)
		rays[i] = Ray{Direction: [3]float64{math.Cos(a), math.Sin(a), -0.05}, Max: 30}
	}
	return rays, make([]Hit, n)
}

// TestTreeDeterminism builds the same tree twice and keeps it within the stack.
func TestTreeDeterminism(t *testing.T) {
	geoms, poses := scene(t, 500, 10, 4)
	// Many in one place, and a row whose sizes grow: what SAH splits badly.
	for i := range 300 {
		r := 1e-5 * math.Pow(1.05, float64(i))
		at := collide.At(0, 0, 0)
		if i >= 100 {
			at = collide.At(r*3, 0, 0)
		}
		geoms = append(geoms, collide.Geom{Shape: collide.Shape{Kind: collide.Sphere, Radius: r}, Body: -1, Local: at})
	}
	a, err := New(geoms, poses)
	if err != nil {
		t.Fatal(err)
	}
	b, _ := New(geoms, poses)
	for i := range a.still.nodes {
		if a.still.nodes[i] != b.still.nodes[i] {
			t.Fatalf("node %d differs", i)
		}
	}
	var depth func(tr *tree, at int32) int
	depth = func(tr *tree, at int32) int {
		n := &tr.nodes[at]
		if n.count > 0 {
			return 1
		}
		return 1 + max(depth(tr, at+1), depth(tr, n.at))
	}
	if d := depth(&a.still, 0); d > maxDepth {
		t.Errorf("depth %d, stack %d", d, maxDepth)
	}
}

// FuzzCast holds any ray against any shape: no panic, no number that is not one.
func FuzzCast(f *testing.F) {
	f.Add(uint8(0), 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.5, 0.5, 0.0)
	f.Add(uint8(5), 1e300, -1e-300, math.Inf(1), 0.0, 0.0, 1e-200, 1e-6, 1e6, math.NaN())
	f.Add(uint8(3), 0.0, 0.0, -2.0, 0.0, 0.0, 1.0, 0.5, 0.5, 3.0)
	ground := hills(f, 7, 6, rand.New(rand.NewPCG(1, 1)))
	f.Fuzz(func(t *testing.T, kind uint8, ox, oy, oz, dx, dy, dz, radius, half, turn float64) {
		s := collide.Shape{Kind: collide.Kind(kind % 6), Radius: radius, Half: [3]float64{half, radius, half},
			Field: ground}
		b, err := New([]collide.Geom{{Shape: s, Body: 0}}, []collide.Pose{{Rotation: [4]float64{1, turn, 0, -turn}}})
		if err != nil {
			return
		}
		r := Ray{Origin: [3]float64{ox, oy, oz}, Direction: [3]float64{dx, dy, dz}}
		h, ok := b.Cast(&r)
		if !ok {
			return
		}
		n := r3.Pack(h.Normal).Norm()
		if !(h.Distance >= 0) || math.IsInf(h.Distance, 0) || !(math.Abs(n-1) < 1e-6) {
			t.Fatalf("%+v at %+v: %+v", r, s, h)
		}
	})
}

func benchmark(b *testing.B, n int, size float64) {
	geoms, poses := scene(b, n, size, 6)
	bvh, err := New(geoms, poses)
	if err != nil {
		b.Fatal(err)
	}
	rays, hits := fan(1024)
	b.ReportAllocs()
	for b.Loop() {
		castAll(bvh, hits, rays)
	}
	b.ReportMetric(float64(b.N)*1024/b.Elapsed().Seconds(), "rays/s")
}

func BenchmarkRays20(b *testing.B)   { benchmark(b, 20, 6) }
func BenchmarkRays200(b *testing.B)  { benchmark(b, 200, 12) }
func BenchmarkRays2000(b *testing.B) { benchmark(b, 2000, 30) }

func BenchmarkUpdate200(b *testing.B) {
	geoms, poses := scene(b, 200, 12, 6)
	bvh, err := New(geoms, poses)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		bvh.Update(poses)
	}
}

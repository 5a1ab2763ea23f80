package collide

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard/internal/sim/r3"
)

func ball(r float64) Shape        { return Shape{Kind: Sphere, Radius: r} }
func block(x, y, z float64) Shape { return Shape{Kind: Box, Half: [3]float64{x, y, z}} }
func can(r, h float64) Shape      { return Shape{Kind: Cylinder, Radius: r, Half: [3]float64{2: h}} }
func pill(r, h float64) Shape     { return Shape{Kind: Capsule, Radius: r, Half: [3]float64{2: h}} }

// pile is a scene of n bodies of all kinds close together over a plane, a field and a few blocks that stand.
func pile(t testing.TB, n int, seed uint64) ([]Geom, []Pose) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 1))
	var geoms []Geom
	var poses []Pose
	geoms = append(geoms, Geom{Shape: Shape{Kind: Plane}, Body: -1})
	size := 0.6 * math.Cbrt(float64(n))
	for i := range n {
		p := Pose{Rotation: anyPose(1, rng).Rotation}
		for k := range p.Position {
			p.Position[k] = size * rng.Float64()
		}
		poses = append(poses, p)
		geoms = append(geoms, Geom{Shape: anyShape(Kind(i%4), rng), Body: i, Local: At(0.05, 0, 0)})
	}
	for i := range 5 {
		geoms = append(geoms, Geom{Shape: block(0.3, 0.2, 0.4), Body: -1, Local: At(float64(i), 0.5, 0.2)})
	}
	geoms = append(geoms, Geom{Shape: Shape{Kind: HeightField, Field: rough(t, 20, 20, 0.2, rng)}, Body: -1,
		Local: At(1, 1, 0)})
	return geoms, poses
}

// TestBroadPhase compares the pairs found with all pairs of boxes, while the poses wander, and are drawn out along one
// axis after another.
func TestBroadPhase(t *testing.T) {
	geoms, poses := pile(t, 80, 3)
	skip := [][2]int{{1, 2}, {5, 3}, {-1, 7}}
	s, err := New(geoms, skip, 5000)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(8, 8))
	var along [3]int
	for step := range 60 {
		s.Update(poses)
		along[s.sweep.along]++
		var want []uint64
		for a := range geoms {
			for b := a + 1; b < len(geoms); b++ {
				ga, gb := &geoms[a], &geoms[b]
				if ga.Body == gb.Body || ga.Kind >= Plane && gb.Kind >= Plane || skipped(skip, ga.Body, gb.Body) {
					continue
				}
				fa, _ := ga.Frame(poseOf(ga, poses))
				fb, _ := gb.Frame(poseOf(gb, poses))
				if ga.Kind == Plane {
					lo, _ := gb.Bounds(&fb)
					if lo.Z <= 0 {
						want = append(want, uint64(a)<<32|uint64(b))
					}
					continue
				}
				la, ha := ga.Bounds(&fa)
				lb, hb := gb.Bounds(&fb)
				if gb.Kind == HeightField {
					lb.Z -= fieldDepth
				}
				if la.X <= hb.X && lb.X <= ha.X && la.Y <= hb.Y && lb.Y <= ha.Y && la.Z <= hb.Z && lb.Z <= ha.Z {
					want = append(want, uint64(a)<<32|uint64(b))
				}
			}
		}
		if !slices.Equal(s.pairs, want) {
			t.Fatalf("step %d: %d pairs, want %d", step, len(s.pairs), len(want))
		}
		if s.Overflow() != 0 || len(want) < 50 {
			t.Fatalf("overflow %d, %d pairs", s.Overflow(), len(want))
		}
		for i := range poses {
			for k := range 3 {
				poses[i].Position[k] += 0.05 * rng.NormFloat64()
			}
			if step%10 == 5 {
				poses[i].Position[step/10%3] *= 2
				poses[i].Position[(step/10+2)%3] /= 2
			}
		}
	}
	if along[0] < 5 || along[1] < 5 || along[2] < 5 {
		t.Errorf("steps by the axis that they sorted along: got %d, want some of each", along)
	}
}

func poseOf(g *Geom, poses []Pose) Pose {
	if g.Body < 0 {
		return Identity()
	}
	return poses[g.Body]
}

func skipped(skip [][2]int, a, b int) bool {
	return slices.Contains(skip, [2]int{a, b}) || slices.Contains(skip, [2]int{b, a})
}

// TestDeterminism: contacts are in order, each feature once a pair, and equal to the bit for any previous steps.
func TestDeterminism(t *testing.T) {
	geoms, poses := pile(t, 60, 4)
	one, err := New(geoms, nil, 5000)
	if err != nil {
		t.Fatal(err)
	}
	two, _ := New(geoms, nil, 5000)
	rng := rand.New(rand.NewPCG(5, 5))
	total := 0
	for range 30 {
		one.Update(poses)
		// The second space comes from elsewhere.
		far := slices.Clone(poses)
		rng.Shuffle(len(far), func(i, j int) { far[i], far[j] = far[j], far[i] })
		two.Update(far)
		two.Update(poses)
		if !slices.Equal(one.Contacts(), two.Contacts()) {
			t.Fatal("contacts depend on the steps before")
		}
		for i, c := range one.Contacts() {
			if c.A >= c.B {
				t.Fatalf("pair %d %d", c.A, c.B)
			}
			if i > 0 {
				if l := one.Contacts()[i-1]; l.A > c.A || l.A == c.A && l.B > c.B {
					t.Fatalf("pair %d %d after %d %d", c.A, c.B, l.A, l.B)
				}
			}
			for _, d := range one.Contacts()[:i] {
				if c.A == d.A && c.B == d.B && c.Feature == d.Feature {
					t.Fatalf("%s %s: feature %#x twice: %v %v", geoms[c.A].Kind, geoms[c.B].Kind, c.Feature, c, d)
				}
			}
		}
		total += len(one.Contacts())
		for i := range poses {
			for k := range 3 {
				poses[i].Position[k] += 0.02 * rng.NormFloat64()
			}
		}
	}
	t.Logf("%d contacts in 30 steps", total)
}

// TestFeaturesStay slides and turns resting shapes a little: the same features go on touching.
func TestFeaturesStay(t *testing.T) {
	flat, _ := NewField(30, 30, 0.1, 0.1, make([]float64, 900))
	grounds := []struct {
		name string
		geom Geom
	}{
		{"plane", Geom{Shape: Shape{Kind: Plane}, Body: -1}},
		{"box", Geom{Shape: block(1.5, 1.5, 0.5), Body: -1, Local: At(0, 0, -0.5)}},
		{"field", Geom{Shape: Shape{Kind: HeightField, Field: flat}, Body: -1}},
	}
	lying := [4]float64{math.Sqrt2 / 2, 0, math.Sqrt2 / 2, 0}
	shapes := []struct {
		shape Shape
		turn  [4]float64
		high  float64
		count int
	}{
		{ball(0.2), Identity().Rotation, 0.2, 1},
		{block(0.2, 0.3, 0.1), Identity().Rotation, 0.1, 4},
		{can(0.2, 0.1), Identity().Rotation, 0.1, 4},
		{can(0.2, 0.1), lying, 0.2, 2},
		{pill(0.1, 0.3), lying, 0.1, 2},
	}
	for _, g := range grounds {
		for _, c := range shapes {
			s, err := New([]Geom{g.geom, {Shape: c.shape, Body: 0}}, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			var before []uint32
			for step := range 100 {
				turn := c.turn
				turn[1] += 1e-4 * math.Sin(0.3*float64(step))
				p := Pose{[3]float64{0.003 * float64(step), 0.1, c.high - 0.002}, turn}
				s.Update([]Pose{p})
				var now []uint32
				for _, k := range s.Contacts() {
					now = append(now, k.Feature)
					if k.Normal[2] > -1+1e-4 {
						t.Fatalf("%s on %s: normal %v", c.shape.Kind, g.name, k.Normal)
					}
					if math.Abs(k.Depth-0.002) > 2e-4 {
						t.Fatalf("%s on %s: depth %g", c.shape.Kind, g.name, k.Depth)
					}
				}
				if len(now) != c.count {
					t.Fatalf("%s on %s, step %d: %d contacts, want %d: %v", c.shape.Kind, g.name, step, len(now),
						c.count, s.Contacts())
				}
				if step > 0 && !slices.Equal(now, before) {
					t.Fatalf("%s on %s, step %d: features %x, before %x", c.shape.Kind, g.name, step, now, before)
				}
				before = now
			}
		}
	}
}

func TestFilters(t *testing.T) {
	cases := []struct {
		name string
		a, b Geom
		skip [][2]int
		want int
	}{
		{"two bodies", Geom{Body: 0}, Geom{Body: 1}, nil, 1},
		{"one body", Geom{Body: 1}, Geom{Body: 1}, nil, 0},
		{"the world", Geom{Body: -1}, Geom{Body: -1}, nil, 0},
		{"world and body", Geom{Body: 0}, Geom{Body: -1}, nil, 1},
		{"parent and child", Geom{Body: 0}, Geom{Body: 1}, [][2]int{{1, 0}}, 0},
		{"fixed to the world", Geom{Body: -1}, Geom{Body: 1}, [][2]int{{1, -1}}, 0},
		{"other pair skipped", Geom{Body: 0}, Geom{Body: 1}, [][2]int{{0, 2}}, 1},
		{"groups apart", Geom{Body: 0, Group: 2, Mask: 1}, Geom{Body: 1, Group: 2, Mask: 1}, nil, 0},
		{"one way only", Geom{Body: 0, Group: 2, Mask: 1}, Geom{Body: 1, Group: 1, Mask: 1}, nil, 0},
		{"both ways", Geom{Body: 0, Group: 2, Mask: 1}, Geom{Body: 1, Group: 1, Mask: 2}, nil, 1},
	}
	for _, c := range cases {
		c.a.Shape, c.b.Shape = ball(1), ball(1)
		s, err := New([]Geom{c.a, c.b}, c.skip, 0)
		if err != nil {
			t.Fatal(err)
		}
		s.Update([]Pose{Identity(), Identity(), Identity()})
		if got := len(s.Contacts()); got != c.want {
			t.Errorf("%s: got %d contacts, want %d", c.name, got, c.want)
		}
	}
}

func TestFaults(t *testing.T) {
	_, err := New([]Geom{
		{Shape: ball(-1)},
		{Shape: block(1, 0, math.NaN()), Body: -2},
		{Shape: Shape{Kind: HeightField}},
		{Shape: Shape{Kind: 9}},
		{Shape: pill(1, math.Inf(1)), Local: Pose{Position: [3]float64{math.NaN()}, Rotation: [4]float64{1e9}}},
	}, nil, 0)
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{"geoms[0]: sphere: radius: got -1", "geoms[1]: box: half y", "half z: got NaN",
		"body: got -2",
		"geoms[2]: height field: no field", "geoms[3]: kind 9", "geoms[4]: capsule: half length", "position: got NaN",
		"rotation:"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in:\n%v", want, err)
		}
	}
	for _, f := range []func() (*Field, error){
		func() (*Field, error) { return NewField(1, 5, 1, 1, make([]float64, 5)) },
		func() (*Field, error) { return NewField(2, 2, 1, 1, make([]float64, 3)) },
		func() (*Field, error) { return NewField(2, 2, 0, 1, make([]float64, 4)) },
		func() (*Field, error) { return NewField(2, 2, 1, 1, []float64{0, 0, math.NaN(), 0}) },
		func() (*Field, error) { return NewField(1<<40, 1<<40, 1, 1, nil) },
		func() (*Field, error) { return NewField(-3, -3, 1, 1, make([]float64, 9)) },
	} {
		if _, err := f(); err == nil {
			t.Error("faulty field: no error")
		}
	}
}

// TestLostAndOverflow: what cannot be placed touches nothing, what does not fit is counted, and both heal.
func TestLostAndOverflow(t *testing.T) {
	geoms := []Geom{{Shape: Shape{Kind: Plane}, Body: -1}, {Shape: block(1, 1, 1), Body: 0},
		{Shape: block(1, 1, 1), Body: 1}}
	s, err := New(geoms, nil, 6)
	if err != nil {
		t.Fatal(err)
	}
	good := []Pose{At(0, 0, 0.9), At(9, 0, 0.9)}
	bad := At(0, 0, math.NaN())
	for _, c := range []struct {
		poses                    []Pose
		contacts, overflow, lost int
	}{
		{good, 6, 2, 0},
		{[]Pose{good[0], bad}, 4, 0, 1},
		{[]Pose{good[0], {}}, 4, 0, 1},
		{[]Pose{good[0], At(math.Inf(1), 0, 0)}, 4, 0, 1},
		{[]Pose{good[0], At(1e300, 0, 0)}, 4, 0, 1},
		{good[:1], 4, 0, 1},
		{nil, 0, 0, 2},
		{good, 6, 2, 0},
	} {
		s.Update(c.poses)
		if len(s.Contacts()) != c.contacts || s.Overflow() != c.overflow || s.Lost() != c.lost {
			t.Errorf("%v: got %d contacts, overflow %d, lost %d, want %d, %d, %d", c.poses,
				len(s.Contacts()), s.Overflow(), s.Lost(), c.contacts, c.overflow, c.lost)
		}
	}
}

func TestNoAllocation(t *testing.T) {
	geoms, poses := pile(t, 60, 5)
	s, err := New(geoms, [][2]int{{0, 1}}, 0)
	if err != nil {
		t.Fatal(err)
	}
	s.Update(poses)
	if n := testing.AllocsPerRun(20, func() {
		s.Update(poses)
		poses[3].Position[0] += 0.01
	}); n != 0 {
		t.Errorf("got %g allocations a step, want 0", n)
	}
	if len(s.Contacts()) < 100 {
		t.Errorf("only %d contacts", len(s.Contacts()))
	}
}

// TestMovingPlane: a plane may belong to a body; it meets what moves and what stands.
func TestMovingPlane(t *testing.T) {
	s, err := New([]Geom{
		{Shape: Shape{Kind: Plane}, Body: 0}, {Shape: ball(1), Body: 1}, {Shape: ball(1), Body: -1, Local: At(5, 0, 0)},
	}, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	s.Update([]Pose{At(0, 0, -0.9), Identity()})
	if c := s.Contacts(); len(c) != 2 || math.Abs(c[0].Depth-0.1) > 1e-12 || c[1].B != 2 {
		t.Errorf("got %v", c)
	}
}

// A held body stays at its position, regardless of its pose, and collides with bodies that are not held.
func TestHold(t *testing.T) {
	geoms := []Geom{{Shape: Shape{Kind: Plane}, Body: -1}}
	for b := range 3 {
		geoms = append(geoms, Geom{Shape: ball(1), Body: b})
	}
	s, err := New(geoms, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	row := []Pose{At(0, 0, 0.9), At(1.9, 0, 0.9), At(3.8, 0, 0.9)} // each on the ground, and beside the next
	want := func(what string, poses []Pose, n int) {
		t.Helper()
		s.Update(poses)
		if got := len(s.Contacts()); got != n {
			t.Errorf("%s: got %d contacts, want %d", what, got, n)
		}
	}
	want("none held", row, 5)
	s.Hold(0, true)
	s.Hold(0, true)
	want("one held", row, 4)
	s.Hold(1, true)
	want("two held", row, 2)
	want("held, with poses elsewhere", []Pose{At(9, 9, 9), At(9, 9, 9), row[2]}, 2)
	s.Hold(7, true)
	s.Hold(-1, true)
	s.Hold(0, false)
	s.Hold(1, false)
	want("released", row, 5)
	want("released elsewhere", []Pose{At(9, 9, 9), At(19, 9, 9), row[2]}, 1)
}

// Move and Find find what Update does, and count a body that was not placed, or not at a finite pose.
func TestMove(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	geoms := []Geom{{Shape: Shape{Kind: Plane}, Body: -1, Local: Identity()}}
	for b := range 4 {
		turned := Pose{[3]float64{0.1, 0.2, 0.1}, [4]float64{r.NormFloat64(), r.NormFloat64(), r.NormFloat64(),
			r.NormFloat64()}}
		geoms = append(geoms,
			Geom{Shape: Shape{Kind: Box, Half: [3]float64{0.3, 0.2, 0.4}}, Body: b, Local: turned},
			Geom{Shape: Shape{Kind: Sphere, Radius: 0.3}, Body: b, Local: At(0, 0, 0.3)})
	}
	one, err := New(geoms, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	two, err := New(geoms, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	if two.Find(); two.Lost() != 8 || len(two.Contacts()) != 0 {
		t.Errorf("not placed: got %d lost, %d contacts", two.Lost(), len(two.Contacts()))
	}
	met := 0
	for range 200 {
		var poses []Pose
		for b := range 4 {
			p := Pose{[3]float64{r.NormFloat64() / 2, r.NormFloat64() / 2, 0.2},
				[4]float64{r.NormFloat64(), r.NormFloat64(), r.NormFloat64(), r.NormFloat64()}}
			axes := r3.PackQuat(p.Rotation).Unit().Mat()
			two.Move(b, r3.Pack(p.Position), &axes)
			poses = append(poses, p)
		}
		one.Update(poses)
		two.Find()
		a, b := one.Contacts(), two.Contacts()
		if len(a) != len(b) {
			t.Fatalf("got %d contacts, want %d", len(b), len(a))
		}
		for i := range a {
			if far := r3.Pack(a[i].Position).Sub(r3.Pack(b[i].Position)).Norm(); a[i].A != b[i].A || a[i].B != b[i].B ||
				far > 1e-9 {
				t.Fatalf("got %+v, want %+v", b[i], a[i])
			}
		}
		met += len(a)
	}
	if met < 500 {
		t.Errorf("got %d contacts", met)
	}
	two.Move(9, r3.Vec{}, &r3.Mat{}) // it has no geoms
	axes := r3.Identity()
	axes.Y.Z = math.NaN()
	two.Move(2, r3.Vec{}, &axes)
	if two.Find(); two.Lost() != 2 {
		t.Errorf("NaN: got %d lost, want the two of the body", two.Lost())
	}
}

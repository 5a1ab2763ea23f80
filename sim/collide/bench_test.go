package collide

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// BenchmarkPair is the narrow phase of one pair that touches a little: ns per pair, placing not counted.
func BenchmarkPair(b *testing.B) {
	ground := Shape{Kind: HeightField, Field: rough(b, 40, 40, 0.05, rand.New(rand.NewPCG(1, 1)))}
	for ka := Sphere; ka <= Hull; ka++ {
		for kb := ka; kb < numKinds; kb++ {
			b.Run(fmt.Sprintf("%s-%s", ka, kb), func(b *testing.B) {
				rng := rand.New(rand.NewPCG(4, 4))
				const many = 64
				var s [many]*Space
				for i := range s {
					sa := Geom{Shape: anyShape(ka, rng), Body: 0}
					sb := Geom{Shape: anyShape(kb, rng), Body: 1}
					if kb == HeightField {
						sb.Shape = ground
					}
					space, err := New([]Geom{sa, sb}, nil, 0)
					if err != nil {
						b.Fatal(err)
					}
					q := anyPose(1, rng).Rotation
					// Lower A from above until it touches.
					for z := 2.0; len(space.Contacts()) == 0 && z > 0; z -= 0.01 {
						space.Update([]Pose{{[3]float64{0.02, 0.03, z}, q}, Identity()})
					}
					s[i] = space
				}
				b.ReportAllocs()
				i := 0
				for b.Loop() {
					k := s[i%many]
					k.contacts = k.contacts[:0]
					k.touch(0, 1)
					i++
				}
			})
		}
	}
}

// BenchmarkStack is ten boxes on each other on a plane: the whole Update.
func BenchmarkStack(b *testing.B) {
	geoms := []Geom{{Shape: Shape{Kind: Plane}, Body: -1}}
	var poses []Pose
	for i := range 10 {
		geoms = append(geoms, Geom{Shape: block(0.1, 0.1, 0.1), Body: i})
		poses = append(poses, At(0, 0, 0.0999+0.1999*float64(i)))
	}
	update(b, geoms, poses, 40)
}

// BenchmarkQuad is the benchmark robot of the design: a torso and four feet on a plane.
func BenchmarkQuad(b *testing.B) {
	geoms := []Geom{{Shape: Shape{Kind: Plane}, Body: -1}, {Shape: block(0.15, 0.1, 0.05), Body: 0}}
	poses := []Pose{At(0, 0, 0.3)}
	for i := range 4 {
		geoms = append(geoms, Geom{Shape: ball(0.02), Body: i + 1})
		poses = append(poses, At(0.3*float64(i%2), 0.2*float64(i/2), 0.0199))
	}
	update(b, geoms, poses, 4)
}

// BenchmarkRocks is two hundred shapes strewn over a field.
func BenchmarkRocks(b *testing.B) {
	rng := rand.New(rand.NewPCG(2, 2))
	geoms := []Geom{{Shape: Shape{Kind: HeightField, Field: rough(b, 60, 60, 0.1, rng)}, Body: -1}}
	var poses []Pose
	for i := range 200 {
		geoms = append(geoms, Geom{Shape: anyShape(Kind(i%3), rng), Body: i})
		geoms[i+1].Radius *= 0.3
		for k := range 3 {
			geoms[i+1].Half[k] *= 0.3
		}
		poses = append(poses, Pose{[3]float64{12 * (rng.Float64() - 0.5), 12 * (rng.Float64() - 0.5), 0.1},
			anyPose(1, rng).Rotation})
	}
	update(b, geoms, poses, 200)
}

func update(b *testing.B, geoms []Geom, poses []Pose, least int) {
	s, err := New(geoms, nil, 0)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	step := 0
	for b.Loop() {
		step++
		poses[0].Position[0] += 1e-6 * math.Sin(float64(step))
		s.Update(poses)
	}
	if len(s.Contacts()) < least || s.Overflow() > 0 {
		b.Fatalf("%d contacts, overflow %d", len(s.Contacts()), s.Overflow())
	}
	b.ReportMetric(float64(len(s.Contacts())), "contacts")
}

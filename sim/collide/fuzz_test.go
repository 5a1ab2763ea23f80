package collide

import (
	"math"
	"math/rand/v2"
	"testing"
)

// FuzzPairs places any two shapes anywhere: no panic, no number that is not one, no normal without length.
func FuzzPairs(f *testing.F) {
	for a := range uint8(numKinds) {
		for b := range a + 1 {
			f.Add(a, b, 0.5, 0.3, 0.2, 1.0, 0.0, 0.0, 1.0, 0.0, 0.1, 0.2, 0.3, 0.4, 0.9)
			f.Add(a, b, 1e-6, 1e6, 1e6, 1e-6, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
			f.Add(a, b, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0)
			f.Add(a, b, 0.5, 0.5, 0.5, 0.5, 1e9, -1e300, math.Inf(1), 1e-200, math.NaN(), 1e200, 5.0, 0.0, 1e-9)
			// A box touches the rim of the ground, hardly turned: the depths of its corners are 0 and 1e-300.
			f.Add(a, b, 1.0, 1.0, 1.0, 1.0, -2.0, -1.5, -0.875, 1.0, 0.0, 0.0, 1e-300, 5.0, 5.0)
		}
	}
	stone := pebble(0.5, rand.New(rand.NewPCG(3, 4)))
	ground := rough(f, 9, 8, 0.4, rand.New(rand.NewPCG(1, 2)))
	f.Fuzz(func(t *testing.T, ka, kb uint8, r1, h1, r2, h2, x, y, z, qw, qx, qy, qz, px, pz float64) {
		a := Shape{Kind: Kind(ka % uint8(numKinds)), Radius: r1, Half: [3]float64{r1, h1, r2}, Field: ground,
			Hull: stone}
		b := Shape{Kind: Kind(kb % uint8(numKinds)), Radius: r2, Half: [3]float64{h2, r2, h2}, Field: ground,
			Hull: stone}
		s, err := New([]Geom{{Shape: a, Body: 0}, {Shape: b, Body: 1},
			{Shape: Shape{Kind: HeightField, Field: ground}, Body: -1}}, nil, 0)
		if err != nil {
			return
		}
		s.Update([]Pose{
			{Position: [3]float64{x, y, z}, Rotation: [4]float64{qw, qx, qy, qz}},
			{Position: [3]float64{px, 0, pz}, Rotation: [4]float64{1, px, 0, pz}},
		})
		for _, c := range s.Contacts() {
			n := lengthOf(c.Normal)
			if !(c.Depth > 0) || math.IsInf(c.Depth, 0) || !(math.Abs(n-1) < 1e-6) ||
				!(lengthOf(c.Position) < math.MaxFloat64) {
				t.Fatalf("%v %v: %+v", a, b, c)
			}
		}
	})
}

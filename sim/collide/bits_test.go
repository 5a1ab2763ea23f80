package collide

import (
	"encoding/binary"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"testing"
)

// TestSameBits pins the bits of many contacts of all pairs: the same on every processor, with GOAMD64=v1 and v3. The
// scene is made with factors of two alone, so that the test itself has no rounding to differ in. A change of the
// package that changes contacts on purpose changes the number.
func TestSameBits(t *testing.T) {
	const want = 0x27fa778378ab4b5e
	rng := rand.New(rand.NewPCG(11, 12))
	heights := make([]float64, 100)
	for i := range heights {
		heights[i] = 0.25 * rng.Float64()
	}
	f, err := NewField(10, 10, 0.25, 0.25, heights)
	if err != nil {
		t.Fatal(err)
	}
	geoms := []Geom{{Shape: Shape{Kind: Plane}, Body: -1}, {Shape: Shape{Kind: HeightField, Field: f}, Body: -1}}
	var poses []Pose
	for i := range 40 {
		size := func() float64 { return 0.0625 + 0.25*rng.Float64() }
		geoms = append(geoms, Geom{Body: i,
			Shape: Shape{Kind: Kind(i % 4), Radius: size(), Half: [3]float64{size(), size(), size()}}})
		side := func() float64 { return 2 * (rng.Float64() - 0.5) }
		poses = append(poses, Pose{[3]float64{side(), side(), rng.Float64()},
			[4]float64{side(), side(), side(), side()}})
	}
	s, err := New(geoms, nil, 4000)
	if err != nil {
		t.Fatal(err)
	}
	sum := fnv.New64a()
	count := 0
	for range 20 {
		s.Update(poses)
		for _, c := range s.Contacts() {
			var b []byte
			b = binary.LittleEndian.AppendUint64(b, uint64(c.A)<<32|uint64(c.B))
			b = binary.LittleEndian.AppendUint32(b, c.Feature)
			for _, x := range [...]float64{c.Position[0], c.Position[1], c.Position[2], c.Normal[0], c.Normal[1],
				c.Normal[2], c.Depth} {
				b = binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
			}
			sum.Write(b)
			count++
		}
		for i := range poses {
			poses[i].Position[i%3] += 0.0625 * (rng.Float64() - 0.5)
		}
	}
	t.Logf("%d contacts", count)
	if got := sum.Sum64(); got != want {
		t.Errorf("got %#x, want %#x", got, uint64(want))
	}
}

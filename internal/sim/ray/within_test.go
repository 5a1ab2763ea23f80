package ray

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/halyard-robotics/halyard/internal/sim/r3"
	"github.com/halyard-robotics/halyard/sim/collide"
)

// A sheaf among the geoms that Within lists for its tile finds what a cast through the whole tree finds, from outside
// and from inside of solids, for every shape.
func TestSheafIsCast(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 9))
	hits, inside, listed, tiles := 0, 0, 0, 0
	for range 60 {
		var geoms []collide.Geom
		for range 8 {
			g := collide.Geom{Body: -1, Local: collide.Pose{Rotation: [4]float64{rng.NormFloat64(), rng.NormFloat64(),
				rng.NormFloat64(), rng.NormFloat64()}}}
			if rng.IntN(2) == 0 {
				g.Local.Rotation = [4]float64{1}
			}
			g.Shape = collide.Shape{Kind: collide.Kind(rng.IntN(4)), Radius: 0.3 + rng.Float64(),
				Half: [3]float64{0.3 + rng.Float64(), 0.3 + rng.Float64(), 0.3 + rng.Float64()}}
			for k := range 3 {
				g.Local.Position[k] = 6*rng.Float64() - 3
			}
			geoms = append(geoms, g)
		}
		geoms = append(geoms, collide.Geom{Shape: collide.Shape{Kind: collide.Plane}, Body: -1,
			Local: collide.At(0, 0, -3)})
		b, err := New(geoms, nil)
		if err != nil {
			t.Fatal(err)
		}
		eye := [3]float64{4*rng.Float64() - 2, 4*rng.Float64() - 2, 4*rng.Float64() - 2}
		first := r3.XYZ(1, -0.4, 0.3)
		right, down := r3.XYZ(0, 0.05, 0), r3.XYZ(0, 0, -0.05)
		near, far := 0.01, 4+8*rng.Float64()
		for tile := range 4 {
			at := first.Along(float64(4*tile), right)
			var corners [4][3]float64
			for k, c := range [...][2]float64{{-0.5, -0.5}, {3.5, -0.5}, {3.5, 11.5}, {-0.5, 11.5}} {
				corners[k] = at.Along(c[0], right).Along(c[1], down).Array()
			}
			among := b.Within(nil, eye, &corners, 0)
			listed, tiles = listed+len(among), tiles+1
			var s Sheaf
			for j := range 12 {
				row := at.Along(float64(j), down)
				s.Aim(b, among, eye, row.Array(), right.Array(), 0, 3)
				for i := range 4 {
					d := row.Along(float64(i), right)
					long := d.Norm()
					var got Hit
					ok := s.Cast(float64(i), near, far, long, &got)
					want, hit := b.Cast(&Ray{Origin: r3.Pack(eye).Along(near, d).Array(), Direction: d.Array(),
						Max: (far - near) * long})
					want.Distance += near * long
					if ok != hit || ok && (got.Geom != want.Geom || got.Inside != want.Inside ||
						math.Abs(got.Distance-want.Distance) > 1e-9 ||
						r3.Pack(got.Normal).Sub(r3.Pack(want.Normal)).Norm() > 1e-6) {
						t.Fatalf("ray %d, %d: got %v %+v, want %v %+v", i, j, ok, got, hit, want)
					}
					if ok {
						hits++
						if got.Inside {
							inside++
						}
					}
				}
			}
		}
	}
	t.Logf("%d hits, %d from inside; %.1f of 9 geoms a tile", hits, inside, float64(listed)/float64(tiles))
	if hits < 2000 || inside < 200 || listed > 7*tiles {
		t.Errorf("got %d hits, %d from inside, %d geoms in %d tiles, want many, and fewer geoms", hits, inside, listed,
			tiles)
	}
}

package collide

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/halyard-robotics/halyard/hal/haltest"
)

// meet returns the contacts of two shapes on two bodies.
func meet(t testing.TB, a Shape, pa Pose, b Shape, pb Pose) []Contact {
	t.Helper()
	s, err := New([]Geom{{Shape: a, Body: 0}, {Shape: b, Body: 1}}, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	s.Update([]Pose{pa, pb})
	if s.Overflow() != 0 || s.Lost() != 0 {
		t.Fatalf("overflow %d, lost %d", s.Overflow(), s.Lost())
	}
	return s.Contacts()
}

func deepest(c []Contact) (best Contact) {
	for _, k := range c {
		if k.Depth > best.Depth {
			best = k
		}
	}
	return best
}

func convexPairs(f func(a, b Kind)) {
	for a := Sphere; a <= Hull; a++ {
		for b := Sphere; b <= Hull; b++ {
			f(a, b)
		}
	}
}

// TestPairsAgainstSearch holds every pair of convex shapes against a search over all directions.
func TestPairsAgainstSearch(t *testing.T) {
	convexPairs(func(a, b Kind) {
		t.Run(fmt.Sprintf("%s %s", a, b), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(uint64(a), uint64(b)))
			touching, worst, n := 0, 0.0, haltest.Sample(30, 300)
			for range n {
				sa, sb := anyShape(a, rng), anyShape(b, rng)
				pa, pb := anyPose(0.1, rng), anyPose(1.2, rng)
				c := meet(t, sa, pa, sb, pb)
				least := leastOverlap(&sa, pa, &sb, pb, rng)
				if least < -1e-6 {
					if len(c) > 0 {
						t.Fatalf("%v %v, %v %v: %d contacts, depth %g, but %g m apart", sa, pa, sb, pb, len(c),
							deepest(c).Depth, -least)
					}
					continue
				}
				if least < 1e-6 {
					continue
				}
				if len(c) == 0 && (a == Hull || b == Hull) && least < 0.01*(sa.Radius+sb.Radius) {
					continue // between the sides of a cylinder
				}
				if len(c) == 0 {
					t.Fatalf("%v %v, %v %v: no contact, want depth %g", sa, pa, sb, pb, least)
				}
				touching++
				d := deepest(c)
				if along := overlapAlong(&sa, pa, &sb, pb, d.Normal); math.Abs(along-d.Depth) > 1e-7 {
					t.Errorf("%v %v %v %v: depth %g, but %g to part along the normal", sa, pa, sb, pb, d.Depth, along)
				}
				// A depth below what the search found is right if it parts the two, which was just shown.
				coarse := 0.0 // a cylinder has 24 sides for a hull
				if a == Hull && b == Cylinder || a == Cylinder && b == Hull {
					coarse = 0.01 * (sa.Radius + sb.Radius)
				}
				if d.Depth > least/faceFirst+coarse+1e-7 {
					t.Errorf("%v %v, %v %v: depth %g, want %g", sa, pa, sb, pb, d.Depth, least)
				}
				worst = math.Max(worst, d.Depth/least-1)
			}
			t.Logf("%d of %d touch, depth at most %.2g over the least", touching, n, worst)
			if touching < n/10 {
				t.Errorf("only %d of %d touch: the test proves nothing", touching, n)
			}
		})
	})
}

// TestPairsPart moves one shape out along the normal and looks for points of either inside the other.
func TestPairsPart(t *testing.T) {
	convexPairs(func(a, b Kind) {
		rng := rand.New(rand.NewPCG(7*uint64(a), uint64(b)))
		for range 60 {
			sa, sb := anyShape(a, rng), anyShape(b, rng)
			pa, pb := anyPose(0.1, rng), anyPose(1, rng)
			c := meet(t, sa, pa, sb, pb)
			if len(c) == 0 {
				continue
			}
			for _, k := range c {
				if math.Abs(lengthOf(k.Normal)-1) > 1e-12 || !(k.Depth > 0) {
					t.Fatalf("%s %s: normal %v of length %g, depth %g", a, b, k.Normal, lengthOf(k.Normal), k.Depth)
				}
				// A shallow contact lies within both shapes, half its depth below each surface, or next to it where
				// faces slant.
				if k.Depth > 0.05 {
					continue // halfway through a small shape may be outside it
				}
				if in := math.Min(depthOf(&sa, pa, k.Position), depthOf(&sb, pb, k.Position)); in < -1e-6-0.5*k.Depth {
					t.Errorf("%s %s: %v %v %v %v: contact %g m outside, depth %g", a, b, sa, pa, sb, pb, -in, k.Depth)
				}
			}
			d := deepest(c)
			pa.Position = plus(pa.Position, d.Normal, d.Depth)
			for range 500 {
				if in := depthOf(&sb, pb, surface(&sa, pa, rng)); in > 1e-6 {
					t.Fatalf("%s %s: parted, but A is still %g m inside B", a, b, in)
				}
				if in := depthOf(&sa, pa, surface(&sb, pb, rng)); in > 1e-6 {
					t.Fatalf("%s %s: parted, but B is still %g m inside A", a, b, in)
				}
			}
		}
	})
}

// TestSwap exchanges the two geoms: the normal turns round and the rest stays.
func TestSwap(t *testing.T) {
	convexPairs(func(a, b Kind) {
		rng := rand.New(rand.NewPCG(3, uint64(a)<<8|uint64(b)))
		for range 100 {
			sa, sb := anyShape(a, rng), anyShape(b, rng)
			pa, pb := anyPose(0.1, rng), anyPose(1, rng)
			c := deepest(meet(t, sa, pa, sb, pb))
			d := deepest(meet(t, sb, pb, sa, pa))
			if math.Abs(c.Depth-d.Depth) > 1e-7+0.03*c.Depth {
				t.Errorf("%s %s: depth %g one way, %g the other", a, b, c.Depth, d.Depth)
			}
			if a != b && c.Depth > 0 && lengthOf(plus(c.Normal, d.Normal, 1)) > 1e-9 {
				t.Errorf("%s %s: normal %v one way, %v the other", a, b, c.Normal, d.Normal)
			}
		}
	})
}

// TestTranslation moves everything by whole metres: contacts move along, to within rounding.
func TestTranslation(t *testing.T) {
	convexPairs(func(a, b Kind) {
		rng := rand.New(rand.NewPCG(4, uint64(a)<<8|uint64(b)))
		for range 100 {
			sa, sb := anyShape(a, rng), anyShape(b, rng)
			pa, pb := anyPose(0.1, rng), anyPose(1, rng)
			c := append([]Contact(nil), meet(t, sa, pa, sb, pb)...)
			by := point{1000, -500, 250}
			pa.Position, pb.Position = plus(pa.Position, by, 1), plus(pb.Position, by, 1)
			d := meet(t, sa, pa, sb, pb)
			if len(c) != len(d) {
				t.Fatalf("%s %s: %d contacts, %d after the move", a, b, len(c), len(d))
			}
			for i := range c {
				move := lengthOf(plus(plus(d[i].Position, c[i].Position, -1), by, -1))
				turn := lengthOf(plus(d[i].Normal, c[i].Normal, -1))
				if move > 1e-9 || turn > 1e-9 || math.Abs(c[i].Depth-d[i].Depth) > 1e-9 ||
					c[i].Feature != d[i].Feature {
					t.Errorf("%s %s: %v, after the move %v", a, b, c[i], d[i])
				}
			}
		}
	})
}

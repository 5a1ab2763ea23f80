package dynamics

import (
	"math"
	"slices"
	"testing"
)

// The rows that a patch of contacts makes together, and those that invert makes for all joints of a tree, are those of
// each block alone but for rounding.
func TestWhitenTogether(t *testing.T) {
	patched, dense := 0, 0
	for name, s := range map[string]*System{"plough": plough(t, 0), "with torsion": plough(t, 0.01), "pile": pile(t)} {
		for range 100 {
			if err := s.Step(1e-3); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.ForwardDynamics(1e-3, make([]float64, len(s.V))); err != nil {
			t.Fatal(err)
		}
		v := &s.solver
		for i, first := range v.starts[:len(v.starts)-1] {
			island := v.order[first:v.starts[i+1]]
			for n := 0; n < len(island); n++ {
				if k := &v.blocks[island[n]]; k.kind == dry && s.dense(k.a) {
					dense++
				}
				if p := v.patch(s, island[n:]); p > 0 {
					patched += p
					n += p - 1
				}
			}
		}
		together := slices.Clone(v.values)
		clear(v.stiff)
		for i := range v.blocks {
			k := &v.blocks[i]
			v.whiten(s, k)
			alone := v.values[k.values:][:k.count*k.rows]
			size := 0.0
			for _, y := range alone {
				size = max(size, math.Abs(y))
			}
			for j, y := range alone {
				if got := together[int(k.values)+j]; !(math.Abs(got-y) <= 1e-12*size) {
					t.Fatalf("%s: block %d, value %d: got %g, want %g", name, i, j, got, y)
				}
			}
		}
	}
	if patched < 16 || dense < 8 {
		t.Errorf("got %d contacts in patches and %d rows of joints together, want 16 and 8", patched, dense)
	}
}

package ray

import (
	"math"

	"github.com/halyard-robotics/halyard/internal/sim/r3"
	"github.com/halyard-robotics/halyard/sim/collide"
)

// field walks the cells under the ray one by one [A 2] and within each the two triangles. Over a triangle the height of
// the ray above the ground is linear in t, so a hit is a change of its sign. The sign is carried from each triangle to
// the next: no ray slips through between two. It starts from the sign at the first point over the grid.
func field(f *collide.Field, o, d r3.Vec, limit float64) (c crossing, ok bool) {
	columns, rows := f.Size()
	dx, dy := f.Spacing()
	bottom, top := f.Range()
	w := walk{f: f, o: o, d: d}
	// In cells: u along x, v along y.
	w.u, w.du = o.X/dx+float64(float64(columns-1)/2), d.X/dx
	w.v, w.dv = o.Y/dy+float64(float64(rows-1)/2), d.Y/dy
	in := span{t0: 0, t1: limit}
	if !in.slab(w.u-float64(float64(columns-1)/2), w.du, float64(float64(columns-1)/2), r3.Vec{}) ||
		!in.slab(w.v-float64(float64(rows-1)/2), w.dv, float64(float64(rows-1)/2), r3.Vec{}) {
		return c, false
	}
	// Above the top and below the bottom there is no surface, but the side on which the ray starts matters.
	half := float64((top-bottom)/2) + float64(1e-9*(1+math.Abs(top)+math.Abs(bottom)))
	if !in.slab(o.Z-float64((top+bottom)/2), d.Z, half, r3.Vec{}) {
		return c, false
	}
	w.i = whole(w.u+float64(in.t0*w.du), columns-2)
	w.j = whole(w.v+float64(in.t0*w.dv), rows-2)
	w.t = in.t0
	w.load()
	w.above = w.over(w.half(in.t0), in.t0) >= 0
	for {
		tx, ty := w.leaves(w.i, w.u, w.du), w.leaves(w.j, w.v, w.dv)
		out := lesser(lesser(in.t1, tx), ty)
		if c, ok = w.cell(out); ok {
			return c, c.t <= limit
		}
		if out >= in.t1 {
			return c, false
		}
		if tx <= ty {
			w.i += sign(w.du)
		} else {
			w.j += sign(w.dv)
		}
		if w.i < 0 || w.j < 0 || w.i > columns-2 || w.j > rows-2 {
			return c, false
		}
		w.load()
	}
}

// walk is a ray on its way over a field.
type walk struct {
	f            *collide.Field
	o, d         r3.Vec
	u, v, du, dv float64
	i, j         int
	t            float64 // where the ray came to the cell
	above        bool    // it was above the ground there
	h            [4]float64
}

// load reads the corners of the cell: at (i, j), (i+1, j), (i, j+1), (i+1, j+1).
func (w *walk) load() {
	w.h = [4]float64{w.f.At(w.i, w.j), w.f.At(w.i+1, w.j), w.f.At(w.i, w.j+1), w.f.At(w.i+1, w.j+1)}
}

// half returns the triangle of the cell that lies under the ray at t: see collide.Field.
func (w *walk) half(t float64) int {
	if w.v+float64(t*w.dv)-float64(w.j) > w.u+float64(t*w.du)-float64(w.i) {
		return 1
	}
	return 0
}

// slopes returns how the ground of a triangle rises for each cell along u and v.
func (w *walk) slopes(half int) (su, sv float64) {
	if half == 0 {
		return w.h[1] - w.h[0], w.h[3] - w.h[1]
	}
	return w.h[3] - w.h[2], w.h[2] - w.h[0]
}

// over returns how far the ray at t is above the plane of a triangle.
func (w *walk) over(half int, t float64) float64 {
	su, sv := w.slopes(half)
	u := w.u + float64(t*w.du) - float64(w.i)
	v := w.v + float64(t*w.dv) - float64(w.j)
	return w.o.Z + float64(t*w.d.Z) - w.h[0] - float64(su*u) - float64(sv*v)
}

// cell looks for a hit from w.t to out.
func (w *walk) cell(out float64) (c crossing, ok bool) {
	// A ray that stays above or below all four corners cannot hit.
	z0, z1 := w.o.Z+float64(w.t*w.d.Z), w.o.Z+float64(out*w.d.Z)
	low := lesser(lesser(w.h[0], w.h[1]), lesser(w.h[2], w.h[3]))
	high := greater(greater(w.h[0], w.h[1]), greater(w.h[2], w.h[3]))
	if w.above && z0 > high && z1 > high || !w.above && z0 < low && z1 < low {
		w.t = out
		return c, false
	}
	// Where the ray crosses the cut.
	cut := (w.u - float64(w.i) - (w.v - float64(w.j))) / (w.dv - w.du)
	if cut > w.t && cut < out {
		half := w.half(0.5 * (w.t + cut))
		if c, ok = w.triangle(half, cut); ok {
			return c, true
		}
		return w.triangle(1-half, out)
	}
	return w.triangle(w.half(0.5*(w.t+out)), out)
}

// triangle looks for a hit on one triangle from w.t to out.
func (w *walk) triangle(half int, out float64) (c crossing, ok bool) {
	b := w.over(half, out)
	if b >= 0 == w.above {
		w.t = out
		return c, false
	}
	a := w.over(half, w.t)
	t := w.t
	if a >= 0 == w.above && a != b {
		t += float64((out - w.t) * (a / (a - b)))
	}
	su, sv := w.slopes(half)
	dx, dy := w.f.Spacing()
	n := r3.XYZ(-su/dx, -sv/dy, 1)
	return crossing{t, n.Mul(1 / n.Norm()), !w.above}, true
}

// leaves returns where the ray leaves cell k along one direction.
func (w *walk) leaves(k int, u, du float64) float64 {
	switch {
	case du > 0:
		return (float64(k+1) - u) / du
	case du < 0:
		return (float64(k) - u) / du
	}
	return math.Inf(1)
}

func whole(u float64, last int) int { return min(max(int(math.Floor(u)), 0), last) }

func sign(x float64) int {
	if x < 0 {
		return -1
	}
	return 1
}

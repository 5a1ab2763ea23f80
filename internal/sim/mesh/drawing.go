package mesh

import (
	"fmt"
	"io"
	"math"
	"slices"
)

// maxDrawn bounds the triangles of a file that is read to be drawn; they are held, 36 bytes each.
const maxDrawn = 1 << 20

// Drawing is a mesh as a browser draws it.
type Drawing struct {
	Corners []float32 // m, x y z each, three a triangle
	Whole   int       // triangles in the file
}

// Read reads the triangles of the file called name, times scale, and reduces them to at most most by joining nearby
// corners. A negative scale mirrors; the triangles still turn counter-clockwise.
func Read(name string, r io.Reader, scale [3]float64, most int) (*Drawing, error) {
	l := shipped
	l.triangles = maxDrawn
	var all []float32
	mirrored := scale[0]*scale[1]*scale[2] < 0
	err := l.decode(name, r, func(t *Triangle) error {
		corners := *t
		if mirrored {
			corners[1], corners[2] = t[2], t[1]
		}
		for _, corner := range corners {
			for i, x := range corner {
				v := float32(x * scale[i])
				if math.IsInf(float64(v), 0) {
					return fmt.Errorf("corner: got %v, want numbers that a float32 can hold", corner)
				}
				all = append(all, v)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	d := &Drawing{Corners: all, Whole: len(all) / 9}
	if d.Whole > most {
		d.Corners = reduce(all, most)
	}
	return d, nil
}

// reduce joins the corners in each cell of a grid, the finest that leaves at most most triangles.
func reduce(all []float32, most int) []float32 {
	low, high := slices.Clone(all[:3]), slices.Clone(all[:3])
	for i, x := range all {
		low[i%3], high[i%3] = min(low[i%3], x), max(high[i%3], x)
	}
	side := 0.0
	for i := range low {
		side = math.Max(side, float64(high[i])-float64(low[i]))
	}
	if side == 0 {
		return all[:9*min(most, len(all)/9)]
	}
	// A surface that fills k² cells has about 2 k² triangles, and seldom less than one.
	for k := min(255, int(math.Sqrt(float64(most)))+2); k > 1; k = k * 4 / 5 {
		if out := cluster(all, low, float64(k)/side, most); out != nil {
			return out
		}
	}
	return all[:9*min(most, len(all)/9)] // the corners of one cell: any triangle is as good
}

// cluster replaces each corner by the mean of those in its cell, and leaves out triangles that vanish or repeat. It
// returns nil where more than most remain. perMetre is cells a metre, at most 255 in all along an axis.
func cluster(all, low []float32, perMetre float64, most int) []float32 {
	type mean struct {
		sum   [3]float64
		count float64
	}
	cellOf := func(at int) (key uint32) {
		for i := range 3 {
			key = key<<8 | uint32(min(255, (float64(all[at+i])-float64(low[i]))*perMetre))
		}
		return key
	}
	cells, seen := map[uint32]*mean{}, map[[3]uint32]bool{}
	var kept [][3]uint32
	for at := 0; at < len(all); at += 9 {
		var t [3]uint32
		for k := range t {
			key := cellOf(at + 3*k)
			c := cells[key]
			if c == nil {
				c = &mean{}
				cells[key] = c
			}
			for i := range c.sum {
				c.sum[i] += float64(all[at+3*k+i])
			}
			c.count++
			t[k] = key
		}
		if t[0] == t[1] || t[1] == t[2] || t[2] == t[0] {
			continue
		}
		for t[0] > t[1] || t[0] > t[2] { // turned, not mirrored
			t[0], t[1], t[2] = t[1], t[2], t[0]
		}
		if seen[t] {
			continue
		}
		if len(kept) == most {
			return nil
		}
		seen[t] = true
		kept = append(kept, t)
	}
	if len(kept) == 0 {
		return nil
	}
	out := make([]float32, 0, 9*len(kept))
	for _, t := range kept {
		for _, key := range t {
			c := cells[key]
			for i := range c.sum {
				out = append(out, float32(c.sum[i]/c.count))
			}
		}
	}
	return out
}

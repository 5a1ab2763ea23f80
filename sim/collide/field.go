package collide

import (
	"errors"
	"fmt"
	"math"

	"github.com/halyard-robotics/halyard/internal/sim/r3"
)

// Field is a height field: heights over a grid, two triangles a cell, solid below, down to 10 m under the lowest. It is
// read-only and may be shared. The grid is centred on the frame's origin: sample (column i, row j) is at
//
//	x = (i - (columns-1)/2) dx,  y = (j - (rows-1)/2) dy,  z = height[j*columns+i]
//
// Each cell is cut from its corner (i, j) to (i+1, j+1):
//
//	(i,j+1) +-----+ (i+1,j+1)
//	        |1  / |
//	        | /  0|
//	(i,j)   +-----+ (i+1,j)
type Field struct {
	columns, rows int
	cell          [2]float64
	height        []float64
	top, bottom   float64
	// convex has three bits a sample: whether the edge from it along x, along y, along the cut is convex, so that a
	// shape can rest on it.
	convex []uint8
}

// NewField makes a height field of columns by rows samples, at least 2 by 2 and at most 16 million, dx and dy m apart.
// It copies heights, m, which go along x first.
func NewField(columns, rows int, dx, dy float64, heights []float64) (*Field, error) {
	var faults []error
	if columns < 2 || rows < 2 || columns > 1<<24/max(rows, 1) {
		faults = append(faults, fmt.Errorf("height field: size: got %d by %d, want 2 by 2 or more, at most %d in all",
			columns, rows, 1<<24))
	} else if len(heights) != columns*rows {
		faults = append(faults, fmt.Errorf("height field: heights: got %d, want %d", len(heights), columns*rows))
	}
	for _, d := range [...]float64{dx, dy} {
		if !(d >= minSize && d <= MaxSize && d*float64(max(columns, rows, 0)) <= MaxSize) {
			faults = append(faults, fmt.Errorf(
				"height field: spacing: got %g m, want %g or more, and the whole at most %g", d, minSize, MaxSize))
		}
	}
	for i, h := range heights {
		if !(math.Abs(h) <= MaxSize) {
			faults = append(faults, fmt.Errorf("height field: height %d: got %g m, want at most %g", i, h, MaxSize))
			break
		}
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	f := &Field{
		columns: columns, rows: rows, cell: [2]float64{dx, dy},
		height: append([]float64(nil), heights...),
		convex: make([]uint8, columns*rows),
		top:    math.Inf(-1), bottom: math.Inf(1),
	}
	for _, h := range heights {
		f.top, f.bottom = math.Max(f.top, h), math.Min(f.bottom, h)
	}
	f.findConvex()
	return f, nil
}

// Size returns the number of columns and rows of samples.
func (f *Field) Size() (columns, rows int) { return f.columns, f.rows }

// Spacing returns the distance of the samples along x and y, m.
func (f *Field) Spacing() (dx, dy float64) { return f.cell[0], f.cell[1] }

// Range returns the lowest and the highest height, m.
func (f *Field) Range() (bottom, top float64) { return f.bottom, f.top }

// At returns the height of sample (i, j), m; both must be in range.
func (f *Field) At(i, j int) float64 { return f.height[j*f.columns+i] }

// Sample returns the point of sample (i, j) in the field's frame; both must be in range.
func (f *Field) Sample(i, j int) [3]float64 { return f.sample(i, j).Array() }

func (f *Field) sample(i, j int) r3.Vec {
	return r3.XYZ(
		float64((float64(i)-float64(float64(f.columns-1)/2))*f.cell[0]),
		float64((float64(j)-float64(float64(f.rows-1)/2))*f.cell[1]),
		f.height[j*f.columns+i],
	)
}

// Height returns the surface's z at x, y in the field's frame, m; ok is false outside the grid.
func (f *Field) Height(x, y float64) (z float64, ok bool) {
	i, j, half, ok := f.locate(x, y)
	if !ok {
		return 0, false
	}
	p, n := f.triangle(i, j, half)
	return p.Z - (float64(n.X*(x-p.X))+float64(n.Y*(y-p.Y)))/n.Z, true
}

// locate returns the one triangle over or under x, y: each point of the grid has exactly one.
func (f *Field) locate(x, y float64) (i, j, half int, ok bool) {
	u := x/f.cell[0] + float64(float64(f.columns-1)/2)
	v := y/f.cell[1] + float64(float64(f.rows-1)/2)
	if !(u >= 0 && v >= 0 && u <= float64(f.columns-1) && v <= float64(f.rows-1)) {
		return 0, 0, 0, false
	}
	i, j = min(int(u), f.columns-2), min(int(v), f.rows-2)
	if v-float64(j) > u-float64(i) {
		half = 1
	}
	return i, j, half, true
}

// triangle returns a corner of the triangle and its unit normal, which points up.
func (f *Field) triangle(i, j, half int) (corner, normal r3.Vec) {
	k := j*f.columns + i
	h00, h11 := f.height[k], f.height[k+f.columns+1]
	dx, dy := f.cell[0], f.cell[1]
	var sx, sy float64
	if half == 0 {
		h10 := f.height[k+1]
		sx, sy = (h10-h00)/dx, (h11-h10)/dy
	} else {
		h01 := f.height[k+f.columns]
		sx, sy = (h11-h01)/dx, (h01-h00)/dy
	}
	return f.sample(i, j), r3.XYZ(-sx, -sy, 1).Unit(r3.XYZ(0, 0, 1))
}

// findConvex marks the edges whose two triangles bend away from each other by more than a hundredth of a degree or so.
// The rim of the grid counts as convex.
func (f *Field) findConvex() {
	for j := range f.rows {
		for i := range f.columns {
			var bits uint8
			for kind := range 3 {
				if e, ok := f.edge(i, j, kind); ok && f.bends(&e) {
					bits |= 1 << kind
				}
			}
			f.convex[j*f.columns+i] = bits
		}
	}
}

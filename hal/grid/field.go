package grid

import "math"

// Blocked is the cost of a cell that the vehicle cannot enter.
const Blocked = math.MaxFloat32

// Field is the cost of entering each cell of a rectangle, per cell length: 1 where nothing is near. Cost is Rows rows of
// Columns cells.
type Field struct {
	Rows, Columns int
	Cost          []float32
	disc          []offset // of the vehicle and the margin
	radius        float64
	margin        float64
}

type offset struct {
	rows, columns int
	cost          float32
}

// nearCost is what a cell at the vehicle's edge costs more; it falls to 0 over the margin.
const nearCost = 6

// Grow makes f from the probabilities of rows by columns cells: obstacles grow by radius, and cells up to margin farther
// cost more. Both are in cells, 0 or more.
func (f *Field) Grow(probability []float64, rows, columns int, radius, margin float64) {
	if f.disc == nil || radius != f.radius || margin != f.margin {
		f.radius, f.margin = radius, margin
		f.disc = disc(radius, margin)
	}
	f.Rows, f.Columns = rows, columns
	if n := rows * columns; cap(f.Cost) < n {
		f.Cost = make([]float32, n)
	} else {
		f.Cost = f.Cost[:n]
	}
	for i := range f.Cost {
		f.Cost[i] = 1
	}
	for r := range rows {
		for c := range columns {
			if probability[r*columns+c] >= Obstacle {
				f.stamp(r, c)
			}
		}
	}
}

// disc is the cells about an obstacle and what each costs.
func disc(radius, margin float64) (out []offset) {
	reach := int(math.Ceil(radius + margin))
	for r := -reach; r <= reach; r++ {
		for c := -reach; c <= reach; c++ {
			d := math.Hypot(float64(r), float64(c))
			switch {
			case d <= radius:
				out = append(out, offset{r, c, Blocked})
			case d < radius+margin:
				out = append(out, offset{r, c, float32(1 + nearCost*(radius+margin-d)/margin)})
			}
		}
	}
	return out
}

func (f *Field) stamp(r, c int) {
	for _, o := range f.disc {
		row, column := r+o.rows, c+o.columns
		if row < 0 || column < 0 || row >= f.Rows || column >= f.Columns {
			continue
		}
		if at := row*f.Columns + column; f.Cost[at] < o.cost {
			f.Cost[at] = o.cost
		}
	}
}

// Escape lets the vehicle leave the place where it is, also where it is too near to something: blocked cells within
// radius cells cost much instead.
func (f *Field) Escape(row, column int, radius float64) {
	const much = 40
	reach := int(math.Ceil(radius))
	for r := max(0, row-reach); r <= min(f.Rows-1, row+reach); r++ {
		for c := max(0, column-reach); c <= min(f.Columns-1, column+reach); c++ {
			if at := r*f.Columns + c; f.Cost[at] == Blocked && math.Hypot(float64(r-row), float64(c-column)) <= radius {
				f.Cost[at] = much
			}
		}
	}
}

// Free reports whether the straight line between two cells enters no blocked cell, and none that costs more than most.
func (f *Field) Free(r0, c0, r1, c1 int, most float32) bool {
	steps := max(abs(r1-r0), abs(c1-c0))
	for k := 0; k <= steps; k++ {
		t := float64(k) / math.Max(1, float64(steps))
		r := int(math.Round(float64(r0) + t*float64(r1-r0)))
		c := int(math.Round(float64(c0) + t*float64(c1-c0)))
		if f.Cost[r*f.Columns+c] > most {
			return false
		}
	}
	return true
}

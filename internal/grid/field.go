package grid

import (
	"math"
	"slices"
)

// Blocked is the cost of a cell that the vehicle cannot enter.
const Blocked = math.MaxFloat32

// Field is the cost of entering each cell of a rectangle, per cell length: 1 away from obstacles. Cost is Rows rows of
// Columns cells.
type Field struct {
	Rows, Columns int
	Cost          []float32
	near          []uint8  // of each cell: obstacle, core or 0
	disc          []offset // of the vehicle and the margin
	made          discSize // of disc
}

// discSize is what a disc depends on.
type discSize struct {
	radius, margin float64
	rows, columns  int
}

type offset struct {
	rows, columns int
	cost          float32
	near          uint8
}

// How near a cell is to an obstacle. In the core a vehicle touches it whichever way it is turned; between the core and
// the radius it touches where it turns.
const (
	core     = 1
	obstacle = 2

	coreShare = 0.75 // of the radius
)

// nearCost is the additional cost of a cell at the vehicle's edge; it falls to 0 over the margin. tightCost is that of
// a cell within the radius, but outside the core: passable if there is no other way.
const (
	nearCost  = 6
	tightCost = 30
)

// Grow makes f from the probabilities of rows by columns cells: obstacles grow by the core of radius, cells up to
// radius cost much, and those up to margin farther more than others. Both are in cells, 0 or more.
func (f *Field) Grow(probability []float64, rows, columns int, radius, margin float64) {
	if size := (discSize{radius, margin, rows, columns}); f.disc == nil || size != f.made {
		f.made, f.disc = size, disc(size)
	}
	f.Rows, f.Columns = rows, columns
	n := rows * columns
	f.Cost, f.near = slices.Grow(f.Cost[:0], n)[:n], slices.Grow(f.near[:0], n)[:n]
	for i := range f.Cost {
		f.Cost[i], f.near[i] = 1, 0
	}
	for r := range rows {
		for c := range columns {
			if probability[r*columns+c] >= Obstacle {
				f.stamp(r, c)
			}
		}
	}
}

// disc is the cells about an obstacle and their costs, as far as a field of so many rows and columns has them.
func disc(size discSize) (out []offset) {
	radius, margin := size.radius, size.margin
	within := func(n int) int { return int(math.Min(math.Ceil(radius+margin), float64(n-1))) }
	rows, columns := within(size.rows), within(size.columns)
	for r := -rows; r <= rows; r++ {
		for c := -columns; c <= columns; c++ {
			d := math.Hypot(float64(r), float64(c))
			o := offset{rows: r, columns: c}
			switch {
			case d == 0:
				o.cost, o.near = Blocked, obstacle
			case d <= coreShare*radius:
				o.cost, o.near = Blocked, core
			case d <= radius:
				o.cost = tightCost
			case d < radius+margin:
				o.cost = float32(1 + nearCost*(radius+margin-d)/margin)
			default:
				continue
			}
			out = append(out, o)
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
		at := row*f.Columns + column
		if f.Cost[at] < o.cost {
			f.Cost[at] = o.cost
		}
		f.near[at] = max(f.near[at], o.near)
	}
}

// Escape lets the vehicle leave the place where it is, also where it is too near to something: blocked cells within
// radius cells cost much instead, but for obstacles and, where the vehicle is not in one, their cores: it does not
// escape through a wall.
func (f *Field) Escape(row, column int, radius float64) {
	const much = 40
	if row < 0 || column < 0 || row >= f.Rows || column >= f.Columns {
		return
	}
	closed := uint8(core)
	if f.near[row*f.Columns+column] >= core {
		closed = obstacle
	}
	reach := int(math.Ceil(radius))
	for r := max(0, row-reach); r <= min(f.Rows-1, row+reach); r++ {
		for c := max(0, column-reach); c <= min(f.Columns-1, column+reach); c++ {
			at := r*f.Columns + c
			if f.Cost[at] == Blocked && (f.near[at] < closed || r == row && c == column) &&
				math.Hypot(float64(r-row), float64(c-column)) <= radius {
				f.Cost[at] = much
			}
		}
	}
}

// Occupy blocks the cells nearer than reach cells to a point, which may be off the field: something that moves is
// there. It comes after Escape. A vehicle nearer than reach, in the cell of start, may leave, and comes no nearer.
func (f *Field) Occupy(row, column, reach float64, start int) {
	away := func(r, c int) float64 { return math.Hypot(float64(r)-row, float64(c)-column) }
	reach = math.Min(reach, away(start/f.Columns, start%f.Columns))
	within := func(at float64, n int) int { return int(math.Max(-1, math.Min(float64(n), at))) }
	if math.IsNaN(reach) {
		return
	}
	for r := max(0, within(math.Ceil(row-reach), f.Rows)); r <= min(f.Rows-1, within(row+reach, f.Rows)); r++ {
		for c := max(0, within(math.Ceil(column-reach), f.Columns)); c <= min(f.Columns-1,
			within(column+reach, f.Columns)); c++ {
			if away(r, c) < reach {
				f.Cost[r*f.Columns+c] = Blocked
			}
		}
	}
}

// Free reports whether the straight line between two cells enters no blocked cell, and no cell with a cost above most.
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

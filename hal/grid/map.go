// Package grid is occupancy maps and planners for vehicles on a floor: pure functions of what was seen, without hardware,
// clock or goroutines. Lengths are m; x and y are any two axes of the floor.
//
// A Map follows the vehicle: it covers a square about its centre and forgets what leaves the square. A Field is the costs
// of a part of a map, grown by the vehicle's size, so that the vehicle is a point in it; a Planner finds paths in a Field.
package grid

import "math"

// The probabilities of a cell, those of MOAST's AM sensor processing: a hit raises and a miss lowers it.
const (
	Unseen   = 0.2
	Maybe    = 0.4
	Obstacle = 0.6

	hit  = 0.07
	miss = -0.02
)

// Map is a square of cells with the probability that each is an obstacle. One goroutine at a time uses it.
type Map struct {
	n          int
	resolution float64
	x0, y0     int // the cell at the lower end of both axes
	cells      []float32
	seen       []bool
}

// NewMap returns a map of n by n cells of so many metres, about the origin: nothing is seen. n is 1 or more, resolution
// above 0.
func NewMap(n int, resolution float64) *Map {
	m := &Map{n: max(1, n), resolution: resolution, cells: make([]float32, max(1, n*n)), seen: make([]bool, max(1, n*n))}
	m.Clear()
	m.x0, m.y0 = -m.n/2, -m.n/2
	return m
}

// Size is the cells along a side; Resolution the length of a cell, m.
func (m *Map) Size() int           { return m.n }
func (m *Map) Resolution() float64 { return m.resolution }

// Clear forgets everything.
func (m *Map) Clear() {
	for i := range m.cells {
		m.cells[i], m.seen[i] = Unseen, false
	}
}

// Cell is the cell of a point. Cells are counted from the origin of the coordinates, not of the map.
func (m *Map) Cell(x, y float64) (i, j int) {
	return int(math.Floor(x / m.resolution)), int(math.Floor(y / m.resolution))
}

// Middle is the point in the middle of a cell.
func (m *Map) Middle(i, j int) (x, y float64) {
	return (float64(i) + 0.5) * m.resolution, (float64(j) + 0.5) * m.resolution
}

// index is where a cell is kept: cells wrap around, so that scrolling moves nothing. -1 is outside.
func (m *Map) index(i, j int) int {
	if i < m.x0 || j < m.y0 || i >= m.x0+m.n || j >= m.y0+m.n {
		return -1
	}
	return wrap(i, m.n)*m.n + wrap(j, m.n)
}

func wrap(i, n int) int { return (i%n + n) % n }

// At is the probability of a cell; Unseen outside the map. Seen reports whether a ray has passed or hit it.
func (m *Map) At(i, j int) float64 {
	if k := m.index(i, j); k >= 0 {
		return float64(m.cells[k])
	}
	return Unseen
}

// Seen reports whether a ray has passed or hit a cell.
func (m *Map) Seen(i, j int) bool {
	k := m.index(i, j)
	return k >= 0 && m.seen[k]
}

// Center scrolls the map so that (x, y) is in its middle, and forgets what it leaves.
func (m *Map) Center(x, y float64) {
	i, j := m.Cell(x, y)
	i, j = i-m.n/2, j-m.n/2
	if abs(i-m.x0) >= m.n || abs(j-m.y0) >= m.n {
		m.x0, m.y0 = i, j
		m.Clear()
		return
	}
	// the rows, then the columns, that come in on one side take the place of those that leave on the other
	for ; m.x0 < i; m.x0++ {
		m.forgetRow(m.x0)
	}
	for ; m.x0 > i; m.x0-- {
		m.forgetRow(m.x0 - 1)
	}
	for ; m.y0 < j; m.y0++ {
		m.forgetColumn(m.y0)
	}
	for ; m.y0 > j; m.y0-- {
		m.forgetColumn(m.y0 - 1)
	}
}

func (m *Map) forgetRow(i int) {
	row := wrap(i, m.n) * m.n
	for k := row; k < row+m.n; k++ {
		m.cells[k], m.seen[k] = Unseen, false
	}
}

func (m *Map) forgetColumn(j int) {
	for k := wrap(j, m.n); k < len(m.cells); k += m.n {
		m.cells[k], m.seen[k] = Unseen, false
	}
}

func abs(i int) int { return max(i, -i) }

// Add puts p more into the probability of a cell, within 0..1.
func (m *Map) add(i, j int, p float32) {
	if k := m.index(i, j); k >= 0 {
		m.cells[k] = max(0, min(1, m.cells[k]+p))
		m.seen[k] = true
	}
}

// Ray enters one measurement: the cells from (sx, sy) on are free, that of (hx, hy) is an obstacle where obstacle is set.
// Points that are no numbers, and rays longer than the map, are left out.
func (m *Map) Ray(sx, sy, hx, hy float64, obstacle bool) {
	length := math.Hypot(hx-sx, hy-sy)
	if !(length <= float64(m.n)*m.resolution) {
		return
	}
	i, j := m.Cell(sx, sy)
	endI, endJ := m.Cell(hx, hy)
	// from cell to cell along the ray (Amanatides and Woo, A Fast Voxel Traversal Algorithm for Ray Tracing, 1987)
	stepI, nextI, perI := traverse(sx, hx-sx, i, m.resolution)
	stepJ, nextJ, perJ := traverse(sy, hy-sy, j, m.resolution)
	for limit := 2 * m.n; (i != endI || j != endJ) && limit > 0; limit-- {
		m.add(i, j, miss)
		if nextI < nextJ {
			i, nextI = i+stepI, nextI+perI
		} else {
			j, nextJ = j+stepJ, nextJ+perJ
		}
	}
	if obstacle {
		m.add(endI, endJ, hit)
	} else {
		m.add(endI, endJ, miss)
	}
}

// traverse is the step of a ray along one axis, the share of the ray at which it leaves its first cell, and the share
// between two cells.
func traverse(start, length float64, cell int, resolution float64) (step int, next, per float64) {
	switch {
	case length > 0:
		return 1, (float64(cell+1)*resolution - start) / length, resolution / length
	case length < 0:
		return -1, (float64(cell)*resolution - start) / length, -resolution / length
	}
	return 0, math.Inf(1), math.Inf(1)
}

// Package grid implements occupancy maps and planners for ground vehicles: pure functions of the scans, without
// hardware, clock or goroutines. Lengths are m; x and y are any two axes of the floor.
//
// A Map follows the vehicle: it covers a square about its centre and drops cells that leave the square. A Field holds
// the costs of a part of a map, inflated by the vehicle's size, so that the vehicle is a point in it. A Planner finds
// paths in a Field.
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
	cells      []cell
	round      uint16 // of Enter
}

type cell struct {
	p     float32
	round uint16 // in which it was last changed
	seen  bool
}

// Ray is one measurement: the cells from (SX, SY) on are free, that of (HX, HY) is an obstacle where Hit is set.
type Ray struct {
	SX, SY, HX, HY float64
	Hit            bool
}

// NewMap returns an empty map of n by n cells about the origin. n is 1 or more; resolution is the cell size, m, above
// 0.
func NewMap(n int, resolution float64) *Map {
	m := &Map{n: max(1, n), resolution: resolution, cells: make([]cell, max(1, n*n))}
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
		m.cells[i] = cell{p: Unseen}
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

// index is the storage index of a cell: cells wrap around, so that scrolling moves no data. -1 is outside.
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
		return float64(m.cells[k].p)
	}
	return Unseen
}

// Seen reports whether a ray has passed or hit a cell.
func (m *Map) Seen(i, j int) bool {
	k := m.index(i, j)
	return k >= 0 && m.cells[k].seen
}

// Center scrolls the map so that (x, y) is in its middle, and clears the cells that leave it. A point that is no
// number, or so far that cells have no numbers there, is ignored.
func (m *Map) Center(x, y float64) {
	const far = 1 << 40 // cells
	if !(math.Max(math.Abs(x), math.Abs(y))/m.resolution < far) {
		return
	}
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
		m.cells[k] = cell{p: Unseen}
	}
}

func (m *Map) forgetColumn(j int) {
	for k := wrap(j, m.n); k < len(m.cells); k += m.n {
		m.cells[k] = cell{p: Unseen}
	}
}

func abs(i int) int { return max(i, -i) }

// Enter adds the rays of one scan. A cell's value rises with each ray that ends in it. A cell with only passing rays
// falls once per scan, so that rays which graze a wall do not erase it. Rays with NaN, and rays longer than the map,
// are ignored.
func (m *Map) Enter(rays []Ray) {
	if m.round++; m.round == 0 { // 0 is of cells that were never changed
		m.round = 1
		for i := range m.cells {
			m.cells[i].round = 0
		}
	}
	for i := range rays {
		if r := &rays[i]; r.Hit && m.enters(r) {
			if k := m.index(m.Cell(r.HX, r.HY)); k >= 0 {
				c := &m.cells[k]
				c.p, c.round, c.seen = min(1, c.p+hit), m.round, true
			}
		}
	}
	for i := range rays {
		if r := &rays[i]; m.enters(r) {
			m.pass(r)
		}
	}
}

// enters reports whether a ray is no longer than the map.
func (m *Map) enters(r *Ray) bool {
	return math.Hypot(r.HX-r.SX, r.HY-r.SY) <= float64(m.n)*m.resolution
}

// pass lowers the cells that a ray passes through, and the last one where it is no obstacle.
func (m *Map) pass(r *Ray) {
	i, j := m.Cell(r.SX, r.SY)
	endI, endJ := m.Cell(r.HX, r.HY)
	// from cell to cell along the ray (Amanatides and Woo, A Fast Voxel Traversal Algorithm for Ray Tracing, 1987)
	stepI, nextI, perI := traverse(r.SX, r.HX-r.SX, i, m.resolution)
	stepJ, nextJ, perJ := traverse(r.SY, r.HY-r.SY, j, m.resolution)
	for limit := 2 * m.n; (i != endI || j != endJ) && limit > 0; limit-- {
		m.lower(i, j)
		if nextI < nextJ {
			i, nextI = i+stepI, nextI+perI
		} else {
			j, nextJ = j+stepJ, nextJ+perJ
		}
	}
	m.lower(endI, endJ)
}

// lower lowers the probability of a cell that has not changed in this round.
func (m *Map) lower(i, j int) {
	if k := m.index(i, j); k >= 0 && m.cells[k].round != m.round {
		c := &m.cells[k]
		c.p, c.round, c.seen = max(0, c.p+miss), m.round, true
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

package grid

import (
	"math"
	"slices"
)

// Planner finds cheapest paths in fields: A* on eight neighbours. It allocates only where a field is larger than those
// before. One goroutine at a time uses it.
type Planner struct {
	cost  []float32 // of reaching each cell
	from  []int32
	state []uint8
	heap  []node
	path  []int
}

type node struct {
	at       int32
	estimate float32
}

const (
	untouched uint8 = iota
	queued
	closed
)

// Plan returns the cells of the cheapest path from start to goal, both ends included, as row*Columns+column; the slice
// is the planner's until the next call. Where goal cannot be reached, the path leads to the reachable cell nearest to
// it, and found is false. A start outside the field has no path.
func (p *Planner) Plan(f *Field, start, goal int) (path []int, found bool) {
	if start < 0 || goal < 0 || start >= len(f.Cost) || goal >= len(f.Cost) {
		return nil, false
	}
	best := p.search(f, start, goal)
	return p.trace(best), best == goal
}

// trace is the path to a cell that the search has visited.
func (p *Planner) trace(to int) []int {
	p.path = append(p.path[:0], to)
	for at := to; int(p.from[at]) != at; {
		at = int(p.from[at])
		p.path = append(p.path, at)
	}
	slices.Reverse(p.path)
	return p.path
}

// Leave returns the path from start to the edge of the field that promises the shortest way to a goal beyond it: its
// cost and beyond, the cell lengths from a cell of the edge to the goal. It is nil where no cell of the edge can be
// reached.
func (p *Planner) Leave(f *Field, start int, beyond func(cell int) float64) (path []int, cost float64) {
	if start < 0 || start >= len(f.Cost) {
		return nil, 0
	}
	p.search(f, start, -1)
	best := -1
	try := func(cell int) {
		if c := p.Cost(cell); c >= 0 {
			if c += beyond(cell); best < 0 || c < cost {
				best, cost = cell, c
			}
		}
	}
	for c := range f.Columns {
		try(c)
		try((f.Rows-1)*f.Columns + c)
	}
	for r := range f.Rows {
		try(r * f.Columns)
		try(r*f.Columns + f.Columns - 1)
	}
	if best < 0 {
		return nil, 0
	}
	return p.trace(best), cost
}

// Costs computes the cost of reaching every cell from start, in cell lengths; Cost returns them.
func (p *Planner) Costs(f *Field, start int) {
	if start >= 0 && start < len(f.Cost) {
		p.search(f, start, -1)
	}
}

// Cost is the cost of a cell after Costs, below 0 where it cannot be reached.
func (p *Planner) Cost(cell int) float64 {
	if cell < 0 || cell >= len(p.state) || p.state[cell] != closed {
		return -1
	}
	return float64(p.cost[cell])
}

// search visits cells from start on until goal, or all where that is below 0, and returns the cell visited that is
// nearest to goal.
func (p *Planner) search(f *Field, start, goal int) (best int) {
	n := len(f.Cost)
	if cap(p.cost) < n {
		p.cost, p.from, p.state = make([]float32, n), make([]int32, n), make([]uint8, n)
	}
	p.cost, p.from, p.state = p.cost[:n], p.from[:n], p.state[:n]
	clear(p.state)
	p.heap = p.heap[:0]
	width := f.Columns
	goalRow, goalColumn := goal/width, goal%width
	// the least cost that is left: straight and diagonal steps through cells that cost 1
	left := func(at int) float32 {
		if goal < 0 {
			return 0
		}
		dr, dc := abs(at/width-goalRow), abs(at%width-goalColumn)
		return float32(max(dr, dc)) + (math.Sqrt2-1)*float32(min(dr, dc))
	}
	p.cost[start], p.from[start], p.state[start] = 0, int32(start), queued
	p.push(node{int32(start), left(start)})
	best = start
	for bestLeft := left(start); len(p.heap) > 0; {
		at := int(p.pop().at)
		if p.state[at] == closed {
			continue // it was queued again at a lower cost
		}
		p.state[at] = closed
		if l := left(at); goal >= 0 && l < bestLeft {
			best, bestLeft = at, l
		}
		if at == goal {
			return at
		}
		p.expand(f, at, left)
	}
	return best
}

// expand queues the neighbours of a cell. A diagonal step does not cut the corner of a blocked cell.
func (p *Planner) expand(f *Field, at int, left func(int) float32) {
	row, column := at/f.Columns, at%f.Columns
	for dr := -1; dr <= 1; dr++ {
		for dc := -1; dc <= 1; dc++ {
			r, c := row+dr, column+dc
			if dr == 0 && dc == 0 || r < 0 || c < 0 || r >= f.Rows || c >= f.Columns {
				continue
			}
			to := r*f.Columns + c
			step := f.Cost[to]
			if step == Blocked || p.state[to] == closed {
				continue
			}
			if dr != 0 && dc != 0 {
				if f.Cost[row*f.Columns+c] == Blocked || f.Cost[r*f.Columns+column] == Blocked {
					continue
				}
				step *= math.Sqrt2
			}
			if cost := p.cost[at] + step; p.state[to] == untouched || cost < p.cost[to] {
				p.cost[to], p.from[to], p.state[to] = cost, int32(at), queued
				p.push(node{int32(to), cost + left(to)})
			}
		}
	}
}

// push and pop keep the node with the least estimate first; of equal ones the lower cell, so that paths are the same on
// every machine.
func (p *Planner) push(n node) {
	p.heap = append(p.heap, n)
	for i := len(p.heap) - 1; i > 0; {
		parent := (i - 1) / 2
		if !less(p.heap[i], p.heap[parent]) {
			return
		}
		p.heap[i], p.heap[parent] = p.heap[parent], p.heap[i]
		i = parent
	}
}

func (p *Planner) pop() node {
	top := p.heap[0]
	last := len(p.heap) - 1
	p.heap[0] = p.heap[last]
	p.heap = p.heap[:last]
	for i := 0; ; {
		child := 2*i + 1
		if child >= last {
			return top
		}
		if child+1 < last && less(p.heap[child+1], p.heap[child]) {
			child++
		}
		if !less(p.heap[child], p.heap[i]) {
			return top
		}
		p.heap[i], p.heap[child] = p.heap[child], p.heap[i]
		i = child
	}
}

func less(a, b node) bool {
	return a.estimate < b.estimate || a.estimate == b.estimate && a.at < b.at
}

// Straighten returns the cells of path at which it has to turn, both ends included: from each the next one is the
// farthest that a straight line reaches without coming nearer to an obstacle than the path does. It appends to dst[:0].
func (f *Field) Straighten(dst, path []int) []int {
	dst = dst[:0]
	for i := 0; i < len(path); {
		dst = append(dst, path[i])
		if i == len(path)-1 {
			break
		}
		next, most := i+1, f.Cost[path[i+1]]
		for k := i + 2; k < len(path); k++ {
			most = max(most, f.Cost[path[k]])
			if f.Free(path[i]/f.Columns, path[i]%f.Columns, path[k]/f.Columns, path[k]%f.Columns,
				max(most, f.Cost[path[i]])) {
				next = k
			}
		}
		i = next
	}
	return dst
}

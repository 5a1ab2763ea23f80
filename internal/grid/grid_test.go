package grid

import (
	"math"
	"testing"
)

// draw is a field of characters: # is an obstacle.
func draw(rows ...string) (probability []float64, n, width int) {
	for _, row := range rows {
		for _, c := range row {
			p := 0.0
			if c == '#' {
				p = 1
			}
			probability = append(probability, p)
		}
	}
	return probability, len(rows), len(rows[0])
}

func TestRay(t *testing.T) {
	m := NewMap(100, 0.1)
	m.Enter([]Ray{{0.05, 0.05, 1.05, 0.05, true}})
	for i := range 10 {
		if got := m.At(i, 0); math.Abs(got-(Unseen-0.02)) > 1e-6 || !m.Seen(i, 0) {
			t.Errorf("cell %d of the ray: got %g, want %g", i, got, Unseen-0.02)
		}
	}
	if got := m.At(10, 0); math.Abs(got-(Unseen+0.07)) > 1e-6 {
		t.Errorf("hit: got %g, want %g", got, Unseen+0.07)
	}
	if m.At(11, 0) != float64(float32(Unseen)) || m.Seen(11, 0) {
		t.Errorf("behind the hit: got %g, want unseen", m.At(11, 0))
	}
	for range 6 {
		m.Enter([]Ray{{0.05, 0.05, 1.05, 0.05, true}})
	}
	if got := m.At(10, 0); got < Obstacle {
		t.Errorf("seven hits: got %g, want an obstacle", got)
	}
	// a diagonal ray touches every cell that it passes through, and the reverse ray the same cells
	a, b := NewMap(50, 0.1), NewMap(50, 0.1)
	a.Enter([]Ray{{0.03, 0.07, 1.31, -0.93, false}})
	b.Enter([]Ray{{1.31, -0.93, 0.03, 0.07, false}})
	for i := -25; i < 25; i++ {
		for j := -25; j < 25; j++ {
			if a.Seen(i, j) != b.Seen(i, j) {
				t.Errorf("cell %d, %d: seen %v there, %v back", i, j, a.Seen(i, j), b.Seen(i, j))
			}
		}
	}
	m.Enter([]Ray{{0, 0, math.NaN(), 0, true}})
	m.Enter([]Ray{{0, 0, math.Inf(1), 0, true}})
	m.Enter([]Ray{{math.Inf(-1), 0, 1, 0, true}})
	m.Enter([]Ray{{0, 0, 1e300, 0, true}})
}

// TestWear: a wall stays that is hit once in a scan and grazed by many rays of it; what nothing is in any more goes.
func TestWear(t *testing.T) {
	m := NewMap(100, 0.1)
	var rays []Ray
	for k := range 20 { // along a wall that fills a quarter of the cells of row 0, hit at its end alone
		rays = append(rays, Ray{1.5, 1, -1.95 - 0.05*float64(k), 0.075, k == 0})
	}
	for range 10 {
		m.Enter(rays)
	}
	if got := m.At(-20, 0); got < Obstacle {
		t.Errorf("the cell that is hit: got %g, want an obstacle", got)
	}
	if got := m.At(14, 9); math.Abs(got) > 1e-6 {
		t.Errorf("a cell that is passed: got %g, want 0 after ten scans of -0.02", got)
	}
	for range 50 {
		m.Enter([]Ray{{-1.95, 1, -1.95, -0.5, false}})
	}
	if got := m.At(-20, 0); got > 0.01 {
		t.Errorf("the cell after what was in it has gone: got %g, want 0", got)
	}
	for range 70_000 { // the counter of rounds begins again
		m.Enter(nil)
	}
	if m.Enter([]Ray{{0, 0, 0, 0, true}}); math.Abs(m.At(0, 0)-Unseen-0.07) > 1e-6 {
		t.Errorf("after many rounds: got %g", m.At(0, 0))
	}
}

func TestScroll(t *testing.T) {
	m := NewMap(20, 0.5)
	m.Enter([]Ray{{1.2, 1.2, 1.2, 1.2, true}})
	at := m.At(2, 2)
	for _, to := range [][2]float64{{3, -3}, {-2, 4}, {5, 5}} {
		m.Center(to[0], to[1])
		if got := m.At(2, 2); got != at {
			t.Errorf("centre %v: got %g, want %g", to, got, at)
		}
	}
	m.Center(-4.5, 0)
	if m.Seen(2, 2) {
		t.Error("outside: got a cell that is seen")
	}
	m.Center(0, 0)
	if m.At(2, 2) == at {
		t.Error("it left the map and came back: got its old probability")
	}
	m.Enter([]Ray{{0.2, 0.2, 0.2, 0.2, true}})
	if m.Center(1e6, 0); m.Seen(0, 0) {
		t.Error("a leap: got a cell that is seen")
	}
}

// A point that no cell has does not scroll the map: the way back from it had no end.
func TestScrollNowhere(t *testing.T) {
	m := NewMap(10, 0.1)
	for _, far := range []float64{1e300, -1e300, math.Inf(1), math.NaN()} {
		m.Center(far, 0)
		m.Center(0, far)
		m.Center(0.05, 0.05)
	}
	m.Enter([]Ray{{0.05, 0.05, 0.35, 0.05, true}})
	if !m.Seen(m.Cell(0.35, 0.05)) {
		t.Error("the map has left its place")
	}
}

// However large a vehicle is, its disc has no cells beyond those of the field.
func TestGrowLarge(t *testing.T) {
	var f Field
	f.Grow([]float64{0, 0, 1, 0, 0, 0}, 2, 3, 500, 2)
	for i, c := range f.Cost {
		if c != Blocked {
			t.Errorf("cell %d: got cost %g, want a blocked one", i, c)
		}
	}
	if n := len(f.disc); n > 15 {
		t.Errorf("disc: got %d cells, want at most 15", n)
	}
}

func TestGrow(t *testing.T) {
	p, rows, columns := draw(".......", ".......", ".......", "...#...", ".......", ".......", ".......")
	var f Field
	f.Grow(p, rows, columns, 1, 1.5)
	want := []string{".......", "..nnn..", ".nntnn.", ".ntBtn."}
	for r, row := range want {
		for c, k := range row {
			cost := f.Cost[r*columns+c]
			if ok := map[rune]bool{'.': cost == 1, 'n': cost > 1 && cost < tightCost, 't': cost == tightCost,
				'B': cost == Blocked}[k]; !ok {
				t.Errorf("cell %d, %d: got %g, want %c", r, c, cost, k)
			}
		}
	}
	f.Escape(3, 3, 1)
	if f.Cost[3*columns+3] == Blocked || f.Cost[3*columns+4] == Blocked {
		t.Error("escape: got a blocked cell")
	}
}

// TestOccupy: what moves blocks the cells about it; a vehicle that is too near may leave, but not come nearer.
func TestOccupy(t *testing.T) {
	p := make([]float64, 5*9)
	for _, k := range []struct {
		name        string
		row, column float64
		start       int
		want        string
	}{
		{"apart", 2, 4.5, 0, "........./...BBBB../...BBBB../...BBBB../........."},
		{"too near", 2, 4.5, 2*9 + 3, "........./....BB.../....BB.../....BB.../........."},
		{"same cell", 2, 4, 2*9 + 4, "........./........./........./........./........."},
		{"at the edge", 0, -1, 4*9 + 8, "B......../B......../........./........./........."},
		{"off the field", -100, 3, 0, "........./........./........./........./........."},
		{"very far", 1e300, 3, 0, "........./........./........./........./........."},
		{"nowhere", math.NaN(), 3, 0, "........./........./........./........./........."},
	} {
		var f Field
		f.Grow(p, 5, 9, 0, 0)
		f.Occupy(k.row, k.column, 1.9, k.start)
		var got string
		for i, cost := range f.Cost {
			if i > 0 && i%9 == 0 {
				got += "/"
			}
			got += map[bool]string{true: "B", false: "."}[cost == Blocked]
		}
		if got != k.want {
			t.Errorf("%s: got %s, want %s", k.name, got, k.want)
		}
	}
}

func TestPlan(t *testing.T) {
	for _, k := range []struct {
		name  string
		rows  []string
		found bool
		cost  float64 // of the path's steps, cell lengths
		end   int
	}{
		{"straight", []string{"S....G"}, true, 5, 5},
		{"diagonal", []string{"S...", "....", "....", "...G"}, true, 3 * math.Sqrt2, 15},
		{"around", []string{"S#G", ".#.", "..."}, true, 6, 2},
		{"no corner is cut", []string{"S#", ".G"}, true, 2, 3},
		{"walled in", []string{"S.#G", "..#."}, false, 1, 1},
	} {
		p, rows, columns := draw(k.rows...)
		var f Field
		f.Grow(p, rows, columns, 0, 0)
		start, goal := 0, 0
		for r, row := range k.rows {
			for c, char := range row {
				switch char {
				case 'S':
					start = r*columns + c
				case 'G':
					goal = r*columns + c
				}
			}
		}
		var planner Planner
		path, found := planner.Plan(&f, start, goal)
		cost := 0.0
		for i := 1; i < len(path); i++ {
			dr, dc := path[i]/columns-path[i-1]/columns, path[i]%columns-path[i-1]%columns
			cost += math.Hypot(float64(dr), float64(dc))
			if abs(dr) > 1 || abs(dc) > 1 || f.Cost[path[i]] == Blocked {
				t.Errorf("%s: a leap or a blocked cell at %d", k.name, i)
			}
		}
		if found != k.found || math.Abs(cost-k.cost) > 1e-6 || path[len(path)-1] != k.end || path[0] != start {
			t.Errorf("%s: got %v, found %v, cost %.3f, want end %d, %v, %.3f", k.name, path, found, cost, k.end,
				k.found, k.cost)
		}
		planner.Costs(&f, start)
		if got := planner.Cost(goal); k.found && math.Abs(got-k.cost) > 1e-4 || !k.found && got != -1 {
			t.Errorf("%s: cost of the goal: got %g, want %g", k.name, got, k.cost)
		}
	}
	var planner Planner
	if path, found := planner.Plan(&Field{Rows: 1, Columns: 1, Cost: []float32{1}}, 5, 0); path != nil || found {
		t.Errorf("outside: got %v", path)
	}
}

func TestLeave(t *testing.T) {
	// the goal is beyond the right edge: the way straight there is closed, the one through the top costs less than the
	// left one
	p, rows, columns := draw(".#.####", ".#....#", ".#.##.#", "......#", "#######")
	var f Field
	f.Grow(p, rows, columns, 0, 0)
	var planner Planner
	beyond := func(cell int) float64 { return math.Hypot(float64(cell/columns-1), float64(cell%columns-9)) }
	path, cost := planner.Leave(&f, 3*columns+3, beyond)
	if len(path) == 0 || path[0] != 3*columns+3 || path[len(path)-1] != 2 || math.Abs(cost-(4+beyond(2))) > 1e-3 {
		t.Errorf("got %v at %.2f, want a path to cell 2", path, cost)
	}
	p, rows, columns = draw("#####", "#...#", "#####")
	f.Grow(p, rows, columns, 0, 0)
	if path, _ := planner.Leave(&f, columns+1, func(int) float64 { return 0 }); path != nil {
		t.Errorf("closed: got %v", path)
	}
}

// TestOptimal compares A* with Dijkstra's search on random fields.
func TestOptimal(t *testing.T) {
	state := uint32(1)
	next := func() uint32 { state = state*1664525 + 1013904223; return state >> 8 }
	var f Field
	var a, d Planner
	for range 200 {
		p := make([]float64, 30*30)
		for i := range p {
			if next()%4 == 0 {
				p[i] = 1
			}
		}
		f.Grow(p, 30, 30, 0, 1.5)
		start, goal := int(next()%900), int(next()%900)
		if f.Cost[start] == Blocked {
			continue
		}
		_, found := a.Plan(&f, start, goal)
		d.Costs(&f, start)
		if found != (d.Cost(goal) >= 0) || found && math.Abs(a.Cost(goal)-d.Cost(goal)) > 1e-3 {
			t.Fatalf("from %d to %d: got %v %g, want %g", start, goal, found, a.Cost(goal), d.Cost(goal))
		}
	}
}

func TestStraighten(t *testing.T) {
	p, rows, columns := draw("..........", "....#.....", "....#.....", "..........")
	var f Field
	f.Grow(p, rows, columns, 0, 0)
	var planner Planner
	path, _ := planner.Plan(&f, 2*columns, 2*columns+9)
	turns := f.Straighten(nil, path)
	if len(turns) < 3 || len(turns) > 5 || turns[0] != path[0] || turns[len(turns)-1] != path[len(path)-1] {
		t.Errorf("got %v of %v", turns, path)
	}
	for i := 1; i < len(turns); i++ {
		if !f.Free(turns[i-1]/columns, turns[i-1]%columns, turns[i]/columns, turns[i]%columns, 1) {
			t.Errorf("from %d to %d: blocked", turns[i-1], turns[i])
		}
	}
	if got := f.Straighten(nil, path[:1]); len(got) != 1 {
		t.Errorf("one cell: got %v", got)
	}
}

// hall is a field of 100 by 100 cells with walls that make the path wind.
func hall() []float64 {
	p := make([]float64, 100*100)
	for wall := 10; wall < 100; wall += 15 {
		for c := range 85 {
			if wall/15%2 == 1 {
				c = 99 - c
			}
			p[wall*100+c] = 1
		}
	}
	return p
}

// BenchmarkPlan is the planner's part of an AM cycle: growth by 4 cells and A* through a winding hall.
func BenchmarkPlan(b *testing.B) {
	p := hall()
	var f Field
	var planner Planner
	b.ReportAllocs()
	for b.Loop() {
		f.Grow(p, 100, 100, 4, 3)
		if _, found := planner.Plan(&f, 0, 9999); !found {
			b.Fatal("no path")
		}
	}
}

// BenchmarkUpdate is the map's part: 181 rays of 5 m into cells of 0.1 m; cells/s is its figure.
func BenchmarkUpdate(b *testing.B) {
	m := NewMap(1000, 0.1)
	cells := 0
	var rays []Ray
	for k := range 181 {
		sin, cos := math.Sincos(float64(k) * math.Pi / 180)
		rays = append(rays, Ray{0, 0, 5 * cos, 5 * sin, true})
	}
	b.ReportAllocs()
	for b.Loop() {
		m.Enter(rays)
		cells += 181 * 55 // about: 50 cells along an axis, 70 along a diagonal
	}
	b.ReportMetric(float64(cells)/b.Elapsed().Seconds(), "cells/s")
}

// BenchmarkMemory is the bound: as many random additions to the same memory.
func BenchmarkMemory(b *testing.B) {
	m := NewMap(1000, 0.1)
	cells := 0
	for b.Loop() {
		at := 0
		for range 181 * 55 {
			at = (at + 997) % len(m.cells)
			m.cells[at].p += 1e-9
		}
		cells += 181 * 55
	}
	b.ReportMetric(float64(cells)/b.Elapsed().Seconds(), "cells/s")
}

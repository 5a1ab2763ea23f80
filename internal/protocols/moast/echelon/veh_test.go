package echelon

import (
	"math"
	"testing"

	"github.com/halyard-robotics/halyard/internal/protocols/moast"
)

// TestVehicle: the vehicle echelon leads AM through the maze to a local point, and back to an absolute one.
func TestVehicle(t *testing.T) {
	t.Parallel()
	r := newRover()
	r.boxes = maze()
	s := start(t, r, "vehMobPL", Servo, Prim, AM, Veh)
	s.init()
	s.pass(3)
	go1 := func(local bool, x, y float64) {
		t.Helper()
		s.send(&moast.VehMobCmdMoveWaypoint{Local: local, Neighborhood: 0.3, Speed: 0.5,
			Waypoints: []moast.Waypoint{{P: moast.Cartesian{X: x, Y: y}}}})
		s.until(150, moast.Done)
	}
	if go1(true, 6.5, 1); distance(r.at.x, r.at.y, 6.5, 1) > 0.5 {
		t.Errorf("local point: got %+v, want 6.5, 1", r.at)
	}
	if go1(false, 100, 200); distance(r.at.x, r.at.y, 0, 0) > 0.5 {
		t.Errorf("absolute point: got %+v, want 0, 0", r.at)
	}
	if r.nearest < 0.354 {
		t.Errorf("nearest distance: got %.3f m, want 0.354 or more", r.nearest)
	}
	for _, c := range []*moast.VehMobCmdMoveWaypoint{{},
		{Local: true, Waypoints: []moast.Waypoint{{P: moast.Cartesian{X: math.NaN()}}}}} {
		s.send(c)
		s.until(5, moast.Error)
	}
	// a point in a closed room: the vehicle goes as near as it can, then says so
	r.boxes = append(r.boxes, [4]float64{5.2, -2, 6.8, -1.9}, [4]float64{5.2, -0.6, 6.8, -0.5},
		[4]float64{5.2, -2, 5.3, -0.5}, [4]float64{6.7, -2, 6.8, -0.5})
	s.send(&moast.VehMobCmdMoveWaypoint{Local: true, Neighborhood: 0.2, Speed: 0.5,
		Waypoints: []moast.Waypoint{{P: moast.Cartesian{X: 6, Y: -1.25}}}})
	s.until(150, moast.Error)
	s.plain("Stop")
	s.until(5, moast.Done)
}

// TestExplore: the section sends the vehicle about until the room is seen; it touches nothing.
func TestExplore(t *testing.T) {
	t.Parallel()
	r := newRover()
	r.boxes = maze()
	s := start(t, r, "sectMobPL", Servo, Prim, AM, Veh, Sect)
	s.init()
	s.send(&moast.SectMobCmdExplore{Distance: 20})
	s.until(5, moast.Error) // no vehicle yet
	s.send(&moast.SectMobCmdConnect{Vehicles: []int32{2}})
	s.until(5, moast.Error)
	s.send(&moast.SectMobCmdConnect{Vehicles: []int32{1}, SendInit: true})
	s.until(20, moast.Done)
	s.pass(3)
	s.send(&moast.SectMobCmdExplore{Distance: 20})
	s.until(900, moast.Done)
	m, _, err := s.h.Buffer("sectMobPLStat1").Read(moast.New, 0)
	if err != nil {
		t.Fatal(err)
	}
	if got := m.(*moast.SectMobStat); got.Explored < 0.9 || len(got.Vehicles) != 1 {
		t.Errorf("got %.2f of the floor, vehicles %v, want 0.9 or more", got.Explored, got.Vehicles)
	}
	// planted truth: the share of the room's free cells that the grid has
	floor, _, err := s.h.Buffer("vehSPMap1").Read(moast.New, 0)
	if err != nil {
		t.Fatal(err)
	}
	d, known, all := floor.(*moast.SensorData2D), 0, 0
	for x := -1.6; x < 7.8; x += 0.2 {
		for y := -2.6; y < 2.8; y += 0.2 {
			if r.ray(x, y, 0) == 0 {
				continue // in a wall
			}
			all++
			if d.Features[cellOf(d, 100+x, 200+y)] == cellFree {
				known++
			}
		}
	}
	if share := float64(known) / float64(all); share < 0.9 {
		t.Errorf("cells: got %d of %d seen, want 90 %%", known, all)
	}
	if r.nearest < 0.354 {
		t.Errorf("nearest distance: got %.3f m, want 0.354 or more", r.nearest)
	}
	t.Logf("explored in %.0f s, %d of %d cells, nearest %.3f m", *s.now, known, all, r.nearest)
}

// TestSection: the section sends two vehicles, whose relative frames differ, to different parts of the room, and uses
// what either has seen.
func TestSection(t *testing.T) {
	t.Parallel()
	fleet, now, together := &Fleet{}, 0.0, math.Inf(1)
	var rovers []*rover
	var all []*Hierarchy
	for i, at := range []place{{0, 0, 0}, {6.5, 1, math.Pi / 2}} {
		r := newRover()
		r.boxes, r.at = maze(), at
		h, err := New(r, Options{ID: i + 1, Fleet: fleet})
		if err != nil {
			t.Fatal(err)
		}
		rovers, all = append(rovers, r), append(all, h)
	}
	if _, err := New(newRover(), Options{ID: 2, Fleet: fleet}); err == nil {
		t.Error("second vehicle 2: got no error")
	}
	if all[1].Buffer("sectMobPLStat2") != nil {
		t.Error("vehicle 2: got a section of its own, want one")
	}
	s := &superior{t: t, h: all[0], rover: rovers[0], module: moast.ModuleNamed("sectMobPL"), serial: 10, now: &now}
	s.other = func() {
		if err := all[1].Step(now); err != nil {
			t.Fatal(err)
		}
		rovers[1].step(tick)
		together = math.Min(together, distance(rovers[0].at.x, rovers[0].at.y, rovers[1].at.x, rovers[1].at.y))
	}
	s.pass(0.05)
	s.init()
	for _, ids := range [][]int32{{}, {3}, {1, 1}} {
		s.send(&moast.SectMobCmdConnect{Vehicles: ids})
		s.until(5, moast.Error)
	}
	s.send(&moast.SectMobCmdConnect{Vehicles: []int32{1, 2}, SendInit: true})
	s.until(20, moast.Done)
	s.pass(3)
	begun := now
	s.send(&moast.SectMobCmdExplore{Distance: 20})
	s.until(900, moast.Done)
	m, _, err := all[0].Buffer("sectMobPLStat1").Read(moast.New, 0)
	if err != nil {
		t.Fatal(err)
	}
	if got := m.(*moast.SectMobStat); got.Explored < 0.9 || len(got.Vehicles) != 2 {
		t.Errorf("got %.2f of the floor, vehicles %v, want 0.9 or more of two", got.Explored, got.Vehicles)
	}
	for i, r := range rovers {
		if r.nearest < 0.354 {
			t.Errorf("vehicle %d: nearest distance: got %.3f m, want 0.354 or more", i+1, r.nearest)
		}
	}
	if together < touching {
		t.Errorf("middles: got %.3f m, want %.3f or more", together, touching)
	}
	t.Logf("two vehicles explored in %.0f s, middles %.2f m apart", now-begun, together)
}

// TestTight: a passage of one cell of the grid is a way for a vehicle that has no other one, to a point and to what is
// unknown.
func TestTight(t *testing.T) {
	const rows, columns = 20, 15
	d := moast.SensorData2D{IncrementX: vehResolution, IncrementY: vehResolution, X: columns, Y: rows,
		Features: make([]float64, rows*columns)}
	for at := range d.Features {
		switch row, column := at/columns, at%columns; {
		case row < 3 || row > 16 || column < 2 || column > 12 || column == 7 && row != 10:
			d.Features[at] = cellObstacle
		case column < 11:
			d.Features[at] = cellFree
		}
	}
	there := func(row, column int) (at place) {
		at.x, at.y = pointOf(&d, row*columns+column)
		return at
	}
	const radius = 0.3
	here, goal := there(10, 4), there(10, 9)
	c := &vehMob{radius: radius, chart: chart{shown: d}, points: []place{goal}, near: vehResolution,
		others: &traffic{fleet: &Fleet{}}}
	if next, left, ok := c.next(here); !ok || next != goal || math.Abs(left-1) > 1e-9 {
		t.Errorf("point: got %+v, %.2f m, %v, want %+v, 1 m", next, left, ok, goal)
	}
	s := &sectMob{radius: radius}
	v := &member{floor: d, refused: map[int]bool{}, others: &traffic{fleet: &Fleet{}}}
	v.at.Abs.Tran.X, v.at.Abs.Tran.Y = here.x, here.y
	if places, _ := s.frontier(v, 30, radius, true); len(places) != 0 {
		t.Errorf("frontier: got %d places, want none", len(places))
	}
	if places, _ := s.frontier(v, 30, tight, true); len(places) == 0 {
		t.Error("frontier through the passage: got none")
	}
	d.Features[10*columns+7] = cellObstacle
	if next, _, _ := c.next(here); next.y > goal.y-2*vehResolution {
		t.Errorf("a closed passage: got %+v, want a point before it", next)
	}
}

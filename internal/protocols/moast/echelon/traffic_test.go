package echelon

import (
	"math"
	"testing"

	"github.com/halyard-robotics/halyard/internal/protocols/moast"
)

// pair is two rovers of one fleet in the same room. Neither sees the other one.
type pair struct {
	t      *testing.T
	rovers [2]*rover
	all    [2]*Hierarchy
	now    float64
	serial int32
	apart  float64 // m, of the middles, at least so far
}

func newPair(t *testing.T, boxes [][4]float64, at [2]place, levels ...Level) *pair {
	t.Helper()
	p, fleet := &pair{t: t, apart: math.Inf(1), serial: 10}, &Fleet{}
	for i := range p.all {
		r := newRover()
		r.boxes, r.at = boxes, at[i]
		h, err := New(r, Options{ID: i + 1, Fleet: fleet, Levels: levels})
		if err != nil {
			t.Fatal(err)
		}
		p.rovers[i], p.all[i] = r, h
	}
	p.pass(0.05)
	return p
}

func (p *pair) pass(seconds float64) {
	p.t.Helper()
	for range int(math.Round(seconds / tick)) {
		p.now += tick
		for i, h := range p.all {
			if err := h.Step(p.now); err != nil {
				p.t.Fatal(err)
			}
			p.stat(i)
			p.rovers[i].step(tick)
		}
		a, b := p.rovers[0].at, p.rovers[1].at
		p.apart = math.Min(p.apart, distance(a.x, a.y, b.x, b.y))
	}
}

func (p *pair) stat(i int) *moast.StatHead {
	m, _, err := p.all[i].Buffer(moast.ModuleNamed("amMobJA").Buffer(moast.Stat, i+1, 0)).Read(moast.New, 0)
	if err != nil {
		p.t.Fatal(err)
	}
	return m.(moast.Reporter).Report()
}

// send gives AM of vehicle i, from 0, a command.
func (p *pair) send(i int, c moast.Command) {
	p.t.Helper()
	p.serial++
	c.Head().Serial = p.serial
	if err := p.all[i].Buffer(moast.ModuleNamed("amMobJA").Buffer(moast.Cmd, i+1, 0)).Write(c); err != nil {
		p.t.Fatal(err)
	}
}

// init sends INIT to both, move a goal that is so far ahead of where each one began, m.
func (p *pair) init() {
	for i := range p.all {
		p.send(i, &moast.Plain{Kind: 11001})
	}
	p.pass(1)
}

func (p *pair) move(ahead float64) {
	for i := range p.all {
		p.send(i, &moast.AMMobCmdMoveWaypoint{
			Waypoints: []moast.Waypoint{{P: moast.Cartesian{X: ahead}, Neighborhood: 0.3, Speed: 0.5}}})
	}
}

// two rovers' corners are 0.354 m from their middles
const touching = 2 * 0.3536

// TestMeeting: two vehicles that want each other's place in an open room pass each other without a touch, and both
// arrive.
func TestMeeting(t *testing.T) {
	t.Parallel()
	room := [][4]float64{{-3, -3.2, 8, -3}, {-3, 3, 8, 3.2}, {-3.2, -3, -3, 3}, {8, -3, 8.2, 3}}
	p := newPair(t, room, [2]place{{0, 0, 0}, {5, 0, math.Pi}}, Servo, Prim, AM)
	p.init()
	p.pass(2)
	to := [2][2]float64{{5, 0}, {0, 0}}
	p.move(5)
	for p.pass(1); p.now < 120 && (p.stat(0).Status == moast.Exec || p.stat(1).Status == moast.Exec); {
		p.pass(1)
	}
	for i, r := range p.rovers {
		if h := p.stat(i); h.Status != moast.Done || distance(r.at.x, r.at.y, to[i][0], to[i][1]) > 0.4 {
			t.Errorf("vehicle %d: got %v %q at %+v, want %v at %v", i+1, h.Status, h.Message, r.at, moast.Done, to[i])
		}
	}
	if p.apart < touching {
		t.Errorf("middles: got %.3f m, want %.3f or more", p.apart, touching)
	}
	t.Logf("in %.0f s, middles %.2f m apart", p.now, p.apart)
}

// TestCorridor: in a corridor that holds one vehicle, two that drive at each other do not touch.
func TestCorridor(t *testing.T) {
	t.Parallel()
	corridor := [][4]float64{{-3, -0.8, 10, -0.6}, {-3, 0.6, 10, 0.8}, {-3.2, -0.8, -3, 0.8}, {10, -0.8, 10.2, 0.8}}
	for _, gap := range []float64{3, 6} {
		p := newPair(t, corridor, [2]place{{0, 0, 0}, {gap, 0, math.Pi}}, Servo, Prim, AM)
		p.init()
		p.move(gap + 1)
		p.pass(20)
		if p.apart < touching {
			t.Errorf("%g m: middles: got %.3f m, want %.3f or more", gap, p.apart, touching)
		}
		t.Logf("%g m: middles %.2f m apart", gap, p.apart)
	}
}

// TestTraffic: of two that are near each other the one with the higher number waits, while the other one moves.
func TestTraffic(t *testing.T) {
	here := place{x: 10, y: 20}
	for _, k := range []struct {
		name  string
		self  int
		other neighbour
		waits bool
		slow  float64
	}{
		{"behind a wall", 2, neighbour{id: 1, radius: 0.3, at: place{x: 9, y: 20}, since: 9.5}, false, 0.1 + 0.4*0.4},
		{"the lower one moves near", 2, neighbour{id: 1, radius: 0.3, at: place{x: 11, y: 20}, since: 9.5}, true,
			0.1 + 0.4*0.4},
		{"it stands", 2, neighbour{id: 1, radius: 0.3, at: place{x: 11, y: 20}, since: 8}, false, 0.1 + 0.4*0.4},
		{"it is far", 2, neighbour{id: 1, radius: 0.3, at: place{x: 13, y: 20}, since: 10}, false, 0.1 + 0.4*2.4},
		{"the higher one moves near", 2, neighbour{id: 3, radius: 0.3, at: place{x: 10, y: 19}, since: 10}, false,
			0.1 + 0.4*0.4},
		{"too near", 1, neighbour{id: 2, radius: 0.3, at: place{x: 10, y: 19.5}, since: 10}, false, 0.1},
	} {
		tr := &traffic{self: &buffers{vehicle: k.self, radius: 0.3}, all: []neighbour{k.other}}
		walled := func(x, _ float64) bool { return x < here.x }
		if got := tr.waits(here, 10, walled); got != k.waits {
			t.Errorf("%s: waits: got %v, want %v", k.name, got, k.waits)
		}
		if got := tr.slow(here); math.Abs(got-k.slow) > 1e-9 {
			t.Errorf("%s: speed: got %g m/s, want %g", k.name, got, k.slow)
		}
	}
	tr := &traffic{self: &buffers{vehicle: 1}, all: []neighbour{{id: 2, radius: 0.3, at: place{x: 11, y: 20}}}}
	if !tr.seen(11.5, 20) || tr.seen(11.7, 20) {
		t.Error("a point 0.5 m from another vehicle's middle is of it, one 0.7 m from it is not")
	}
}

// TestWalled: an obstacle of AM's map between the vehicle and a point is a wall.
func TestWalled(t *testing.T) {
	c := &amMob{chart: chart{shown: moast.SensorData2D{IncrementX: resolution, IncrementY: resolution, X: 20, Y: 20,
		Features: make([]float64, 400)}}}
	for row := range 20 {
		c.shown.Features[row*20+10] = 0.9
	}
	c.at.Rel.Tran = moast.Cartesian{X: 1, Y: 0.5}
	c.at.Abs.Tran = moast.Cartesian{X: 101, Y: 200.5}
	for _, k := range []struct {
		x, y float64
		want bool
	}{{101, 201.5, true}, {101.6, 201.8, true}, {101, 200.8, false}, {101, 200.5, false}, {99, 200.5, false},
		{101, 300, true}} {
		if got := c.walled(k.x, k.y); got != k.want {
			t.Errorf("%g, %g: got %v, want %v", k.x, k.y, got, k.want)
		}
	}
}

// TestAway: a vehicle with nothing to explore but what another one stands before goes to the nearest place that leaves
// room, until the other one has gone.
func TestAway(t *testing.T) {
	const rows, columns, radius = 40, 30, 0.3
	d := moast.SensorData2D{IncrementX: vehResolution, IncrementY: vehResolution, X: columns, Y: rows,
		Features: make([]float64, rows*columns)}
	for at := range d.Features {
		switch row, column := at/columns, at%columns; {
		case row < 3 || row > 36 || column < 2 || column == 21 && (row < 9 || row > 11):
			d.Features[at] = cellObstacle
		case column < 25:
			d.Features[at] = cellFree
		}
	}
	v := &member{floor: d, refused: map[int]bool{}, others: &traffic{fleet: &Fleet{}}}
	v.at.Abs.Tran.X, v.at.Abs.Tran.Y = pointOf(&d, 10*columns+8)
	before, aside := place{}, place{}
	before.x, before.y = pointOf(&d, 10*columns+19)
	aside.x, aside.y = pointOf(&d, 30*columns+5)
	v.others.all = []neighbour{{id: 2, radius: 0.354, at: before}}
	s := &sectMob{radius: radius}
	places := s.away(v, 30)
	if len(places) != 1 || s.open(v, 30) {
		t.Fatalf("got %v, open %v, want one place", places, s.open(v, 30))
	}
	if x, y := pointOf(&d, places[0]); distance(x, y, before.x, before.y) < 1.5*giveWay ||
		distance(x, y, v.here().x, v.here().y) > 1.2 {
		t.Errorf("got %.1f, %.1f, want a place near %+v, %.1f m from %+v", x, y, v.here(), 1.5*giveWay, before)
	}
	v.others.all[0].at = aside
	if !s.open(v, 30) {
		t.Error("the other one has gone: got no place to explore")
	}
}

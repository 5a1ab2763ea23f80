package echelon

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/internal/protocols/moast"
)

// maze is a room of 8 by 6 m with two walls across, so that the way winds.
func maze() [][4]float64 {
	return [][4]float64{
		{-2, -3.2, 8, -3}, {-2, 3, 8, 3.2}, {-2.2, -3, -2, 3}, {8, -3, 8.2, 3},
		{1.5, -3, 1.7, 1.2}, {4, -1.2, 4.2, 3},
	}
}

func startAM(t *testing.T, boxes [][4]float64) *superior {
	t.Helper()
	r := newRover()
	r.boxes = boxes
	s := start(t, r, "amMobJA", Servo, Prim, AM)
	s.init()
	return s
}

// TestMaze: AM reaches a point behind two walls without touching them; then it comes back.
func TestMaze(t *testing.T) {
	t.Parallel()
	s := startAM(t, maze())
	for _, to := range [][2]float64{{6, 0}, {0, 0}} {
		s.send(&moast.AMMobCmdMoveWaypoint{
			Waypoints: []moast.Waypoint{{P: moast.Cartesian{X: to[0], Y: to[1]}, Neighborhood: 0.2, Speed: 0.5}}})
		s.until(120, moast.Done)
		if at := s.rover.at; distance(at.x, at.y, to[0], to[1]) > 0.3 {
			t.Errorf("to %v: got %+v", to, at)
		}
	}
	// the rover's corners are 0.354 m from its middle
	if s.rover.nearest < 0.354 {
		t.Errorf("nearest distance: got %.3f m, want 0.354 or more", s.rover.nearest)
	}
	t.Logf("nearest %.3f m, %.1f s", s.rover.nearest, *s.now)
}

// TestUnreachable: AM drives as near as it can come, straight on too, and then says that there is no path.
func TestUnreachable(t *testing.T) {
	s := startAM(t, [][4]float64{{-2, -3.2, 4, -3}, {-2, 3, 4, 3.2}, {-2.2, -3, -2, 3}, {3, -3, 3.2, 3}})
	s.pass(2)
	s.send(&moast.AMMobCmdMoveWaypoint{Waypoints: []moast.Waypoint{{P: moast.Cartesian{X: 4.2}, Neighborhood: 0.2,
		Speed: 0.5}}})
	if h := s.until(60, moast.Error); h.Message != "no path" {
		t.Errorf("message: got %q", h.Message)
	}
	if at := s.rover.at; at.x < 2 || s.rover.nearest < 0.25 {
		t.Errorf("got %+v, nearest %.2f m, want 2 m on, 0.25 m from the wall", at, s.rover.nearest)
	}
}

// TestErrors: each fault of a command with its code and its seeds.
func TestErrors(t *testing.T) {
	s := startAM(t, maze())
	s.pass(3) // it sees the wall ahead
	point := func(x, y float64) moast.Waypoint {
		return moast.Waypoint{P: moast.Cartesian{X: x, Y: y}, Neighborhood: 0.2, Speed: 0.4}
	}
	for _, k := range []struct {
		name   string
		points []moast.Waypoint
		code   uint32
		seeds  int
	}{
		{"none", nil, moast.AMErrorWaypoint, 2},
		{"in a wall", []moast.Waypoint{point(1.55, 0)}, moast.AMErrorWaypoint, 1},
		{"too close", []moast.Waypoint{point(1, 0), point(1.01, 0)}, moast.AMErrorWaypoint, 3},
		{"not a number", []moast.Waypoint{point(math.NaN(), 0)}, moast.AMErrorMove, 0},
	} {
		s.send(&moast.AMMobCmdMoveWaypoint{Waypoints: k.points})
		s.until(5, moast.Error)
		m, _, err := s.h.Buffer("amMobJAStat1").Read(moast.New, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := m.(*moast.AMMobStat); got.ErrorCode != k.code || len(got.Seeds) != k.seeds {
			t.Errorf("%s: got %d with %d seeds, want %d with %d", k.name, got.ErrorCode, len(got.Seeds), k.code,
				k.seeds)
		}
	}
}

func TestSpinAndHorizon(t *testing.T) {
	s := startAM(t, maze())
	s.send(&moast.AMMobCmdSpin{Angle: 1, Tolerance: 0.03, Direction: moast.Shortest})
	s.until(20, moast.Done)
	if math.Abs(wrap(s.rover.at.yaw-1)) > 0.05 {
		t.Errorf("spin: got %g rad, want 1", s.rover.at.yaw)
	}
	s.send(&moast.AMMobCmdPrepareMove{})
	s.until(5, moast.Done)
	m, _, _ := s.h.Buffer("amMobJAStat1").Read(moast.New, 0)
	seeds := m.(*moast.AMMobStat).Seeds
	if n := len(seeds); n < 90 || seeds[n-1].Z != 0 ||
		distance(seeds[n-1].X, seeds[n-1].Y, s.rover.at.x, s.rover.at.y) > 0.05 {
		t.Errorf("horizon: got %d seeds, the last %+v", n, seeds[n-1])
	}
	s.plain("Stop")
	s.until(5, moast.Done)
}

// TestMap: the published map has the wall where it is.
func TestMap(t *testing.T) {
	s := startAM(t, [][4]float64{{2, -3, 2.3, 3}})
	s.pass(3)
	m, _, err := s.h.Buffer("amSPMap1").Read(moast.New, 0)
	if err != nil {
		t.Fatal(err)
	}
	d := m.(*moast.SensorData2D)
	at := func(x, y float64) float64 {
		row, column := int(math.Round((x-d.LowerLeft.X)/d.IncrementX)), int(math.Round((y-d.LowerLeft.Y)/d.IncrementY))
		return d.Features[row*int(d.X)+column]
	}
	if d.X != 100 || d.Y != 100 || at(2.05, 0) < 0.6 || at(1, 0) > 0.1 || math.Abs(at(3, 0)-0.2) > 1e-6 ||
		math.Abs(at(-2, 0)-0.2) > 1e-6 {
		t.Errorf("got wall %g, floor %g, behind %g, unseen %g", at(2.05, 0), at(1, 0), at(3, 0), at(-2, 0))
	}
}

// BenchmarkCycle is one AM cycle of both modules: 181 rays into the map, 100 by 100 cells published, grown and planned.
func BenchmarkCycle(b *testing.B) {
	r := newRover()
	r.boxes = maze()
	h, err := New(r, Options{Levels: []Level{Servo, Prim, AM}})
	if err != nil {
		b.Fatal(err)
	}
	for i, name := range []string{"amSPCmd1", "amMobJACmd1"} {
		h.Buffer(name).Write(&moast.Plain{Kind: int32(9001 + 2000*i), CmdHead: moast.CmdHead{Serial: 11}})
	}
	now := 0.0
	for range 50 {
		now += tick
		h.Step(now)
	}
	h.Buffer("amMobJACmd1").Write(&moast.AMMobCmdMoveWaypoint{CmdHead: moast.CmdHead{Serial: 12},
		Waypoints: []moast.Waypoint{{P: moast.Cartesian{X: 6}, Neighborhood: 0.2, Speed: 0.5}}})
	var times []time.Duration
	for b.Loop() {
		begin := time.Now()
		for range 10 { // of 10 ms: one of AM
			now += tick
			h.Step(now)
			h.Buffer("amMobJAStat1").Read(moast.New, 0)
		}
		times = append(times, time.Since(begin))
		for range 10 {
			r.step(tick)
		}
	}
	slices.Sort(times)
	b.ReportMetric(float64(times[len(times)*99/100].Microseconds())/1000, "p99-ms")
}

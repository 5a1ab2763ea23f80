package echelon

import (
	"math"
	"testing"

	"github.com/halyard-robotics/halyard/internal/protocols/moast"
)

func ready(t *testing.T) *superior {
	t.Helper()
	s := start(t, newRover(), "primMobJA", Servo, Prim)
	s.init()
	return s
}

func waypoint(x, y float64) moast.Waypoint {
	return moast.Waypoint{P: moast.Cartesian{X: x, Y: y}, Neighborhood: 0.1, Speed: 0.4}
}

func TestWaypoints(t *testing.T) {
	s := ready(t)
	s.send(&moast.PrimMobCmdMoveWaypoint{HasOrientation: true, Waypoints: []moast.Waypoint{
		waypoint(2, 0), waypoint(2, 1.5), {P: moast.Cartesian{X: 0, Y: 1}, RPY: moast.RPY{Y: 1}, Neighborhood: 0.05}}})
	s.until(60, moast.Done)
	s.pass(0.05)
	if at := s.rover.at; distance(at.x, at.y, 0, 1) > 0.1 || math.Abs(wrap(at.yaw-1)) > 0.1 ||
		s.rover.rates != [2]float64{} {
		t.Errorf("got %+v, wheels %v, want 0, 1, 1 rad at rest", at, s.rover.rates)
	}
}

// TestArcs: half a circle of 1 m and a line, never farther from the path than half the annular tolerance.
func TestArcs(t *testing.T) {
	s := ready(t)
	s.send(&moast.PrimMobCmdMoveArcSegment{Arcs: []moast.ArcSegment{
		{Center: moast.Cartesian{Y: 1}, End: moast.Cartesian{Y: 2}, Normal: moast.Cartesian{Z: 1}, Theta: math.Pi,
			AnnularTolerance: 0.2, IsArc: 1},
		{End: moast.Cartesian{X: -1, Y: 2}, AnnularTolerance: 0.2},
	}})
	worst := 0.0
	for range 3000 {
		s.pass(tick)
		at := s.rover.at
		off := math.Abs(distance(at.x, at.y, 0, 1) - 1)
		if at.x < 0 && at.y > 1 {
			off = math.Abs(at.y - 2)
		}
		worst = math.Max(worst, off)
		if s.stat().Status != moast.Exec {
			break
		}
	}
	if at := s.rover.at; distance(at.x, at.y, -1, 2) > 0.15 || worst > 0.1 || s.stat().Status != moast.Done {
		t.Errorf("got %+v, %v, at most %.3f m off the path, want -1, 2 and 0.1 m", at, s.stat().Status, worst)
	}
}

func TestRotate(t *testing.T) {
	for _, k := range []struct {
		direction    moast.Direction
		theta, turns float64 // turns: rad, with their sense
	}{
		{moast.Shortest, 1, 1}, {moast.Shortest, -1, -1},
		{moast.Clockwise, -1, 2*math.Pi - 1}, {moast.Counterclockwise, 1, 1 - 2*math.Pi}, {moast.Clockwise, 1, 1},
	} {
		s := ready(t)
		s.send(&moast.PrimMobCmdRotate{Theta: k.theta, Tolerance: 0.02, Direction: k.direction})
		turned, last := 0.0, 0.0
		for range 3000 {
			s.pass(tick)
			turned, last = turned+wrap(s.rover.at.yaw-last), s.rover.at.yaw
			if s.stat().Status != moast.Exec {
				break
			}
		}
		if math.Abs(turned-k.turns) > 0.05 || s.stat().Status != moast.Done {
			t.Errorf("direction %d to %g: turned %.3f rad, %v, want %.3f", k.direction, k.theta, turned,
				s.stat().Status, k.turns)
		}
	}
}

// TestVel: speeds within the limits, clockwise positive, changed under the same serial number, stopped by STOP.
func TestVel(t *testing.T) {
	s := ready(t)
	s.send(&moast.PrimMobCmdVel{V: 0.3, W: 0.4})
	s.pass(3)
	if r := s.rover.rates; math.Abs(r[0]-4) > 1e-9 || math.Abs(r[1]-2) > 1e-9 {
		t.Errorf("0.3 m/s and 0.4 rad/s clockwise: got %v, want 4, 2 rad/s", r)
	}
	s.change(&moast.PrimMobCmdVel{V: 9, W: 0})
	s.pass(3)
	if r := s.rover.rates; math.Abs(r[0]-5) > 1e-9 || s.stat().Status != moast.Exec {
		t.Errorf("9 m/s: got %v, %v, want the limit, 5 rad/s", r, s.stat().Status)
	}
	s.plain("Stop")
	s.until(1, moast.Done)
	if s.pass(tick); s.rover.rates != [2]float64{} {
		t.Errorf("STOP: got %v", s.rover.rates)
	}
}

func TestBadTasks(t *testing.T) {
	s := ready(t)
	for _, c := range []moast.Command{
		&moast.PrimMobCmdVel{V: math.NaN()}, &moast.PrimMobCmdMoveWaypoint{}, &moast.PrimMobCmdMoveArcSegment{},
		&moast.PrimMobCmdMoveWaypoint{Waypoints: []moast.Waypoint{waypoint(math.Inf(1), 0)}},
		&moast.PrimMobCmdRotate{Theta: 1}, &moast.PrimMobCmdRotate{Theta: 1, Tolerance: 0.1, Direction: 7},
		&moast.PrimMobCmdDock{},
	} {
		s.send(c)
		s.until(1, moast.Error)
	}
	if s.pass(0.1); s.rover.rates != [2]float64{} {
		t.Errorf("got wheels %v", s.rover.rates)
	}
}

// TestData: navigation, scan, sonar and sensor points carry what the rover measures.
func TestData(t *testing.T) {
	r := newRover()
	r.at = place{1, 1, math.Pi / 2}
	r.boxes = [][4]float64{{0, 4, 2, 5}}
	s := start(t, r, "primSP", Servo, Prim)
	s.init()
	s.send(&moast.PrimSPCmdGo{})
	s.pass(0.1)
	var nav moast.NavDataExt
	var scan moast.SensorData1D
	var sonar moast.SensorData3D
	var points moast.SensorDataList
	for name, m := range map[string]interface {
		MessageType() int32
	}{"navDataExt1": &nav, "servoSPLinescan1_1": &scan, "servoSPSonarArr1_1": &sonar, "primSPLinescan1": &points} {
		got, _, err := s.h.Buffer(name).Read(moast.New, 0)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		switch m := m.(type) {
		case *moast.NavDataExt:
			*m = *got.(*moast.NavDataExt)
		case *moast.SensorData1D:
			*m = *got.(*moast.SensorData1D)
		case *moast.SensorData3D:
			*m = *got.(*moast.SensorData3D)
		case *moast.SensorDataList:
			*m = *got.(*moast.SensorDataList)
		}
	}
	if nav.Abs.Tran != (moast.Cartesian{X: 101, Y: 201}) || nav.Rel.Tran != (moast.Cartesian{}) ||
		nav.Rel.RPY != (moast.RPY{}) {
		t.Errorf("nav: got %+v", nav)
	}
	if len(scan.Features) != 181 || scan.Start != math.Pi/2 || scan.Increment >= 0 ||
		math.Abs(scan.Features[90]-2.9) > 1e-9 {
		t.Errorf("scan: got %d rays from %g, ahead %g, want 2.9 m", len(scan.Features), scan.Start, scan.Features[90])
	}
	if len(sonar.Elements) != 1 || math.Abs(sonar.Elements[0].Range-2.8) > 1e-9 {
		t.Errorf("sonar: got %+v", sonar)
	}
	// ahead is x of the relative coordinates: the vehicle started with this heading
	if p := points.Points[0]; math.Abs(p.Hit.X-3) > 1e-9 || math.Abs(p.Hit.Y) > 1e-9 ||
		math.Abs(p.Sensor.X-0.1) > 1e-9 {
		t.Errorf("points: got %+v, want a hit at 3, 0", p)
	}
}

// TestBlind: without a position nothing moves.
func TestBlind(t *testing.T) {
	r := newRover()
	r.blind = true
	s := start(t, r, "primMobJA", Servo, Prim)
	s.init()
	s.send(&moast.PrimMobCmdVel{V: 1})
	if h := s.until(1, moast.Error); h.Message != "no position" {
		t.Errorf("got %q", h.Message)
	}
	if s.pass(0.1); r.rates != [2]float64{} {
		t.Errorf("got wheels %v", r.rates)
	}
}

// TestBlocked: a goal behind a wall, and a heading that cannot be turned to, end with an error; a slow vehicle is not
// blocked.
func TestBlocked(t *testing.T) {
	behind := func(speed float64) moast.Command {
		return &moast.PrimMobCmdMoveWaypoint{Kind: 8007,
			Waypoints: []moast.Waypoint{{P: moast.Cartesian{X: 1}, Neighborhood: 0.1, Speed: speed}}}
	}
	for name, c := range map[string]moast.Command{"waypoint": behind(0.3), "slow waypoint": behind(0.004),
		"rotate": &moast.PrimMobCmdRotate{Theta: 2, Tolerance: 0.05, Direction: moast.Shortest}} {
		s := start(t, newRover(), "primMobJA", Servo, Prim)
		s.init()
		s.rover.blocked = true
		s.send(c)
		if h := s.until(15, moast.Error); h.Message != "no progress towards the goal" || s.rover.rates != [2]float64{} {
			t.Errorf("%s: got %q, wheels %v", name, h.Message, s.rover.rates)
		}
	}
	s := start(t, newRover(), "primMobJA", Servo, Prim)
	s.init()
	s.send(behind(0.02))
	s.until(60, moast.Done)
}

package echelon

import (
	"math"
	"testing"

	"github.com/halyard-robotics/halyard/internal/protocols/moast"
)

func TestTrack(t *testing.T) {
	var tr track
	for i := range 300 {
		tr.add(0.01*float64(i), place{float64(i), 0, wrap(3 + 0.01*float64(i))})
		tr.add(0.01*float64(i), place{}) // no time has passed
	}
	for _, k := range []struct{ time, x, yaw float64 }{
		{2.99, 299, wrap(5.99)}, {2.985, 298.5, wrap(5.985)}, {2.5, 250, wrap(5.5)}, {9, 299, wrap(5.99)},
		{0, 172, wrap(4.72)},
	} {
		if got := tr.at(k.time); math.Abs(got.x-k.x) > 1e-6 || math.Abs(wrap(got.yaw-k.yaw)) > 1e-6 {
			t.Errorf("at %g: got %+v, want x %g, yaw %g", k.time, got, k.x, k.yaw)
		}
	}
	tr = track{}
	tr.add(1, place{yaw: 3.1})
	tr.add(2, place{yaw: -3.1})
	if got := tr.at(1.5); math.Abs(wrap(got.yaw-math.Pi)) > 1e-9 {
		t.Errorf("between 3.1 and -3.1: got %g, want π", got.yaw)
	}
	tr.add(0.5, place{x: 7}) // a clock that began again
	if got := tr.at(2); got.x != 7 {
		t.Errorf("after the clock began again: got %+v", got)
	}
}

// TestLateScan: a scanner that reads twice a second on a vehicle that turns: its points lie on the walls all the same.
func TestLateScan(t *testing.T) {
	r := newRover()
	r.boxes = [][4]float64{{2, -6, 3, 6}, {-6, 2, 6, 3}, {-3, -6, -2, 6}, {-6, -3, 6, -2}}
	r.every = 0.5
	s := start(t, r, "primSP", Servo, Prim)
	s.init()
	r.rates = [2]float64{2.5, -2.5} // 1 rad/s
	worst, lists := 0.0, int32(0)
	for range 40 {
		s.pass(0.1)
		var list moast.SensorDataList
		b := s.h.Buffer("primSPLinescan1")
		if b.Peek(&list) != nil {
			continue
		}
		lists = b.State().Count
		for _, p := range list.Points {
			worst = math.Max(worst, math.Abs(math.Max(math.Abs(p.Hit.X), math.Abs(p.Hit.Y))-2))
		}
	}
	if worst > 0.02 || lists < 7 || lists > 10 {
		t.Errorf("got %d lists, %.3f m off the walls, want 8, at most 0.02", lists, worst)
	}
	if first := moast.SensorPoint(func() (p moast.SensorPoint) {
		var list moast.SensorDataList
		s.h.Buffer("primSPLinescan1").Peek(&list)
		return list.Points[0]
	}()); first.Param == 0 {
		t.Errorf("first point: got %+v", first)
	}
}

// TestEcho: what a sonar hears and the scanner does not see ends its rays; what the scanner explains does not.
func TestEcho(t *testing.T) {
	fan := func(from, to int, distance func(degree int) float64) (points []moast.SensorPoint) {
		for d := from; d <= to; d++ {
			sin, cos := math.Sincos(float64(d) * math.Pi / 180)
			r := distance(d)
			points = append(points, moast.SensorPoint{Param: r, Hit: moast.Cartesian{X: r * cos, Y: r * sin}})
		}
		return points
	}
	for _, k := range []struct {
		name     string
		from, to int
		distance func(int) float64
		echo     float64
		ended    bool
	}{
		{"a mirror", -90, 90, func(int) float64 { return 4 }, 0.8, true},
		{"the wall that the scanner sees", -90, 90, func(int) float64 { return 0.85 }, 0.8, false},
		{"a wall's end beside the cone", -90, 90, func(d int) float64 {
			if d > 12 {
				return 0.8
			}
			return 4
		}, 0.8, false},
		{"half of the cone is not seen", 0, 90, func(int) float64 { return 4 }, 0.8, false},
	} {
		points := fan(k.from, k.to, k.distance)
		echo(points, place{}, k.echo)
		for i, p := range points {
			d := k.from + i
			want := k.distance(d)
			if k.ended && math.Abs(float64(d)) < 9 {
				want = k.echo
			}
			if math.Abs(float64(d)) < 9 != (math.Abs(float64(d)) < 11) {
				continue // the cone's rim
			}
			if math.Abs(p.Param-want) > 1e-9 || math.Abs(math.Hypot(p.Hit.X, p.Hit.Y)-want) > 1e-9 {
				t.Errorf("%s: ray at %d°: got %.3f m, want %.3f", k.name, d, p.Param, want)
				break
			}
		}
	}
}

// TestOwnServo: AM's map is made of servo's buffers that another program writes.
func TestOwnServo(t *testing.T) {
	r := newRover()
	s := start(t, r, "amMobJA", Prim, AM)
	scan := &moast.SensorData1D{Start: math.Pi / 2, Increment: -math.Pi / 180, MaxRange: 8}
	for range 181 {
		scan.Features = append(scan.Features, 2.05)
	}
	for range 20 {
		nav := &moast.NavDataExt{Time: *s.now}
		nav.Rel.Tran.X = 10
		scan.Time = *s.now
		if err := s.h.Buffer("navDataExt1").Write(nav); err != nil {
			t.Fatal(err)
		}
		if err := s.h.Buffer("servoSPLinescan1_1").Write(scan); err != nil {
			t.Fatal(err)
		}
		s.pass(0.1)
	}
	var area moast.SensorData2D
	if err := s.h.Buffer("amSPMap1").Peek(&area); err != nil {
		t.Fatal(err)
	}
	at := func(x, y float64) float64 {
		row, column := int(math.Round((x-area.LowerLeft.X)/area.IncrementX)),
			int(math.Round((y-area.LowerLeft.Y)/area.IncrementY))
		return area.Features[row*int(area.X)+column]
	}
	// the scanner is 0.1 m ahead of the middle
	if hit, free := at(12.15, 0), at(11, 0); hit < 0.6 || free > 0.19 {
		t.Errorf("got %.2f at the hit, %.2f before it, want an obstacle and free", hit, free)
	}
}

package base

import (
	"math"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/internal/wire/p2oswire"
)

func TestWrap(t *testing.T) {
	for _, c := range []struct {
		from, to uint16
		bits     uint
		want     int
	}{
		{32767, 0, 15, 1}, {0, 32767, 15, -1}, {100, 200, 15, 100},
		{65535, 0, 15, 1}, {0, 65535, 15, -1}, // a counter that wraps at 16 bits serves, too
		// ARCOS counts headings down to -2048
		{4095, 0, 12, 1}, {0, 4095, 12, -1}, {4090, 6, 12, 12}, {0xFFF0, 0x10, 12, 32},
	} {
		if got := wrap(c.from, c.to, c.bits); got != c.want {
			t.Errorf("%d to %d at %d bits: got %d, want %d", c.from, c.to, c.bits, got, c.want)
		}
	}
}

// A square of two metres, driven around all wraps, ends where it began; rims have gone as far as theory says.
func TestSquare(t *testing.T) {
	robot, _ := RobotOf("p2dx")
	var o odometry
	x, y, h := 27.0, -0.5, 6.2 // m and rad, in the base's own axes: near the wraps of all three
	report := func() *p2oswire.Report {
		return &p2oswire.Report{X: uint16(int64(math.Round(x/robot.Distance))) & 0x7FFF,
			Y:       uint16(int64(math.Round(y/robot.Distance))) & 0x7FFF,
			Heading: uint16(int64(math.Round(h/Angle))) & 0xFFF}
	}
	step := func() {
		if !o.update(report(), &robot, 100*time.Millisecond) {
			t.Fatal("a small step was refused")
		}
	}
	step()
	for range 4 {
		for range 40 {
			x, y = x+0.05*math.Cos(h), y+0.05*math.Sin(h)
			step()
		}
		if side := math.Hypot(o.x, o.y); side > 3 {
			t.Fatalf("got %g m away", side)
		}
		for range 20 {
			h += math.Pi / 40
			step()
		}
	}
	if math.Hypot(o.x, o.y) > 0.005 || math.Abs(o.heading) > 2*Angle {
		t.Errorf("back: got %g %g %g, want 0 0 0", o.x, o.y, o.heading)
	}
	turn := 2 * math.Pi / robot.Difference
	for side, want := range [2]float64{8 - turn, 8 + turn} {
		if math.Abs(o.travel[side]-want) > 0.03 {
			t.Errorf("side %d: got %g m, want %g", side, o.travel[side], want)
		}
	}
	// The base was reset: it counts from zero, looking elsewhere. We go on from where we are, in our own axes.
	o.zero()
	x, y, h = 0, 0, 1
	o.rebase()
	step()
	x, y = 0.1*math.Cos(1), 0.1*math.Sin(1)
	step()
	if math.Abs(o.x-0.1) > 0.002 || math.Abs(o.y) > 0.002 {
		t.Errorf("after a reset: got %g %g, want 0.1 0", o.x, o.y)
	}
	// A jump is no way gone.
	x += 5
	if o.update(report(), &robot, 100*time.Millisecond) || math.Abs(o.x-0.1) > 0.002 {
		t.Errorf("jump: believed: got %g", o.x)
	}
}

// A correction makes of a base that counts metres too short, turns too far and bends a square what it drove.
func TestCorrected(t *testing.T) {
	robot, _ := RobotOf("p2dx")
	by := Correction{Distance: 1.02, Turn: 0.97, Curve: 0.01}
	o := odometry{by: by}
	wx, wy, wh := 0.0, 0.0, 0.0
	x, y, h := 5.0, 3.0, 1.0
	report := func() {
		r := &p2oswire.Report{X: uint16(int64(math.Round(x/robot.Distance))) & 0x7FFF,
			Y:       uint16(int64(math.Round(y/robot.Distance))) & 0x7FFF,
			Heading: uint16(int64(math.Round(h/Angle))) & 0xFFF}
		if !o.update(r, &robot, 100*time.Millisecond) {
			t.Fatal("a small step was refused")
		}
	}
	report()
	for k := range 200 {
		turn := 0.02 * math.Sin(float64(k)/20)
		x, y, h = x+0.04*math.Cos(h+turn/2), y+0.04*math.Sin(h+turn/2), h+turn
		ahead := 0.04 * by.Distance
		bent := turn*by.Turn + by.Curve*ahead
		wx, wy, wh = wx+ahead*math.Cos(wh+bent/2), wy+ahead*math.Sin(wh+bent/2), wh+bent
		report()
	}
	if math.Hypot(o.x-wx, o.y-wy) > 0.05 || math.Abs(o.heading-wh) > 0.01 {
		t.Errorf("got %.3f %.3f m, %.3f rad, want %.3f %.3f, %.3f", o.x, o.y, o.heading, wx, wy, wh)
	}
}

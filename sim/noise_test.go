package sim

import (
	"math"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/hal"
)

// The manual's rule for all sensors that have noise (section 8): data + random(noise)·data, even within ±noise, and
// then the distortion curve. Each stands still before something, or counts what it turned by.
func TestEverySensorsNoise(t *testing.T) {
	up := math.Sqrt(0.5)
	sarah := hal.Pose{Position: [3]float64{11.6, -2.9, -1.8}, Rotation: [4]float64{up, 0, 0, up}}
	for _, k := range []struct {
		robot, where string
		at           hal.Pose
		sensor       string
		channel      int
		turns        bool // it has to turn for a while before there is something to measure
	}{
		{"p2at", "hall", turnedTo(17, -6, 0), "f4", 0, false},
		{"atrvjr", "hall", turnedTo(17, -6, 0), "ir1", 0, false},
		{"p2at", "hall", turnedTo(17, -6, 0), "scanner1", 90, false},
		{"atrvjr", "hall", turnedTo(17, -6, 0), "irscanner1", 20, false},
		{"p2dx", "hall", turnedTo(10, -6, 0), "inu", 2, true},
		{"p2dx", "hall", turnedTo(10, -6, 0), "ecright", 0, true},
		{"papagoose", "yellow", sarah, "sound", 0, false},
		{"papagoose", "yellow", sarah, "motion", 0, false},
	} {
		t.Run(k.robot+" "+k.sensor, func(t *testing.T) {
			r := join(t, arena(k.where), "a", k.robot, k.at)
			d := r.body.sensors[r.index(k.sensor)].device.spec
			own := *d
			defer func() { *d = own }()
			d.Interval = 0
			r.run(300 * time.Millisecond)
			if k.turns {
				r.drive(-5, 5)
				r.run(time.Second)
				r.drive(0, 0)
				r.run(500 * time.Millisecond)
			}
			// A victim's arm moves, so the motion sensor is read at the same time again: its value depends on the arm's
			// widest swing.
			read := func() float64 { r.run(cycle); return r.sensor(k.sensor)[k.channel] }
			d.Noise, d.Curve = 0, nil
			exact := read()
			if !(math.Abs(exact) > 0.1) {
				t.Fatalf("got %g, want something to measure", exact)
			}
			const noise, n = 0.08, 1000
			d.Noise = noise
			if k.sensor == "sound" {
				r.scene.now = 0 // she calls for three seconds
			}
			var sum, square float64
			count := 0
			for range n {
				v := read()
				if k.sensor == "sound" && v == 0 {
					break
				}
				// Ticks are whole: half of one is lost on the average.
				slack := 0.0
				if k.sensor == "ecright" {
					slack = 1 / math.Abs(exact)
				}
				x := v/exact - 1
				if math.Abs(x) > noise+slack+1e-3 {
					t.Fatalf("got %g, want %g within %g", v, exact, noise)
				}
				sum, square, count = sum+x, square+float64(x*x), count+1
			}
			mean := sum / float64(count)
			if count < 200 || math.Abs(mean) > 0.01 {
				t.Errorf("mean: got %.4f of %d, want 0", mean, count)
			}
			near(t, "deviation", math.Sqrt(square/float64(count)-mean*mean), noise/math.Sqrt(3), 0.1)
			t.Logf("%.4g exactly, mean %+.4f, deviation %.4f of %.4f", exact, mean,
				math.Sqrt(square/float64(count)-mean*mean), noise/math.Sqrt(3))
			// The curve: half of what is measured, which is valid for the motion sensor's probability too.
			d.Noise, d.Curve = 0, [][2]float64{{-1e4, -5e3}, {1e4, 5e3}}
			r.scene.now = 0
			if got := read(); math.Abs(got-exact/2) > 0.02*math.Abs(exact)+
				map[bool]float64{true: 1}[k.sensor == "ecright"] {
				t.Errorf("curve: got %g, want half of %g", got, exact)
			}
			d.Curve = [][2]float64{{1e5, 0}, {1e6, 1}}
			if got := read(); got != 0 {
				t.Errorf("outside of the curve: got %g, want 0", got)
			}
		})
	}
}

// Odometry on a square of 2 m, driven by the robot's own estimate. A believed separation that is 2 % too great leaves
// each corner short, so that what it believes closes and what it drove does not: the error grows from side to side, and
// after four follows from the geometry (the manual's causes, 8.4.1; UMBmark, Borenstein and Feng, 1996).
func TestOdometryOnASquare(t *testing.T) {
	square := func(wrong float64) (grown [4]float64) {
		r := exactly(t, arena("hall"), "a", "p2dx", turnedTo(10, -6, 0))
		d := r.body.sensors[r.index("odometry")].device.spec
		own := *d
		defer func() { *d = own }()
		d.Separation *= wrong
		d.Interval, d.Resolution = 0, 1e-4
		r.run(time.Second)
		if err := r.body.Zero(r.index("odometry")); err != nil {
			t.Fatal(err)
		}
		from := r.body.Pose(0)
		at := func() []float64 { return r.sensor("odometry") }
		for side := range grown {
			begin := [2]float64{at()[0], at()[1]}
			for left := 2.0; left > 0.002; left = 2 - math.Hypot(at()[0]-begin[0], at()[1]-begin[1]) {
				v := math.Max(0.1, math.Min(1.5, 10*left)) // gently: a wheel that is thrown forward slips
				r.drive(v, v)
				r.run(cycle)
			}
			r.drive(0, 0)
			r.run(200 * time.Millisecond)
			for want := float64(side+1) * math.Pi / 2; at()[2] < want-1e-3; {
				v := math.Max(0.1, math.Min(1, 5*(want-at()[2])))
				r.drive(-v, v)
				r.run(cycle)
			}
			r.drive(0, 0)
			r.run(200 * time.Millisecond)
			truly := from.Inverse().Times(r.body.Pose(0)).Position
			grown[side] = math.Hypot(truly[0]-at()[0], truly[1]-at()[1])
		}
		return grown
	}
	right, wrong := square(1), square(1.02)
	t.Logf("error after each side: %.4f m as it is, %.4f m with an axle 2 %% too wide", right, wrong)
	if right[3] > 0.03 {
		t.Errorf("as it is: got %.4f m, want 3 cm at most", right)
	}
	// Each corner is too wide by 2 %: pi/2·0.02 rad; corner i turns all sides after it.
	turn := math.Pi / 2 * 0.02
	var x, y, heading float64
	for side := range 4 {
		x += 2 * math.Cos(heading)
		y += 2 * math.Sin(heading)
		heading += math.Pi/2 + turn
		ideal := [][2]float64{{2, 0}, {2, 2}, {0, 2}, {0, 0}}[side]
		want := math.Hypot(x-ideal[0], y-ideal[1])
		if math.Abs(wrong[side]-want) > 0.03 {
			t.Errorf("side %d: got an error of %.4f m, want %.4f", side+1, wrong[side], want)
		}
	}
	if !(wrong[3] > wrong[2] && wrong[2] > wrong[1] && wrong[1] > wrong[0]) {
		t.Errorf("the error does not grow: %.4f", wrong)
	}
}

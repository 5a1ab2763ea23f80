package base

import (
	"fmt"
	"math"
	"testing"
)

func TestRobots(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range Robots() {
		if seen[r.Name] || r.MaxSpeed < 0.5 || r.Radius < 0.04 || len(r.Sonar) == 0 {
			t.Errorf("%+v", r)
		}
		seen[r.Name] = true
	}
	// The table of hardware.md, in its units: mm, rad a mm, mm/s, °/s; two poses of the sonar, mm and °.
	for _, c := range []struct {
		name                       string
		dist, diff, rng, vel       float64
		length, width, speed, turn float64
		first, ninth               [3]float64
	}{
		{"p2at", 1.32, 0.0034, 0.268, 1, 626, 505, 1200, 300, [3]float64{147, 136, 90}, [3]float64{-144, -136, -90}},
		{"p2dx", 0.84, 0.0056, 0.268, 1, 511, 425, 2200, 500, [3]float64{69, 136, 90}, [3]float64{-157, -136, -90}},
		{"p3at", 0.465, 0.0034, 1, 1, 626, 505, 1200, 300, [3]float64{147, 136, 90}, [3]float64{-144, -136, -90}},
		{"p3dx", 0.485, 0.0056, 1, 1, 511, 425, 2200, 500, [3]float64{69, 136, 90}, [3]float64{-157, -136, -90}},
	} {
		r, err := RobotOf(c.name)
		got := []float64{r.Distance * 1000, r.Difference / 1000, r.Range * 1000, r.Speed * 1000, r.Length * 1000,
			r.Width * 1000,
			r.MaxSpeed * 1000, r.MaxTurn / degree, r.NoEchoRange * 1000, float64(r.Bumpers)}
		want := []float64{c.dist, c.diff, c.rng, c.vel, c.length, c.width, c.speed, c.turn, 5000, 5}
		for i, at := range [][3]float64{c.first, c.ninth} {
			p := r.Sonar[8*i]
			got, want = append(got, p.X*1000, p.Y*1000, p.Heading/degree), append(want, at[:]...)
		}
		for i := range got {
			if err != nil || math.Abs(got[i]-want[i]) > 1e-9 {
				t.Errorf("%s: got %v %v, want %v", c.name, got, err, want)
				break
			}
		}
	}
	if math.Abs(Angle-0.001534) > 1e-7 || math.Abs(Angle*4096-2*math.Pi) > 1e-12 {
		t.Errorf("a count of a heading: got %g rad", Angle)
	}
	at, err := RobotOf("p2at")
	if err != nil || at.Distance != 0.00132 || at.Wheels != 4 || at.Sonar[9].Y != -0.119 ||
		fmt.Sprintf("%.4f", at.Sonar[0].Heading) != "1.5708" {
		t.Errorf("p2at: got %+v %v", at, err)
	}
	if _, err := RobotOf("p9"); err == nil {
		t.Error("p9: got no error")
	}
}

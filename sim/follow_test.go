package sim

import (
	"math"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/hal"
)

// followWall is one step of a controller that keeps a wall at its left by sonar alone: wheel speeds from the ring's
// ranges. It steers for a distance to what F1 (to the left) and F2 (50° ahead of it) see, and turns away from what is
// in front.
func followWall(sonar func(i int) float64) (left, right float64) {
	const (
		keep  = 0.3  // m, from the sonar to the wall
		front = 0.38 // m, at which it turns on the spot
		pace  = 2.0  // rad/s of the wheels
	)
	ahead := math.Min(sonar(4), sonar(5))
	for i, near := range map[int]float64{3: 0.3, 6: 0.3, 7: 0.22} {
		if sonar(i) < near {
			ahead = math.Min(ahead, front*0.9)
		}
	}
	if ahead < front {
		return pace, -pace // to the right: the wall is at the left
	}
	side := math.Min(sonar(1), sonar(2)*0.75)
	turn := math.Max(-0.8, math.Min(0.55, 2.5*(side-keep)))
	slow := math.Min(1, ahead/0.8)
	return pace * (slow - turn), pace * (slow + turn)
}

// A controller with only the sonars follows the walls of the yellow arena for two minutes and touches none.
func TestFollowsWalls(t *testing.T) {
	t.Parallel()
	start := hal.Pose{Position: [3]float64{4.5, -1.9, -1.8}}
	r := enter(t, "p2at", "yellow", start)
	cells := map[[2]int]bool{}
	touched := 0
	for range 600 {
		r.drive(followWall(func(i int) float64 { return r.sensor("f" + string(rune('0'+i)))[0] }))
		r.run(200 * time.Millisecond)
		p := r.body.Pose(0).Position
		cells[[2]int{int((p[0] - 0.3) / 1.2), int((p[1] + 9.7) / 1.2)}] = true
		for i := range r.scene.system.Touches() {
			if touch := r.scene.system.Touch(i); math.Abs(touch.Contact.Normal[2]) < 0.7 {
				touched++
			}
		}
	}
	if touched > 0 {
		t.Errorf("touched a wall in %d of 600 looks", touched)
	}
	if len(cells) < 10 {
		t.Errorf("got to %d cells, want 10 of the maze", len(cells))
	}
	t.Logf("%d cells, ends at %.2f", len(cells), r.body.Pose(0).Position)
}

// A wheel that follows a real one follows it over the end of its turn, where the real one's count begins again.
func TestFollowOverTheTurn(t *testing.T) {
	r := enter(t, "p2at", "hall", hal.Pose{Position: [3]float64{5, -6, -1.82}})
	angle := 0.0
	for range 100 {
		angle += 0.06
		for i := range r.body.Layout().Actuators[:4] {
			r.body.Follow(i, math.Remainder(angle, 2*math.Pi), 6)
		}
		r.run(10 * time.Millisecond)
	}
	if got := r.body.Joint(0).Turned(); math.Abs(got-angle) > 1e-6 {
		t.Errorf("turned by %.4f rad, want %.4f", got, angle)
	}
}

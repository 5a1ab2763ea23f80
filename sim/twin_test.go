package sim

import (
	"math"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/hal"
)

// TestTwinPushes: a robot that follows a measured pose is where it was measured, pushes another, and is not pushed.
func TestTwinPushes(t *testing.T) {
	t.Parallel()
	start := hal.Pose{Position: [3]float64{5, -6, -1.82}}
	r := enter(t, "p2at", "hall", start)
	twin, at := r.body, start
	follow := func(d time.Duration, speed float64) {
		for range d / (10 * time.Millisecond) {
			at.Position[0] += speed * 0.01
			twin.FollowFrame(at, 10*time.Millisecond)
			r.run(10 * time.Millisecond)
		}
	}
	first := twin.Pose(0).Position
	follow(time.Second, 0)
	m := twin.model
	other, err := r.scene.Add("other", m, start.Times(hal.Pose{Position: [3]float64{1, 0, 0}}))
	if err != nil {
		t.Fatal(err)
	}
	was := other.Pose(0).Position
	follow(4*time.Second, 0.3)
	got, moved := twin.Pose(0).Position, other.Pose(0).Position[0]-was[0]
	if off := math.Abs(got[0] - first[0] - 1.2); off > 1e-3 || math.Abs(got[2]-first[2]) > 0.1 {
		t.Errorf("the twin is at %.3f, want 1.2 m beyond %.3f", got, first)
	}
	if moved < 0.3 {
		t.Errorf("the other robot was pushed %.3f m, want some", moved)
	}
	if err := r.scene.Push("other", m.Bodies[0].Name, [3]float64{-300, 0, 0}); err != nil {
		t.Fatal(err)
	}
	before := twin.Pose(0).Position
	if follow(100*time.Millisecond, 0); twin.Pose(0).Position != before {
		t.Errorf("pushed, the twin went from %v to %v", before, twin.Pose(0).Position)
	}
}

// TestFollowBegins: a twin begins where its joint is, at rest.
func TestFollowBegins(t *testing.T) {
	r := enter(t, "p2at", "hall", hal.Pose{Position: [3]float64{5, -6, -1.82}})
	r.body.Follow(0, 1.5, 3)
	if j := r.body.Joint(0); j.position() != 1.5 || j.velocity() != 0 {
		t.Errorf("begins at %g with %g rad/s, want 1.5, at rest", j.position(), j.velocity())
	}
}

package sim

import (
	"math"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/sim/model"
)

// beforeWall is a P2AT before a wall whose face is at x = 2.
func beforeWall(t *testing.T) (*Scene, *Body) {
	t.Helper()
	s := NewScene(SceneConfig{Scene: func(seed int64) (*model.Scene, error) {
		g, err := model.LoadScene("flat", seed)
		if err == nil {
			g.Fixed = append(g.Fixed, model.Shape{Kind: model.Box, Half: [3]float64{0.05, 2, 0.5},
				Pose: hal.Pose{Position: [3]float64{2.05, 0, 0.5}, Rotation: [4]float64{1, 0, 0, 0}}})
		}
		return g, err
	}})
	m, err := model.Load("usarsim-p2at")
	if err != nil {
		t.Fatal(err)
	}
	b, err := s.Add("p2at", m, hal.Pose{Position: [3]float64{0, 0, 0.2}, Rotation: [4]float64{1, 0, 0, 0}})
	if err != nil {
		t.Fatal(err)
	}
	return s, b
}

// front is how far the robot's foremost shape is from the wall.
func front(s *Scene, b *Body) float64 {
	most := math.Inf(-1)
	for _, g := range s.sight.geoms {
		if b.owns(g.Body) {
			p := hal.Pose(s.system.Pose(g.Body)).Times(hal.Pose(g.Local))
			x := p.Position[0] + g.Half[0] + g.Radius
			most = max(most, x)
		}
	}
	return 2 - most
}

// TestKeepOut: a robot that turns its wheels at 0.5 m/s, but no faster than it may come nearer, stands at the margin
// before the wall and not beyond; backwards it is free, and far from the wall too.
func TestKeepOut(t *testing.T) {
	s, b := beforeWall(t)
	for i := range b.joints {
		if err := s.Driven(b.name, i); err != nil {
			t.Fatal(err)
		}
	}
	near, err := b.KeepOut([]string{"scene"}, []float64{0.05})
	if err != nil {
		t.Fatal(err)
	}
	if found := near(); len(found) > 0 {
		t.Fatalf("far away: got %v", found)
	}
	speed := 0.5 / b.model.Wheel(0)
	drive := func(speed float64, cycles int) (slowed bool) {
		for range cycles {
			share := 1.0
			for _, n := range near() {
				closing := 0.0
				for _, m := range n.Moves {
					closing -= m * speed
				}
				if closing > n.Speed {
					share, slowed = min(share, n.Speed/closing), true
				}
			}
			for i := range b.joints {
				b.joints[i].Spin(share*speed, true)
			}
			if err := s.Advance(10 * time.Millisecond); err != nil {
				t.Fatal(err)
			}
		}
		return slowed
	}
	slowed := drive(speed, 1500)
	if gap := front(s, b); !slowed || gap < 0.05 || gap > 0.1 {
		t.Errorf("got %.3f m before the wall, slowed %v, want 0.05 to 0.1", gap, slowed)
	}
	if slowed := drive(-speed, 200); slowed || front(s, b) < 0.8 {
		t.Errorf("backwards: got %.3f m before the wall, slowed %v", front(s, b), slowed)
	}
	if _, err := b.KeepOut([]string{"nothing"}, []float64{0}); err == nil {
		t.Error("a thing that is not there: no error")
	}
}

// TestVirtualContact: a twin that is led into a wall has a contact with its depth; the ground under its wheels does not
// count, and a ghost has no contact.
func TestVirtualContact(t *testing.T) {
	for _, twin := range []string{"solid", "ghost", "none"} {
		s, b := beforeWall(t)
		if err := b.SetTwin(twin); err != nil {
			t.Fatal(err)
		}
		before, after := 0.0, 0.0
		var other hal.Part
		for i := range b.joints { // its wheels are real too
			b.Follow(i, 0, 0)
		}
		for k := range 400 {
			b.FollowFrame(hal.Pose{Position: [3]float64{float64(k) * 0.005, 0, 0.2}, Rotation: [4]float64{1, 0, 0, 0}},
				10*time.Millisecond)
			if err := s.Advance(10 * time.Millisecond); err != nil {
				t.Fatal(err)
			}
			if depth, _, with, _ := b.VirtualContact(); front(s, b) > 0.02 {
				before = max(before, depth)
			} else {
				after, other = max(after, depth), with
			}
		}
		if before != 0 || (after > 0.01) != (twin == "solid") || other != (hal.Part{}) {
			t.Errorf("%s: got %.3f m before the wall and %.3f m in it, with %v", twin, before, after, other)
		}
	}
}

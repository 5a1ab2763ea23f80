package sim

import (
	"math"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/sim/model"
)

// TestShow: viewers see each body of a robot where the physics has it, and the points at which it stands on the ground.
func TestShow(t *testing.T) {
	s := NewScene(SceneConfig{})
	defer s.Close()
	if len(s.Parts()) != 0 || len(s.Poses(nil)) != 0 || s.Contacts(make([][3]float64, 1)) != 0 {
		t.Error("an empty scene: got something to see")
	}
	m, err := model.Load("a-series")
	if err != nil {
		t.Fatal(err)
	}
	before := s.Changes()
	b, err := s.Add("humanoid", m, hal.Pose{Position: [3]float64{2, 1, 0}, Rotation: [4]float64{1}})
	if err != nil {
		t.Fatal(err)
	}
	if s.Changes() == before {
		t.Error("a robot has come: got no change")
	}
	for range 100 {
		if err := s.Advance(10 * time.Millisecond); err != nil {
			t.Fatal(err)
		}
	}
	parts, poses := s.Parts(), s.Poses(nil)
	if len(parts) != len(m.Bodies) || len(poses) != len(parts) {
		t.Fatalf("got %d parts at %d poses, want %d", len(parts), len(poses), len(m.Bodies))
	}
	for i := range poses {
		if parts[i] != (hal.Part{Agent: "humanoid", Body: m.Bodies[i].Name}) || poses[i] != b.Pose(i) {
			t.Errorf("body %d: got %v at %v, want %s at %v", i, parts[i], poses[i], m.Bodies[i].Name, b.Pose(i))
		}
	}
	contacts := make([][3]float64, 64)
	n := s.Contacts(contacts)
	if n < 3 || s.Contacts(contacts[:2]) != 2 {
		t.Errorf("contacts: got %d, and not as many as fit", n)
	}
	for _, c := range contacts[:min(n, 3)] {
		if math.Abs(c[0]-2) > 1.5 || math.Abs(c[1]-1) > 1.5 {
			t.Errorf("contact: got %v, want one near the robot", c)
		}
	}
	seen := 0
	for _, g := range s.Appearance().Geoms {
		if g.Body >= 0 {
			seen++
		}
	}
	if seen < len(m.Bodies) {
		t.Errorf("got %d shapes of %d bodies", seen, len(m.Bodies))
	}
}

package sim

import (
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/sim/camera"
)

// What viewers beside the cameras draw: the geoms that the physics and the cameras use, where its bodies are, and where they
// touch. All of it is for a cycle's edge, but for Changes and Appearance, which any goroutine may call.

// Changes counts how often the scene has had other bodies or other looks.
func (s *Scene) Changes() int {
	s.gallery.mu.Lock()
	defer s.gallery.mu.Unlock()
	return s.gallery.hung
}

// Appearance is the visible part of the scene, by bodies from 0 on; -1 is the world. It is read-only.
func (s *Scene) Appearance() camera.Scene {
	s.gallery.mu.Lock()
	defer s.gallery.mu.Unlock()
	return s.gallery.scene
}

// Parts names the bodies in the order of Poses.
func (s *Scene) Parts() (list []hal.Part) {
	if s.system == nil {
		return nil
	}
	for i := range s.system.Model().Bodies() {
		list = append(list, s.name(i))
	}
	return list
}

// Poses appends where the bodies are to dst[:0].
func (s *Scene) Poses(dst []hal.Pose) []hal.Pose {
	dst = dst[:0]
	if s.system == nil {
		return dst
	}
	for i := range s.system.Model().Bodies() {
		dst = append(dst, hal.Pose(s.system.Pose(i)))
	}
	return dst
}

// Contacts fills dst with points of the world at which bodies touched in the last step, m, and returns how many there are.
func (s *Scene) Contacts(dst [][3]float64) (n int) {
	if s.system == nil {
		return 0
	}
	for i := range s.system.Touches() {
		if n == len(dst) {
			break
		}
		dst[n] = s.system.Touch(i).Contact.Position
		n++
	}
	return n
}

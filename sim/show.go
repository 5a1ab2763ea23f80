package sim

import (
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/sim/camera"
)

// Data for viewers other than the cameras: the geoms of the physics and the cameras, the poses of the bodies, and the
// contacts. Call it at a cycle's edge, except Changes and Appearance, which any goroutine may call.

// Changes counts the changes of the scene's bodies or their appearance.
func (s *Scene) Changes() int {
	s.gallery.mu.Lock()
	defer s.gallery.mu.Unlock()
	return s.gallery.changes
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

// Contacts fills dst with points of the world at which bodies touched in the last step, m, and returns how many there
// are.
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

package dynamics

// Drift moves the coordinates with the present velocities, for tests of kinematics.
func Drift(s *System, h float64) {
	s.drift(h)
	s.Moved()
}

package actuator

import "github.com/halyard-robotics/halyard/internal/sim/exact"

// StandardGravity is the fall that a new Servo's load feels, m/s².
const StandardGravity = 9.80665

// Load is the load on the output shaft without a multibody engine: one inertia, with gravity on it as on a pendulum.
type Load struct {
	Inertia  float64 // kg·m² about the axis, without the pendulum's
	Mass     float64 // kg, a point on an arm
	Length   float64 // m, of the arm
	Down     float64 // rad, the position at which the arm hangs down
	Damping  float64 // N·m·s/rad
	Backlash float64 // rad, the whole width of the dead zone between gear and load; needs an inertia
	Min, Max float64 // rad, hard stops without bounce; none where Min >= Max
}

// inertia is the whole inertia about the axis, kg·m².
func (l *Load) inertia() float64 { return l.Inertia + float64(l.Mass*l.Length*l.Length) }

// torque is gravity's, N·m, at position.
func (l *Load) torque(position, gravity float64) float64 {
	if l.Mass == 0 {
		return 0
	}
	return float64(-l.Mass * gravity * l.Length * exact.Sin(position-l.Down))
}

// LoadTorque is the torque of the load on the shaft, N·m, without its inertia's.
func (s *Servo) LoadTorque() float64 {
	return s.External + s.Load.torque(s.Position, s.Gravity) - float64(s.Load.Damping*s.Velocity)
}

// stop keeps a move from position at velocity within the hard stops.
func (l *Load) stop(position, velocity float64) (float64, float64) {
	switch {
	case !(l.Min < l.Max):
	case position > l.Max && velocity > 0:
		return l.Max, 0
	case position < l.Min && velocity < 0:
		return l.Min, 0
	}
	return position, velocity
}

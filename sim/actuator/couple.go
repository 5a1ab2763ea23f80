package actuator

// Coupling is what a servo does to its joint during one step of an engine of whole bodies. At the speed ω its torque is
// Torque - Damping·ω, less a dry friction of at most Dry; Armature is added to the joint's inertia.
type Coupling struct {
	Torque   float64 // N·m
	Damping  float64 // N·m·s/rad, of back-EMF and grease
	Dry      float64 // N·m
	Armature float64 // kg·m²
}

// Couple runs the firmware for a step of dt seconds, as Control does, for a joint that an engine moves: external is the
// torque, N·m, with which the rest of the robot turned the output shaft in the step before, which the friction of some
// gears depends on. Moved ends the step. A Servo that is coupled does not use its Load, Gravity and External.
func (s *Servo) Couple(dt, external float64) Coupling {
	d := s.Control(dt)
	dry, viscous := s.Spec.Friction.Bound(d.at(s.Velocity), external, s.Velocity)
	return Coupling{Torque: d.Torque, Damping: d.Damping + viscous, Dry: dry, Armature: s.Spec.Armature}
}

// Moved tells a coupled servo where the step of dt seconds has left its shaft, rad and rad/s.
func (s *Servo) Moved(dt, position, velocity float64) {
	s.Position, s.Velocity = position, velocity
	s.gearPosition, s.gearVelocity, s.contact = position, velocity, 0
	s.Settle(dt)
}

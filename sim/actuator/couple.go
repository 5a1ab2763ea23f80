package actuator

import "math"

// coupling is the action of a servo on its joint during one step of a multibody engine. At the speed ω its torque is
// Torque - Damping·ω, minus a dry friction of at most Dry; Armature is added to the joint's inertia.
type coupling struct {
	Torque   float64 // N·m
	Damping  float64 // N·m·s/rad, of back-EMF and grease
	Dry      float64 // N·m
	Armature float64 // kg·m²
}

// Couple runs the firmware for a step of dt seconds, as Control does, for a joint that an engine moves: external is the
// torque, N·m, with which the rest of the robot turned the output shaft in the step before, which the friction of some
// gears depends on. Moved ends the step. Of the Load of a servo that is coupled only the Backlash counts: while gear
// and load are apart the gear turns by itself, and the zero coupling leaves the joint free.
func (s *Servo) Couple(dt, external float64) coupling {
	d := s.Control(dt)
	gap := s.Load.Backlash / 2
	if !(gap > 0) {
		s.contact = 0
	} else if s.contact == 0 {
		dry, viscous := s.Spec.Friction.Bound(d.at(s.gearVelocity), 0, s.gearVelocity)
		s.gearVelocity = solve(dt, s.gearVelocity, s.Spec.Armature, d.Torque, d.Damping+viscous, dry)
		s.gearPosition += float64(s.gearVelocity * dt)
		return coupling{}
	}
	dry, viscous := s.Spec.Friction.Bound(d.at(s.Velocity), external, s.Velocity)
	torque := d.Torque + s.knock/dt
	s.knock = 0
	return coupling{Torque: torque, Damping: d.Damping + viscous, Dry: dry, Armature: s.Spec.Armature}
}

// Moved sets a coupled servo's shaft state after a step of dt seconds, rad and rad/s. external is the torque of the
// rest of the robot on it, N·m, which is the load of the gear's teeth.
func (s *Servo) Moved(dt, position, velocity, external float64) {
	s.Position, s.Velocity = position, velocity
	s.mesh(external)
	s.FinishStep(dt)
}

// mesh lets gear and load part and meet, without bounce.
func (s *Servo) mesh(external float64) {
	gap := s.Load.Backlash / 2
	if !(gap > 0) {
		s.gearPosition, s.gearVelocity = s.Position, s.Velocity
		return
	}
	if side := float64(s.contact); side != 0 {
		// With contact = +1 the load leads, and the tooth can only hold it back: the load pushes the gear on.
		s.gearPosition, s.gearVelocity = s.Position-float64(side*gap), s.Velocity
		if side*external < 0 {
			s.contact = 0
		}
		return
	}
	lead := s.Position - s.gearPosition
	side := sign(lead)
	if closing := s.Velocity - s.gearVelocity; math.Abs(lead) < gap || float64(side)*closing <= 0 {
		return
	}
	// The gear's momentum goes to the joint in the next step.
	s.contact = int8(side)
	s.knock = float64(s.Spec.Armature * (s.gearVelocity - s.Velocity))
	s.gearPosition, s.gearVelocity = s.Position-float64(float64(side)*gap), s.Velocity
}

package actuator

import "math"

// move lets dt pass for gear and load: through the backlash where there is some, else as one inertia.
func (s *Servo) move(dt float64, d Drive) {
	gap := s.Load.Backlash / 2
	if !(gap > 0) || !(s.Load.inertia() > 0) {
		s.contact = 0
		v, _ := s.together(dt, d)
		s.gearPosition, s.gearVelocity = s.place(dt, v)
		return
	}
	if s.contact != 0 {
		v, held := s.together(dt, d)
		// The tooth that touches can only push. With contact = +1 the load leads and the gear holds it back.
		if held*float64(s.contact) <= 0 {
			_, s.gearVelocity = s.place(dt, v)
			s.gearPosition = s.Position - float64(float64(s.contact)*gap)
			return
		}
		s.contact = 0
	}
	s.apart(dt, d, gap)
}

// place moves the load at velocity for dt, up to a hard stop, and returns where that leaves it.
func (s *Servo) place(dt, velocity float64) (float64, float64) {
	s.Position, s.Velocity = s.Load.stop(s.Position+float64(velocity*dt), velocity)
	return s.Position, s.Velocity
}

// together solves one step of gear and load as one inertia: the velocity after it, and the torque that the gear's
// tooth gives the load.
func (s *Servo) together(dt float64, d Drive) (velocity, tooth float64) {
	external := s.external()
	load := s.Load.inertia()
	dry, viscous := s.Spec.Friction.Bound(d.at(s.Velocity), external, s.Velocity)
	velocity = solve(dt, s.Velocity, s.Spec.Armature+load, d.Torque+external, d.Damping+viscous+s.Load.Damping, dry)
	tooth = float64(load*(velocity-s.Velocity))/dt - external + float64(s.Load.Damping*velocity)
	return velocity, tooth
}

// apart solves one step of gear and load inside the dead zone, and lets them meet at its ends without bounce.
func (s *Servo) apart(dt float64, d Drive, gap float64) {
	load, armature := s.Load.inertia(), s.Spec.Armature
	dry, viscous := s.Spec.Friction.Bound(d.at(s.gearVelocity), 0, s.gearVelocity)
	gear := solve(dt, s.gearVelocity, armature, d.Torque, d.Damping+viscous, dry)
	free := solve(dt, s.Velocity, load, s.external(), s.Load.Damping, 0)
	s.gearPosition += float64(gear * dt)
	_, free = s.place(dt, free)
	s.gearVelocity = gear
	lead := s.Position - s.gearPosition
	if math.Abs(lead) < gap {
		return
	}
	if side := sign(lead); float64(side)*(free-gear) > 0 {
		s.contact = int8(side)
	} else {
		return // already parting again
	}
	// Momentum is kept; the friction of the gear acts from the next step on.
	both := (float64(load*free) + float64(armature*gear)) / (load + armature)
	s.Position = s.gearPosition + float64(float64(s.contact)*gap)
	s.Velocity, s.gearVelocity = both, both
}

// solve is one semi-implicit step of inertia·dω/dt = torque - damping·ω - dry friction; the latter is at most the
// torque that stops the shaft within the step.
func solve(dt, velocity, inertia, torque, damping, dry float64) float64 {
	push := float64(inertia*velocity)/dt + torque
	if math.Abs(push) <= dry {
		return 0
	}
	return (push - math.Copysign(dry, push)) / (inertia/dt + damping)
}

// external is the torque on the load from outside, N·m.
func (s *Servo) external() float64 { return s.Load.torque(s.Position, s.Gravity) + s.External }

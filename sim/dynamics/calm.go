package dynamics

import "math"

// Calm. If Options allow it, a whole system sleeps when all of its velocities have been tiny for a second and do not
// grow, as those of a robot that stands, hangs or lies, whose friction still changes in its last digits. Its velocities
// are then 0, and a step costs next to nothing. It wakes for the step in which the actions on it differ from those at
// the start of its sleep, and when Moved reports a change from outside. A falling robot is that slow only for a moment,
// and one that leaves an unstable equilibrium accelerates: neither sleeps. A system in water never sleeps.
//
// Sleep is part of the State: saving, restoring and reading a run do not change it.

const (
	calmFor   = 1.0  // s
	calmSpeed = 1e-5 // m/s, rad/s
	// A change of torque that is lost in a joint's dry friction, as a share of it, and of a coefficient, as a share of
	// it.
	calmInput = 1e-5
	rounding  = 1e-12 // share of a torque where there is no dry friction
)

// calm is the part of a State that this file owns.
type calm struct {
	since float64 // s, how long all velocities have been at most calmSpeed; calmFor or more: the system sleeps
	peak  float64 // the greatest velocity in the first half of that time
	// The actions at the start of its sleep.
	tau     []float64
	drive   []Drive
	force   []Wrench
	gravity [3]float64
}

// size makes room for the actions on a model.
func (c *calm) size(m *Model) {
	n := len(m.dofs)
	c.tau, c.drive, c.force = make([]float64, n), make([]Drive, n), make([]Wrench, len(m.spec.Bodies))
}

func (c *calm) copyFrom(o *calm) {
	c.since, c.peak, c.gravity = o.since, o.peak, o.gravity
	copy(c.tau, o.tau)
	copy(c.drive, o.drive)
	copy(c.force, o.force)
}

// hash passes the actions to put.
func (c *calm) hash(put func(...float64)) {
	put(c.gravity[:]...)
	put(c.tau...)
	for i := range c.drive {
		v := c.drive[i].values()
		put(v[:]...)
	}
	for i := range c.force {
		put(c.force[i].Force[:]...)
		put(c.force[i].Torque[:]...)
	}
}

// wake begins to count again.
func (c *calm) wake() { c.since, c.peak = 0, 0 }

// settle ends a step of h seconds: it counts how long the system has been calm, and lets it fall asleep.
func (s *System) settle(h float64) {
	if !s.options.Sleeps || len(s.m.wet) > 0 {
		return
	}
	c, fastest := &s.State.calm, 0.0
	for _, v := range s.V {
		fastest = max(fastest, math.Abs(v))
	}
	if s.following || s.Before != nil || !(fastest <= calmSpeed) {
		c.wake()
		return
	}
	if c.since < calmFor/2 {
		c.peak = max(c.peak, fastest)
	}
	switch c.since += h; {
	case c.since < calmFor:
	case fastest > c.peak:
		c.wake()
	default:
		clear(s.V)
		copy(c.tau, s.Tau)
		copy(c.drive, s.Drive)
		copy(c.force, s.Force)
		c.gravity, s.evaluated = s.Gravity, false
	}
}

// asleep reports whether the system sleeps in a step of h; it wakes a system whose actions have changed. The first step
// of sleep, also after Restore, computes the contacts and the forces of the State without changing it.
func (s *System) asleep(h float64) bool {
	c := &s.State.calm
	if c.since < calmFor {
		return false
	}
	if !s.sameActions() {
		c.wake()
		return false
	}
	if s.evaluated {
		return true
	}
	s.Tau, c.tau, s.Drive, c.drive = c.tau, s.Tau, c.drive, s.Drive
	bad := s.accelerate(h, h)
	s.Tau, c.tau, s.Drive, c.drive = c.tau, s.Tau, c.drive, s.Drive
	if bad >= 0 {
		c.wake()
		return false
	}
	clear(s.qdd)
	s.evaluated = true
	return true
}

// sameActions reports whether the actions on the system are those at the start of its sleep.
func (s *System) sameActions() bool {
	c := &s.State.calm
	if s.Gravity != c.gravity {
		return false
	}
	for i := range c.force {
		if s.Force[i] != c.force[i] {
			return false
		}
	}
	for i, tau := range c.tau {
		now, then := &s.Drive[i], &c.drive[i]
		lost := float64(calmInput*then.Dry) + float64(rounding*math.Abs(tau))
		if s.State.follow[i].active || !(math.Abs(s.Tau[i]-tau) <= lost) || *now != *then && !now.like(then) {
			return false
		}
	}
	return true
}

// values are all that d consists of.
func (d *Drive) values() [12]float64 {
	return [...]float64{d.Armature, d.Damping, d.Stiffness, d.Rest, d.Kp, d.Kd, d.Goal, d.Dry, d.Static, d.Stribeck,
		d.Target, d.Slip}
}

// like reports whether each value of d is that of o but for a share of calmInput.
func (d *Drive) like(o *Drive) bool {
	a, b := d.values(), o.values()
	for i := range a {
		if !(math.Abs(a[i]-b[i]) <= float64(calmInput*math.Abs(b[i]))) {
			return false
		}
	}
	return true
}

package dynamics

import "github.com/halyard-robotics/halyard/internal/sim/r3"

// bias computes the joint forces for zero acceleration except the prescribed one, minus external forces: C(q, v) of
// RBDA 5.3, into s.need. place must have been called.
func (s *System) bias() {
	m := s.m
	links := s.links[:len(m.links)]
	for i := range links {
		n := &links[i]
		if s.parked[m.links[i].tree] { // at rest; answer gives it no acceleration
			continue
		}
		// f = I a + v x* I v
		pw, pv := n.inertia.of(&n.v)
		w, v := n.inertia.of(&n.a)
		n.f.w = w.Add(n.v.w.Cross(pw).Add(n.v.v.Cross(pv)))
		n.f.v = v.Add(n.v.w.Cross(pv))
	}
	if len(s.wet) > 0 {
		s.wade()
	}
	if s.pushed() {
		s.push()
	}
	for i := len(links) - 1; i >= 0; i-- {
		l, n := &m.links[i], &links[i]
		if l.kind == Hinge || l.kind == Slide {
			s.need[l.v] = n.f.dot(&s.axes[l.v])
		} else {
			for k := int(l.v); k < int(l.v)+l.kind.dofs(); k++ {
				s.need[k] = n.f.dot(&s.axes[k])
			}
		}
		if l.parent >= 0 {
			links[l.parent].f.add(&n.f)
		}
	}
}

// pushed reports whether a force acts on any body.
func (s *System) pushed() bool {
	for i := range s.Force {
		if !s.Force[i].none() {
			return true
		}
	}
	return false
}

// none is *w == Wrench{}, without the function call of that comparison.
func (w *Wrench) none() bool {
	f, t := &w.Force, &w.Torque
	return f[0] == 0 && f[1] == 0 && f[2] == 0 && t[0] == 0 && t[1] == 0 && t[2] == 0
}

// push subtracts the forces on bodies from the joint forces.
func (s *System) push() {
	for b := range s.Force {
		w := &s.Force[b]
		if w.none() || s.m.on[b] == World {
			continue
		}
		n := &s.links[s.m.on[b]]
		at := n.p.Add(n.r.Of(s.m.com(b)))
		f := r3.Pack(w.Force)
		n.f.v = n.f.v.Sub(f)
		n.f.w = n.f.w.Sub(at.Cross(f).Add(r3.Pack(w.Torque)))
	}
}

// prescribe adds to the links the accelerations that qdd, of the joints, gives them.
func (s *System) prescribe(qdd []float64) {
	s.carry(qdd)
	for i := range s.links {
		n := &s.links[i]
		n.a.w, n.a.v = n.a.w.Add(s.extra[i].w), n.a.v.Add(s.extra[i].v)
	}
}

// carry computes the links' accelerations by the joint accelerations qdd into extra.
func (s *System) carry(qdd []float64) {
	for i := range s.m.links {
		l := &s.m.links[i]
		var a motion
		if l.parent >= 0 {
			a = s.extra[l.parent]
		}
		for k := int(l.v); k < int(l.v)+l.kind.dofs(); k++ {
			a.along(qdd[k], &s.axes[k])
		}
		s.extra[i] = a
	}
}

// InverseDynamics writes to tau, N·m, the torques that give the accelerations qdd in the present state, with forces on
// bodies and gravity but without friction, springs, contacts and damping: RNEA, RBDA 5.3. Armature counts. Both slices
// have DOFs() elements. It does not allocate.
func (s *System) InverseDynamics(qdd, tau []float64) {
	s.place()
	s.prescribe(qdd)
	s.bias()
	for i := range s.need {
		tau[i] = s.need[i] + float64(s.Drive[i].Armature*qdd[i])
	}
	s.placed = false
}

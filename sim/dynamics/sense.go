package dynamics

import (
	"github.com/halyard-robotics/halyard/internal/sim/r3"
	"github.com/halyard-robotics/halyard/sim/collide"
)

// Jacobian writes to dst how the velocity of a point of body b, given in its link frame, depends on V: three rows of
// the point's velocity and three of the body's angular velocity, in world axes, each of DOFs() numbers (RBDA 4.2). It
// does not allocate.
func (s *System) Jacobian(dst []float64, b int, local [3]float64) {
	s.update()
	m := s.m
	nv := len(m.dofs)
	clear(dst[:6*nv])
	last := m.last(b)
	if last < 0 {
		return
	}
	l := m.on[b]
	n := &s.links[l]
	at := n.p.Add(n.r.Of(m.offsets[b].Add(m.turns[b].Of(r3.Pack(local)))))
	for k := last; k >= 0; k = m.dofs[k].parent {
		axis := &s.axes[k]
		v := axis.v.Add(axis.w.Cross(at))
		for r, x := range [...]float64{v.X, v.Y, v.Z, axis.w.X, axis.w.Y, axis.w.Z} {
			dst[r*nv+int(k)] = x
		}
	}
}

// MassMatrix writes the mass matrix, armature included, to dst: DOFs() rows of DOFs() numbers (CRBA, RBDA 6.2). It does
// not allocate.
func (s *System) MassMatrix(dst []float64) {
	s.update()
	m := s.m
	nv := len(m.dofs)
	clear(dst[:nv*nv])
	for i := range s.links {
		s.links[i].all = s.links[i].inertia
	}
	for i := len(m.links) - 1; i >= 0; i-- {
		l, n := &m.links[i], &s.links[i]
		for k := l.v + int32(l.kind.dofs()) - 1; k >= l.v; k-- {
			w, v := n.all.of(&s.axes[k])
			for j := k; j >= 0; j = m.dofs[j].parent {
				h := w.Dot(s.axes[j].w) + v.Dot(s.axes[j].v)
				dst[int(k)*nv+int(j)], dst[int(j)*nv+int(k)] = h, h
			}
			dst[int(k)*nv+int(k)] += s.Drive[k].Armature
		}
		if l.parent >= 0 {
			s.links[l.parent].all.add(&n.all)
		}
	}
	s.flood(dst)
}

// ForwardDynamics writes to qdd the accelerations of the joints in the present state, with all forces and constraints,
// as a step of h would begin with them; where one is not finite, an error, and qdd stays as it was. The state does not
// change. It does not allocate but for an error.
func (s *System) ForwardDynamics(h float64, qdd []float64) error {
	s.follows(h, h, true)
	bad := s.accelerate(0, h)
	s.placed, s.evaluated = false, false
	if bad < 0 {
		if bad = finite(s.qdd); bad >= 0 {
			s.solver.reason, s.solver.value = "acceleration", s.qdd[bad]
		}
	}
	if bad >= 0 {
		return s.diverged(bad)
	}
	copy(qdd, s.qdd)
	return nil
}

// finite returns the first of x that is not a finite number, or -1.
func finite(x []float64) int {
	for i, v := range x {
		if v-v != 0 {
			return i
		}
	}
	return -1
}

// Touch is a contact and the load on A, in world axes: the force through Contact.Position and the moment about it.
type Touch struct {
	Contact       collide.Contact
	Force, Torque [3]float64 // N, N·m
}

// Touches returns the number of contacts of the last evaluation of a step. Contacts of a sleeping body with another
// sleeping or fixed one do not count.
func (s *System) Touches() int { return len(s.solver.blocks) - s.solver.first }

// Found returns all contacts of the last evaluation of a step, also those of bodies of which none can be moved. It is
// valid until the next step.
func (s *System) Found() []collide.Contact { return s.solver.contacts }

// Touch returns contact i of the last evaluation of a step, 0 <= i < Touches().
func (s *System) Touch(i int) Touch {
	v := &s.solver
	k := &v.blocks[v.first+i]
	t := Touch{Contact: v.contacts[k.source]}
	var f, w r3.Vec
	for i := range v.row[k.row : k.row+k.rows] {
		if r := &v.row[int(k.row)+i]; r.angular {
			w = w.Along(r.f, r.way)
		} else {
			f = f.Along(r.f, r.way)
		}
	}
	t.Force, t.Torque = f.Array(), w.Array()
	return t
}

// Dropped returns how many contacts the last evaluation of a step left out for want of room: see Options.Contacts.
func (s *System) Dropped() int { return s.solver.dropped }

// Sweeps returns how many sweeps over the constraints the last evaluation of a step took, of the island that took most.
func (s *System) Sweeps() int { return s.solver.sweeps }

// Geom returns geom i of the collision space; its Material may be changed between steps. It is nil if no geoms can
// touch.
func (s *System) Geom(i int) *collide.Geom {
	if s.space == nil {
		return nil
	}
	return s.space.Geom(int32(i))
}

// ConstraintForce returns the force of dry friction, or of the motor that Drive.Target makes of it, and that of the
// stop on degree of freedom i in the last evaluation of a step, N·m or N.
func (s *System) ConstraintForce(i int) (friction, stopped float64) {
	v := &s.solver
	if v.first == 0 {
		return 0, 0
	}
	for j := int(v.held[i]); j < v.first && int(v.blocks[j].source) == i; j++ {
		k := &v.blocks[j]
		if r := &v.row[k.row]; k.kind == dry {
			friction += float64(r.way.X * r.f)
		} else {
			stopped += float64(r.way.X * r.f)
		}
	}
	return friction, stopped
}

// Reaction returns the load of the parent of body b on it through its joint: the force, N, and the moment about the
// joint's anchor, N·m, in world axes, including the motor, like a force sensor in the joint. It uses the accelerations
// of the last evaluation of a step and the present positions. Welded bodies have none.
func (s *System) Reaction(b int) (force, torque [3]float64) {
	m := s.m
	if m.spec.Bodies[b].Joint.Kind == Weld {
		return
	}
	s.react()
	n := &s.links[m.on[b]]
	return n.f.v.Array(), n.f.w.Sub(n.p.Cross(n.f.v)).Array()
}

// Carried returns the force, N or N·m, that degree of freedom i must transmit for all that is connected to it to move
// as it does: of Reaction the part along the joint.
func (s *System) Carried(i int) float64 {
	s.react()
	for k := range s.m.links {
		l, n := &s.m.links[k], &s.links[k]
		if d := int32(i) - l.v; d >= 0 && d < int32(l.kind.dofs()) {
			return n.f.dot(&s.axes[i])
		}
	}
	return 0
}

// react makes the f of each link the load of its parent on it.
func (s *System) react() {
	m := s.m
	s.place()
	s.prescribe(s.qdd)
	s.bias()
	for i := range s.Touches() {
		t := s.Touch(i)
		at := r3.Pack(t.Contact.Position)
		f, w := r3.Pack(t.Force), r3.Pack(t.Torque)
		for side, g := range [...]int32{t.Contact.A, t.Contact.B} {
			if side == 1 {
				f, w = f.Neg(), w.Neg()
			}
			// bias has summed up the links, so the contact counts for all that carry it
			k := int32(World)
			if c := s.space.Geom(g).Body; c != World {
				k = m.on[c]
			}
			for ; k >= 0; k = m.links[k].parent {
				n := &s.links[k]
				arm := at.Sub(s.reference[m.links[k].tree])
				n.f.v, n.f.w = n.f.v.Sub(f), n.f.w.Sub(arm.Cross(f).Add(w))
			}
		}
	}
	s.placed = false
}

package sim

import (
	"slices"

	"github.com/halyard-robotics/halyard/sim/dynamics"
)

// Save keeps a snapshot of the whole scene, in place of the one before.
func (s *Scene) Save() error {
	state := s.saved.state
	switch {
	case s.system == nil:
		state = nil
	case s.saved.system != s.system:
		state = s.system.NewState()
	}
	s.saved = saved{is: true, rest: s.rest, seed: s.seed,
		ground: s.ground, loaded: s.loaded, thing: s.thing, system: s.system, state: state}
	if s.system != nil {
		if err := s.system.Save(state); err != nil {
			return err
		}
	}
	s.saved.tags, s.saved.pushed = slices.Clone(s.tags), slices.Clone(s.pushed)
	for _, b := range s.bodies {
		b.save()
	}
	for _, v := range s.vehicles {
		v.save()
	}
	return nil
}

// Restore returns to the snapshot, bit for bit; without one to the state of the last reset. It also restores stones and
// values of robots that a reset has drawn or changed since; values set in between take effect at the next reset. Robots
// and bodies that were added, removed or fixed since the snapshot stay so; the others return to their saved state. A
// robot added after the snapshot returns to its reset state. The clock continues, and gravity does not change.
func (s *Scene) Restore() error {
	if !s.saved.is {
		return s.Reset(0)
	}
	s.rest, s.seed, s.fault = s.saved.rest, s.saved.seed, nil
	if s.reinstate() {
		if err := s.rebuild(); err != nil {
			return err
		}
	}
	if s.system != nil {
		// The forces of Push are in the state; they end with the next Advance, as they would have done.
		s.pushed = append(s.pushed[:0], s.saved.pushed...)
		if !s.alike() || s.system.Restore(s.saved.state) != nil {
			s.pushed = s.pushed[:0]
			s.transplant()
		}
		s.system.Gravity = s.gravity
		s.putLimbs()
		clear(s.touching)
	}
	s.tags = slices.Clone(s.saved.tags)
	for _, b := range s.bodies {
		b.restore(s.seed)
	}
	for _, v := range s.vehicles {
		v.restore(s.seed)
	}
	return nil
}

// alike reports whether the system has the same bodies in the same places as that of the snapshot.
func (s *Scene) alike() bool {
	if s.saved.state == nil || s.saved.thing != s.thing {
		return false
	}
	for _, b := range s.bodies {
		if len(b.parts) > 0 && (!b.saved.is || b.saved.at != b.at) {
			return false
		}
	}
	for _, v := range s.vehicles {
		if !v.saved.is || v.savedAt != v.at {
			return false
		}
	}
	return true
}

// transplant takes from the snapshot's system where robots and loose things were, as far as they were in it.
func (s *Scene) transplant() {
	s.system.Reset()
	from := s.saved.state
	if from == nil {
		return
	}
	for _, b := range s.bodies {
		if b.saved.is && b.at.fits(b.saved.at) {
			b.at.load(s.system, from.Q, from.V, b.saved.at)
		}
	}
	for _, v := range s.vehicles {
		if v.saved.is {
			v.at.load(s.system, from.Q, from.V, v.savedAt)
		}
	}
	old, now := s.saved.system.Model(), s.system.Model()
	for i := range s.ground.Free {
		free(now, s.thing+i).load(s.system, from.Q, from.V, free(old, s.saved.thing+i))
	}
	s.system.Moved()
}

// span is where a robot's share of a system's state is.
type span struct{ q, v, body, coords, dofs int }

// free is the span of a body that floats freely: a vehicle or a loose thing.
func free(m *dynamics.Model, body int) span {
	j := m.Joint(body)
	return span{q: j.Q, v: j.V, body: body, coords: j.Coords, dofs: j.DOFs}
}

// load sets a robot's share of a system from its share of another state, which has as many coordinates.
func (to span) load(s *dynamics.System, q, v []float64, from span) {
	copy(s.Q[to.q:][:to.coords], q[from.q:])
	copy(s.V[to.v:][:to.dofs], v[from.v:])
}

// fits reports whether both have as many coordinates.
func (to span) fits(from span) bool { return to.coords == from.coords && to.dofs == from.dofs }

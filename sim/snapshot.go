package sim

import (
	"slices"

	"github.com/halyard-robotics/halyard/sim/dynamics"
)

// Save keeps a snapshot of the whole scene, in place of the one before.
func (s *Scene) Save() error {
	state := s.saved.state
	if s.system != nil && s.saved.system != s.system {
		state = s.system.NewState()
	}
	s.saved = saved{is: true, rest: s.rest, seed: s.seed,
		ground: s.ground, loaded: s.loaded, thing: s.thing, system: s.system, state: state}
	if s.system != nil {
		if err := s.system.Save(state); err != nil {
			return err
		}
	}
	s.saved.tags = slices.Clone(s.tags)
	for _, b := range s.bodies {
		b.save()
	}
	for _, v := range s.vehicles {
		v.save()
	}
	return nil
}

// Restore returns to the snapshot, bit for bit; without one to the state of the last reset. It also restores stones and
// figures of robots that a reset has drawn or changed since; values set in between take effect at the next reset. Robots
// and bodies that were added, removed or fixed since the snapshot stay so; the others return to their saved state. A robot
// added after the snapshot returns to its reset state. The clock continues, and gravity does not change.
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
		if !s.alike() || s.system.Restore(s.saved.state) != nil {
			s.transplant()
		}
		s.system.Gravity = s.gravity
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
		if len(b.parts) > 0 && (len(b.saved) == 0 || b.savedAt != b.at) {
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
	for _, b := range s.bodies {
		b.transplant(s.saved.state)
	}
	for _, v := range s.vehicles {
		v.transplant(s.saved.state)
	}
	if s.saved.state == nil {
		return
	}
	old, now := s.saved.system.Model(), s.system.Model()
	for i := range s.ground.Free {
		from, to := old.Joint(s.saved.thing+i), now.Joint(s.thing+i)
		copy(s.system.Q[to.Q:to.Q+7], s.saved.state.Q[from.Q:])
		copy(s.system.V[to.V:to.V+6], s.saved.state.V[from.V:])
	}
	s.system.Moved()
}

// span is where a robot's share of a system's state is.
type span struct{ q, v, body, coords, dofs int }

// transplant takes the robot's coordinates from a snapshot of another system, as far as it was in that one.
func (b *Body) transplant(from *dynamics.State) {
	if from == nil || len(b.saved) == 0 || b.savedAt.coords != b.at.coords || b.savedAt.dofs != b.at.dofs {
		return
	}
	s := b.scene.system
	copy(s.Q[b.at.q:][:b.at.coords], from.Q[b.savedAt.q:])
	copy(s.V[b.at.v:][:b.at.dofs], from.V[b.savedAt.v:])
	s.Moved()
}

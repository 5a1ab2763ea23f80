package sim

import "github.com/halyard-robotics/halyard/sim/dynamics"

// Save keeps a snapshot of the whole scene, in place of the one before.
func (s *Scene) Save() error {
	state := s.saved.state
	if s.system != nil && s.saved.system != s.system {
		state = s.system.NewState()
	}
	s.saved = saved{is: true, now: s.now, rest: s.rest, seed: s.seed, gravity: s.gravity,
		ground: s.ground, loaded: s.loaded, system: s.system, state: state}
	if s.system != nil {
		if err := s.system.Save(state); err != nil {
			return err
		}
	}
	for _, b := range s.bodies {
		b.save()
	}
	return nil
}

// Restore returns to the snapshot, bit for bit; without one to the state of the last reset. Robots and bodies that were
// added, removed or fixed since then stay as they are: what was there is where it was. A robot that was added after the
// snapshot returns to its reset state. The clock goes on, and gravity stays as it is.
func (s *Scene) Restore() error {
	if !s.saved.is {
		return s.Reset(0)
	}
	s.rest, s.seed, s.fault = s.saved.rest, s.saved.seed, nil
	if s.system != nil {
		if s.saved.system == s.system {
			if err := s.system.Restore(s.saved.state); err != nil {
				return err
			}
		} else {
			s.system.Reset()
			for _, b := range s.bodies {
				b.transplant(s.saved.state)
			}
		}
		s.system.Gravity = s.gravity
	}
	for _, b := range s.bodies {
		b.restore(s.seed)
	}
	return nil
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

package sim

import (
	"sync/atomic"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/sim/dynamics"
)

// touches are the pairs of bodies of the system that touched during the last Advance, in any of its steps: a knock may
// be over at its end. They are recorded only after WatchTouches.
type touches struct {
	watched atomic.Bool
	pairs   [][2]int32 // in the order in which they met; dynamics.World first
	seen    map[[2]int32]bool
}

func (t *touches) clear() {
	if len(t.pairs) > 0 {
		t.pairs = t.pairs[:0]
		clear(t.seen)
	}
}

// WatchTouches makes Touches report every Advance from now on; see hal.Toucher.
func (s *Scene) WatchTouches() { s.touches.watched.Store(true) }

// Touches reports which bodies touched during the last Advance; see hal.Toucher.
func (s *Scene) Touches(f func(a, b hal.Part)) {
	// From the list, not the map: the order of a map is not repeatable.
	for _, p := range s.touches.pairs {
		f(s.name(int(p[0])), s.name(int(p[1])))
	}
}

// note records the contacts of the last step. It allocates when more pairs touch than ever before.
func (t *touches) note(s *dynamics.System) {
	if !t.watched.Load() {
		return
	}
	if t.seen == nil {
		t.seen = map[[2]int32]bool{}
	}
	// Two bodies touch at several points and in several steps, but are reported once.
	for i := range s.Touches() {
		c := s.Touch(i).Contact
		a, b := int32(s.Geom(int(c.A)).Body), int32(s.Geom(int(c.B)).Body)
		pair := [2]int32{min(a, b), max(a, b)}
		if !t.seen[pair] {
			t.seen[pair] = true
			t.pairs = append(t.pairs, pair)
		}
	}
}

// name is the name of a body of the system: robots come first, loose things last; the world is the empty Part.
func (s *Scene) name(body int) hal.Part {
	if body < 0 {
		return hal.Part{}
	}
	if free := len(s.ground.Free); body >= s.thing+free {
		return hal.Part{Body: s.system.Model().Name(body)}
	} else if body >= s.thing {
		return hal.Part{Body: s.ground.Free[body-s.thing].Name}
	}
	for _, b := range s.bodies {
		if n := body - b.at.body; n >= 0 && n < len(b.parts) {
			return hal.Part{Agent: b.name, Body: b.parts[n].Name}
		}
	}
	for _, v := range s.vehicles {
		if body == v.at.body {
			return hal.Part{Agent: v.name, Body: hullName}
		}
	}
	return hal.Part{}
}

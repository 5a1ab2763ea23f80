package sim

import (
	"math"
	"slices"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/sim/dynamics"
	"github.com/halyard-robotics/halyard/sim/model"
)

// virtualContact is where a robot that follows real motion touches the scene: the real one feels nothing of it.
type virtualContact struct {
	deepest touch   // of the last Advance, of those that are told; depth 0 = none
	fresh   bool    // the last Advance has one that is new, or much deeper
	met     []touch // in this Advance
	known   []knownTouch
	placed  bool // known has what it touched when it was placed
}

// touch is a body of a robot that touches a shape of another one, or of the scene.
type touch struct {
	own, other, geom int32
	depth            float64 // m
}

// knownTouch is a contact that is told, or was there when the robot was placed, and how deep it was then.
type knownTouch struct {
	touch
	rest  bool // since it was placed, and no deeper
	apart int  // cycles without it
}

const (
	// deeper is how much deeper a contact must become to be told again, as where an operator arms a robot in it.
	deeper = 0.005 // m
	// partedCycles without a contact are its end.
	partedCycles = 10
)

// twinState is whether a robot is in the scene for others: solid, without contacts, or not at all.
type twinState uint8

const (
	solidTwin twinState = iota
	ghostTwin
	noTwin
)

// SetTwin says what a robot that follows real motion is to others: "solid", "ghost" (seen by rays and cameras, without
// contacts) or "none" (not seen by rays either). Call it between two cycles.
func (b *Body) SetTwin(state string) error {
	was := b.twin
	b.twin = map[string]twinState{"ghost": ghostTwin, "none": noTwin}[state]
	if b.twin == was || len(b.parts) == 0 || b.scene.system == nil {
		return nil
	}
	return b.scene.rebuild()
}

// VirtualContact returns the deepest contact in the last Advance of a robot that follows real motion, m, the body of
// the robot and what it touches; 0 without one. What it touched when it was placed, and the ground under its wheels, do
// not count. fresh: a contact has begun in this Advance, or has become deeper by 5 mm since that was reported.
func (b *Body) VirtualContact() (depth float64, own, other hal.Part, fresh bool) {
	t := &b.virtual.deepest
	if t.depth <= 0 {
		return 0, own, other, false
	}
	return t.depth, b.scene.name(int(t.own)), b.scene.name(int(t.other)), b.virtual.fresh
}

// isTwin reports whether the robot follows real motion.
func (b *Body) isTwin() bool {
	return b.led || slices.ContainsFunc(b.joints, func(j Joint) bool { return j.follows() })
}

// beginVirtual forgets the contacts of the Advance before, of all robots. It reports whether one is a twin.
func (s *Scene) beginVirtual() (any bool) {
	for _, b := range s.bodies {
		v := &b.virtual
		v.deepest.depth, v.fresh, v.met = 0, false, v.met[:0]
		any = any || b.isTwin()
	}
	return any && s.system != nil
}

// noteVirtual notes the contacts of twins in the last step.
func (s *Scene) noteVirtual() {
	for _, c := range s.system.Found() {
		a, b := s.system.Geom(int(c.A)).Body, s.system.Geom(int(c.B)).Body
		s.noteTwin(touch{int32(a), int32(b), c.B, c.Depth}, c.Normal[2])
		s.noteTwin(touch{int32(b), int32(a), c.A, c.Depth}, -c.Normal[2])
	}
}

// noteTwin notes a contact of one of a twin's bodies; up is how much the other pushes it up.
func (s *Scene) noteTwin(t touch, up float64) {
	i := slices.IndexFunc(s.bodies, func(b *Body) bool { return t.own >= 0 && b.owns(int(t.own)) })
	if i < 0 || !s.bodies[i].isTwin() || s.bodies[i].owns(int(t.other)) {
		return
	}
	b := s.bodies[i]
	if t.other == dynamics.World && up > math.Sqrt2/2 && b.stands(int(t.own)-b.at.body) {
		return
	}
	met := &b.virtual.met
	if k := slices.IndexFunc(*met, t.same); k >= 0 {
		(*met)[k].depth = max((*met)[k].depth, t.depth)
		return
	}
	*met = append(*met, t)
}

// same reports whether o is of the same bodies.
func (t *touch) same(o touch) bool { return t.own == o.own && t.other == o.other && t.geom == o.geom }

// endVirtual tells new contacts from known ones. What a twin touched when it was placed is known.
func (s *Scene) endVirtual() {
	for _, b := range s.bodies {
		v := &b.virtual
		for i := range v.known {
			if v.known[i].apart++; slices.ContainsFunc(v.met, v.known[i].same) {
				v.known[i].apart = 0
			}
		}
		v.known = slices.DeleteFunc(v.known, func(k knownTouch) bool { return k.apart >= partedCycles })
		for _, t := range v.met {
			v.tell(t)
		}
		v.placed = v.placed || b.isTwin()
	}
}

// tell notes a contact of this Advance.
func (v *virtualContact) tell(t touch) {
	k := slices.IndexFunc(v.known, func(k knownTouch) bool { return t.same(k.touch) })
	switch {
	case k < 0:
		k, v.known, v.fresh = len(v.known), append(v.known, knownTouch{touch: t, rest: !v.placed}), v.fresh || v.placed
	case t.depth >= v.known[k].depth+deeper:
		v.known[k], v.fresh = knownTouch{touch: t}, true
	}
	if !v.known[k].rest && t.depth > v.deepest.depth {
		v.deepest = t
	}
}

// stands reports whether part stands on the ground by its purpose: the frame of a robot with wheels, its wheels and
// castors, but no part of an arm.
func (b *Body) stands(part int) bool {
	if !b.hasWheels() {
		return false
	}
	for i := range b.model.Joints {
		j := &b.model.Joints[i]
		if wheel := j.Wraps && b.model.Wheel(i) > 0; j.Child == part && !wheel {
			return false
		}
	}
	return part == b.root || !slices.ContainsFunc(b.model.Passive, func(p model.Passive) bool {
		return p.Child == part && p.Parent != b.root
	})
}

func (b *Body) hasWheels() bool {
	for i := range b.model.Joints {
		if b.model.Joints[i].Wraps && b.model.Wheel(i) > 0 {
			return true
		}
	}
	return false
}

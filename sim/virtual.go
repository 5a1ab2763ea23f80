package sim

import (
	"math"
	"slices"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/sim/dynamics"
)

// virtualContact is where a robot that follows real motion touches the scene: the real one feels nothing of it.
type virtualContact struct {
	depth  float64  // m, of the deepest contact in the last Advance; 0 = none
	pair   [2]int32 // a body of the robot, and what it touches
	rests  [][2]int32
	met    [][2]int32 // of this Advance
	placed bool       // rests has what it touched when it was placed
}

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
// the robot and what it touches; 0 without one. What it stood on when it was placed, and the ground under wheels, is
// none.
func (b *Body) VirtualContact() (depth float64, own, other hal.Part) {
	v := &b.virtual
	if v.depth <= 0 {
		return 0, own, other
	}
	return v.depth, b.scene.name(int(v.pair[0])), b.scene.name(int(v.pair[1]))
}

// isTwin reports whether the robot follows real motion.
func (b *Body) isTwin() bool {
	return b.led || slices.ContainsFunc(b.joints, func(j Joint) bool { return j.follows() })
}

// beginVirtual forgets the contacts of the Advance before, of all robots. It reports whether one is a twin.
func (s *Scene) beginVirtual() (any bool) {
	for _, b := range s.bodies {
		b.virtual.depth, b.virtual.met = 0, b.virtual.met[:0]
		any = any || b.isTwin()
	}
	return any && s.system != nil
}

// noteVirtual notes the contacts of twins in the last step.
func (s *Scene) noteVirtual() {
	for _, c := range s.system.Found() {
		a, b := s.system.Geom(int(c.A)).Body, s.system.Geom(int(c.B)).Body
		s.noteTwin(a, b, c.Depth, c.Normal[2])
		s.noteTwin(b, a, c.Depth, -c.Normal[2])
	}
}

// noteTwin notes a contact of one of a twin's bodies; up is how much the other pushes it up.
func (s *Scene) noteTwin(own, other int, depth, up float64) {
	i := slices.IndexFunc(s.bodies, func(b *Body) bool { return own >= 0 && b.owns(own) })
	if i < 0 || !s.bodies[i].isTwin() || s.bodies[i].owns(other) {
		return
	}
	b, v, pair := s.bodies[i], &s.bodies[i].virtual, [2]int32{int32(own), int32(other)}
	if other == dynamics.World && up > math.Sqrt2/2 && b.hasWheels() {
		return
	}
	if !slices.Contains(v.met, pair) {
		v.met = append(v.met, pair)
	}
	if depth > v.depth && v.placed && !slices.Contains(v.rests, pair) {
		v.depth, v.pair = depth, pair
	}
}

// endVirtual makes what a twin touched when it was placed its rest, until they part.
func (s *Scene) endVirtual() {
	for _, b := range s.bodies {
		v := &b.virtual
		if !v.placed {
			v.placed = b.isTwin()
			v.rests = append(v.rests[:0], v.met...)
			continue
		}
		v.rests = slices.DeleteFunc(v.rests, func(pair [2]int32) bool { return !slices.Contains(v.met, pair) })
	}
}

func (b *Body) hasWheels() bool {
	for i := range b.model.Joints {
		if b.model.Joints[i].Wraps && b.model.Wheel(i) > 0 {
			return true
		}
	}
	return false
}

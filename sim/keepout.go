package sim

import (
	"fmt"
	"math"
	"slices"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/sim/collide"
	"github.com/halyard-robotics/halyard/sim/dynamics"
	"github.com/halyard-robotics/halyard/sim/model"
)

// keepOut finds how the joints and wheels of a robot bring it nearer to things of the scene.
type keepOut struct {
	robot  *Body
	zones  []zone
	moves  []float64      // scratch: see hal.Approach
	found  []hal.Approach // with memory of earlier cycles
	parent []int          // of each body, hal.None of the root
	by     []int          // the joint that moves each body against its parent, hal.None of a fixed one
}

// zone is a thing that the robot keeps a margin from.
type zone struct {
	thing  string
	margin float64

	of     *dynamics.System // that space is of
	space  *collide.Space   // nil: it has no shapes
	failed bool             // its space could not be made
	poses  []collide.Pose
}

const (
	// foresight is the gap, on top of the margin, from which a robot is slowed down.
	foresight = 0.5 // m
	// The gap closes at most so fast that the way to the margin takes this long. Wheels answer later: a base reports
	// ten times a second, and rolls.
	jointBraking = 0.25 // s
	wheelBraking = 0.8  // s
	// A joint that moves a point nearly along a surface does not bring it nearer.
	slanting = 0.02
	// The cosine of the steepest slope that counts as ground for wheels, 30°.
	drivable = 0.87
)

// scenery is the thing of KeepOut that is all of the scene that never moves.
const scenery = "scene"

// KeepOut returns a function that lists how the robot's actuators bring it nearer to things: "scene" is all that never
// moves, others are the names of robots and loose things. The list is valid until the next call. The error names a
// thing that is not there.
func (b *Body) KeepOut(things []string, margins []float64) (func() []hal.Approach, error) {
	k := &keepOut{robot: b, moves: make([]float64, len(b.joints)), parent: make([]int, len(b.parts)),
		by: make([]int, len(b.parts))}
	if len(b.parts) == 0 {
		return nil, refused("keep_out", b.name, fmt.Errorf("got a robot without bodies"))
	}
	for i := range k.parent {
		k.parent[i], k.by[i] = hal.None, hal.None
	}
	for i := range b.model.Joints {
		if l := &b.model.Joints[i].Linkage; l.Child != hal.None {
			k.parent[l.Child], k.by[l.Child] = l.Parent, i
		}
	}
	for i := range b.model.Passive {
		l := &b.model.Passive[i].Linkage
		k.parent[l.Child] = l.Parent
	}
	for i, thing := range things {
		if thing != scenery && b.scene.Body(thing) == nil && !slices.ContainsFunc(b.scene.ground.Free,
			func(free model.Body) bool { return free.Name == thing }) || thing == b.name {
			return nil, refused("keep_out", b.name, fmt.Errorf("got shape %q, want %s, another robot or a loose thing",
				thing, scenery))
		}
		k.zones = append(k.zones, zone{thing: thing, margin: margins[i]})
	}
	return k.look, nil
}

// look lists the approaches of all zones. Where it is not known how near the robot is to one, it may not move.
func (k *keepOut) look() []hal.Approach {
	s := k.robot.scene.system
	k.found = k.found[:0]
	for i := range k.zones {
		z := &k.zones[i]
		if s == nil {
			break
		}
		if z.of != s {
			z.make(k.robot)
		}
		if z.failed || z.space != nil && !z.pose(k.robot) {
			k.found = append(k.found[:0], hal.Approach{})
			break
		}
		if z.space == nil {
			continue
		}
		z.space.Update(z.poses)
		for _, c := range z.space.Contacts() {
			if g := z.space.Geom(c.A); k.robot.owns(g.Body) {
				k.note(&c, g.Body-k.robot.at.body, z.margin)
			}
		}
	}
	return k.found
}

// pose notes where all bodies are. It reports whether that is known of the robot's.
func (z *zone) pose(b *Body) bool {
	known := true
	for n := range z.poses {
		z.poses[n] = b.scene.system.Pose(n)
		known = known && (!b.owns(n) || finite(z.poses[n].Position[:]...) && finite(z.poses[n].Rotation[:]...))
	}
	return known
}

// owns reports whether a body of the system is one of the robot's.
func (b *Body) owns(body int) bool { return body >= b.at.body && body < b.at.body+len(b.parts) }

// make builds the space of a zone: the robot's shapes, larger by foresight and margin, then those of the thing.
func (z *zone) make(b *Body) {
	z.of, z.space, z.failed = b.scene.system, nil, false
	z.poses = make([]collide.Pose, len(b.scene.sight.poses))
	var geoms []collide.Geom
	for _, g := range b.scene.sight.geoms {
		if b.owns(g.Body) {
			if wide, ok := widened(g.Shape, z.margin+foresight); ok {
				g.Shape, g.Clan, g.Group, g.Mask = wide, 1, 1, 0
				geoms = append(geoms, g)
			}
		}
	}
	own := len(geoms)
	for _, g := range b.scene.sight.geoms {
		part := b.scene.name(g.Body)
		if z.thing == scenery && g.Body == dynamics.World || g.Body != dynamics.World && !b.owns(g.Body) &&
			(part.Agent == z.thing || part.Agent == "" && part.Body == z.thing) {
			g.Clan, g.Group, g.Mask = 2, 1, 0
			geoms = append(geoms, g)
		}
	}
	if own == 0 || own == len(geoms) {
		z.failed = own == 0
		return
	}
	space, err := collide.New(geoms, nil, 0)
	if z.failed = err != nil; err == nil {
		z.space = space
	}
}

// widened is a shape that is larger by so much on all sides; a box keeps its corners.
func widened(s collide.Shape, by float64) (collide.Shape, bool) {
	switch s.Kind {
	case collide.Sphere, collide.Capsule:
		s.Radius += by
	case collide.Cylinder:
		s.Radius += by
		s.Half[2] += by
	case collide.Hull:
		s = collide.Shape{Kind: collide.Box, Half: s.Hull.Half()}
		fallthrough
	case collide.Box:
		for i := range s.Half {
			s.Half[i] += by
		}
	default:
		return s, false
	}
	return s, true
}

// note notes the approach of a part of the robot by a contact of the widened shapes, where actuators change it.
func (k *keepOut) note(c *collide.Contact, part int, margin float64) {
	gap := foresight + margin - c.Depth
	// The point of the robot's own surface: the contact's is in the middle of the overlap.
	at := c.Position
	for i := range at {
		at[i] += float64(c.Normal[i] * (gap - c.Depth) / 2)
	}
	braking := jointBraking
	if k.sensitivities(part, at, c.Normal) {
		braking = wheelBraking
	}
	if !slices.ContainsFunc(k.moves, func(m float64) bool { return m != 0 }) {
		return
	}
	n := len(k.found)
	if n < cap(k.found) {
		k.found = k.found[:n+1]
	} else {
		k.found = append(k.found, hal.Approach{})
	}
	a := &k.found[n]
	a.Room = max(0, gap-margin)
	a.Speed, a.Moves = a.Room/braking, append(a.Moves[:0], k.moves...)
}

// sensitivities sets moves to how far a point of a part moves along the normal per unit of each actuator. It reports
// whether wheels do it.
func (k *keepOut) sensitivities(part int, at, normal [3]float64) (wheels bool) {
	b := k.robot
	clear(k.moves)
	for body := part; body != hal.None; body = k.parent[body] {
		i := k.by[body]
		if i == hal.None || b.model.Joints[i].Wraps && b.model.Wheel(i) > 0 {
			continue
		}
		l := &b.model.Joints[i].Linkage
		way := k.axis(l)
		if l.Kind != model.Slide {
			anchor := k.world(l).Of(l.Anchor)
			way = cross(way, [3]float64{at[0] - anchor[0], at[1] - anchor[1], at[2] - anchor[2]})
		}
		if m := float64(l.Sign * dot(normal, way)); math.Abs(m) > slanting*math.Sqrt(dot(way, way)) {
			k.moves[i] = m
		}
	}
	if b.model.Fixed {
		return false
	}
	// Wheels turn about the robot's y axis: they move it along its x axis, and turn it about its z axis.
	root := b.Pose(b.root)
	// What is less steep than drivable they drive on.
	ahead, up := root.Turn([3]float64{1, 0, 0}), root.Turn([3]float64{0, 0, 1})
	count, side := 0, 0.0
	for i := range b.model.Joints {
		if j := &b.model.Joints[i]; j.Wraps && b.model.Wheel(i) > 0 {
			count++
			side = max(side, math.Abs(j.Anchor[1]))
		}
	}
	arm := [3]float64{at[0] - root.Position[0], at[1] - root.Position[1], at[2] - root.Position[2]}
	turning := dot(normal, cross(up, arm))
	for i := range b.model.Joints {
		j := &b.model.Joints[i]
		if radius := b.model.Wheel(i); j.Wraps && radius > 0 && side > 0 && math.Abs(dot(normal, up)) < drivable {
			per := radius / float64(count) * j.Sign * math.Copysign(1, j.Axis[1])
			k.moves[i] = float64(per * (dot(normal, ahead) - float64(turning*math.Copysign(1, j.Anchor[1])/side)))
			wheels = wheels || math.Abs(k.moves[i]) > 1e-3*radius
		}
	}
	return wheels
}

// world is the frame of the robot, as it was built, turned with the child of a joint.
func (k *keepOut) world(l *model.Linkage) hal.Pose {
	return k.robot.Pose(l.Child).Times(k.robot.parts[l.Child].Pose.Inverse())
}

func (k *keepOut) axis(l *model.Linkage) [3]float64 { return k.world(l).Turn(l.Axis) }

func cross(a, b [3]float64) (c [3]float64) {
	for i := range c {
		k, l := (i+1)%3, (i+2)%3
		c[i] = float64(a[k]*b[l]) - float64(a[l]*b[k])
	}
	return c
}

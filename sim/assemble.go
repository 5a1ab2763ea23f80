package sim

import (
	"fmt"
	"math"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/sim/exact"
	"github.com/halyard-robotics/halyard/sim/collide"
	"github.com/halyard-robotics/halyard/sim/dynamics"
	"github.com/halyard-robotics/halyard/sim/model"
)

// How contacts, stops and joints give way in the original Simloid: a spring and a damper each, from ODE's ERP and CFM
// at its step of 10 ms (ODE manual, "How to use ERP and CFM"; the values are its own). Other steps have the same
// spring and damper.
const (
	odeStep     = 0.01
	contactERP  = 0.30
	contactCFM  = 1e-4
	contactSlip = 0.001 // m/s per N
	worldERP    = 0.20
	worldCFM    = 1e-5

	// The original has no bound on the correction speed; then a humanoid whose arms have penetrated its trunk would
	// break apart.
	contactHaste = 0.5 // m/s
	stopHaste    = 5   // rad/s
)

// greatestFriction represents a surface that does not slide, N or 1.
const greatestFriction = 1e6

// odeSoftness is the softness for steps of h equivalent to ODE's erp and cfm at a step of odeStep.
func odeSoftness(erp, cfm, haste, h float64) dynamics.Softness {
	spring, damper := erp/(odeStep*cfm), (1-erp)/cfm
	give := float64(h*spring) + damper
	return dynamics.Softness{ERP: h * spring / give, CFM: 1 / give, Haste: haste}
}

// rebuild makes the system again, of all robots with bodies and of the ground. Robots keep their state; loose things
// too, unless the seed has changed.
func (s *Scene) rebuild() error {
	var whole []*Body
	s.bare = true
	for _, b := range s.bodies {
		if len(b.parts) > 0 {
			whole = append(whole, b)
			s.bare = s.bare && b.model.ODE
		}
	}
	s.bare = s.bare && len(s.vehicles) == 0
	if len(whole) == 0 && len(s.vehicles) == 0 {
		s.system, s.pushed, s.loaded, s.due = nil, nil, s.seed, false
		s.sight = sight{}
		s.updateGallery()
		return nil
	}
	same := s.ground != nil && s.loaded == s.seed && !s.due
	if !same {
		ground, err := s.load(s.seed)
		if err != nil {
			return fmt.Errorf("scene: %w", err)
		}
		s.ground, s.loaded = s.own.put(ground.Draw(uniform(s.seed, ""))), s.seed
		s.layTags()
	}
	spec := dynamics.Spec{Options: dynamics.Options{Gravity: s.gravity, EulerTurn: 1, Sleeps: true}}
	h := s.substep.Seconds()
	if s.bare {
		spec.Options.Contact = odeSoftness(contactERP, contactCFM, contactHaste, h)
		spec.Options.Contact.Slip = contactSlip
	}
	for _, b := range whole {
		b.assemble(&spec, h)
	}
	for _, v := range s.vehicles {
		v.assemble(&spec)
	}
	thing := len(spec.Bodies)
	if err := assembleGround(&spec, s.ground); err != nil {
		return err
	}
	seen, err := newSight(&spec, whole)
	if err != nil {
		return err
	}
	m, err := dynamics.New(spec)
	if err != nil {
		return &hal.Error{Kind: hal.Invalid, Op: "scene", Err: err}
	}
	next, err := dynamics.NewSystem(m)
	if err != nil {
		return &hal.Error{Kind: hal.Invalid, Op: "scene", Err: err}
	}
	s.sight = seen
	s.adopt(next, whole, thing, same)
	s.due = false
	return nil
}

// adopt makes next the scene's system, in the state of the one before as far as that had the same robots and things.
func (s *Scene) adopt(next *dynamics.System, whole []*Body, thing int, same bool) {
	old := s.system
	for _, b := range whole {
		was := b.at
		b.place(next.Model())
		if b.placed && old != nil && b.at.fits(was) {
			b.at.load(next, old.Q, old.V, was)
		}
		b.placed = true
	}
	for _, v := range s.vehicles {
		v.rebind(next, old)
	}
	if old != nil && same {
		for i := range s.ground.Free {
			free(next.Model(), thing+i).load(next, old.Q, old.V, free(old.Model(), s.thing+i))
		}
	}
	next.Moved()
	s.system, s.sight.system, s.thing = next, next, thing
	s.putLimbs()
	s.pushed = make([]int32, 0, next.Model().Bodies())
	s.touching = make([]touching, next.Model().Bodies())
	s.touches.clear()
	s.sea = waterOf(s.ground)
	s.updateGallery()
}

// assemble appends the robot to a spec: its bodies with their joints, shapes and couplings.
func (b *Body) assemble(spec *dynamics.Spec, h float64) {
	m := b.model
	b.at.body = len(spec.Bodies)
	for i := range b.parts {
		p := &b.parts[i]
		at := b.pose.Times(p.Pose)
		body := dynamics.Body{Name: b.name + "/" + p.Name, Parent: dynamics.World, Position: at.Position,
			Rotation: at.Rotation, Mass: p.Mass, COM: p.CentreOfMass, Inertia: square(p.Inertia)}
		if !m.Fixed {
			body.Joint.Kind = dynamics.Free
		}
		spec.Bodies = append(spec.Bodies, body)
		for k := range p.Shapes {
			if shape := &p.Shapes[k]; shape.Collides {
				g := geom(shape, b.at.body+i)
				if m.Ghost {
					g.Clan = b.at.body + 1
				}
				spec.Geoms = append(spec.Geoms, g)
			}
		}
	}
	for i := range m.Joints {
		if j := &m.Joints[i]; j.Child != hal.None {
			b.link(spec, &j.Linkage, h, j.Wraps)
		}
	}
	for i := range m.Passive {
		p := &m.Passive[i]
		b.link(spec, &p.Linkage, h, false)
		if mimic := p.Mimic; mimic != nil {
			of := &m.Joints[mimic.Joint]
			spec.Equalities = append(spec.Equalities, dynamics.Equality{Kind: dynamics.Mirror, A: b.at.body + p.Child,
				B: b.at.body + of.Child, Ratio: p.Sign * of.Sign * mimic.Times, Offset: p.Sign * mimic.Plus})
		}
	}
	if d := m.Differential; d != nil {
		l, r := &m.Passive[d[0]], &m.Passive[d[1]]
		spec.Equalities = append(spec.Equalities, dynamics.Equality{Kind: dynamics.Mirror,
			A: b.at.body + l.Child, B: b.at.body + r.Child, Ratio: -l.Sign * r.Sign})
	}
	for _, pair := range m.NoContact {
		spec.NoContact = append(spec.NoContact, [2]int{b.at.body + pair[0], b.at.body + pair[1]})
	}
	for i, pin := range b.pins {
		if pin.on {
			back := pin.pose.Inverse()
			spec.Equalities = append(spec.Equalities, dynamics.Equality{Kind: dynamics.Fixed, A: b.at.body + i,
				B: dynamics.World, AnchorB: pin.pose.Position, Rotation: back.Rotation})
		}
	}
}

// link gives the child of a linkage its joint: all poses are those of the built robot, in its own frame.
func (b *Body) link(spec *dynamics.Spec, l *model.Linkage, h float64, wraps bool) {
	parent, child := b.parts[l.Parent].Pose, b.parts[l.Child].Pose
	at, inward := parent.Inverse().Times(child), child.Inverse()
	to := &spec.Bodies[b.at.body+l.Child]
	to.Parent, to.Position, to.Rotation = b.at.body+l.Parent, at.Position, at.Rotation
	to.Joint = dynamics.Joint{Kind: [...]dynamics.JointKind{model.Hinge: dynamics.Hinge, model.Slide: dynamics.Slide,
		model.Weld: dynamics.Weld, model.Ball: dynamics.Ball}[l.Kind],
		Anchor: inward.Of(l.Anchor), Axis: inward.Turn(l.Axis), Damping: l.Damping, Dry: l.Friction,
		Armature: l.Armature}
	if l.Kind == model.Hinge || l.Kind == model.Slide {
		to.Joint.Stiffness, to.Joint.Rest = l.Stiffness, l.Sign*l.Rest
	}
	if l.Kind == model.Weld {
		to.Joint = dynamics.Joint{}
		return
	}
	if low, high := l.Stops[0], l.Stops[1]; low < high && !wraps {
		if l.Sign < 0 {
			low, high = -high, -low
		}
		to.Joint.Limited, to.Joint.Limits = true, [2]float64{low, high}
		if b.model.ODE {
			to.Joint.Stop = odeSoftness(worldERP, worldCFM, stopHaste, h)
		}
	}
}

// assembleGround appends the ground and the fixed shapes.
func assembleGround(spec *dynamics.Spec, g *model.Scene) error {
	if g.Ground != nil {
		spec.Geoms = append(spec.Geoms,
			collide.Geom{Shape: collide.Shape{Kind: collide.Plane}, Material: surface(g.Ground), Body: dynamics.World,
				Local: collide.At(0, 0, g.GroundZ)})
	}
	for i := range g.Fixed {
		spec.Geoms = append(spec.Geoms, geom(&g.Fixed[i], dynamics.World))
	}
	for i := range g.Fields {
		f := &g.Fields[i]
		field, err := collide.NewField(f.Columns, f.Rows, f.Spacing[0], f.Spacing[1], f.Heights)
		if err != nil {
			return &hal.Error{Kind: hal.Invalid, Op: "scene " + g.Name, Err: err}
		}
		spec.Geoms = append(spec.Geoms, collide.Geom{Shape: collide.Shape{Kind: collide.HeightField, Field: field},
			Material: surface(&f.Material), Body: dynamics.World,
			Local: collide.At(f.Position[0], f.Position[1], f.Position[2])})
	}
	for i := range g.Free {
		p := &g.Free[i]
		for k := range p.Shapes {
			spec.Geoms = append(spec.Geoms, geom(&p.Shapes[k], len(spec.Bodies)))
		}
		spec.Bodies = append(spec.Bodies, dynamics.Body{Name: p.Name, Parent: dynamics.World, Position: p.Pose.Position,
			Rotation: p.Pose.Rotation,
			Joint:    dynamics.Joint{Kind: dynamics.Free}, Mass: p.Mass, COM: p.CentreOfMass,
			Inertia: square(p.Inertia),
			Sleeps:  true})
	}
	// The moving parts of a victim collide with robots, but not with fixed shapes.
	for i := range g.Arena.Victims {
		for k := range g.Arena.Victims[i].Segments {
			l := &g.Arena.Victims[i].Segments[k]
			spec.Geoms = append(spec.Geoms, geom(&l.Shape, len(spec.Bodies)))
			spec.NoContact = append(spec.NoContact, [2]int{dynamics.World, len(spec.Bodies)})
			spec.Bodies = append(spec.Bodies, dynamics.Body{Name: g.Arena.Victims[i].Name + "/" + l.Name,
				Parent:   dynamics.World,
				Position: l.Pose.Position, Rotation: l.Pose.Rotation,
				Joint: dynamics.Joint{Kind: dynamics.Hinge, Axis: l.Axis},
				Mass:  limbMass, Inertia: [9]float64{limbInertia, 0, 0, 0, limbInertia, 0, 0, 0, limbInertia}})
		}
	}
	return nil
}

// Mass and inertia of a victim's limb, those of an adult, for its contacts with robots.
const (
	limbMass    = 5.0 // kg
	limbInertia = 0.2 // kg·m²
)

// wave moves the victims' segments to where they are at now, s: to and fro as a cosine, so that they turn softly. With
// put they are there at once, not after the next step.
func (s *Scene) wave(now float64, put bool) {
	body, moved := s.thing+len(s.ground.Free), false
	for i := range s.ground.Arena.Victims {
		v := &s.ground.Arena.Victims[i]
		for k := range v.Segments {
			l := &v.Segments[k]
			pace := 2 * math.Pi / l.Period()
			phase := math.Mod(float64(pace*now), 2*math.Pi)
			half := float64(0.5 * l.Angle)
			at, rate := half-float64(half*exact.Cos(phase)), float64(float64(half*pace)*exact.Sin(phase))
			j := s.system.Model().Joint(body)
			body++
			if !put {
				s.system.Follow(j.V, at, rate)
			} else if math.Abs(s.system.Q[j.Q]-at) > 1e-9 { // rounding is no change
				s.system.Q[j.Q], s.system.V[j.V], moved = at, rate, true
			}
		}
	}
	if moved {
		s.system.Moved()
	}
}

// putLimbs puts the victims' segments where they are now, after a change of the system's state or of the clock: else
// they would be elsewhere until the next step, and in it sweep all the way at once.
func (s *Scene) putLimbs() {
	if s.system != nil {
		s.wave(s.now.Seconds()-s.rest.Seconds(), true)
	}
}

// geom is a shape on a body of the system.
func geom(s *model.Shape, body int) collide.Geom {
	g := collide.Geom{
		Shape:    collide.Shape{Kind: collide.Kind(s.Kind), Radius: s.Radius, Half: s.Half, Hull: s.Hull},
		Material: surface(&s.Material), Body: body, Local: collide.Pose(s.Pose),
	}
	switch {
	case s.Material.Glass:
		g.Group = glassGroup
	case s.Material.Mirror:
		g.Group = mirrorGroup
	}
	return g
}

func surface(m *model.Material) collide.Material {
	c := collide.Material{Friction: math.Min(m.Friction, greatestFriction), Torsion: m.Torsion, Rolling: m.Rolling,
		Restitution: m.Restitution, ForceLimit: m.ForceLimit}
	if m.Axle > 0 {
		c.Direction, c.Factor, c.Turn = m.AxleAlong, m.Axle, m.Rollers
		if c.Direction == ([3]float64{}) {
			c.Direction = [3]float64{0, 0, 1}
		}
	}
	return c
}

// square is an inertia xx, yy, zz, xy, xz, yz as a matrix, row by row.
func square(i [6]float64) [9]float64 {
	return [9]float64{i[0], i[3], i[4], i[3], i[1], i[5], i[4], i[5], i[2]}
}

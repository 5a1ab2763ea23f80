package sim

import (
	"fmt"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/sim/actuator"
	"github.com/halyard-robotics/halyard/sim/collide"
	"github.com/halyard-robotics/halyard/sim/dynamics"
	"github.com/halyard-robotics/halyard/sim/model"
)

// The values of robots and of loose things, masses, sizes, friction, motors, change only at a reset, which draws the
// random ones. Each has its own random stream, derived from the seed and the names of the robot, the part and the
// value, so an additional value does not change the others.

// drawn are the values of a robot at one time.
type drawn struct {
	model, next *model.Robot
	seed        int64 // of model
}

// Model is the robot with its random values drawn. After a Change, until the next reset, it has the values from which
// that reset will draw. It is read-only.
func (b *Body) Model() *model.Robot {
	if b.stale {
		return b.next
	}
	return b.model
}

// Change changes values of the robot from the next reset on: change writes to a copy, and random values are drawn about
// the values that it writes. Names and the structure stay. The error names an impossible value; then nothing changes.
func (b *Body) Change(change func(*model.Robot)) error {
	next := b.next.Clone()
	change(next)
	// Building a system checks the values. It stores the indices of the robot's bodies in the spec, so it works on a
	// copy of b: the running system keeps its own indices.
	if len(next.Bodies) > 0 {
		spec, trial := dynamics.Spec{}, *b
		trial.model, trial.parts = next, next.Bodies
		trial.assemble(&spec, b.scene.substep.Seconds())
		if err := check(spec); err != nil {
			return refused("change", b.name, err)
		}
	}
	b.next, b.stale = next, true
	return nil
}

// Reshape is Change for one of the robot's bodies.
func (b *Body) Reshape(body int, change func(*model.Body)) error {
	return b.Change(func(m *model.Robot) { change(&m.Bodies[body]) })
}

// redraw draws the robot's values for a seed; false where they are those already.
func (b *Body) redraw(seed int64) bool {
	if !b.stale && (seed == b.drawn || !b.next.Random()) {
		return false
	}
	b.stale, b.drawn = false, seed
	b.use(b.next.Draw(uniform(b.scene.seed, b.name)))
	return true
}

// use makes the robot's values those of m.
func (b *Body) use(m *model.Robot) {
	b.model, b.parts = m, m.Bodies
	b.supply[0].Resistance = m.Supply.Resistance
	for i := range b.joints {
		j := &b.joints[i]
		j.Model = &m.Joints[i]
		// An emulated device may have set a backlash in the load: only the changeable fields are copied.
		if s := j.Servo; s != nil {
			s.Spec, s.Load.Min, s.Load.Max = j.Model.Servo, j.Model.Load.Min, j.Model.Load.Max
		}
	}
}

// uniform draws the values of a robot, or of no robot those of loose things, for a seed.
func uniform(seed int64, robot string) func(list, name, value string) float64 {
	return func(list, name, value string) float64 {
		state := stream(seed, robot, list, name, value)
		return actuator.Uniform(&state)
	}
}

// redraw prepares the values of all for the scene's seed; it reports whether the system must be built again.
func (s *Scene) redraw() bool {
	// due stays until a system has been built, lest one reset that fails leaves the next with half of it.
	s.due = s.due || s.loaded != s.seed || s.own.changed
	s.own.changed = false
	for _, b := range s.bodies {
		if b.redraw(s.seed) && len(b.parts) > 0 {
			s.due = true
		}
	}
	return s.due
}

// reinstate brings back the values of the snapshot where a reset has made others since; it reports whether it has, and
// the system must be built again.
func (s *Scene) reinstate() (rebuild bool) {
	if k := &s.saved; s.system != nil && k.ground != nil && k.ground != s.ground {
		s.ground, s.loaded, rebuild = k.ground, k.loaded, true
		s.own.changed = s.own.changed || s.own.is()
	}
	for _, b := range s.bodies {
		was := b.saved.drawn
		if was.model == nil || was.model == b.model {
			continue
		}
		// Values set after the snapshot, or before a reset after it, are not lost: the next reset applies them.
		b.use(was.model)
		b.drawn, b.stale = was.seed, b.stale || b.next != was.next
		rebuild = rebuild || len(b.parts) > 0
	}
	return rebuild
}

// own are the values of the ground and of loose things that a client has set: a reset with any seed keeps them.
type own struct {
	changed bool // since the last reset
	ground  *model.Material
	things  map[string]model.Body // by name
}

func (o *own) is() bool { return o.ground != nil || len(o.things) > 0 }

// put puts them into a scene of ours.
func (o *own) put(g *model.Scene) *model.Scene {
	if g.Ground != nil && o.ground != nil {
		g.Ground = o.ground
	}
	for i := range g.Free {
		if b, ok := o.things[g.Free[i].Name]; ok {
			b.Pose = g.Free[i].Pose
			g.Free[i] = b
		}
	}
	return g
}

// Gravity is the scene's gravity, m/s²; see SetGravity.
func (s *Scene) Gravity() [3]float64 { return s.gravity }

// Ground is the surface of the ground plane; see Body.Model. nil if absent.
func (s *Scene) Ground() *model.Material {
	switch {
	case s.ground == nil || s.ground.Ground == nil:
		return nil
	case s.own.ground != nil:
		return s.own.ground
	}
	return s.ground.Ground
}

// SetGround changes the surface of the plane from the next reset on.
func (s *Scene) SetGround(m model.Material) error {
	if s.Ground() == nil {
		return refused("set", "ground", fmt.Errorf("got a surface, want a plane that has one"))
	}
	// On its own, for the material is all that can be wrong.
	trial := dynamics.Spec{Geoms: []collide.Geom{{Shape: collide.Shape{Kind: collide.Plane}, Material: surface(&m),
		Body: dynamics.World}}}
	if err := check(trial); err != nil {
		return refused("set", "ground", err)
	}
	s.own.ground, s.own.changed = &m, true
	return nil
}

// Things are the names of the loose things, which other indexes count by.
func (s *Scene) Things() []string {
	if s.ground == nil {
		return nil
	}
	names := make([]string, len(s.ground.Free))
	for i := range names {
		names[i] = s.ground.Free[i].Name
	}
	return names
}

// Thing is a loose thing with its values, as in Body.Model, and where it is; false if absent.
func (s *Scene) Thing(i int) (*model.Body, hal.Pose, bool) {
	if s.system == nil || i < 0 || i >= len(s.ground.Free) {
		return nil, hal.Pose{}, false
	}
	b := &s.ground.Free[i]
	if set, ok := s.own.things[b.Name]; ok {
		b = &set
	}
	return b, hal.Pose(s.system.Pose(s.thing + i)), true
}

// PlaceThing puts a loose thing at a pose, at rest.
func (s *Scene) PlaceThing(i int, p hal.Pose) error {
	b, _, ok := s.Thing(i)
	if !ok {
		return absent(fmt.Sprintf("thing %d", i))
	}
	return s.placeFree(b.Name, s.thing+i, p, p)
}

// ChangeThing changes values of a loose thing from the next reset on, as Body.Change those of a robot.
func (s *Scene) ChangeThing(i int, change func(*model.Body)) error {
	was, _, ok := s.Thing(i)
	if !ok {
		return absent(fmt.Sprintf("thing %d", i))
	}
	b := *was
	b.Shapes = append([]model.Shape(nil), b.Shapes...)
	b.Random = model.Random{} // set values are exact
	change(&b)
	spec := dynamics.Spec{}
	if err := assembleGround(&spec, &model.Scene{Free: []model.Body{b}}); err != nil {
		return err
	}
	if err := check(spec); err != nil {
		return refused("change", b.Name, err)
	}
	if s.own.things == nil {
		s.own.things = map[string]model.Body{}
	}
	s.own.things[b.Name], s.own.changed = b, true
	return nil
}

// check returns the faults of a spec.
func check(spec dynamics.Spec) error {
	_, err := dynamics.New(spec)
	return err
}

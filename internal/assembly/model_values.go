package assembly

import (
	"fmt"
	"math"
	"strings"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/sim"
	"github.com/halyard-robotics/halyard/sim/model"
)

// The parameters of the simulated model as named values, in the names of the original simulator; docs/osp-values.md
// lists them. A pose and gravity are set at once; all others take effect at the next reset.

// observeModel declares the values and the events of the scene and of its robots. Those of real ones cannot be set, for
// the scene has what is measured of them; but the pose of one whose pose_from is client.
func (b *Builder) observeModel() {
	b.values = &modelValues{scene: b.Scene, values: b.Rig.Values()}
	b.collisions = newCollisions(b.Scene, b.Rig.Events())
	robots := 0
	for i, body := range b.Robots {
		a := b.Rig.Agent(b.Plan.Agents[i].Config.Name)
		if body == nil || a == nil {
			continue
		}
		if robots++; a.BodyKind() != hal.Real {
			b.ObserveRobot(body)
			continue
		}
		b.Rig.BetweenCycles(func() { b.observeReal(i, body) })
	}
	if robots > 0 {
		b.values.declareScene()
		b.collisions.declareThings(b.Scene.Things())
		b.addWorld(b.collisions)
	}
}

// ObserveRobot declares the values and the events of a robot of the scene, at a cycle's edge.
func (s *System) ObserveRobot(b *sim.Body) {
	s.Rig.BetweenCycles(func() {
		s.values.declareRobot(b)
		s.collisions.declareRobot(b)
	})
}

// observeReal declares the values and the events of agent i, a real robot.
func (b *Builder) observeReal(i int, body *sim.Body) {
	own := &modelValues{scene: b.Scene, values: readOnly{b.Rig.Values()}}
	own.declareRobot(body)
	b.collisions.declareRobot(body)
	placed, ok := wrapped[placeable](b.Bodies[i])
	if m := body.Model(); ok && len(m.Bodies) > 0 && b.Plan.Agents[i].Config.PoseFrom == "client" {
		b.values.declarePose("/"+body.Name()+"/"+m.Bodies[m.Root()].Name+"/", placed.Placed, func(p hal.Pose) error {
			placed.Place(p)
			return nil
		})
	}
}

// placeable is a body whose frame a client measures.
type placeable interface {
	Place(p hal.Pose)
	Placed() (hal.Pose, bool)
}

// declarer is what values are declared with.
type declarer interface {
	Declare(name string, kind hal.ValueKind, get func() hal.Value, set func(hal.Value) error) hal.ValueID
}

// readOnly declares values that cannot be set.
type readOnly struct{ values *hal.Values }

func (r readOnly) Declare(name string, kind hal.ValueKind, get func() hal.Value,
	_ func(hal.Value) error) hal.ValueID {
	return r.values.Declare(name, kind, get, nil)
}

// modelValues declares the values of one scene.
type modelValues struct {
	scene  *sim.Scene
	values declarer
}

// declareScene declares the values without a robot.
func (v *modelValues) declareScene() {
	v.values.Declare("/Simulation/Gravity", hal.VectorValue, func() hal.Value { return vector(v.scene.Gravity()) },
		func(x hal.Value) error { return v.scene.SetGravity([3]float64(x.Vector[:3])) })
	// Fixed shapes and fields have surfaces too; only the plane's has a name that a client could know.
	if v.scene.Ground() != nil {
		f := parameter[model.Material]{"Friction", 0, maxFriction,
			func(m *model.Material) *float64 { return &m.Friction }}
		declare(v.values, "/World/Ground/", &f, v.scene.Ground, func(change func(*model.Material)) error {
			m := *v.scene.Ground()
			change(&m)
			return v.scene.SetGround(m)
		})
	}
	for i, name := range v.scene.Things() {
		// The things of another seed have the same names in the same order, so that an index stays right.
		prefix := "/World/" + name + "/"
		now := func() *model.Body { b, _, _ := v.scene.Thing(i); return b }
		v.declarePose(prefix, func() (hal.Pose, bool) {
			_, p, ok := v.scene.Thing(i)
			return p, ok
		}, func(p hal.Pose) error { return v.scene.PlaceThing(i, p) })
		v.declareBody(prefix, now(), now,
			func(change func(*model.Body)) error { return v.scene.ChangeThing(i, change) })
	}
}

// declareRobot declares the values of a robot of the scene. Once the robot is removed they are NaN and cannot be set.
func (v *modelValues) declareRobot(b *sim.Body) {
	// A value outlives its robot, since ids of the repository are permanent; a robot that returns declares it again.
	here := func() *model.Robot {
		if v.scene.Body(b.Name()) != b {
			return nil
		}
		return b.Model()
	}
	m := b.Model()
	for i := range m.Bodies {
		prefix := "/" + b.Name() + "/" + m.Bodies[i].Name + "/"
		v.declarePose(prefix, func() (hal.Pose, bool) {
			if here() == nil {
				return hal.Pose{}, false
			}
			return b.Pose(i), true
		}, func(p hal.Pose) error { return b.PlacePart(i, p) })
		v.declareBody(prefix, &m.Bodies[i], partOf(here, func(m *model.Robot) *model.Body { return &m.Bodies[i] }),
			func(change func(*model.Body)) error { return b.Reshape(i, change) })
	}
	for i := range m.Joints {
		prefix := jointPrefix(b.Name(), m, i)
		for _, f := range jointParameters(&m.Joints[i]) {
			declarePart(v.values, prefix, &f, b, here, func(m *model.Robot) *model.Joint { return &m.Joints[i] })
		}
		v.declareStops(prefix, b, i, here)
	}
	// Passive joints have no motor, and no path at any original's.
	for i := range m.Passive {
		for _, f := range linkParameters() {
			declarePart(v.values, "/"+b.Name()+"/"+m.Passive[i].Name+"/", &f, b, here,
				func(m *model.Robot) *model.Linkage { return &m.Passive[i].Linkage })
		}
	}
	if len(m.Joints) == 0 || m.Joints[0].Servo == nil {
		return // Simloid's motors define their own volts
	}
	for _, f := range []parameter[model.Robot]{
		{"Voltage", 1, maxVolts, func(m *model.Robot) *float64 { return &m.Supply.Volts }},
		{"Resistance", 0, maxOhms, func(m *model.Robot) *float64 { return &m.Supply.Resistance }},
	} {
		declare(v.values, "/"+b.Name()+"/Supply/", &f, here, b.Change)
	}
}

// partOf returns a function that returns a part of the robot, nil once the robot is removed.
func partOf[T any](here func() *model.Robot, part func(*model.Robot) *T) func() *T {
	return func() *T {
		if m := here(); m != nil {
			return part(m)
		}
		return nil
	}
}

// declarePart declares the value f of a part of robot b.
func declarePart[T any](values declarer, prefix string, f *parameter[T], b *sim.Body, here func() *model.Robot,
	part func(*model.Robot) *T) {
	declare(values, prefix, f, partOf(here, part), func(change func(*T)) error {
		return b.Change(func(m *model.Robot) { change(part(m)) })
	})
}

// jointPrefix is where a joint's values are: at its path, where the robot's original has one, as its channels are.
func jointPrefix(robot string, m *model.Robot, i int) string {
	if j := &m.Joints[i]; m.Simloid != hal.None || !strings.HasPrefix(j.Path, "/") {
		return "/" + robot + "/" + j.Name + "/"
	}
	return "/" + robot + m.Joints[i].Path + "/"
}

// declarePose declares the pose of a body. Its orientation has two names: this project's, which includes its kind, and
// the original's.
func (v *modelValues) declarePose(prefix string, at func() (hal.Pose, bool), place func(hal.Pose) error) {
	declare := func(name string, kind hal.ValueKind, get func(hal.Pose) hal.Value,
		set func(p *hal.Pose, x hal.Value) error) {
		v.values.Declare(prefix+name, kind, func() hal.Value {
			if p, ok := at(); ok {
				return get(p)
			}
			return gone(kind)
		}, func(x hal.Value) error {
			p, ok := at()
			if !ok {
				return errGone
			}
			if err := set(&p, x); err != nil {
				return err
			}
			return place(p)
		})
	}
	declare("Position", hal.VectorValue, func(p hal.Pose) hal.Value { return vector(p.Position) },
		func(p *hal.Pose, x hal.Value) error {
			p.Position = [3]float64(x.Vector[:3]) // it keeps its orientation
			return nil
		})
	for _, name := range []string{"Orientation", "OrientationQuaternion"} {
		declare(name, hal.QuaternionValue, func(p hal.Pose) hal.Value {
			return hal.Value{Kind: hal.QuaternionValue, Vector: p.Rotation}
		}, func(p *hal.Pose, x hal.Value) (err error) {
			p.Rotation, err = unitQuaternion(x.Vector)
			return err
		})
	}
}

// declareBody declares the parameters of a body.
func (v *modelValues) declareBody(prefix string, b *model.Body, now func() *model.Body,
	change func(func(*model.Body)) error) {
	// A root that is fixed to the world may have no mass, which then has no effect.
	if b.Mass > 0 {
		declareNumber(v.values, prefix+"Mass", minMass, maxMass, now, func(b *model.Body) float64 { return b.Mass },
			func(x float64) error { return change(func(b *model.Body) { b.Weigh(x) }) })
	}
	v.values.Declare(prefix+"CenterOfMass", hal.VectorValue, func() hal.Value {
		if b := now(); b != nil {
			return vector(b.CentreOfMass)
		}
		return gone(hal.VectorValue)
	}, nil)
	// Most bodies are one shape, as all of the original's are; those have its names.
	for k := range b.Shapes {
		shape := prefix
		if len(b.Shapes) > 1 {
			shape = fmt.Sprintf("%sShape%d/", prefix, k+1)
		}
		v.declareShape(shape, b.Shapes[k].Kind, k, now, change)
	}
}

// declareShape declares the parameters of shape k of a body.
func (v *modelValues) declareShape(prefix string, kind model.ShapeKind, k int, now func() *model.Body,
	change func(func(*model.Body)) error) {
	// Sizes go through Resize, so that the inertia follows.
	resize := func(set func(s *model.Shape)) error {
		return change(func(b *model.Body) {
			s := b.Shapes[k]
			set(&s)
			b.Resize(k, s.Radius, s.Half)
		})
	}
	if kind == model.Box {
		v.values.Declare(prefix+"Size", hal.VectorValue, func() hal.Value {
			b := now()
			if b == nil {
				return gone(hal.VectorValue)
			}
			h := b.Shapes[k].Half
			return vector([3]float64{2 * h[0], 2 * h[1], 2 * h[2]})
		}, func(x hal.Value) error {
			// All three edges before any is taken: a partial size is invalid.
			for _, l := range x.Vector[:3] {
				if err := within("size", l, minLength, maxLength); err != nil {
					return err
				}
			}
			if now() == nil {
				return errGone
			}
			return resize(func(s *model.Shape) {
				s.Half = [3]float64{x.Vector[0] / 2, x.Vector[1] / 2, x.Vector[2] / 2}
			})
		})
	} else {
		declareNumber(v.values, prefix+"Radius", minLength, maxLength, now,
			func(b *model.Body) float64 { return b.Shapes[k].Radius },
			func(x float64) error { return resize(func(s *model.Shape) { s.Radius = x }) })
	}
	if kind == model.Capsule || kind == model.Cylinder {
		declareNumber(v.values, prefix+"Height", minLength, maxLength, now,
			func(b *model.Body) float64 { return 2 * b.Shapes[k].Half[2] },
			func(x float64) error { return resize(func(s *model.Shape) { s.Half[2] = x / 2 }) })
	}
	f := parameter[model.Body]{"Friction", 0, maxFriction,
		func(b *model.Body) *float64 { return &b.Shapes[k].Material.Friction }}
	declare(v.values, prefix, &f, now, change)
}

// declareStops declares the stops of a joint, in degrees as in the original. A joint without stops gets no values.
func (v *modelValues) declareStops(prefix string, b *sim.Body, i int, here func() *model.Robot) {
	j := &b.Model().Joints[i]
	if j.Kind != model.Hinge || j.Child == hal.None || !(j.Stops[0] < j.Stops[1]) {
		return
	}
	for side, name := range []string{"MinAngle", "MaxAngle"} {
		declareNumber(v.values, prefix+name, -maxAngle, maxAngle, here,
			func(m *model.Robot) float64 { return m.Joints[i].Stops[side] * 180 / math.Pi },
			func(x float64) error {
				// The engine would treat exchanged stops as none.
				stops := here().Joints[i].Stops
				stops[side] = x * math.Pi / 180
				if !(stops[0] < stops[1]) {
					return fmt.Errorf("%s: got %g, want the lower end below the upper", name, x)
				}
				return b.Change(func(m *model.Robot) { m.Joints[i].Stops = stops })
			})
	}
}

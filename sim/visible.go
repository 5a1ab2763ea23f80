package sim

import (
	"github.com/halyard-robotics/halyard/internal/sim/camera"
	"github.com/halyard-robotics/halyard/sim/collide"
	"github.com/halyard-robotics/halyard/sim/dynamics"
	"github.com/halyard-robotics/halyard/sim/hydro"
	"github.com/halyard-robotics/halyard/sim/model"
)

// dry is the surface of a water that is nowhere, m.
const dry = -1e6

// waterOf is the water of a scene as vehicles meet it.
func waterOf(g *model.Scene) hydro.Sea {
	if w := g.Water; w != nil {
		return hydro.Sea{Surface: w.Surface, Density: w.Density, Current: w.Current}
	}
	return hydro.Sea{Surface: dry}
}

// Water is the water of the scene; nil if it is dry, and while no robot in it has a body.
func (s *Scene) Water() *model.Water {
	if s.ground == nil {
		return nil
	}
	return s.ground.Water
}

// The default paints.
func plainGround() model.Paint {
	return model.Paint{Colour: [3]float64{0.45, 0.45, 0.42}, Second: [3]float64{0.5, 0.5, 0.47}, Pattern: model.Checks,
		Size: 1}
}
func plainShape() model.Paint { return model.Paint{Colour: [3]float64{0.6, 0.6, 0.6}} }
func plainHull() model.Paint  { return model.Paint{Colour: [3]float64{0.95, 0.75, 0.1}} }

// A headlight: a cone of 60°, as bright on a wall two metres away as daylight.
const (
	headlightHalf  = 0.52 // rad
	headlightPower = 4
)

// lights are the day, the lamps of an arena, and the headlights that are on.
func (s *Scene) lights(out *camera.Scene) {
	a := &s.ground.Arena
	if a.Daylight < 1 {
		// Zero is the sun of every day to package camera; a millionth is night.
		out.Sun.Light, out.Sun.Sky = max(1e-6, 0.7*a.Daylight), max(1e-6, 0.6*a.Daylight)
	}
	for _, l := range a.Lights {
		out.Lights = append(out.Lights, camera.Light{Body: dynamics.World, Position: l.At, Direction: l.Towards,
			Half: l.Half, Power: l.Power})
	}
	for _, b := range s.bodies {
		if k := b.model.Rescue; b.lit && k != nil && len(b.parts) > 0 {
			out.Lights = append(out.Lights,
				camera.Light{Body: b.at.body + b.root, Position: [3]float64{k.Size[0] / 2, 0, k.Size[2] / 4},
					Direction: [3]float64{1}, Half: headlightHalf, Power: headlightPower})
		}
	}
}

// visible is all visible geoms of the system with their paints, including those without collisions.
func (s *Scene) visible() camera.Scene {
	var out camera.Scene
	add := func(g collide.Geom, own *model.Paint, other model.Paint) {
		if own != nil {
			other = *own
		}
		out.Geoms = append(out.Geoms, g)
		out.Paints = append(out.Paints, camera.Paint{Colour: other.Colour, Second: other.Second,
			Pattern: camera.Pattern(other.Pattern), Size: other.Size})
	}
	shapes := func(list []model.Shape, body int) {
		for i := range list {
			add(geom(&list[i], body), list[i].Material.Paint, plainShape())
			out.Paints[len(out.Paints)-1].Mirror = list[i].Material.Mirror
		}
	}
	g := s.ground
	shapes(g.Fixed, dynamics.World) // first, for the things count them
	for _, t := range g.Things {
		thing := camera.Object{Class: t.Class, Name: t.Name}
		for i := range t.Count {
			thing.Geoms = append(thing.Geoms, t.First+i)
		}
		out.Things = append(out.Things, thing)
	}
	for _, b := range s.bodies {
		for i := range b.parts {
			shapes(b.parts[i].Shapes, b.at.body+i)
		}
	}
	s.lights(&out)
	for _, v := range s.vehicles {
		for _, k := range v.model.Geoms(v.at.body) {
			add(k, nil, plainHull())
		}
	}
	for i := range g.Free {
		shapes(g.Free[i].Shapes, s.thing+i)
	}
	limb := s.thing + len(g.Free)
	for i := range g.Arena.Victims {
		for k := range g.Arena.Victims[i].Segments {
			shapes([]model.Shape{g.Arena.Victims[i].Segments[k].Shape}, limb)
			limb++
		}
	}
	// The plane and the fields, as the engine has them.
	var wide dynamics.Spec
	if assembleGround(&wide, &model.Scene{Name: g.Name, Ground: g.Ground, GroundZ: g.GroundZ,
		Fields: g.Fields}) == nil {
		own := make([]*model.Paint, 0, len(wide.Geoms))
		if g.Ground != nil {
			own = append(own, g.Ground.Paint)
		}
		for i := range g.Fields {
			own = append(own, g.Fields[i].Material.Paint)
		}
		for i, k := range wide.Geoms {
			add(k, own[i], plainGround())
		}
	}
	if w := g.Water; w != nil {
		out.Water = &camera.Water{Surface: w.Surface, Turbidity: w.Turbidity}
	}
	return out
}

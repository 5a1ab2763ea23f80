package model

import (
	"fmt"
	"regexp"

	"github.com/halyard-robotics/halyard/hal"
)

// waterFile is what a scene is full of.
type waterFile struct {
	Surface   float64   `yaml:"surface_m"`
	Density   float64   `yaml:"density_kgm3"`
	Current   []float64 `yaml:"current_ms"`
	Turbidity float64   `yaml:"turbidity"` // 1/m
}

// objectFile is a thing with a class, of shapes in its own frame.
type objectFile struct {
	Class    string      `yaml:"class"`
	Name     string      `yaml:"name"`
	At       []float64   `yaml:"at_m"`
	Rotation []float64   `yaml:"rotation_deg"`
	Shapes   []shapeFile `yaml:"shapes"`
}

type courseFile struct {
	Starts      []startFile `yaml:"starts"`
	Checkpoints []zoneFile  `yaml:"checkpoints"`
	NoGo        []zoneFile  `yaml:"no_go"`
	Finish      []zoneFile  `yaml:"finish"`
	Actions     []zoneFile  `yaml:"action_points"`
}

type startFile struct {
	Name     string    `yaml:"name"`
	At       []float64 `yaml:"at_m"`
	Rotation []float64 `yaml:"rotation_deg"`
	Spread   float64   `yaml:"spread_deg"`
}

// zoneFile is a solid that nothing touches; of the shape's keys those of place and size are meant.
type zoneFile struct {
	ID    string    `yaml:"id"`
	Shape shapeFile `yaml:",inline"`
}

// What a scene may have of them at most.
const (
	maxThings  = 1024
	maxZones   = 256 // of one kind
	maxCurrent = 10  // m/s
)

// The ids that zones may have: they go over the wire, bare, with commas between them.
var idPattern = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// wet reads the water; without it the scene is dry.
func (f *sceneFile) wet(s *Scene, faults *faults) {
	if f.Water == nil {
		return
	}
	w := &Water{Surface: f.Water.Surface, Density: f.Water.Density, Turbidity: f.Water.Turbidity, Current: faults.point("water.current_ms", f.Water.Current)}
	faults.number("water.surface_m", w.Surface, -1000, 1000)
	faults.number("water.density_kgm3", w.Density, 1, 2e4)
	faults.number("water.turbidity", w.Turbidity, 0, 100)
	for _, v := range w.Current {
		faults.number("water.current_ms", v, -maxCurrent, maxCurrent)
	}
	s.Water = w
}

// objects puts the things among the fixed shapes.
func (f *sceneFile) objects(s *Scene, materials map[string]Material, faults *faults) {
	if !faults.count("objects", len(f.Objects), maxThings) {
		return
	}
	names := map[string]int{}
	for i := range f.Objects {
		path, o := fmt.Sprintf("objects[%d]", i), &f.Objects[i]
		faults.name(path, "objects", o.Name, i, names)
		if !namePattern.MatchString(o.Class) {
			faults.add("%s.class: got %q, want lower-case letters, digits, - and _", path, o.Class)
		}
		if len(o.Shapes) == 0 || !faults.count(path+".shapes", len(o.Shapes), maxShapes) {
			faults.add("%s.shapes: got %d, want 1 to %d", path, len(o.Shapes), maxShapes)
			continue
		}
		at := startFile{At: o.At, Rotation: o.Rotation}.pose(path, faults)
		s.Things = append(s.Things, Thing{Class: o.Class, Name: o.Name, First: len(s.Fixed), Count: len(o.Shapes)})
		for k := range o.Shapes {
			shape := o.Shapes[k].shape(fmt.Sprintf("%s.shapes[%d]", path, k), materials, faults)
			shape.Pose = at.Times(shape.Pose)
			s.Fixed = append(s.Fixed, shape)
		}
	}
	faults.count("fixed and objects", len(s.Fixed), maxFixed)
}

func (f startFile) pose(path string, faults *faults) hal.Pose {
	return hal.Pose{Position: faults.point(path+".at_m", f.At), Rotation: faults.turn(path+".rotation_deg", f.Rotation)}
}

func (f *courseFile) course(faults *faults) (c Course) {
	if !faults.count("course.starts", len(f.Starts), maxZones) {
		return c
	}
	names, ids := map[string]int{}, map[string]string{}
	for i := range f.Starts {
		path, s := fmt.Sprintf("course.starts[%d]", i), &f.Starts[i]
		faults.name(path, "course.starts", s.Name, i, names)
		faults.number(path+".spread_deg", s.Spread, 0, 180)
		c.Starts = append(c.Starts, Start{Name: s.Name, Pose: s.pose(path, faults), Spread: radians(s.Spread)})
	}
	for _, list := range []struct {
		key   string
		kind  ZoneKind
		zones []zoneFile
	}{
		{"checkpoints", Checkpoint, f.Checkpoints}, {"no_go", NoGo, f.NoGo},
		{"finish", Finish, f.Finish}, {"action_points", Action, f.Actions},
	} {
		if !faults.count("course."+list.key, len(list.zones), maxZones) {
			continue
		}
		for i := range list.zones {
			path, z := fmt.Sprintf("course.%s[%d]", list.key, i), &list.zones[i]
			if !idPattern.MatchString(z.ID) {
				faults.add("%s.id: got %q, want 1 to 64 letters, digits, - and _", path, z.ID)
			} else if first, twice := ids[z.ID]; twice {
				faults.add("%s.id: got %q, which %s has too", path, z.ID, first)
			}
			ids[z.ID] = path
			if z.Shape.Mass != nil || z.Shape.Material != "" || z.Shape.Collides != nil {
				faults.add("%s: got a mass, a material or collides, want a solid of space", path)
				z.Shape.Material = ""
			}
			shape := z.Shape.shape(path, map[string]Material{"": {}}, faults)
			shape.Collides = false
			c.Zones = append(c.Zones, Zone{Kind: list.kind, ID: z.ID, Shape: shape})
		}
	}
	return c
}

// paint is how a material looks; nil where the file does not say.
func (f *materialFile) paint(path string, faults *faults) *Paint {
	if f.Colour == nil {
		if f.Second != nil || f.Pattern != "" || f.Size != 0 {
			faults.add("%s.colour: got none, want red, green, blue", path)
		}
		return nil
	}
	colour := func(key string, v []float64) (c [3]float64) {
		for _, x := range v {
			if !(x >= 0 && x <= 1) {
				v = nil
			}
		}
		if len(v) != 3 {
			faults.add("%s.%s: want red, green, blue, each 0..1", path, key)
			return c
		}
		return [3]float64(v)
	}
	p := &Paint{Colour: colour("colour", f.Colour)}
	switch f.Pattern {
	case "":
		if f.Second != nil || f.Size != 0 {
			faults.add("%s.pattern: got none, want checks or bands, or one colour", path)
		}
		return p
	case "checks":
		p.Pattern = Checks
	case "bands":
		p.Pattern = Bands
	default:
		faults.add("%s.pattern: got %q, want checks or bands", path, f.Pattern)
	}
	p.Second, p.Size = colour("second", f.Second), f.Size
	faults.number(path+".size_m", p.Size, 1e-3, maxLength)
	return p
}

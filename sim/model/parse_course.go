package model

import (
	"regexp"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/yaml"
)

// waterFile is the water of a scene.
type waterFile struct {
	Surface   float64    `yaml:"surface_m" min:"-1000" max:"1000"`
	Density   float64    `yaml:"density_kgm3" required:"true" min:"1" max:"2e4"`
	Current   [3]float64 `yaml:"current_ms" min:"-10" max:"10"`
	Turbidity float64    `yaml:"turbidity" min:"0" max:"100"` // 1/m
}

// objectFile is a thing with a class, of shapes in its own frame.
type objectFile struct {
	Class    string      `yaml:"class" required:"true" form:"lower"`
	Name     string      `yaml:"name" required:"true" form:"lower"`
	At       [3]float64  `yaml:"at_m" min:"-1e4" max:"1e4"`
	Rotation [3]float64  `yaml:"rotation_deg" min:"-360" max:"360"`
	Shapes   []shapeFile `yaml:"shapes" required:"true" count:"64"`
}

type courseFile struct {
	Starts      []startFile `yaml:"starts" count:"256" unique:"name"`
	Checkpoints []zoneFile  `yaml:"checkpoints" count:"256"`
	NoGo        []zoneFile  `yaml:"no_go" count:"256"`
	Finish      []zoneFile  `yaml:"finish" count:"256"`
	Actions     []zoneFile  `yaml:"action_points" count:"256"`
}

type startFile struct {
	Name     string     `yaml:"name" required:"true" form:"lower"`
	At       [3]float64 `yaml:"at_m" min:"-1e4" max:"1e4"`
	Rotation [3]float64 `yaml:"rotation_deg" min:"-360" max:"360"`
	Spread   float64    `yaml:"spread_deg" min:"0" max:"180"`
}

// zoneFile is a solid without collisions; of the shape's keys only those of pose and size apply.
type zoneFile struct {
	ID    string    `yaml:"id"`
	Shape shapeFile `yaml:",inline"`
}

// The ids that zones may have: they go over the wire, bare, with commas between them.
var idPattern = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// wet reads the water; without it the scene is dry.
func (f *sceneFile) wet(s *Scene) {
	if w := f.Water; w != nil {
		s.Water = &Water{Surface: w.Surface, Density: w.Density, Turbidity: w.Turbidity, Current: w.Current}
	}
}

// objects puts the things among the fixed shapes.
func (f *sceneFile) objects(s *Scene, materials map[string]Material, faults *faults) {
	for i := range f.Objects {
		path, o := yaml.Path("objects").Index(i), &f.Objects[i]
		if len(o.Shapes) == 0 {
			faults.add(path+".shapes", "got none, want 1 to %d", maxShapes)
		}
		at := hal.Pose{Position: o.At, Rotation: turn(o.Rotation)}
		s.Things = append(s.Things, Thing{Class: o.Class, Name: o.Name, First: len(s.Fixed), Count: len(o.Shapes)})
		for k := range o.Shapes {
			shape := o.Shapes[k].shape((path + ".shapes").Index(k), materials, faults)
			shape.Pose = at.Times(shape.Pose)
			s.Fixed = append(s.Fixed, shape)
		}
	}
	faults.count("objects", len(s.Fixed), maxFixed)
}

func (f *courseFile) course(faults *faults) (c Course) {
	for _, s := range f.Starts {
		c.Starts = append(c.Starts, Start{Name: s.Name, Pose: hal.Pose{Position: s.At, Rotation: turn(s.Rotation)},
			Spread: radians(s.Spread)})
	}
	ids := map[string]yaml.Path{}
	for _, list := range []struct {
		key   string
		kind  ZoneKind
		zones []zoneFile
	}{
		{"checkpoints", Checkpoint, f.Checkpoints}, {"no_go", NoGo, f.NoGo},
		{"finish", Finish, f.Finish}, {"action_points", Action, f.Actions},
	} {
		for i := range list.zones {
			path, z := yaml.Path("course").Key(list.key).Index(i), &list.zones[i]
			if !idPattern.MatchString(z.ID) {
				faults.add(path+".id", "got %q, want 1 to 64 letters, digits, - and _", z.ID)
			} else if first, twice := ids[z.ID]; twice {
				faults.Taken(path+".id", z.ID, first)
			}
			ids[z.ID] = path
			if z.Shape.Mass != nil || z.Shape.Material != "" || faults.Has(path+".collides") {
				faults.add(path, "got a mass, a material or collides, want a solid of space")
				z.Shape.Material = ""
			}
			shape := z.Shape.shape(path, map[string]Material{"": {}}, faults)
			shape.Collides = false
			c.Zones = append(c.Zones, Zone{Kind: list.kind, ID: z.ID, Shape: shape})
		}
	}
	return c
}

// paint is the appearance of a material; nil if it is not in the file.
func (f *materialFile) paint(path yaml.Path, faults *faults) *Paint {
	if f.Pattern == "" && (f.Second != nil || f.Size != 0) {
		faults.add(path+".pattern", "got nothing, want checks or bands, or one colour")
	}
	if f.Colour == nil {
		return nil
	}
	p := &Paint{Colour: *f.Colour}
	if f.Pattern == "" || f.Second == nil {
		return p
	}
	p.Second, p.Size, p.Pattern = *f.Second, f.Size, Checks
	if f.Pattern == "bands" {
		p.Pattern = bands
	}
	return p
}

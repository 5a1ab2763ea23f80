package model

import (
	"math"

	"github.com/halyard-robotics/halyard/hal"
)

// Water fills a scene below a level surface.
type Water struct {
	Surface   float64    // m, its z
	Density   float64    // kg/m³
	Current   [3]float64 // m/s, the same everywhere
	Turbidity float64    // 1/m, attenuation of light by particles: 0.05 in a clean pool, 0.3 in a lake, 2 in a harbour
}

// Pattern is how the two colours of a paint lie on a surface; the names and the meaning are those of package camera.
type Pattern uint8

// The patterns.
const (
	Plain  Pattern = iota
	Checks         // cubes: tiles
	bands          // along the shape's z: a marked pole
)

// Paint is how a matt surface looks.
type Paint struct {
	Colour, Second [3]float64 // red, green, blue, 0..1
	Pattern        Pattern
	Size           float64 // m, of one field of the pattern
}

// Thing is an object that a detector recognises by its class: the shapes Fixed[First:First+Count] of its scene.
type Thing struct {
	Class, Name  string
	First, Count int
}

// Course is the task in a scene. The zero Course means: no task.
type Course struct {
	Starts []Start
	Zones  []Zone
}

// Start is a possible start pose of a vehicle.
type Start struct {
	Name   string
	Pose   hal.Pose
	Spread float64 // rad: it begins turned about the vertical by an even random angle up to this to either side
}

// ZoneKind is the effect of a zone on a vehicle that enters it.
type ZoneKind uint8

// The kinds of zone.
const (
	Checkpoint ZoneKind = iota // to be reached once
	NoGo                       // to be kept out of
	Finish                     // the end
	Action                     // where something can be done
)

// String names the kind as events do.
func (k ZoneKind) String() string {
	return [...]string{"Checkpoint", "NoGoZone", "FinishZone", "ActionPoint", "Zone"}[min(k, Action+1)]
}

// Zone is a part of space. Nothing collides with it.
type Zone struct {
	Kind  ZoneKind
	ID    string // in no other zone of the course
	Shape Shape
}

// Contains reports whether the point p of the scene, m, is in the zone.
func (z *Zone) Contains(p [3]float64) bool {
	s := &z.Shape
	v := s.Pose.Inverse().Of(p)
	switch s.Kind {
	case Box:
		return math.Abs(v[0]) <= s.Half[0] && math.Abs(v[1]) <= s.Half[1] && math.Abs(v[2]) <= s.Half[2]
	case Cylinder:
		return float64(v[0]*v[0])+float64(v[1]*v[1]) <= float64(s.Radius*s.Radius) && math.Abs(v[2]) <= s.Half[2]
	}
	// a capsule's point of the axis that is nearest; that of a sphere is its centre
	along := v[2]
	if s.Kind == Capsule {
		along -= math.Max(-s.Half[2], math.Min(s.Half[2], along))
	}
	return float64(v[0]*v[0])+float64(v[1]*v[1])+float64(along*along) <= float64(s.Radius*s.Radius)
}

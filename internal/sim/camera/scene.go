package camera

import (
	"errors"
	"fmt"
	"math"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/sim/r3"
	"github.com/halyard-robotics/halyard/sim/collide"
)

// Scene is the visible scene. New copies it.
type Scene struct {
	Geoms  []collide.Geom // of bodies and of the world; a camera does not see a geom whose Group bit is not in its Mask
	Paints []Paint        // one a geom
	Things []Object       // objects that a detector recognises
	Sun    Sun
	Water  *Water // nil: it is dry
	Lights []Light
}

// Pattern is how the two colours of a paint lie on a surface.
type Pattern uint8

// The patterns.
const (
	Plain  Pattern = iota // only Colour
	Checks                // cubes of Size through the geom's frame: tiles
	Bands                 // layers of Size along the geom's z: a marked pole
)

// Paint is the matt surface of a geom.
type Paint struct {
	Colour, Second [3]float64 // red, green, blue, 0..1
	Pattern        Pattern
	Size           float64 // m, of one field of the pattern
	Mirror         bool    // reflects the scene
}

// Object is an object that a detector recognises: one or more geoms, none of which belongs to another thing.
type Object struct {
	Class, Name string
	Geoms       []int
}

// Sun is the light from above. The zero Sun is a quarter of the way from the zenith to the horizon, with a uniform sky.
type Sun struct {
	Direction [3]float64 // towards it; z above 0
	Light     float64    // of the sun on a surface that faces it, 1 = paint in its own colour; 0 = 0.7
	Sky       float64    // of the sky on a surface that faces up; 0 = 0.6
}

// Water lies below a level surface.
type Water struct {
	Surface   float64 // m, its z
	Turbidity float64 // 1/m, attenuation by particles: 0.05 in a clean pool, 0.3 in a lake, 2 in a harbour
}

// Light is a light on a body that shines into a cone.
type Light struct {
	Body      int // -1: the world
	Position  [3]float64
	Direction [3]float64
	Half      float64 // rad, half the angle of the cone
	Power     float64 // light on a surface that faces it from 1 m
}

// Camera is one viewpoint of a Renderer.
type Camera struct {
	Name          string
	Body          int      // which carries it; -1: the world
	Mount         hal.Pose // in the body's frame
	Width, Height int
	FieldOfView   float64 // rad, across the width
	// m along the axis: nearer things are looked through, farther ones not seen; Far 0 = without end
	Near, Far float64
	Depth     bool   // distances, not colours
	Detects   bool   // fills Picture.Detections
	Mask      uint32 // groups of geoms that it sees; 0 = all
}

// Layout is how a body offers the camera.
func (c *Camera) Layout() hal.Camera {
	return hal.Camera{Name: c.Name, Width: c.Width, Height: c.Height, FieldOfView: c.FieldOfView, Mount: c.Mount}
}

// maxSide bounds a picture, so that a typing error does not take all memory.
const maxSide = 4096

// maxThings bounds the detector, which looks for each by rays of its own.
const maxThings = 10_000

// check returns all that is wrong with the camera, or nil.
func (c *Camera) check() error {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	if c.Width < 1 || c.Height < 1 || c.Width > maxSide || c.Height > maxSide {
		fault("size: got %d by %d, want 1 to %d", c.Width, c.Height, maxSide)
	}
	if !(c.FieldOfView > 0.01 && c.FieldOfView < 3) {
		fault("field of view: got %g rad, want 0.01 to 3", c.FieldOfView)
	}
	if !(c.Near >= 0) || !(c.Far == 0 || c.Far > c.Near) || c.Far > collide.MaxSize {
		fault("range: got %g to %g m, want rising from 0 on", c.Near, c.Far)
	}
	if c.Body < -1 {
		fault("body: got %d, want -1 or an index", c.Body)
	}
	return errors.Join(faults...)
}

// check returns all that is wrong with the scene but for its geoms, which package ray checks.
func (s *Scene) check() error {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	if len(s.Paints) != len(s.Geoms) {
		fault("paints: got %d, want one for each of %d geoms", len(s.Paints), len(s.Geoms))
	}
	for i := range s.Paints {
		p := &s.Paints[i]
		for _, x := range append(p.Colour[:], p.Second[:]...) {
			if !(x >= 0 && x <= 1) {
				fault("paints[%d]: colour: got %g, want 0 to 1", i, x)
			}
		}
		if p.Pattern > Bands || p.Pattern != Plain && !(p.Size >= 1e-3 && p.Size <= collide.MaxSize) {
			fault("paints[%d]: pattern: got %d of %g m, want plain, checks or bands of 0.001 m or more", i, p.Pattern,
				p.Size)
		}
	}
	if len(s.Things) > maxThings {
		fault("things: got %d, want at most %d", len(s.Things), maxThings)
	}
	owner := map[int]int{}
	for i := range s.Things {
		t := &s.Things[i]
		if len(t.Geoms) == 0 {
			fault("things[%d]: got no geoms, want at least one", i)
		}
		for _, g := range t.Geoms {
			if g < 0 || g >= len(s.Geoms) {
				fault("things[%d]: got geom %d, want below %d", i, g, len(s.Geoms))
			} else if k := s.Geoms[g].Kind; k == collide.Plane || k == collide.HeightField {
				fault("things[%d]: got a %s, want a solid with an end", i, k)
			} else if j, taken := owner[g]; taken {
				fault("things[%d]: got geom %d, which things[%d] has", i, g, j)
			}
			owner[g] = i
		}
	}
	if w := s.Water; w != nil && !(w.Turbidity >= 0 && w.Turbidity <= 100 && math.Abs(w.Surface) <= collide.MaxSize) {
		fault("water: got surface %g m, turbidity %g, want 0 to 100 per metre", w.Surface, w.Turbidity)
	}
	if d := s.Sun.Direction; d != ([3]float64{}) && !(d[2] > 0) {
		fault("sun: got direction %g, want z above 0", d)
	}
	for i := range s.Lights {
		if l := &s.Lights[i]; !(l.Half > 0 && l.Half <= math.Pi) || !(l.Power >= 0) ||
			!(r3.Pack(l.Direction).Norm() > 0) || l.Body < -1 {
			fault("lights[%d]: got half angle %g, power %g, direction %g", i, l.Half, l.Power, l.Direction)
		}
	}
	return errors.Join(faults...)
}

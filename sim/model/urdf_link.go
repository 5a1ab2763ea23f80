package model

import (
	"math"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/yaml"
	"github.com/halyard-robotics/halyard/sim/mesh"
)

// read returns an <inertial>: the inertia is about the centre of mass, in the axes of its own origin.
func (n *urdfInertial) read(path yaml.Path, faults *faults) (mass float64, inertia [6]float64, at hal.Pose) {
	at = n.Origin.pose(path, faults)
	if n.Mass == nil || n.Inertia == nil {
		faults.add(path, "got one or none, want mass and inertia")
		return 0, inertia, at
	}
	mass = faults.real(path+".mass", n.Mass.Value, math.NaN())
	faults.Within(path+".mass", mass, 0, maxMass)
	// The products of inertia may be left out, as many files do; the moments may not.
	i := n.Inertia
	for k, text := range []string{i.XX, i.YY, i.ZZ, i.XY, i.XZ, i.YZ} {
		otherwise := math.NaN()
		if k > 2 {
			otherwise = 0
		}
		inertia[k] = faults.real(path+".inertia."+[]yaml.Path{"ixx", "iyy", "izz", "ixy", "ixz", "iyz"}[k], text, otherwise)
	}
	if !plausible(inertia) || inertia[0]+inertia[1]+inertia[2] > maxInertia {
		faults.add(path+".inertia", "got %v, want that of a rigid body: no principal moment negative or above the sum of the others", inertia)
	}
	return mass, inertia, at
}

// shape reads a <collision>, in the link's frame. A URDF has no friction: 1 is a typical default of engines. For a <visual> o is
// nil: a mesh has no size.
func (c *urdfCollision) shape(path yaml.Path, o *URDFOptions, faults *faults) Shape {
	s := Shape{Collides: true, Material: Material{Friction: 1}, Pose: c.Origin.pose(path, faults)}
	size := func(key yaml.Path, text string) float64 {
		x := faults.real(path+"."+key, text, math.NaN())
		faults.positive(path+"."+key, x, maxLength)
		return x
	}
	// A cylinder's length is whole here and half in Shape; so is a box's size.
	g := &c.Geometry
	var kinds int
	round := func(key yaml.Path, kind ShapeKind, v *urdfRound) {
		if v == nil {
			return
		}
		kinds++
		s.Kind, s.Radius = kind, size(key+".radius", v.Radius)
		if kind != Sphere {
			s.Half[2] = size(key+".length", v.Length) / 2
		}
	}
	round("sphere", Sphere, g.Sphere)
	round("cylinder", Cylinder, g.Cylinder)
	round("capsule", Capsule, g.Capsule)
	if g.Box != nil {
		kinds++
		s.Kind, s.Half = Box, scale(0.5, faults.reals(path+".box.size", g.Box.Size, vec{}))
		for _, h := range s.Half {
			faults.positive(path+".box.size", 2*h, maxLength)
		}
	}
	// A mesh is a box from here on; its concave parts are lost.
	if g.Mesh != nil {
		kinds++
		by := c.scale(path, faults)
		if o == nil {
			s.Kind = Box
		} else if err := s.fit(g.Mesh.File, by, o); err != nil {
			faults.add(path+".mesh", "%q: %v", g.Mesh.File, err)
		}
	}
	if kinds != 1 {
		faults.add(path+".geometry", "got %d solids, want one of box, cylinder, sphere, capsule, mesh", kinds)
	}
	return s
}

// scale reads the scale of a mesh.
func (c *urdfCollision) scale(path yaml.Path, faults *faults) vec {
	unscaled := vec{1, 1, 1}
	return faults.reals(path+".mesh.scale", c.Geometry.Mesh.Scale, unscaled)
}

// look reads a solid to draw for the shapes from first to end; ok is false where it cannot be drawn.
func (c *urdfCollision) look(first, end int) (l Look, ok bool) {
	faults := faults{&yaml.Document{Source: "urdf"}}
	l = Look{Shape: c.shape("", nil, &faults), First: first, End: end}
	if m := c.Geometry.Mesh; m != nil {
		l.Mesh, l.Scale = m.File, c.scale("", &faults)
		ok = mesh.Readable(m.File) == nil && l.Scale[0]*l.Scale[1]*l.Scale[2] != 0
	} else {
		ok = true
	}
	return l, ok && faults.Err() == nil
}

// looks returns what is drawn for a link whose shapes begin at first: its visuals if one of them is a mesh and all can be read;
// else the meshes of its collisions.
func (l *urdfLink) looks(first int) (list []Look) {
	end, meshes := first+len(l.Collision), false
	for i := range l.Visual {
		look, ok := l.Visual[i].look(first, end)
		if !ok || i == maxShapes {
			meshes = false
			break
		}
		list, meshes = append(list, look), meshes || look.Mesh != ""
	}
	if meshes {
		return list
	}
	list = nil
	for i := range l.Collision {
		if look, ok := l.Collision[i].look(first+i, first+i+1); ok && look.Mesh != "" {
			list = append(list, look)
		}
	}
	return list
}

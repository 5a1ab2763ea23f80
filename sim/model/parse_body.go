package model

import (
	"maps"
	"math"
	"slices"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/yaml"
)

// standardGravity is the g of an accelerometer, m/s²: Simloid's.
const standardGravity = 9.81

// bodies reads all that has a mass, and returns the places of the bodies by name.
func (f *file) bodies(r *Robot, faults *faults) map[string]int {
	r.Fixed = f.Base == "fixed"
	materials := readMaterials(f.Materials, faults)
	names := places(f.Bodies, func(b *bodyFile) string { return b.Name })
	for i := range f.Bodies {
		r.Bodies = append(r.Bodies, f.Bodies[i].body(yaml.Path("bodies").Index(i), materials, faults))
	}
	f.pairs(r, names, faults)
	f.accelerometers(r, names, faults)
	f.sensors(r, names, faults)
	return names
}

// pairs reads the pairs of bodies that never touch.
func (f *file) pairs(r *Robot, names map[string]int, faults *faults) {
	for i, p := range f.NoContact {
		// Both names are looked up before either is used, so that one line reports both.
		path := yaml.Path("no_contact").Index(i)
		a, b := faults.index(path.Index(0), "body", p[0], names), faults.index(path.Index(1), "body", p[1], names)
		if a == b && a != hal.None {
			faults.add(path, "got %q twice, want two bodies", p[0])
		}
		r.NoContact = append(r.NoContact, [2]int{a, b})
	}
}

func (f *file) accelerometers(r *Robot, names map[string]int, faults *faults) {
	for i := range f.Accelerometers {
		path, a := yaml.Path("accelerometers").Index(i), &f.Accelerometers[i]
		s := Accelerometer{
			Name: a.Name, Path: a.Path, Body: faults.index(path+".body", "body", a.Body, names), Position: a.At,
			Range: a.Range * standardGravity, Constant: a.Constant,
		}
		if len(a.Axes) < 1 {
			faults.add(path+".axes", "got none, want one to three of +x, -x, +y, -y, +z, -z")
		}
		// Axes are letters, not vectors: a board is mounted square to its body, or the body's frame is turned.
		for _, name := range a.Axes {
			s.Axes = append(s.Axes, signedAxis(name))
		}
		r.Accelerometers = append(r.Accelerometers, s)
	}
}

// signedAxis is the direction of a name such as "-y"; zero for an invalid name.
func signedAxis(name string) (axis vec) {
	if len(name) != 2 {
		return vec{}
	}
	axis[name[1]-'x'] = 1
	if name[0] == '-' {
		axis[name[1]-'x'] = -1
	}
	return axis
}

// readMaterials returns the materials by name; "" is that of a shape without a material: "default", or a friction of 1.
func readMaterials(files map[string]materialFile, faults *faults) map[string]Material {
	materials := map[string]Material{"": {Friction: 1}}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		f := files[name]
		path := yaml.Path("materials").Key(name)
		m := Material{Torsion: f.Torsion, Rolling: f.Rolling, Restitution: f.Restitution, Axle: f.Axle, Glass: f.Glass,
			Mirror: f.Mirror}
		if f.Glass && f.Mirror {
			faults.add(path, "got glass and mirror, want one of the two")
		}
		switch {
		case f.Friction != nil && f.Force != nil:
			faults.add(path, "got friction and force_n, want either")
		case f.Friction != nil:
			m.Friction = *f.Friction
		case f.Force != nil:
			m.Friction, m.ForceLimit = *f.Force, true
			if !math.IsInf(m.Friction, 1) {
				faults.Within(path+".force_n", m.Friction, 0, maxForce)
			}
		}
		m.Paint = f.paint(path, faults)
		materials[name] = m
		if name == "default" {
			materials[""] = m
		}
	}
	return materials
}

func (f *bodyFile) body(path yaml.Path, materials map[string]Material, faults *faults) Body {
	b := Body{Name: f.Name, Source: f.Source, Pose: hal.Pose{Position: f.Position, Rotation: turn(f.Rotation)}}
	// Shapes first: they give the body's mass, unless the file does.
	for i := range f.Shapes {
		b.Shapes = append(b.Shapes, f.Shapes[i].shape((path+".shapes").Index(i), materials, faults))
	}
	f.weigh(path, &b, faults)
	b.Random = f.Random.read(path+".random", &b, faults)
	if f.Centre != nil {
		b.CentreOfMass = *f.Centre
	}
	switch n := len(f.Inertia); {
	case f.Inertia == nil:
		if b.Mass > 0 && len(b.Shapes) == 0 {
			faults.add(path+".inertia_kgm2", "got nothing, want it where there are no shapes")
		}
	case n != 3 && n != 6:
		faults.add(path+".inertia_kgm2", "got %d numbers, want xx, yy, zz, or these and xy, xz, yz", n)
	default:
		b.Inertia = [6]float64{}
		copy(b.Inertia[:], f.Inertia)
		if !plausible(b.Inertia) || b.Inertia[0]+b.Inertia[1]+b.Inertia[2] > maxInertia {
			faults.add(path+".inertia_kgm2",
				"got %v, want that of a rigid body: no principal moment negative or above the sum of the others",
				f.Inertia)
		}
	}
	return b
}

// weigh gives the body its mass: as a whole, by density, or shape by shape.
func (f *bodyFile) weigh(path yaml.Path, b *Body, faults *faults) {
	// Two keys for one mass would differ after an edit of one of them.
	var ways int
	masses := make([]float64, len(b.Shapes))
	if f.Mass != nil {
		ways++
		// One mass over several shapes: the same density in all.
		var volume float64
		for i := range b.Shapes {
			volume += b.Shapes[i].Volume()
		}
		for i := range b.Shapes {
			masses[i] = *f.Mass * b.Shapes[i].Volume() / volume
		}
	}
	if f.Density != nil {
		ways++
		for i := range b.Shapes {
			masses[i] = *f.Density * b.Shapes[i].Volume()
		}
		if len(b.Shapes) == 0 {
			faults.add(path+".density_kgm3", "got %g without shapes, want mass_kg", *f.Density)
		}
	}
	var each bool
	for i := range f.Shapes {
		if m := f.Shapes[i].Mass; m != nil {
			masses[i], each = *m, true
		}
	}
	if each {
		ways++
	}
	if ways > 1 {
		faults.add(path, "got several masses, want one of mass_kg, density_kgm3, or mass_kg of its shapes")
	}
	if b.weigh(masses); f.Mass != nil {
		b.Mass = *f.Mass
	}
}

func (f *shapeFile) shape(path yaml.Path, materials map[string]Material, faults *faults) Shape {
	s := Shape{Collides: f.Collides, Pose: hal.Pose{Position: f.At, Rotation: f.turn(path, faults)}}
	// Each solid has its own key, not a kind in addition to sizes, so that its numbers need no names.
	kinds := 0
	solid := func(kind ShapeKind, radius float64, half [3]float64) {
		kinds++
		s.Kind, s.Radius, s.Half = kind, radius, half
	}
	if f.Sphere != nil {
		solid(Sphere, *f.Sphere, [3]float64{})
	}
	if v := f.Capsule; v != nil {
		solid(Capsule, v[0], [3]float64{2: v[1] / 2})
	}
	if v := f.Box; v != nil {
		solid(Box, 0, scale(0.5, *v))
	}
	if v := f.Cylinder; v != nil {
		solid(Cylinder, v[0], [3]float64{2: v[1] / 2})
	}
	sound := faults.Clean(path+".sphere") && faults.Clean(path+".capsule") && faults.Clean(path+".box") &&
		faults.Clean(path+".cylinder")
	if kinds != 1 && sound {
		faults.add(path, "got %d solids, want one of sphere, capsule, box, cylinder", kinds)
	}
	s.Material, _ = faults.material(path+".material", f.Material, materials)
	return s
}

// turn is the shape's: along is the short way to write the usual ones.
func (f *shapeFile) turn(path yaml.Path, faults *faults) [4]float64 {
	if f.Along != "" && faults.Has(path+".rotation_deg") {
		faults.add(path, "got along and rotation_deg, want one of the two")
	}
	half := math.Sqrt(0.5) // a quarter turn
	switch f.Along {
	case "x":
		return [4]float64{half, 0, half, 0} // z to x
	case "y":
		return [4]float64{half, -half, 0, 0} // z to y
	}
	return turn(f.Rotation)
}

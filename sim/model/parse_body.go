package model

import (
	"fmt"
	"math"
	"slices"

	"github.com/halyard-robotics/halyard/hal"
)

// standardGravity is the g of an accelerometer's range, m/s²: Simloid's.
const standardGravity = 9.81

// bodies reads all that has a mass, and returns the places of the bodies by name.
func (f *file) bodies(r *Robot, faults *faults) map[string]int {
	switch f.Base {
	case "", "floating":
	case "fixed":
		r.Fixed = true
	default:
		faults.add("base: got %q, want floating or fixed", f.Base)
	}
	materials := readMaterials(f.Materials, faults)
	names := map[string]int{}
	for i := range f.Bodies {
		path := fmt.Sprintf("bodies[%d]", i)
		faults.name(path, "bodies", f.Bodies[i].Name, i, names)
		r.Bodies = append(r.Bodies, f.Bodies[i].body(path, materials, faults))
	}
	f.pairs(r, names, faults)
	f.accelerometers(r, names, faults)
	f.sensors(r, names, faults)
	return names
}

// pairs reads the pairs of bodies that never touch.
func (f *file) pairs(r *Robot, names map[string]int, faults *faults) {
	if !faults.count("no_contact", len(f.NoContact), maxBodies) {
		return
	}
	for i, p := range f.NoContact {
		// Both names are looked up before either is used, so that one line tells of both.
		path := fmt.Sprintf("no_contact[%d]", i)
		if len(p) != 2 {
			faults.add("%s: got %q, want the names of two bodies", path, p)
			continue
		}
		a, b := faults.index(path+"[0]", "body", p[0], names), faults.index(path+"[1]", "body", p[1], names)
		if a == b && a != hal.None {
			faults.add("%s: got %q twice, want two bodies", path, p[0])
		}
		r.NoContact = append(r.NoContact, [2]int{a, b})
	}
}

func (f *file) accelerometers(r *Robot, names map[string]int, faults *faults) {
	if !faults.count("accelerometers", len(f.Accelerometers), maxBodies) {
		return
	}
	seen := map[string]int{}
	for i := range f.Accelerometers {
		path, a := fmt.Sprintf("accelerometers[%d]", i), &f.Accelerometers[i]
		faults.name(path, "accelerometers", a.Name, i, seen)
		faults.number(path+".range_g", a.Range, 0, 1e6)
		s := Accelerometer{
			Name: a.Name, Path: a.Path, Body: faults.index(path+".body", "body", a.Body, names),
			Position: faults.point(path+".at_m", a.At), Range: a.Range * standardGravity,
		}
		if len(a.Axes) < 1 || len(a.Axes) > 3 {
			faults.add("%s.axes: got %d, want one to three of +x, -x, +y, -y, +z, -z", path, len(a.Axes))
		}
		// Axes are letters, not vectors: a board is mounted square to its body, or the body's frame is turned.
		for k, name := range a.Axes {
			axis, ok := signedAxis(name)
			if !ok || k > 2 {
				faults.add("%s.axes[%d]: got %q, want +x, -x, +y, -y, +z or -z", path, k, name)
				break
			}
			s.Axes = append(s.Axes, axis)
		}
		r.Accelerometers = append(r.Accelerometers, s)
	}
}

// signedAxis reads "-y".
func signedAxis(name string) (axis vec, ok bool) {
	if len(name) != 2 || name[0] != '+' && name[0] != '-' || name[1] < 'x' || name[1] > 'z' {
		return vec{}, false
	}
	axis[name[1]-'x'] = 1
	if name[0] == '-' {
		axis[name[1]-'x'] = -1
	}
	return axis, true
}

// readMaterials returns the materials by name; "" is that of a shape that names none: "default", or a friction of 1.
func readMaterials(files map[string]materialFile, faults *faults) map[string]Material {
	materials := map[string]Material{"": {Friction: 1}}
	// A map has no order, a list of faults needs one.
	var names []string
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		path, f := fmt.Sprintf("materials.%s", name), files[name]
		m := Material{Torsion: f.Torsion, Rolling: f.Rolling, Restitution: f.Restitution, Axle: f.Axle, Glass: f.Glass, Mirror: f.Mirror}
		if f.Glass && f.Mirror {
			faults.add("materials.%s: got glass and mirror, want one of the two", name)
		}
		switch {
		case (f.Friction == nil) == (f.Force == nil):
			faults.add("%s: want either friction or force_n", path)
		case f.Friction != nil:
			m.Friction = *f.Friction
			faults.number(path+".friction", m.Friction, 0, maxForce)
		default:
			m.Friction, m.ForceLimit = *f.Force, true
			if !math.IsInf(m.Friction, 1) {
				faults.number(path+".force_n", m.Friction, 0, maxForce)
			}
		}
		faults.number(path+".torsion_m", m.Torsion, 0, 10)
		faults.number(path+".rolling_m", m.Rolling, 0, 10)
		faults.number(path+".restitution", m.Restitution, 0, 1)
		faults.number(path+".axle", m.Axle, 0, 100)
		m.Paint = f.paint(path, faults)
		materials[name] = m
		if name == "default" {
			materials[""] = m
		}
	}
	return materials
}

func (f *bodyFile) body(path string, materials map[string]Material, faults *faults) Body {
	b := Body{Name: f.Name, Source: f.Source, Pose: hal.Pose{
		Position: faults.point(path+".position_m", f.Position),
		Rotation: faults.turn(path+".rotation_deg", f.Rotation),
	}}
	// Shapes first: they say what the body weighs, unless the file does.
	if faults.count(path+".shapes", len(f.Shapes), maxShapes) {
		for i := range f.Shapes {
			b.Shapes = append(b.Shapes, f.Shapes[i].shape(fmt.Sprintf("%s.shapes[%d]", path, i), materials, faults))
		}
	}
	f.weigh(path, &b, faults)
	b.Random = f.Random.read(path+".random", &b, faults)
	if f.Centre != nil {
		b.CentreOfMass = faults.point(path+".com_m", f.Centre)
	}
	switch n := len(f.Inertia); {
	case f.Inertia == nil:
		if b.Mass > 0 && len(b.Shapes) == 0 {
			faults.add("%s.inertia_kgm2: missing, want it where there are no shapes", path)
		}
	case n != 3 && n != 6:
		faults.add("%s.inertia_kgm2: got %d numbers, want xx, yy, zz, or these and xy, xz, yz", path, n)
	default:
		b.Inertia = [6]float64{}
		copy(b.Inertia[:], f.Inertia)
		if !plausible(b.Inertia) || b.Inertia[0]+b.Inertia[1]+b.Inertia[2] > maxInertia {
			faults.add("%s.inertia_kgm2: got %v, want that of a rigid body: no principal moment negative or above the sum of the others", path, f.Inertia)
		}
	}
	return b
}

// weigh gives the body its mass: as a whole, by density, or shape by shape.
func (f *bodyFile) weigh(path string, b *Body, faults *faults) {
	// Two ways to say a mass would disagree one day, when one of them is edited.
	var ways int
	masses := make([]float64, len(b.Shapes))
	if f.Mass != nil {
		ways++
		faults.number(path+".mass_kg", *f.Mass, 0, maxMass)
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
		faults.positive(path+".density_kgm3", *f.Density, 1e5)
		for i := range b.Shapes {
			masses[i] = *f.Density * b.Shapes[i].Volume()
		}
		if len(b.Shapes) == 0 {
			faults.add("%s.density_kgm3: got %g without shapes, want mass_kg", path, *f.Density)
		}
	}
	var each bool
	for i := range f.Shapes {
		if m := f.Shapes[i].Mass; m != nil && i < len(masses) {
			faults.number(fmt.Sprintf("%s.shapes[%d].mass_kg", path, i), *m, 0, maxMass)
			masses[i], each = *m, true
		}
	}
	if each {
		ways++
	}
	if ways > 1 {
		faults.add("%s: want one of mass_kg, density_kgm3, or mass_kg of its shapes", path)
	}
	if b.weigh(masses); f.Mass != nil {
		b.Mass = *f.Mass
	}
}

func (f *shapeFile) shape(path string, materials map[string]Material, faults *faults) Shape {
	s := Shape{Collides: f.Collides == nil || *f.Collides}
	s.Pose.Position = faults.point(path+".at_m", f.At)
	s.Pose.Rotation = f.turn(path, faults)
	// Each solid has its own key and not a kind beside sizes, so that the numbers next to it need no names.
	var kinds int
	given := func(key string, kind ShapeKind, v []float64, want int) {
		if v == nil {
			return
		}
		kinds++
		s.Kind = kind
		if len(v) != want {
			faults.add("%s.%s: got %d numbers, want %d", path, key, len(v), want)
			return
		}
		for _, x := range v {
			if !faults.positive(path+"."+key, x, maxLength) {
				return
			}
		}
		switch want {
		case 1, 2:
			s.Radius, s.Half[2] = v[0], v[want-1]/2
		case 3:
			s.Half = [3]float64{v[0] / 2, v[1] / 2, v[2] / 2}
		}
	}
	if f.Sphere != nil {
		given("sphere", Sphere, []float64{*f.Sphere}, 1)
		s.Half[2] = 0
	}
	given("capsule", Capsule, f.Capsule, 2)
	given("box", Box, f.Box, 3)
	given("cylinder", Cylinder, f.Cylinder, 2)
	if kinds != 1 {
		faults.add("%s: got %d solids, want one of sphere, capsule, box, cylinder", path, kinds)
	}
	var ok bool
	if s.Material, ok = materials[f.Material]; !ok {
		faults.add("%s.material: got %q, want the name of a material", path, f.Material)
	}
	return s
}

// turn is the shape's: along is the short way to write the usual ones.
func (f *shapeFile) turn(path string, faults *faults) [4]float64 {
	if f.Along != "" && f.Rotation != nil {
		faults.add("%s: got along and rotation_deg, want one of the two", path)
	}
	half := math.Sqrt(0.5) // a quarter turn
	switch f.Along {
	case "x":
		return [4]float64{half, 0, half, 0} // z to x
	case "y":
		return [4]float64{half, -half, 0, 0} // z to y
	case "", "z":
	default:
		faults.add("%s.along: got %q, want x, y or z", path, f.Along)
	}
	return faults.turn(path+".rotation_deg", f.Rotation)
}

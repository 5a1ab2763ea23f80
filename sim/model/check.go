package model

import (
	"fmt"
	"math"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/yaml"
)

// checked checks names, numbers and the tree. It is false where the rest cannot go on.
func (d *description) checked() bool {
	if len(d.parts) == 0 {
		d.fault(yaml.Place{Source: d.source}, "link", "got none, want at least one")
	}
	if len(d.parts) > maxBodies {
		d.fault(yaml.Place{Source: d.source}, "link", "got %d, want at most %d", len(d.parts), maxBodies)
		return false
	}
	links, axes := map[string]int{}, map[string]bool{}
	for i := range d.parts {
		p := &d.parts[i]
		if _, twice := links[p.name]; twice || p.name == "" {
			d.fault(p.at, yaml.Path("link").Index(i)+".name", "got %s, want a name of its own", yaml.Quote(p.name))
			continue
		}
		links[p.name] = i
		for k := range p.axes {
			a := &p.axes[k]
			if axes[a.name] || a.name == "" {
				d.fault(a.at, yaml.Path("joint"), "got %s, want a name of its own", yaml.Quote(a.name))
			}
			axes[a.name] = true
			d.axis(a)
		}
	}
	d.finiteParts()
	return len(d.faults) == 0 && d.tree(links)
}

// axis checks the numbers of an axis, and makes its direction a unit vector.
func (d *description) axis(a *axis) {
	path := jointPath(a.name)
	d.finite(a.at, path+".axis", maxLength, a.along[:]...)
	for _, x := range []*float64{&a.damping, &a.friction} {
		if *x > maxForce && !math.IsInf(*x, 0) { // how MuJoCo's files hold a joint still
			d.repair(a.at, path+".dynamics", fmt.Sprintf("%g", *x), fmt.Sprintf("%g", maxForce),
				"the joint stands still")
			*x = maxForce
		}
	}
	d.finite(a.at, path, maxForce, a.damping, a.friction, a.stiffness, a.rest, a.armature)
	for _, x := range []float64{a.damping, a.friction, a.stiffness, a.armature} {
		if x < 0 {
			d.fault(a.at, path+".dynamics", "got %g, want none below 0", x)
		}
	}
	if u, ok := unit(a.along); ok {
		a.along = u
	} else if a.kind != Ball {
		d.fault(a.at, path+".axis", "got %v, want a direction", a.along)
	}
	if f := a.follows; f != nil {
		d.finite(a.at, path+".mimic", 1e3, f.times)
		d.finite(a.at, path+".mimic", maxLength, f.plus)
	}
}

// finiteParts checks the numbers of the solids and the masses.
func (d *description) finiteParts() {
	for i := range d.parts {
		p := &d.parts[i]
		path := linkPath(p.name)
		if n := len(p.solids); n > maxShapes {
			d.fault(p.at, path+".collision", "got %d, want at most %d", n, maxShapes)
		}
		if m := p.mass; m != nil {
			d.finite(m.place, path+".inertial.mass", maxMass, m.mass)
			if m.inertia != nil {
				d.finite(m.place, path+".inertial.inertia", maxInertia, m.inertia[:]...)
			}
		}
		for k := range p.solids {
			s := &p.solids[k]
			d.finite(s.at, (path + ".collision").Index(k), maxLength, s.scale[:]...)
			d.sized(s, (path + ".collision").Index(k))
		}
	}
}

// sized checks the sizes of a solid; one of size 0 gets two sides.
func (d *description) sized(s *solidPart, path yaml.Path) {
	sizes := map[ShapeKind][]*float64{
		Sphere: {&s.shape.Radius}, Capsule: {&s.shape.Radius, &s.shape.Half[2]},
		Cylinder: {&s.shape.Radius, &s.shape.Half[2]},
		Box:      {&s.shape.Half[0], &s.shape.Half[1], &s.shape.Half[2]},
	}
	if s.mesh != "" {
		return
	}
	for _, x := range sizes[s.shape.Kind] {
		switch {
		case *x < 0 || *x > maxLength:
			d.fault(s.at, path+"."+yaml.Path(s.shape.Kind.String()), "got a size of %g, want above 0, at most %g", *x,
				maxLength)
		case *x < 1e-6:
			d.repair(s.at, path+"."+yaml.Path(s.shape.Kind.String()), fmt.Sprintf("%g m", 2**x),
				fmt.Sprintf("%g m", 2*thinnest), "a solid has two sides")
			*x = thinnest
		}
	}
}

// tree connects the parts, parents first.
func (d *description) tree(links map[string]int) bool {
	roots := []int{}
	parents := make([]int, len(d.parts))
	for i := range d.parts {
		p := &d.parts[i]
		p.up = hal.None
		if p.joint != "" {
			up, ok := links[p.parent]
			if !ok {
				d.fault(p.at, yaml.Path(p.joint)+".parent", "got %s, want the name of a link", yaml.Quote(p.parent))
			} else if up == i {
				d.fault(p.at, yaml.Path(p.joint), "got %s as parent and child, want two links", yaml.Quote(p.parent))
			}
			p.up = up
		} else {
			roots = append(roots, i)
		}
		parents[i] = p.up
	}
	if len(d.faults) > 0 {
		return false
	}
	order, loop := parentsFirst(parents)
	if len(loop) > 0 {
		d.fault(d.parts[loop[0]].at, linkPath(d.parts[loop[0]].name),
			"it hangs in a loop of joints, want a tree with one root")
		return false
	}
	for _, i := range roots[1:] {
		d.fault(d.parts[i].at, linkPath(d.parts[i].name),
			"no joint holds it, and %q is the root: want a tree with one root", d.parts[roots[0]].name)
	}
	if len(roots) > 1 {
		return false
	}
	d.orderParts(order)
	return true
}

// orderParts puts parents before children.
func (d *description) orderParts(order []int) {
	at := make([]int, len(d.parts))
	parts := make([]part, 0, len(d.parts))
	for k, i := range order {
		at[i] = k
		p := d.parts[i]
		if p.up != hal.None {
			p.up = at[p.up]
		}
		parts = append(parts, p)
	}
	d.parts = parts
}

package model

import (
	"slices"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/yaml"
)

// linkage reads the position of a joint and the bodies that it connects.
func (f *linkFile) linkage(path yaml.Path, bodies map[string]int, faults *faults) Linkage {
	l := Linkage{Parent: hal.None, Child: hal.None, Sign: 1, Damping: f.Damping, Friction: f.Friction}
	if f.Sign != 0 {
		l.Sign = f.Sign
	}
	l.Random = f.Random.read(path+".random", f, faults)
	// Without bodies there is nothing to connect: the file's author forgot them.
	if len(bodies) == 0 {
		if f.Parent != "" || f.Child != "" || f.Anchor != nil || f.Axis != nil {
			faults.add(path, "got parent, child, anchor_m or axis without bodies, want bodies too")
		}
		return l
	}
	l.Parent = faults.index(path+".parent", "body", f.Parent, bodies)
	l.Child = faults.index(path+".child", "body", f.Child, bodies)
	if f.Anchor != nil {
		l.Anchor = *f.Anchor
	} else {
		faults.add(path+".anchor_m", "got nothing, want three numbers: x, y, z")
	}
	if f.Axis == nil {
		f.Axis = &[3]float64{}
	}
	var ok bool
	if l.Axis, ok = unit(*f.Axis); !ok {
		faults.add(path+".axis", "got %v, want a direction: x, y, z", *f.Axis)
	}
	return l
}

// partners connects each joint with its image on the robot's other side.
func (f *file) partners(r *Robot, names map[string]int, faults *faults) {
	for i := range f.Joints {
		if f.Joints[i].Mirrors == "" {
			continue
		}
		path := yaml.Path("joints").Index(i).Key("mirrors")
		// Only the image names the original; the original learns of it here.
		k := faults.index(path, "joint", f.Joints[i].Mirrors, names)
		switch {
		case k == hal.None:
		case k == i:
			faults.add(path, "got the joint itself, want another")
		case r.Joints[k].Partner != k || r.Joints[i].Partner != i:
			faults.add(path, "got %q, but one of the two has a partner already", f.Joints[i].Mirrors)
		default:
			r.Joints[i].Partner, r.Joints[k].Partner = k, i
			r.Joints[i].Mirrors = true
		}
	}
}

// passive reads the joints without a motor.
func (f *file) passive(r *Robot, joints, bodies map[string]int, faults *faults) {
	if len(f.Passive) > 0 && len(f.Bodies) == 0 {
		faults.add("passive", "got %d without bodies, want bodies too", len(f.Passive))
		return
	}
	for i := range f.Passive {
		path, p := yaml.Path("passive").Index(i), &f.Passive[i]
		// Names are unique over both lists: a config or a test finds a joint only by its name.
		if k, both := joints[p.Name]; both {
			faults.Taken(path+".name", p.Name, yaml.Path("joints").Index(k))
		}
		if p.Link.Random.Strength != "" {
			faults.add(path+".random.strength", "got %s without a motor, want none", p.Link.Random.Strength)
		}
		out := Passive{Name: p.Name}
		var kind JointKind
		switch p.Kind {
		case "slide":
			kind = Slide
		case "weld":
			kind = Weld
			// A weld has no axis; any will do.
			if l := &p.Link; l.Anchor == nil && l.Axis == nil {
				l.Anchor, l.Axis = &[3]float64{}, &[3]float64{0, 0, 1}
			}
		}
		out.Linkage = p.Link.linkage(path, bodies, faults)
		out.Kind = kind
		out.Stops = p.stops(path, kind, faults)
		if m := p.Mimic; m != nil {
			out.Mimic = m.mimic(path+".mimic", kind, joints, faults)
		}
		r.Passive = append(r.Passive, out)
	}
}

func (f *passiveFile) stops(path yaml.Path, kind JointKind, faults *faults) (stops [2]float64) {
	if f.StopsDeg != nil && kind != Hinge {
		faults.add(path+".stops_deg", "got %v for a %s, want none", *f.StopsDeg, kind)
	}
	if f.StopsM != nil && kind != Slide {
		faults.add(path+".stops_m", "got %v for a %s, want none", *f.StopsM, kind)
	}
	if kind == Slide && f.StopsM != nil {
		return *f.StopsM
	}
	return inRadians(f.StopsDeg, stops)
}

func (f *mimicFile) mimic(path yaml.Path, kind JointKind, joints map[string]int, faults *faults) *Mimic {
	m := &Mimic{Joint: faults.index(path+".joint", "joint", f.Joint, joints), Times: f.Times, Plus: radians(f.PlusDeg)}
	if kind == Slide {
		m.Plus = f.PlusM
	}
	return m
}

// edge is one joint as the tree sees it.
type edge struct {
	path          yaml.Path
	parent, child int
}

// tree checks that the joints make one tree of all bodies, and that all of it but a fixed root weighs something.
func (f *file) tree(r *Robot, faults *faults) {
	if len(r.Bodies) == 0 {
		if faults.Has("base") || f.NoContact != nil || f.Accelerometers != nil || f.Sensors != nil {
			faults.add("bodies", "got none, want some for base, no_contact, accelerometers and sensors")
		}
		return
	}
	// Both kinds of joint hold bodies; the tree does not care which.
	var edges []edge
	for i := range r.Joints {
		edges = append(edges, edge{yaml.Path("joints").Index(i), r.Joints[i].Parent, r.Joints[i].Child})
	}
	for i := range r.Passive {
		edges = append(edges, edge{yaml.Path("passive").Index(i), r.Passive[i].Parent, r.Passive[i].Child})
	}
	names := make([]string, len(r.Bodies))
	for i := range names {
		names[i] = r.Bodies[i].Name
	}
	parents := checkTree(names, edges, "bodies", faults)
	for i := range r.Bodies {
		b := &r.Bodies[i]
		if b.Mass == 0 && !(r.Fixed && parents[i] == hal.None) {
			faults.add(yaml.Path("bodies").Index(i), "got no mass, want mass_kg or density_kgm3")
		}
	}
}

// checkTree reports every joint and body that keeps the joints from being one tree, and returns each body's parent.
// Ends that are hal.None are faults that were reported already.
func checkTree(names []string, edges []edge, body yaml.Path, faults *faults) []int {
	parents := slices.Repeat([]int{hal.None}, len(names))
	by := make([]yaml.Path, len(names)) // the joint that holds a body
	for _, e := range edges {
		switch {
		case e.child == hal.None:
		case e.parent == e.child:
			faults.add(e.path, "got %q as parent and child, want two bodies", names[e.child])
			by[e.child] = e.path
		case by[e.child] != "":
			faults.add(e.path+".child", "got %q, which %s holds already", names[e.child], by[e.child])
		default:
			by[e.child], parents[e.child] = e.path, e.parent
		}
	}
	// A loop has no root: an additional fault about the missing root would only confuse.
	if _, loop := parentsFirst(parents); len(loop) > 0 {
		for _, i := range loop {
			faults.add(body.Index(i), "%q hangs in a loop of joints, want a tree", names[i])
		}
		return parents
	}
	root := hal.None
	for i := range names {
		switch {
		case by[i] != "":
		case root == hal.None:
			root = i
		default:
			faults.add(body.Index(i), "no joint holds %q, want only one root, which is %q", names[i], names[root])
		}
	}
	return parents
}

package model

import (
	"fmt"
	"math"

	"github.com/halyard-robotics/halyard/hal"
)

// linkage reads where a joint is and what it connects.
func (f *linkFile) linkage(path string, bodies map[string]int, faults *faults) Linkage {
	l := Linkage{Parent: hal.None, Child: hal.None, Sign: 1, Damping: f.Damping, Friction: f.Friction}
	if f.Sign == 1 || f.Sign == -1 {
		l.Sign = f.Sign
	} else if f.Sign != 0 {
		faults.add("%s.sign: got %g, want 1 or -1", path, f.Sign)
	}
	faults.number(path+".damping_nms", f.Damping, 0, maxForce)
	faults.number(path+".friction_nm", f.Friction, 0, maxForce)
	l.Random = f.Random.read(path+".random", f, faults)
	// Without bodies there is nothing to connect, and whoever wrote it forgot them.
	if len(bodies) == 0 {
		if f.Parent != "" || f.Child != "" || f.Anchor != nil || f.Axis != nil {
			faults.add("%s: got parent, child, anchor_m or axis without bodies, want bodies too", path)
		}
		return l
	}
	l.Parent = faults.index(path+".parent", "body", f.Parent, bodies)
	l.Child = faults.index(path+".child", "body", f.Child, bodies)
	l.Anchor = faults.point(path+".anchor_m", f.Anchor)
	if f.Anchor == nil {
		faults.add("%s.anchor_m: missing, want three numbers: x, y, z", path)
	}
	if axis, ok := unit(faults.point(path+".axis", f.Axis)); ok {
		l.Axis = axis
	} else {
		faults.add("%s.axis: got %v, want a direction: x, y, z", path, f.Axis)
	}
	return l
}

// partners connects each joint with its image on the robot's other side.
func (f *file) partners(r *Robot, names map[string]int, faults *faults) {
	for i := range f.Joints {
		if f.Joints[i].Mirrors == "" {
			continue
		}
		path := fmt.Sprintf("joints[%d].mirrors", i)
		// Only the image names the original; the original learns of it here.
		k := faults.index(path, "joint", f.Joints[i].Mirrors, names)
		switch {
		case k == hal.None:
		case k == i:
			faults.add("%s: got the joint itself, want another", path)
		case r.Joints[k].Partner != k || r.Joints[i].Partner != i:
			faults.add("%s: got %q, but one of the two has a partner already", path, f.Joints[i].Mirrors)
		default:
			r.Joints[i].Partner, r.Joints[k].Partner = k, i
			r.Joints[i].Mirrors = true
		}
	}
}

// passive reads the joints without a motor.
func (f *file) passive(r *Robot, joints, bodies map[string]int, faults *faults) {
	if len(f.Passive) > 0 && len(f.Bodies) == 0 {
		faults.add("passive: got %d without bodies, want bodies too", len(f.Passive))
		return
	}
	seen := map[string]int{}
	for i := range f.Passive {
		path, p := fmt.Sprintf("passive[%d]", i), &f.Passive[i]
		faults.name(path, "passive", p.Name, i, seen)
		// Names are unique over both lists: a config or a test finds a joint by its name alone.
		if k, both := joints[p.Name]; both {
			faults.add("%s.name: got %q, which joints[%d] has too", path, p.Name, k)
		}
		if p.Link.Random.Strength != "" {
			faults.add("%s.random.strength: got %s without a motor, want none", path, p.Link.Random.Strength)
		}
		out := Passive{Name: p.Name}
		var kind JointKind
		switch p.Kind {
		case "", "hinge":
		case "slide":
			kind = Slide
		case "weld":
			kind = Weld
			// A weld has no axis; any will do.
			if l := &p.Link; l.Anchor == nil && l.Axis == nil {
				l.Anchor, l.Axis = []float64{0, 0, 0}, []float64{0, 0, 1}
			}
		default:
			faults.add("%s.kind: got %q, want hinge, slide or weld", path, p.Kind)
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

func (f *passiveFile) stops(path string, kind JointKind, faults *faults) (stops [2]float64) {
	if f.StopsDeg != nil && kind != Hinge {
		faults.add("%s.stops_deg: got %v for a %s, want none", path, f.StopsDeg, kind)
	}
	if f.StopsM != nil && kind != Slide {
		faults.add("%s.stops_m: got %v for a %s, want none", path, f.StopsM, kind)
	}
	if kind == Slide && f.StopsM != nil {
		v := f.StopsM
		if len(v) != 2 || !(v[0] < v[1]) || !(math.Abs(v[0]) <= maxLength) || !(math.Abs(v[1]) <= maxLength) {
			faults.add("%s.stops_m: got %v, want two rising places, m", path, v)
			return stops
		}
		return [2]float64{v[0], v[1]}
	}
	return faults.pair(path+".stops_deg", f.StopsDeg, stops)
}

func (f *mimicFile) mimic(path string, kind JointKind, joints map[string]int, faults *faults) *Mimic {
	m := &Mimic{Joint: faults.index(path+".joint", "joint", f.Joint, joints), Times: 1, Plus: radians(f.PlusDeg)}
	if f.Times != nil {
		m.Times = *f.Times
		faults.number(path+".times", m.Times, -1e3, 1e3)
	}
	faults.number(path+".plus_deg", f.PlusDeg, -3600, 3600)
	faults.number(path+".plus_m", f.PlusM, -maxLength, maxLength)
	if kind == Slide {
		m.Plus = f.PlusM
	}
	return m
}

// edge is one joint as the tree sees it.
type edge struct {
	path          string
	parent, child int
}

// tree checks that the joints make one tree of all bodies, and that all of it but a fixed root weighs something.
func (f *file) tree(r *Robot, faults *faults) {
	if len(r.Bodies) == 0 {
		if f.Base != "" || f.NoContact != nil || f.Accelerometers != nil || f.Sensors != nil {
			faults.add("bodies: got none, want some for base, no_contact, accelerometers and sensors")
		}
		return
	}
	// Both kinds of joint hold bodies; the tree does not care which.
	var edges []edge
	for i := range r.Joints {
		edges = append(edges, edge{fmt.Sprintf("joints[%d]", i), r.Joints[i].Parent, r.Joints[i].Child})
	}
	for i := range r.Passive {
		edges = append(edges, edge{fmt.Sprintf("passive[%d]", i), r.Passive[i].Parent, r.Passive[i].Child})
	}
	names := make([]string, len(r.Bodies))
	for i := range names {
		names[i] = r.Bodies[i].Name
	}
	parents := checkTree(names, edges, "bodies[%d]", faults)
	for i := range r.Bodies {
		b := &r.Bodies[i]
		if b.Mass == 0 && !(r.Fixed && parents[i] == hal.None) {
			faults.add("bodies[%d]: %q weighs nothing, want mass_kg or density_kgm3", i, b.Name)
		}
	}
}

// checkTree reports every joint and body that keeps the joints from being one tree, and returns each body's parent. Ends
// that are hal.None are faults that were reported already.
func checkTree(names []string, edges []edge, body string, faults *faults) []int {
	parents := make([]int, len(names))
	by := make([]string, len(names)) // the joint that holds a body
	for i := range parents {
		parents[i] = hal.None
	}
	for _, e := range edges {
		switch {
		case e.child == hal.None:
		case e.parent == e.child:
			faults.add("%s: got %q as parent and child, want two bodies", e.path, names[e.child])
			by[e.child] = e.path
		case by[e.child] != "":
			faults.add("%s.child: got %q, which %s holds already", e.path, names[e.child], by[e.child])
		default:
			by[e.child], parents[e.child] = e.path, e.parent
		}
	}
	// A loop has no root: to say that one is missing too would only confuse.
	if _, loop := parentsFirst(parents); len(loop) > 0 {
		for _, i := range loop {
			faults.add(body+": %q hangs in a loop of joints, want a tree", i, names[i])
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
			faults.add(body+": no joint holds %q, want one root alone, which is %q", i, names[i], names[root])
		}
	}
	return parents
}

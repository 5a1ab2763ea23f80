package model

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/yaml"
)

// urdfName is the pattern of valid names of links and joints: all usual characters, but none that splits a channel's name.
var urdfName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.:+-]{0,99}$`)

// urdfBuilder holds the state of the conversion of a URDF to a Robot.
type urdfBuilder struct {
	f      *urdfFile
	o      *URDFOptions
	faults *faults
	links  map[string]int
	joints map[string]int
	above  []int      // the joint that holds each link, or hal.None
	pose   []hal.Pose // of each link in the robot's frame
	body   []int      // of Robot.Bodies, each link's
	r      *Robot
}

func (f *urdfFile) robot(o *URDFOptions, faults *faults) *Robot {
	own := *o
	own.boxes = map[string][2]vec{}
	b := &urdfBuilder{
		f: f, o: &own, faults: faults,
		r: &Robot{Name: f.Name, Title: f.Name, Simloid: hal.None, Supply: o.Supply, Fixed: !o.Floating},
	}
	if b.r.Supply == (Supply{}) {
		b.r.Supply.Volts = 12
	}
	if !urdfName.MatchString(f.Name) {
		faults.add("robot.name", "got %q, want letters, digits, _ . : + and -", f.Name)
	}
	if len(f.Links) == 0 {
		faults.add("link", "got none, want at least one")
	}
	if faults.count("link", len(f.Links), maxBodies) && faults.count("joint", len(f.Joints), maxJoints) && b.tree() {
		b.bodies()
		b.moving()
	}
	return b.r
}

func linkPath(name string) yaml.Path  { return yaml.Path(fmt.Sprintf("link %q", name)) }
func jointPath(name string) yaml.Path { return yaml.Path(fmt.Sprintf("joint %q", name)) }

// tree checks names and connections and finds the poses; it is false where they make no tree.
func (b *urdfBuilder) tree() bool {
	// The code below walks the tree, so it must be one: return here on any fault.
	before := len(b.faults.Faults)
	name := func(what yaml.Path, name string, i int, seen map[string]int) {
		if !urdfName.MatchString(name) {
			b.faults.add(what.Index(i)+".name", "got %q, want letters, digits, _ . : + and -", name)
		} else if first, twice := seen[name]; twice {
			b.faults.Taken(what.Index(i)+".name", name, what.Index(first))
		} else {
			seen[name] = i
		}
	}
	b.links, b.joints = map[string]int{}, map[string]int{}
	names := make([]string, len(b.f.Links))
	for i := range b.f.Links {
		names[i] = b.f.Links[i].Name
		name("link", names[i], i, b.links)
	}
	var edges []edge
	for i := range b.f.Joints {
		j := &b.f.Joints[i]
		name("joint", j.Name, i, b.joints)
		path := jointPath(j.Name)
		edges = append(edges, edge{
			path, b.faults.index(path+".parent", "link", j.Parent.Link, b.links),
			b.faults.index(path+".child", "link", j.Child.Link, b.links),
		})
	}
	parents := checkTree(names, edges, "link", b.faults)
	if len(b.faults.Faults) > before {
		return false
	}
	b.above = slices.Repeat([]int{hal.None}, len(names))
	for i, e := range edges {
		b.above[e.child] = i
	}
	b.pose, b.body = make([]hal.Pose, len(names)), make([]int, len(names))
	order, _ := parentsFirst(parents)
	for _, i := range order {
		b.place(i, parents[i])
	}
	return true
}

// place finds a link's pose and the body it belongs to; its parent has both.
func (b *urdfBuilder) place(i, parent int) {
	if parent == hal.None {
		b.pose[i] = hal.Pose{Rotation: [4]float64{1}}
		b.start(i)
		return
	}
	j := &b.f.Joints[b.above[i]]
	b.pose[i] = within(b.pose[parent], j.Origin.pose(jointPath(j.Name), b.faults))
	switch j.Type {
	case "fixed":
		b.body[i] = b.body[parent]
		into := &b.r.Bodies[b.body[i]]
		into.Merged = append(into.Merged, b.f.Links[i].Name)
	case "floating":
		// The root link "world" of a floating robot is only a name.
		root := &b.f.Links[parent]
		if b.above[parent] != hal.None || len(root.Inertial) > 0 || len(root.Collision) > 0 || b.children(root.Name) > 1 {
			b.faults.add(jointPath(j.Name)+".type", "got floating, want it as the only joint of an empty root")
		}
		b.r.Fixed = false
		b.body[i] = b.body[parent]
		b.r.Bodies[b.body[i]] = Body{Name: b.f.Links[i].Name, Pose: b.pose[i]}
	default:
		b.start(i)
	}
}

// children counts the joints that are connected to a link.
func (b *urdfBuilder) children(link string) (n int) {
	for i := range b.f.Joints {
		if b.f.Joints[i].Parent.Link == link {
			n++
		}
	}
	return n
}

// start begins a body with link i.
func (b *urdfBuilder) start(i int) {
	b.body[i] = len(b.r.Bodies)
	b.r.Bodies = append(b.r.Bodies, Body{Name: b.f.Links[i].Name, Pose: b.pose[i]})
}

// bodies sets the masses, inertias and shapes of the bodies from their links.
func (b *urdfBuilder) bodies() {
	// Links add up in the frame of the body they belong to; its centre of mass is known at the end.
	lumps := make([]lump, len(b.r.Bodies))
	for i := range b.f.Links {
		l := &b.f.Links[i]
		path := linkPath(l.Name)
		body := &b.r.Bodies[b.body[i]]
		inside := within(inverse(body.Pose), b.pose[i])
		if len(l.Inertial) > 1 {
			b.faults.add(path+".inertial", "got %d, want at most one", len(l.Inertial))
		}
		for k := range l.Inertial {
			mass, inertia, at := l.Inertial[k].read(path+".inertial", b.faults)
			lumps[b.body[i]].add(mass, symmetric(inertia), within(inside, at))
		}
		if len(body.Shapes)+len(l.Collision) > maxShapes {
			b.faults.add(path+".collision", "got more than %d for body %q", maxShapes, body.Name)
			continue
		}
		for _, look := range l.looks(len(body.Shapes)) {
			look.Shape.Pose = within(inside, look.Shape.Pose)
			body.Looks = append(body.Looks, look)
		}
		for k := range l.Collision {
			s := l.Collision[k].shape((path + ".collision").Index(k), b.o, b.faults)
			s.Pose = within(inside, s.Pose)
			body.Shapes = append(body.Shapes, s)
		}
	}
	for i := range b.r.Bodies {
		body := &b.r.Bodies[i]
		if lumps[i].mass > 0 {
			lumps[i].give(body)
		} else if i > 0 || !b.r.Fixed {
			b.faults.add(linkPath(body.Name)+".inertial", "missing, want it for every body that moves")
		}
	}
}

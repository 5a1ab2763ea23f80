package model

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/xml"
	"github.com/halyard-robotics/halyard/internal/yaml"
)

// urdfReader fills a description from the elements of a URDF, as urdfdom reads them; where files found in the field
// differ, as the programs that read them do.
type urdfReader struct {
	*description
	parents map[string]*xml.Node // joint by child
}

// readURDF reads a <robot>.
func readURDF(d *description, root *xml.Node) {
	r := urdfReader{d, map[string]*xml.Node{}}
	d.name = root.Get("name")
	if !r.expanded(root) {
		return
	}
	for _, j := range root.All("joint") {
		// a <joint> of <ros2_control> or <transmission> in a wrong place
		if j.Get("type") == "" && j.Child("parent") == nil {
			r.note(r.place(j), jointPath(j.Get("name")), "got neither type nor parent: left out")
			continue
		}
		r.hold(j)
	}
	for _, l := range root.All("link") {
		r.link(l)
	}
	r.world(root)
	r.gazebo(root)
	for _, c := range root.Children {
		if !slices.Contains([]string{"link", "joint", "material", "mujoco"}, c.Name) {
			r.leftOut(c.Name, c)
		}
	}
	for child, j := range r.parents {
		if !slices.ContainsFunc(d.parts, func(p part) bool { return p.name == child }) {
			r.fault(r.place(j), jointPath(j.Get("name"))+".child", "got %s, want the name of a link", yaml.Quote(child))
		}
	}
}

// expanded reports whether the file has no elements of xacro; words in comments and a namespace that is left over are
// harmless.
func (r *urdfReader) expanded(root *xml.Node) bool {
	var first *xml.Node
	root.Walk(func(n *xml.Node) bool {
		if first == nil && n.Prefix == "xacro" {
			first = n
		}
		return first == nil
	})
	if first != nil {
		r.fault(r.place(first), "", "got <xacro:%s>, want the URDF that xacro makes of it (try: xacro %s > robot.urdf)",
			first.Name, r.source)
	}
	return first == nil
}

// hold notes the joint that holds a link.
func (r *urdfReader) hold(j *xml.Node) {
	child := childLink(j, "child")
	path := jointPath(j.Get("name"))
	if first := r.parents[child]; first != nil {
		r.fault(r.place(j), path+".child", "got %s, which joint %q holds, want a link of its own", yaml.Quote(child),
			first.Get("name"))
		return
	}
	r.parents[child] = j
}

// world adds the link "world" where joints name it as their parent and the file has none, as Drake does.
func (r *urdfReader) world(root *xml.Node) {
	holds := func(j *xml.Node) bool { return j.Child("child") != nil && childLink(j, "parent") == "world" }
	i := slices.IndexFunc(root.All("joint"), holds)
	if i >= 0 && !slices.ContainsFunc(r.parts, func(p part) bool { return p.name == "world" }) {
		j := root.All("joint")[i]
		r.note(r.place(j), jointPath(j.Get("name"))+".parent", `got no link "world": the world itself`)
		r.parts = append(r.parts, part{at: r.place(j), name: "world"})
	}
}

// childLink is the link that a child element of a joint names.
func childLink(j *xml.Node, name string) string {
	if n := j.Child(name); n != nil {
		return n.Get("link")
	}
	return ""
}

// link reads a link with the joint that holds it.
func (r *urdfReader) link(n *xml.Node) {
	p := part{at: r.place(n), name: n.Get("name"), pose: hal.Pose{Rotation: [4]float64{1}}}
	path := linkPath(p.name)
	if list := n.All("inertial"); len(list) > 0 {
		p.mass = r.inertial(list[0], path+".inertial")
		if len(list) > 1 {
			r.note(r.place(list[1]), path+".inertial", "got %d, the first counts", len(list))
		}
	}
	for i, c := range n.All("collision") {
		if s, ok := r.solid(c, (path + ".collision").Index(i)); ok {
			p.solids = append(p.solids, s)
		}
	}
	// What is drawn has no faults of its own.
	faults := r.faults
	for i, c := range n.All("visual") {
		if s, ok := r.solid(c, (path + ".visual").Index(i)); ok {
			p.visuals = append(p.visuals, s)
		}
	}
	if len(r.faults) > len(faults) {
		r.faults, p.visuals = faults, nil
	}
	if j := r.parents[p.name]; j != nil {
		r.joint(j, &p)
	}
	r.parts = append(r.parts, p)
}

// inertial reads an <inertial>; nil where it has no mass.
func (r *urdfReader) inertial(n *xml.Node, path yaml.Path) *inertial {
	out := &inertial{place: r.place(n), at: r.origin(n, path)}
	m := n.Child("mass")
	if m == nil || strings.TrimSpace(m.Get("value")) == "" {
		return out
	}
	out.mass = r.number(m, path+".mass", "value", 0)
	i := n.Child("inertia")
	if i == nil {
		return out
	}
	var v [6]float64
	for k, name := range [...]string{"ixx", "iyy", "izz", "ixy", "ixz", "iyz"} {
		if _, ok := i.Attr(name); !ok && k < 3 {
			return out // a moment is missing; the products may be
		}
		v[k] = r.number(i, path+".inertia", name, 0)
	}
	out.inertia = &v
	return out
}

// solid reads a <collision> or <visual>, in the link's frame. A URDF has no friction: 1 is a typical default of
// engines. It is false for an empty one.
func (r *urdfReader) solid(n *xml.Node, path yaml.Path) (s solidPart, ok bool) {
	s = solidPart{at: r.place(n), shape: Shape{Collides: true, Material: Material{Friction: 1},
		Pose: r.origin(n, path)}}
	geometry := n.Child("geometry")
	if geometry == nil || len(geometry.Children) == 0 {
		r.fault(s.at, path+".geometry", "got no solid, want one of box, cylinder, sphere, capsule, mesh")
		return s, false
	}
	g := geometry.Children[0]
	path += "." + yaml.Path(g.Name)
	switch g.Name {
	case "sphere":
		s.shape.Kind, s.shape.Radius = Sphere, r.size(g, path, "radius")
	case "cylinder", "capsule":
		// The length is whole here and half in Shape.
		s.shape.Kind, s.shape.Radius = Cylinder, r.size(g, path, "radius")
		if g.Name == "capsule" {
			s.shape.Kind = Capsule
		}
		s.shape.Half[2] = r.size(g, path, "length") / 2
	case "box":
		s.shape.Kind, s.shape.Half = Box, scale(0.5, r.triple(g, path, "size", vec{}))
	case "mesh":
		s.mesh, s.scale = strings.TrimSpace(g.Get("filename")), vec{1, 1, 1}
		if words := strings.Fields(g.Get("scale")); len(words) == 1 {
			k := r.number(g, path, "scale", 1)
			s.scale = vec{k, k, k}
		} else {
			s.scale = r.triple(g, path, "scale", s.scale)
		}
		if s.mesh == "" {
			r.fault(s.at, path+".filename", "got nothing, want the name of a file")
		}
	default:
		r.fault(s.at, path, "got <%s>, want one of box, cylinder, sphere, capsule, mesh", g.Name)
		return s, false
	}
	return s, true
}

// joint reads the joint that holds a part.
func (r *urdfReader) joint(j *xml.Node, p *part) {
	name := j.Get("name")
	path := jointPath(name)
	p.parent, p.joint, p.pose = childLink(j, "parent"), string(path), r.origin(j, path)
	a := axis{at: r.place(j), name: name, along: vec{1, 0, 0}}
	if n := j.Child("axis"); n != nil {
		a.along = r.triple(n, path+".axis", "xyz", a.along)
	}
	if n := j.Child("dynamics"); n != nil {
		a.damping = r.number(n, path+".dynamics", "damping", 0)
		a.friction = r.number(n, path+".dynamics", "friction", 0)
	}
	motor := drive{axis: name}
	if n := j.Child("limit"); n != nil {
		if _, low := n.Attr("lower"); low || n.Get("upper") != "" {
			a.limits = &[2]float64{r.number(n, path+".limit", "lower", 0), r.number(n, path+".limit", "upper", 0)}
		}
		motor.torque, motor.velocity = math.Abs(r.number(n, path+".limit", "effort", 0)),
			math.Abs(r.number(n, path+".limit", "velocity", 0))
	}
	switch kind := j.Get("type"); kind {
	case "fixed":
		return
	case "floating":
		p.free = true
		return
	case "revolute":
	case "continuous":
		a.endless = true
	case "prismatic":
		a.kind = Slide
	case "planar":
		r.planar(p, a)
		return
	case "spherical", "ball":
		a.kind, a.limits = Ball, nil
		p.axes = []axis{a}
		return
	default:
		r.fault(a.at, path+".type", "got %s, want revolute, continuous, prismatic, fixed, floating, planar or spherical", yaml.Quote(kind))
		return
	}
	if m := j.Child("mimic"); m != nil {
		a.follows = &follow{m.Get("joint"), r.number(m, path+".mimic", "multiplier", 1),
			r.number(m, path+".mimic", "offset", 0)}
	} else {
		r.drives = append(r.drives, motor)
	}
	p.axes = []axis{a}
}

// planar makes two slides across the axis and a hinge about it, named as MuJoCo names them; no motor moves them.
func (r *urdfReader) planar(p *part, a axis) {
	u, ok := unit(a.along)
	if !ok {
		u = vec{0, 0, 1} // reported by the check
	}
	// The axes across it: those of the frame where it is z.
	x := vec{1, 0, 0}
	if math.Abs(u[0]) > 0.9 {
		x = vec{0, 1, 0}
	}
	x, _ = unit(add(x, scale(-dot(u, x), u)))
	a.limits = nil
	for i, along := range []vec{x, cross(u, x), a.along} {
		b := a
		b.name, b.along = a.name+[...]string{"_TX", "_TY", "_RZ"}[i], along
		if b.endless = i == 2; i < 2 {
			b.kind = Slide
		}
		p.axes = append(p.axes, b)
	}
}

// gazebo reads what this program has too: selfCollide, the friction mu1, and a joint's spring.
func (r *urdfReader) gazebo(root *xml.Node) {
	for _, g := range root.All("gazebo") {
		of := g.Get("reference")
		p := slices.IndexFunc(r.parts, func(p part) bool { return p.name == of })
		if p >= 0 && truth(g, "selfCollide", "self_collide") {
			r.self, r.parts[p].repels = true, true
		}
		if mu := first(g, "mu1", "mu"); p >= 0 && mu != "" {
			if x, err := strconv.ParseFloat(mu, 64); err == nil && x >= 0 && x <= maxForce {
				for k := range r.parts[p].solids {
					r.parts[p].solids[k].shape.Material.Friction = x
				}
			}
		}
		for _, c := range g.All("sensor") {
			at := hal.Pose{Rotation: [4]float64{1}}
			if text := strings.Fields(first(c, "pose")); len(text) == 6 {
				sdf := sdfReader{urdfReader: *r}
				at = sdf.pose(c)
			}
			if p < 0 || !r.sensor(c, of, at) {
				r.note(r.place(c), "gazebo.sensor", "a %s of link %s: left out", yaml.Quote(c.Get("type")),
					yaml.Quote(of))
			}
		}
		stiffness, err := strconv.ParseFloat(first(g, "springStiffness"), 64)
		if err != nil || !(stiffness > 0 && stiffness <= maxForce) {
			continue
		}
		rest, _ := strconv.ParseFloat(first(g, "springReference"), 64)
		for i := range r.parts {
			for k := range r.parts[i].axes {
				if a := &r.parts[i].axes[k]; a.name == of && math.Abs(rest) <= maxLength {
					a.stiffness, a.rest = stiffness, rest
				}
			}
		}
	}
}

// first is the text of the first child with one of the names.
func first(n *xml.Node, names ...string) string {
	for _, c := range n.Children {
		if slices.Contains(names, c.Name) {
			return c.Text
		}
	}
	return ""
}

func truth(n *xml.Node, names ...string) bool {
	text := strings.ToLower(first(n, names...))
	return text == "1" || text == "true"
}

// size is a radius or a length.
func (r *urdfReader) size(n *xml.Node, path yaml.Path, name string) float64 {
	if n.Get(name) == "" {
		r.fault(r.place(n), path+"."+yaml.Path(name), "got nothing, want a number")
	}
	return r.number(n, path, name, 1)
}

// number reads an attribute; otherwise is its value where it is absent or empty.
func (r *urdfReader) number(n *xml.Node, path yaml.Path, name string, otherwise float64) float64 {
	text := strings.TrimSpace(n.Get(name))
	if text == "" {
		return otherwise
	}
	return r.parse(n, path+"."+yaml.Path(name), text, otherwise)
}

// parse reads a number. An infinite one is far outside of all limits, which the check knows.
func (r *urdfReader) parse(n *xml.Node, path yaml.Path, text string, otherwise float64) float64 {
	x, err := strconv.ParseFloat(text, 64)
	if math.IsInf(x, 0) {
		return math.Copysign(math.MaxFloat64, x)
	}
	if strings.HasPrefix(text, "$") {
		r.fault(r.place(n), path, "got %s, want the number that xacro makes of it (try: xacro %s > robot.urdf)",
			yaml.Quote(text), r.source)
	} else if err != nil || math.IsNaN(x) {
		r.fault(r.place(n), path, "got %s, want a number", yaml.Quote(text))
		return otherwise
	}
	return x
}

// triple reads three numbers, whose further ones other programs ignore too.
func (r *urdfReader) triple(n *xml.Node, path yaml.Path, name string, otherwise vec) (v vec) {
	words := strings.Fields(n.Get(name))
	if len(words) == 0 {
		return otherwise
	}
	path += "." + yaml.Path(name)
	if len(words) < 3 {
		r.fault(r.place(n), path, "got %s, want three numbers", yaml.Quote(n.Get(name)))
		return otherwise
	}
	if len(words) > 3 {
		r.note(r.place(n), path, "got %d numbers, the first three count", len(words))
	}
	for i := range v {
		v[i] = r.parse(n, path, words[i], 0)
	}
	if !r.finite(r.place(n), path, maxLength, v[:]...) {
		return otherwise
	}
	return v
}

// origin reads an <origin>, in URDF 1.1 perhaps with a quaternion x y z w.
func (r *urdfReader) origin(n *xml.Node, path yaml.Path) hal.Pose {
	o := n.Child("origin")
	pose := hal.Pose{Rotation: [4]float64{1}}
	if o == nil {
		return pose
	}
	path += ".origin"
	pose.Position = r.triple(o, path, "xyz", vec{})
	if words := strings.Fields(o.Get("quat_xyzw")); len(words) == 4 {
		var q [4]float64
		for i := range q {
			q[(i+1)%4] = r.parse(o, path+".quat_xyzw", words[i], 0)
		}
		size := math.Sqrt(q[0]*q[0] + q[1]*q[1] + q[2]*q[2] + q[3]*q[3])
		if !(size > 1e-6 && size < 1e6) {
			r.fault(r.place(o), path+".quat_xyzw", "got %v, want a unit quaternion x y z w", o.Get("quat_xyzw"))
			return pose
		}
		for i := range q {
			pose.Rotation[i] = q[i] / size
		}
		return pose
	}
	rpy := r.triple(o, path, "rpy", vec{})
	pose.Rotation = rollPitchYaw(rpy[0], rpy[1], rpy[2])
	return pose
}

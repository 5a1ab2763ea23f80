package model

import (
	"io"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/xml"
	"github.com/halyard-robotics/halyard/internal/yaml"
)

// sdfReader fills a description from the elements of an SDF, the format of Gazebo.
type sdfReader struct {
	urdfReader
	open  func(name string) (io.ReadCloser, error)
	old   bool                // version 1.4 or before: an axis is in the model's frame
	nodes map[string]*sdfNode // links, joints, frames, models, by their scoped name
	order []*sdfNode          // links and joints
	files int                 // that were included
	fixed bool                // a model is static, or a joint holds a link of it to the world
}

// sdfNode is a thing with a pose.
type sdfNode struct {
	n     *xml.Node
	scope string // what names in it begin with
	base  string // the node that its pose counts from where it does not say
	pose  *hal.Pose
	busy  bool // its pose is at work: a loop
}

// Bounds of models within each other, and of files in one.
const (
	maxIncluded = 16
	maxIncludes = 200
)

// readSDF reads an <sdf>, or a <model> of a model.config, which names its file.
func readSDF(d *description, root *xml.Node, open func(name string) (io.ReadCloser, error)) {
	r := sdfReader{urdfReader: urdfReader{d, map[string]*xml.Node{}}, open: open, nodes: map[string]*sdfNode{}}
	if root.Name == "model" {
		if root = r.configured(root, ""); root == nil {
			return
		}
	}
	r.old = slices.Contains([]string{"1.0", "1.2", "1.3", "1.4"}, root.Get("version"))
	models := root.All("model")
	for _, w := range root.All("world") {
		models = append(models, w.All("model")...)
	}
	if len(models) == 0 {
		r.fault(r.place(root), "model", "got none, want at least one")
		return
	}
	best := slices.MaxFunc(models, func(a, b *xml.Node) int { return len(a.All("joint")) - len(b.All("joint")) })
	for _, m := range models {
		if m != best {
			r.note(r.place(m), yaml.Path("model"), "%s is left out: it is not the robot (try: a scene with it)",
				yaml.Quote(m.Get("name")))
		}
	}
	d.name = best.Get("name")
	r.model(best, "", "", 0)
	r.links()
	d.free = !r.fixed
}

// file reads another file, or the newest one that a model.config names; nil after a fault.
func (r *sdfReader) file(at *xml.Node, name string) *xml.Node {
	if r.files++; r.files > maxIncludes || r.open == nil {
		r.fault(r.place(at), yaml.Path(at.Name), "got %s, want a folder to find it in, and at most %d files",
			yaml.Quote(name), maxIncludes)
		return nil
	}
	m := mjcfReader{description: r.description, open: r.open}
	root := m.included(at, name)
	if root == nil {
		return nil
	}
	root.Walk(func(x *xml.Node) bool { x.File = name; return true })
	if root.Name == "model" {
		return r.configured(root, strings.TrimSuffix(name, path.Base(name)))
	}
	return root
}

// configured opens the newest file that a model.config in a folder names; nil after a fault.
func (r *sdfReader) configured(config *xml.Node, folder string) *xml.Node {
	list := config.All("sdf")
	if len(list) == 0 {
		r.fault(r.place(config), "sdf", "got none, want the name of a file")
		return nil
	}
	newest := slices.MaxFunc(list, func(a, b *xml.Node) int {
		return strings.Compare(a.Get("version"), b.Get("version"))
	})
	return r.file(newest, folder+newest.Text)
}

// model notes what is in a model, so that poses may count from each other, and reads the models within it.
func (r *sdfReader) model(m *xml.Node, scope, base string, deep int) {
	own := scope + "__model__"
	r.nodes[own] = &sdfNode{n: m, scope: strings.TrimSuffix(base, "__model__"), base: base}
	if base == "" { // of the robot itself: where it stands is the config's
		r.nodes[own].pose = &hal.Pose{Rotation: [4]float64{1}}
	}
	r.fixed = r.fixed || truth(m, "static")
	r.self = r.self || truth(m, "self_collide")
	for _, c := range m.Children {
		name := scope + c.Get("name")
		switch c.Name {
		case "link", "frame", "joint":
			if r.nodes[name] != nil {
				r.fault(r.place(c), yaml.Path(c.Name), "got %s, want a name of its own", yaml.Quote(name))
			}
			r.nodes[name] = &sdfNode{n: c, scope: scope, base: own}
			r.order = append(r.order, r.nodes[name])
			if of := c.Get("attached_to"); of != "" {
				r.nodes[name].base = scope + of
			} else if c.Name == "joint" {
				r.nodes[name].base = scope + first(c, "child")
			}
		case "model", "include":
			if deep == maxIncluded {
				r.fault(r.place(c), yaml.Path(c.Name), "got more than %d models within each other", maxIncluded)
				return
			}
			r.within(c, scope, own, deep)
		case "pose", "static", "self_collide", "allow_auto_disable", "enable_wind":
		default:
			r.leftOut(c.Name, c)
		}
	}
}

// within reads a model in another, in place or from a file.
func (r *sdfReader) within(c *xml.Node, scope, own string, deep int) {
	in, name := c, c.Get("name")
	if c.Name == "include" {
		uri := strings.TrimSuffix(first(c, "uri"), "/")
		if !strings.HasSuffix(uri, ".sdf") && !strings.HasSuffix(uri, ".config") {
			uri += "/model.config"
		}
		file := r.file(c, uri)
		if file == nil {
			return
		}
		if in = file.Child("model"); in == nil {
			r.fault(r.place(c), "include.uri", "got %s, want a file with a model", yaml.Quote(uri))
			return
		}
		if name = first(c, "name"); name == "" {
			name = in.Get("name")
		}
		// The pose of <include> takes the place of the model's.
		if p := c.Child("pose"); p != nil {
			in.Children = append([]*xml.Node{p}, in.Children...)
		}
	}
	r.model(in, scope+name+"::", own, deep+1)
	r.nodes[scope+name] = &sdfNode{n: &xml.Node{}, base: scope + name + "::__model__"}
}

// at is the pose of a node in the robot's frame.
func (r *sdfReader) at(name string) hal.Pose {
	s := r.nodes[name]
	switch {
	case s != nil && s.pose != nil:
		return *s.pose
	case s != nil && s.busy:
		r.fault(r.place(s.n), "pose", "got %s, which counts from itself, want a tree", yaml.Quote(name))
		fallthrough
	case s == nil:
		return hal.Pose{Rotation: [4]float64{1}}
	}
	s.busy = true
	base := s.base
	if p := s.n.Child("pose"); p != nil && p.Get("relative_to") != "" {
		if base = s.scope + p.Get("relative_to"); r.nodes[base] == nil {
			r.fault(r.place(p), "pose.relative_to", "got %s, want the name of a frame, link or joint",
				yaml.Quote(p.Get("relative_to")))
		}
	}
	pose := within(r.at(base), r.pose(s.n))
	s.pose, s.busy = &pose, false
	return pose
}

// pose is that of an element in the frame that it counts from.
func (r *sdfReader) pose(n *xml.Node) hal.Pose {
	pose := hal.Pose{Rotation: [4]float64{1}}
	p := n.Child("pose")
	if p == nil || p.Text == "" {
		return pose
	}
	v := r.values(p, p.Text)
	quat := p.Get("rotation_format") == "quat_xyzw"
	if want := map[bool]int{false: 6, true: 7}[quat]; len(v) != want {
		r.fault(r.place(p), "pose", "got %s, want %d numbers", yaml.Quote(p.Text), want)
		return pose
	}
	pose.Position = vec(v[:3])
	if quat {
		pose.Rotation = normal([]float64{v[6], v[3], v[4], v[5]})
		return pose
	}
	unit := 1.0
	if p.Get("degrees") == "true" {
		unit = math.Pi / 180
	}
	pose.Rotation = rollPitchYaw(unit*v[3], unit*v[4], unit*v[5])
	return pose
}

// values are the numbers of a text.
func (r *sdfReader) values(n *xml.Node, text string) (v []float64) {
	for word := range strings.FieldsSeq(text) {
		v = append(v, r.parse(n, yaml.Path(n.Name), word, 0))
	}
	if !r.finite(r.place(n), yaml.Path(n.Name), math.MaxFloat64, v...) {
		return nil
	}
	return v
}

// value is the number of a child.
func (r *sdfReader) value(n *xml.Node, name string, otherwise float64) float64 {
	c := n.Child(name)
	if c == nil || c.Text == "" {
		return otherwise
	}
	return r.parse(c, yaml.Path(n.Name+"."+name), c.Text, otherwise)
}

// triple is the three numbers of a child.
func (r *sdfReader) triple(n *xml.Node, name string, otherwise vec) vec {
	c := n.Child(name)
	if c == nil {
		return otherwise
	}
	v := r.values(c, c.Text)
	if len(v) != 3 {
		r.fault(r.place(c), yaml.Path(n.Name+"."+name), "got %s, want three numbers", yaml.Quote(c.Text))
		return otherwise
	}
	return vec(v)
}

// links makes the parts: each link, held by the joint whose child it is.
func (r *sdfReader) links() {
	holds := map[string]*sdfNode{}
	for _, s := range r.order {
		if s.n.Name != "joint" {
			continue
		}
		child := s.scope + first(s.n, "child")
		if r.nodes[child] == nil {
			r.fault(r.place(s.n), jointPath(s.n.Get("name"))+".child", "got %s, want the name of a link",
				yaml.Quote(first(s.n, "child")))
		} else if before := holds[child]; before != nil {
			r.fault(r.place(s.n), jointPath(s.n.Get("name"))+".child",
				"got %s, which joint %q holds, want a link of its own",
				yaml.Quote(child), before.n.Get("name"))
		}
		holds[child] = s
	}
	world := false
	for _, s := range r.order {
		if s.n.Name != "link" {
			continue
		}
		name := s.scope + s.n.Get("name")
		p := part{at: r.place(s.n), name: name, pose: r.at(name)}
		r.body(s, &p)
		if j := holds[name]; j != nil {
			world = r.joint(j, &p) || world
		}
		r.parts = append(r.parts, p)
	}
	if world {
		r.fixed = true
		r.parts = append(r.parts, part{at: yaml.Place{Source: r.source}, name: mjcfWorld,
			pose: hal.Pose{Rotation: [4]float64{1}}})
	}
}

// body reads the mass, solids and sensors of a link.
func (r *sdfReader) body(s *sdfNode, p *part) {
	path := linkPath(p.name)
	if n := s.n.Child("inertial"); n != nil {
		m := &inertial{place: r.place(n), at: r.pose(n), mass: r.value(n, "mass", 1)}
		if i := n.Child("inertia"); i != nil {
			m.inertia = &[6]float64{}
			for k, name := range [...]string{"ixx", "iyy", "izz", "ixy", "ixz", "iyz"} {
				m.inertia[k] = r.value(i, name, map[bool]float64{true: 1}[k < 3])
			}
		}
		p.mass = m
	}
	for i, c := range s.n.All("collision") {
		if solid, ok := r.shape(c, (path + ".collision").Index(i)); ok {
			p.solids = append(p.solids, solid)
		}
	}
	faults := r.faults
	for i, c := range s.n.All("visual") {
		if solid, ok := r.shape(c, (path + ".visual").Index(i)); ok {
			p.visuals = append(p.visuals, solid)
		}
	}
	if len(r.faults) > len(faults) { // what is drawn has no faults of its own
		r.faults, p.visuals = faults, nil
	}
	p.repels = true
	for _, c := range s.n.All("sensor") {
		if !r.sensor(c, p.name, r.pose(c)) {
			r.leftOut("sensor "+c.Get("type"), c)
		}
	}
	if first(s.n, "gravity") == "false" || first(s.n, "gravity") == "0" {
		r.leftOut("gravity", s.n)
	}
}

// shape reads a <collision> or <visual>, in the link's frame; false for one that is no solid.
func (r *sdfReader) shape(n *xml.Node, path yaml.Path) (s solidPart, ok bool) {
	s = solidPart{at: r.place(n), shape: Shape{Collides: true, Material: Material{Friction: 1}, Pose: r.pose(n)}}
	n.Walk(func(x *xml.Node) bool {
		if x.Name == "mu" {
			s.shape.Material.Friction = math.Max(0, math.Min(maxForce, r.parse(x, path+".mu", x.Text, 1)))
		}
		return true
	})
	geometry := n.Child("geometry")
	if geometry == nil || len(geometry.Children) == 0 {
		r.fault(s.at, path+".geometry", "got no solid, want a geometry with a solid")
		return s, false
	}
	g := geometry.Children[0]
	path += "." + yaml.Path(g.Name)
	switch g.Name {
	case "box":
		s.shape.Kind, s.shape.Half = Box, scale(0.5, r.triple(g, "size", vec{1, 1, 1}))
	case "sphere":
		s.shape.Kind, s.shape.Radius = Sphere, r.value(g, "radius", 1)
	case "cylinder", "capsule":
		s.shape.Kind, s.shape.Radius = Cylinder, r.value(g, "radius", 1)
		if g.Name == "capsule" {
			s.shape.Kind = Capsule
		}
		s.shape.Half[2] = r.value(g, "length", 1) / 2
	case "ellipsoid":
		m := mjcfReader{description: r.description}
		ok := m.ellipsoid(&s, r.triple(g, "radii", vec{1, 1, 1}), path)
		s.massive = false
		return s, ok
	case "mesh":
		s.mesh, s.scale = first(g, "uri"), r.triple(g, "scale", vec{1, 1, 1})
	case "empty":
		return s, false
	default:
		r.note(s.at, path, "a %s on a link: left out", g.Name)
		return s, false
	}
	return s, true
}

// joint reads the joint that holds a part; it reports whether its parent is the world.
func (r *sdfReader) joint(s *sdfNode, p *part) (world bool) {
	name := s.scope + s.n.Get("name")
	path, j := jointPath(name), s.n
	p.parent, p.joint = s.scope+first(j, "parent"), string(path)
	if up := r.nodes[p.parent]; first(j, "parent") == "world" {
		p.parent, world = mjcfWorld, true
	} else if up != nil {
		for range maxIncluded { // a frame or a model stands for the link that it is attached to
			if up = r.nodes[p.parent]; up == nil || up.n.Name != "frame" || up.n.Get("attached_to") == "" {
				break
			}
			p.parent = up.scope + up.n.Get("attached_to")
		}
		p.pose = within(inverse(r.at(p.parent)), p.pose)
	}
	child := r.at(p.name)
	at := within(inverse(child), r.at(name)) // in the child's frame
	a := axis{at: r.place(j), name: name, along: vec{0, 0, 1}, anchor: at.Position}
	motor := drive{axis: name}
	frame := at
	if n := j.Child("axis"); n != nil {
		a.along = r.triple(n, "xyz", a.along)
		back := inverse(child)
		if in := n.Child("xyz"); in != nil && in.Get("expressed_in") != "" {
			frame = within(back, r.at(s.scope+in.Get("expressed_in")))
		} else if r.old || truth(n, "use_parent_model_frame") {
			frame = within(back, r.at(s.scope+"__model__"))
		}
		r.limits(n, &a)
		if l := n.Child("limit"); l != nil {
			motor.torque, motor.velocity = math.Max(0, r.value(l, "effort", 0)), math.Max(0, r.value(l, "velocity", 0))
		}
	}
	turn := matrix(frame.Rotation)
	a.along = turn.times(a.along)
	switch kind := j.Get("type"); kind {
	case "fixed":
		return world
	case "ball":
		a.kind, a.limits = Ball, nil
	case "prismatic":
		a.kind = Slide
	case "continuous":
		a.endless = true
	case "revolute":
	default:
		r.fault(r.place(j), path+".type", "got %s, want revolute, continuous, prismatic, fixed or ball",
			yaml.Quote(kind))
	}
	if a.kind != Ball && a.follows == nil {
		r.drives = append(r.drives, motor)
	}
	p.axes = append(p.axes, a)
	return world
}

// limits reads the limits, the dynamics and the mimic of an axis.
func (r *sdfReader) limits(n *xml.Node, a *axis) {
	if l := n.Child("limit"); l != nil {
		low, high := r.value(l, "lower", -math.MaxFloat64), r.value(l, "upper", math.MaxFloat64)
		if low > -1e15 || high < 1e15 { // else its words for none
			a.limits = &[2]float64{low, high}
		}
	}
	if d := n.Child("dynamics"); d != nil {
		a.damping, a.friction = r.value(d, "damping", 0), r.value(d, "friction", 0)
		a.stiffness, a.rest = r.value(d, "spring_stiffness", 0), r.value(d, "spring_reference", 0)
	}
	if m := n.Child("mimic"); m != nil {
		// q = multiplier (q' - reference) + offset
		k := r.value(m, "multiplier", 1)
		a.follows = &follow{m.Get("joint"), k, r.value(m, "offset", 0) - k*r.value(m, "reference", 0)}
	}
}

// sensor makes a sensor of Gazebo one of a link's; false for a kind that this program does not have.
func (r *urdfReader) sensor(n *xml.Node, link string, at hal.Pose) bool {
	s := sensorPart{at: r.place(n), name: n.Get("name"), part: link, pose: at}
	switch n.Get("type") {
	case "imu":
		s.kind = "imu"
	case "contact":
		s.kind = "contact"
	case "ray", "gpu_ray", "lidar", "gpu_lidar":
		s.kind = "range"
		d := deviceKinds()["range"]
		d.Joint, d.Left, d.Right, d.Paced = hal.None, hal.None, hal.None, true
		number := func(n *xml.Node, name string, otherwise float64) float64 {
			if text := first(n, name); text != "" {
				return r.parse(n, yaml.Path("sensor."+name), text, otherwise)
			}
			return otherwise
		}
		low, high, samples := -math.Pi/2, math.Pi/2, 180.0
		n.Walk(func(x *xml.Node) bool {
			switch x.Name {
			case "horizontal":
				low, high = number(x, "min_angle", low), number(x, "max_angle", high)
				samples = number(x, "samples", samples)
			case "range":
				d.Range = number(x, "max", d.Range)
			}
			return x.Name != "vertical"
		})
		if !(samples >= 2 && samples <= maxRays && high > low && high-low < 2*math.Pi+0.1 && d.Range > 0 &&
			d.Range <= 1e4) {
			return false
		}
		d.FOV = math.Min(high-low, 2*math.Pi)
		d.Resolution = d.FOV / (samples - 1)
		if rate := number(n, "update_rate", 0); rate > 0 {
			d.Interval = 1 / rate
		}
		s.pose, s.device = within(at, hal.Pose{Rotation: rollPitchYaw(0, 0, (low+high)/2)}), &d
	default:
		return false
	}
	if s.name == "" {
		s.name = s.kind
	}
	r.sensors = append(r.sensors, s)
	return true
}

package model

import (
	"fmt"
	"io"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/xml"
	"github.com/halyard-robotics/halyard/internal/yaml"
)

// mjcfReader fills a description from the elements of an MJCF, by the rules of MuJoCo. A file describes a world: the
// largest tree of bodies in it is the robot, and what else stands or lies there belongs to a scene.
type mjcfReader struct {
	*description
	open     func(name string) (io.ReadCloser, error)
	defaults map[string]map[string][]xml.Attr // by class, then element
	meshes   map[string]*mjcfMesh
	sites    map[string]mjcfSite
	masks    map[string][][2]int64 // contype, conaffinity of the geoms of a part
	tops     []string              // parts in the world
	degrees  bool                  // angles are
	auto     bool                  // a range limits
	infer    string                // inertiafromgeom
	euler    string                // eulerseq
	meshdir  string
	strip    bool
	order    []mjcfPosition // of qpos
	names    map[string]int // unnamed things, by what they are
	tendons  map[string][]mjcfCoef
	unknown  map[string]counted
	left     map[string]counted
}

// mjcfMesh is an asset; mjcfSite a frame of a part; mjcfCoef a joint of a fixed tendon.
type mjcfMesh struct {
	file    string
	points  [][3]float64 // in place of a file
	scale   vec
	pose    hal.Pose // of the reference, in the file
	inertia string
}

type mjcfSite struct {
	part string
	pose hal.Pose
}

type mjcfCoef struct {
	joint string
	coef  float64
}

// mjcfPosition is a joint's part of qpos.
type mjcfPosition struct {
	axis, part string
	count      int
}

// mjcfScope is where an element stands: what it inherits.
type mjcfScope struct {
	class  string   // childclass
	frame  hal.Pose // in the body's frame
	suffix string   // of names: of replicate
	part   string   // the body
}

// mjcfWorld is the name of the worldbody.
const mjcfWorld = "world"

// maxReplicas bounds the elements that <replicate> makes.
const maxReplicas = 10_000

// mjcfRefused are elements that change the physics in a way that is not modelled here.
var mjcfRefused = []string{"flexcomp", "flex", "composite", "plugin", "muscle", "adhesion", "attach", "pulley"}

// mjcfSkipped are elements of looks and solvers, and those of other programs.
var mjcfSkipped = []string{"visual", "statistic", "custom", "size", "light", "camera", "texture", "material", "skin",
	"hfield", "text", "numeric", "tuple", "bvh", "lengthrange"}

// readMJCF reads a <mujoco>.
func readMJCF(d *description, root *xml.Node, open func(name string) (io.ReadCloser, error)) {
	r := mjcfReader{description: d, open: open, defaults: map[string]map[string][]xml.Attr{},
		meshes: map[string]*mjcfMesh{},
		sites:  map[string]mjcfSite{}, masks: map[string][][2]int64{}, degrees: true, auto: true, infer: "auto",
		euler: "xyz",
		names: map[string]int{}, tendons: map[string][]mjcfCoef{}, unknown: map[string]counted{},
		left: map[string]counted{}}
	d.name, d.self, d.derived = root.Get("model"), true, true
	r.include(root, map[string]bool{}, 0)
	r.refuse(root)
	if len(d.faults) > 0 {
		return
	}
	for _, c := range root.All("compiler") {
		r.compiler(c)
	}
	for _, c := range root.All("default") {
		r.class(c, "main", nil)
	}
	for _, c := range root.All("asset") {
		for _, m := range c.All("mesh") {
			r.mesh(m)
		}
	}
	world := part{at: r.place(root), name: mjcfWorld, pose: hal.Pose{Rotation: [4]float64{1}}}
	for _, c := range root.All("worldbody") {
		world.at = r.place(c)
		r.fill(c, &world, mjcfScope{frame: world.pose, part: mjcfWorld})
	}
	r.choose(world)
	r.couple(root)
	r.actuate(root)
	r.sense(root)
	r.contacts(root)
	r.home(root)
	for _, c := range root.Children {
		r.known(c)
	}
	r.report()
}

func (r *mjcfReader) place(n *xml.Node) yaml.Place {
	source := r.source
	if n.File != "" {
		source = n.File
	}
	return yaml.Place{Source: source, Line: n.Line}
}

// include puts the children of included files in the place of <include>. Paths are those from the main file.
func (r *mjcfReader) include(n *xml.Node, seen map[string]bool, deep int) {
	for i := 0; i < len(n.Children); i++ {
		c := n.Children[i]
		if c.Name != "include" {
			r.include(c, seen, deep)
			continue
		}
		name := c.Get("file")
		var in *xml.Node
		switch {
		case name == "" || seen[name] || deep > 16:
			r.fault(r.place(c), "include.file", "got %s, want a file that is not included yet", yaml.Quote(name))
		case r.open == nil:
			r.fault(r.place(c), "include.file", "got %s, want a folder to find it in", yaml.Quote(name))
		default:
			seen[name] = true
			in = r.included(c, name)
		}
		if in == nil {
			n.Children = slices.Delete(n.Children, i, i+1)
			i--
			continue
		}
		in.Walk(func(x *xml.Node) bool { x.File = name; return true })
		r.include(in, seen, deep+1)
		n.Children = slices.Replace(n.Children, i, i+1, in.Children...)
		i += len(in.Children) - 1
	}
}

// included reads an included file; nil after a fault.
func (r *mjcfReader) included(c *xml.Node, name string) *xml.Node {
	f, err := r.open(name)
	var data []byte
	if err == nil {
		data, err = io.ReadAll(io.LimitReader(f, maxFile+1))
		f.Close() // read only: an error has no effect
	}
	if err != nil {
		r.fault(r.place(c), "include.file", "%s: %v", yaml.Quote(name), err)
		return nil
	}
	in, err := xml.Read(data, xml.Limits{Bytes: maxFile})
	if err != nil {
		r.fault(yaml.Place{Source: name}, "", "%v", err)
		return nil
	}
	return in
}

// refuse reports elements that are not modelled.
func (r *mjcfReader) refuse(root *xml.Node) {
	said := map[string]bool{}
	root.Walk(func(n *xml.Node) bool {
		name := n.Name
		if slices.Contains(mjcfRefused, name) && !said[name] {
			said[name] = true
			r.fault(r.place(n), yaml.Path(name), "got <%s>, which is not modelled here", name)
		}
		if name == "general" && strings.EqualFold(n.Get("dyntype"), "muscle") && !said["muscle"] {
			said["muscle"] = true
			r.fault(r.place(n), "general.dyntype", "got muscle, which is not modelled here")
		}
		return !slices.Contains(mjcfSkipped, name)
	})
}

func (r *mjcfReader) compiler(n *xml.Node) {
	if v, ok := n.Attr("angle"); ok {
		r.degrees = v != "radian"
	}
	if v, ok := n.Attr("autolimits"); ok {
		r.auto = v != "false"
	}
	if v, ok := n.Attr("inertiafromgeom"); ok {
		r.infer = v
	}
	if v, ok := n.Attr("eulerseq"); ok {
		r.euler = v
	}
	for _, name := range []string{"assetdir", "meshdir"} {
		if v, ok := n.Attr(name); ok {
			r.meshdir = v
		}
	}
	if v := r.number(n, "settotalmass", 0); v > 0 {
		r.total = v
	}
	r.strip = r.strip || n.Get("strippath") == "true"
	for _, name := range []string{"boundmass", "boundinertia", "balanceinertia", "coordinate"} {
		if v, ok := n.Attr(name); ok && v != "false" && v != "local" && v != "-1" && v != "0" {
			r.note(r.place(n), yaml.Path("compiler."+name), "got %s: left out", yaml.Quote(v))
		}
	}
}

// class reads a <default>. What a class does not say it has from the one around it.
func (r *mjcfReader) class(n *xml.Node, name string, of map[string][]xml.Attr) {
	if c := n.Get("class"); c != "" {
		name = c
	}
	mine := r.defaults[name]
	if mine == nil {
		mine = map[string][]xml.Attr{}
		for element, attrs := range of {
			mine[element] = slices.Clone(attrs)
		}
		r.defaults[name] = mine
	}
	for _, c := range n.Children {
		if c.Name == "default" {
			continue
		}
		r.attributes(c)
		element := c.Name
		if mjcfActuators[element] {
			element = "general" // all are one kind of thing
		}
		mine[element] = append(slices.Clone(c.Attrs), mine[element]...)
	}
	for _, c := range n.All("default") {
		r.class(c, name, mine)
	}
}

// resolve is an element with what its class gives it. What the element says itself comes first.
func (r *mjcfReader) resolve(n *xml.Node, childclass string) *xml.Node {
	r.attributes(n)
	class := childclass
	if c := n.Get("class"); c != "" {
		class = c
	}
	if class == "" {
		class = "main"
	}
	element := n.Name
	if mjcfActuators[element] {
		element = "general"
	}
	if _, ok := r.defaults[class]; !ok && class != "main" {
		r.fault(r.place(n), yaml.Path(n.Name+".class"), "got %s, want the name of a default class", yaml.Quote(class))
	}
	out := *n
	out.Attrs = append(slices.Clone(n.Attrs), r.defaults[class][element]...)
	return &out
}

func (r *mjcfReader) mesh(n *xml.Node) {
	n = r.resolve(n, "")
	m := &mjcfMesh{file: n.Get("file"), scale: r.triple(n, "scale", vec{1, 1, 1}),
		pose: hal.Pose{Rotation: [4]float64{1}}}
	switch m.inertia = n.Get("inertia"); m.inertia {
	case "":
		m.inertia = "legacy"
	case "exact":
		m.inertia = ""
	case "shell":
		r.note(r.place(n), "mesh.inertia", "shell: the mass is that of the hull here")
		m.inertia = "convex"
	}
	name := n.Get("name")
	if name == "" {
		name = strings.TrimSuffix(path.Base(strings.ReplaceAll(m.file, `\`, "/")), path.Ext(m.file))
	}
	m.pose.Position = r.triple(n, "refpos", vec{})
	if q := r.numbers(n, "refquat", 4); q != nil {
		m.pose.Rotation = normal(q)
	}
	if m.file == "" {
		v := r.numbers(n, "vertex", 0)
		for i := 0; i+2 < len(v); i += 3 {
			m.points = append(m.points, [3]float64{v[i] * m.scale[0], v[i+1] * m.scale[1], v[i+2] * m.scale[2]})
		}
	} else if r.strip {
		m.file = path.Join(r.meshdir, path.Base(m.file))
	} else if !path.IsAbs(m.file) {
		m.file = path.Join(r.meshdir, m.file)
		if beside := path.Join(path.Dir(n.File), m.file); beside != m.file && !r.opens(m.file) && r.opens(beside) {
			m.file = beside // of an included file: MuJoCo looks there as well
		}
	}
	r.meshes[name] = m
}

// opens reports whether there is a file of this name.
func (r *mjcfReader) opens(name string) bool {
	if r.open == nil {
		return false
	}
	f, err := r.open(name)
	if err != nil {
		return false
	}
	f.Close() // read only: an error has no effect
	return true
}

// unnamed is the name of a thing that has none.
func (r *mjcfReader) unnamed(what string) string {
	r.names[what]++
	return fmt.Sprintf("%s_%d", what, r.names[what])
}

// each calls f with the elements of a body, through <frame> and <replicate>.
func (r *mjcfReader) each(n *xml.Node, s mjcfScope, f func(c *xml.Node, s mjcfScope)) {
	for _, c := range n.Children {
		switch c.Name {
		case "frame":
			in := s
			in.frame = within(s.frame, r.pose(c))
			if class := c.Get("childclass"); class != "" {
				in.class = class
			}
			r.each(c, in, f)
		case "replicate":
			count := int(r.number(c, "count", 1))
			if count < 0 || count > maxReplicas || r.names["replicate"] > maxReplicas {
				r.fault(r.place(c), "replicate.count", "got %d, want at most %d in all", count, maxReplicas)
				return
			}
			r.names["replicate"] += count
			step := hal.Pose{Position: r.triple(c, "offset", vec{}), Rotation: r.turned(r.triple(c, "euler", vec{}))}
			at := hal.Pose{Rotation: [4]float64{1}}
			digits := len(strconv.Itoa(max(count-1, 0)))
			for i := range count {
				in := s
				in.frame, in.suffix = within(s.frame, at), fmt.Sprintf("%s%0*d%s", c.Get("sep"), digits, i, s.suffix)
				r.each(c, in, f)
				at = within(at, step)
			}
		default:
			f(c, s)
		}
	}
}

// body reads a <body> of a parent.
func (r *mjcfReader) body(n *xml.Node, s mjcfScope) {
	p := part{at: r.place(n), name: n.Get("name") + s.suffix, parent: s.part, pose: within(s.frame, r.pose(n))}
	if n.Get("name") == "" {
		p.name = r.unnamed("body")
	}
	p.joint = fmt.Sprintf("body %q", p.name)
	if n.Get("mocap") == "true" {
		r.note(p.at, linkPath(p.name), "mocap: it is fixed here")
	}
	if s.part == mjcfWorld {
		r.tops = append(r.tops, p.name)
	}
	if class := n.Get("childclass"); class != "" {
		s.class = class
	}
	in := mjcfScope{class: s.class, frame: hal.Pose{Rotation: [4]float64{1}}, suffix: s.suffix, part: p.name}
	r.fill(n, &p, in)
	if len(r.parts) > maxBodies {
		return // reported by the check
	}
}

// fill reads what is in a body: first its joints, so that positions are in the order of qpos, then the rest.
func (r *mjcfReader) fill(n *xml.Node, p *part, s mjcfScope) {
	r.attributes(n)
	var joints []mjcfJoint
	r.each(n, s, func(c *xml.Node, s mjcfScope) {
		switch c.Name {
		case "freejoint":
			r.attributes(c)
			r.freejoint(p, c.Get("name")+s.suffix)
		case "joint":
			if j, ok := r.joint(c, p, s); ok {
				joints = append(joints, j)
			}
		}
	})
	r.chain(p, joints)
	r.each(n, s, func(c *xml.Node, s mjcfScope) {
		switch c.Name {
		case "geom":
			r.geom(c, p, s)
		case "inertial":
			r.inertial(c, p)
		case "site":
			c = r.resolve(c, s.class)
			r.sites[c.Get("name")+s.suffix] = mjcfSite{p.name, within(s.frame, r.pose(c))}
		}
	})
	if r.infer == "true" && len(p.solids) > 0 {
		p.mass = nil
	} else if p.mass != nil || r.infer == "false" {
		p.solids, p.visuals = split(p.solids)
	}
	r.parts = append(r.parts, *p)
	r.each(n, s, func(c *xml.Node, s mjcfScope) {
		if c.Name == "body" {
			r.body(c, s)
		}
	})
}

// split parts the solids that collide from those that are only drawn: a body with a mass of its own takes none from
// them.
func split(all []solidPart) (solids, visuals []solidPart) {
	for _, s := range all {
		if s.shape.Collides {
			solids = append(solids, s)
		} else {
			visuals = append(visuals, s)
		}
	}
	return solids, visuals
}

// mjcfJoint is a joint as the file has it: in the body's frame, at the file's reference position.
type mjcfJoint struct {
	axis
	ref float64
}

func (r *mjcfReader) freejoint(p *part, name string) {
	if p.parent != mjcfWorld {
		r.fault(p.at, linkPath(p.name)+".freejoint", "got one below %q, want it in the world", p.parent)
		return
	}
	p.free = true
	r.order = append(r.order, mjcfPosition{part: p.name, axis: name, count: 7})
}

// joint reads a <joint>; ok is false where it is no axis.
func (r *mjcfReader) joint(n *xml.Node, p *part, s mjcfScope) (j mjcfJoint, ok bool) {
	n = r.resolve(n, s.class)
	j.at, j.name = r.place(n), n.Get("name")+s.suffix
	if n.Get("name") == "" {
		j.name = r.unnamed(p.name + "_joint")
	}
	path := jointPath(j.name)
	angle := r.degree()
	switch kind := n.Get("type"); kind {
	case "", "hinge":
	case "slide":
		j.kind, angle = Slide, 1
	case "ball":
		j.kind = Ball
		r.order = append(r.order, mjcfPosition{part: p.name, count: 4})
	case "free":
		r.freejoint(p, j.name)
		return j, false
	default:
		r.fault(j.at, path+".type", "got %s, want hinge, slide, ball or free", yaml.Quote(kind))
		return j, false
	}
	j.anchor = place(s.frame, r.triple(n, "pos", vec{}))
	turn := matrix(s.frame.Rotation)
	j.along = turn.times(r.triple(n, "axis", vec{0, 0, 1}))
	j.damping, j.friction, j.armature = r.number(n, "damping", 0), r.number(n, "frictionloss", 0),
		r.number(n, "armature", 0)
	j.stiffness, j.rest = r.number(n, "stiffness", 0), angle*r.number(n, "springref", 0)
	j.ref = angle * r.number(n, "ref", 0)
	if v := r.numbers(n, "actuatorfrcrange", 2); v != nil && v[0] < v[1] && n.Get("actuatorfrclimited") != "false" {
		j.force = math.Max(math.Abs(v[0]), math.Abs(v[1]))
	}
	if j.kind == Ball {
		return j, true
	}
	r.order = append(r.order, mjcfPosition{axis: j.name, count: 1})
	limited := n.Get("limited")
	if v := r.numbers(n, "range", 2); v != nil && limited != "false" && (r.auto || limited == "true") && v[0] < v[1] {
		j.limits = &[2]float64{angle * v[0], angle * v[1]}
	} else if limited == "true" {
		r.fault(j.at, path+".range", "got %s, want a lower and an upper end, as it is limited",
			yaml.Quote(n.Get("range")))
	}
	return j, true
}

// chain makes the axes of joints, and the pose of the part where all of them are at 0: the file draws it at their
// references.
//
// The body's frame is P·T₁(q₁-r₁)·T₂(q₂-r₂)…, each about its own axis in the frame that the ones before have turned.
// Moved to the left, the constant turns make the pose; what is right of an axis turns it back.
func (r *mjcfReader) chain(p *part, joints []mjcfJoint) {
	for i, j := range joints {
		for _, k := range joints[i+1:] {
			back := k.turn(k.ref)
			turn := matrix(back.Rotation)
			j.anchor, j.along = place(back, j.anchor), turn.times(j.along)
		}
		if j.ref != 0 {
			ref := j.ref
			j.start = &ref
		}
		p.axes = append(p.axes, j.axis)
	}
	for _, j := range joints {
		p.pose = within(p.pose, j.turn(-j.ref))
	}
}

// turn is the motion of an axis by q, rad or m, in the frame of its body.
func (a *axis) turn(q float64) hal.Pose {
	move := hal.Pose{Rotation: [4]float64{1}}
	along, ok := unit(a.along)
	if q == 0 || !ok || a.kind == Ball {
		return move
	}
	if a.kind == Slide {
		move.Position = scale(q, along)
		return move
	}
	sin, cos := math.Sincos(q / 2)
	move.Rotation = [4]float64{cos, sin * along[0], sin * along[1], sin * along[2]}
	move.Position = add(a.anchor, scale(-1, place(move, a.anchor)))
	return move
}

func (r *mjcfReader) inertial(n *xml.Node, p *part) {
	r.attributes(n)
	m := &inertial{place: r.place(n), at: r.pose(n), mass: r.number(n, "mass", 0)}
	if v := r.numbers(n, "fullinertia", 6); v != nil {
		m.inertia = (*[6]float64)(v)
	} else if v := r.numbers(n, "diaginertia", 3); v != nil {
		m.inertia = &[6]float64{v[0], v[1], v[2]}
	}
	p.mass = m
}

// choose finds the robot among the trees of the world. The world is its root if it stands fixed.
func (r *mjcfReader) choose(world part) {
	d := r.description
	d.parts = slices.DeleteFunc(d.parts, func(p part) bool { return p.name == mjcfWorld })
	size := map[string]int{}
	best, free := "", false
	top := r.topOf()
	for i := range d.parts {
		size[top[d.parts[i].name]] += 1 + 4*len(d.parts[i].axes)
	}
	for _, t := range r.tops {
		if p, _ := d.partOf(t); p != nil && (best == "" || size[t] > size[best]) {
			best, free = t, p.free
		}
	}
	switch {
	case best == "":
		planes, solids := planesOf(world.solids)
		if len(solids) == 0 && len(d.faults) == 0 {
			r.fault(world.at, "worldbody", "got no body and no geom but planes, want at least one")
		}
		r.scenery(world, planes)
		world.solids = solids
		d.parts = []part{world}
	case free:
		r.leave(top, func(t string) bool { return t != best })
		p, _ := d.partOf(best)
		p.free, p.parent, p.joint, d.free = false, "", "", true
		r.scenery(world, world.solids)
	default:
		r.leave(top, func(t string) bool { p, _ := d.partOf(t); return p.free })
		kept := slices.DeleteFunc(slices.Clone(r.tops), func(t string) bool { p, _ := d.partOf(t); return p == nil })
		planes, solids := planesOf(world.solids)
		r.scenery(world, planes)
		if p, _ := d.partOf(best); len(kept) == 1 && len(solids) == 0 && len(p.axes) == 0 {
			p.parent, p.joint = "", ""
			return
		}
		world.solids = solids
		d.parts = append([]part{world}, d.parts...)
	}
}

// planesOf parts the planes of the world from its other solids.
func planesOf(all []solidPart) (planes, solids []solidPart) {
	for _, s := range all {
		if s.mesh == "" && s.shape.Half[0] == math.Inf(1) {
			planes = append(planes, s)
		} else {
			solids = append(solids, s)
		}
	}
	return planes, solids
}

// scenery notes solids of the world that are not the robot's.
func (r *mjcfReader) scenery(world part, solids []solidPart) {
	if len(solids) > 0 {
		r.note(world.at, "worldbody", "%d geoms left out: floor and obstacles are those of the config's scene (try: "+
			"world.scene)", len(solids))
	}
}

// topOf maps each part to the part in the world that holds it.
func (r *mjcfReader) topOf() map[string]string {
	top := map[string]string{}
	for i := range r.parts { // parents come first
		p := &r.parts[i]
		if top[p.name] = p.name; p.parent != mjcfWorld {
			top[p.name] = top[p.parent]
		}
	}
	return top
}

// leave takes trees away that are no part of the robot.
func (r *mjcfReader) leave(top map[string]string, goes func(t string) bool) {
	for _, t := range r.tops {
		if p, _ := r.partOf(t); p != nil && goes(t) {
			r.note(p.at, linkPath(t), "left out: it is not fixed to the robot (try: a scene with it)")
		}
	}
	gone := map[string]bool{}
	for _, t := range r.tops {
		gone[t] = goes(t)
	}
	r.parts = slices.DeleteFunc(r.parts, func(p part) bool { return gone[top[p.name]] })
}

// partOf finds a part by its name.
func (d *description) partOf(name string) (*part, int) {
	i := slices.IndexFunc(d.parts, func(p part) bool { return p.name == name })
	if i < 0 {
		return nil, hal.None
	}
	return &d.parts[i], i
}

// contacts says which bodies may touch: not those that a joint connects, nor those that the file excludes or whose
// masks do not match.
func (r *mjcfReader) contacts(root *xml.Node) {
	d := r.description
	for i := range d.parts {
		p := &d.parts[i]
		p.repels = slices.ContainsFunc(p.solids, func(s solidPart) bool { return s.shape.Collides })
		if up, _ := d.partOf(p.parent); up != nil && up.name != mjcfWorld {
			d.apart = append(d.apart, [2]string{up.name, p.name})
		}
		for k := range i {
			if !match(r.masks[p.name], r.masks[d.parts[k].name]) {
				d.apart = append(d.apart, [2]string{d.parts[k].name, p.name})
			}
		}
	}
	for _, c := range root.All("contact") {
		for _, e := range c.All("exclude") {
			r.attributes(e)
			d.apart = append(d.apart, [2]string{e.Get("body1"), e.Get("body2")})
		}
	}
}

// match reports whether a geom of one part may touch one of another.
func match(a, b [][2]int64) bool {
	for _, x := range a {
		for _, y := range b {
			if x[0]&y[1] != 0 || y[0]&x[1] != 0 {
				return true
			}
		}
	}
	return false
}

// home takes the start from the keyframe "home".
func (r *mjcfReader) home(root *xml.Node) {
	for _, c := range root.All("keyframe") {
		for _, k := range c.All("key") {
			r.attributes(k)
			if !strings.EqualFold(k.Get("name"), "home") {
				continue
			}
			q := r.numbers(k, "qpos", 0)
			n := 0
			for _, o := range r.order {
				n += o.count
			}
			if len(q) != n {
				r.fault(r.place(k), "key.qpos", "got %d numbers, want %d", len(q), n)
				return
			}
			for _, o := range r.order {
				r.startAt(o, q[:o.count])
				q = q[o.count:]
			}
			return
		}
	}
}

// startAt sets the start of one joint.
func (r *mjcfReader) startAt(o mjcfPosition, q []float64) {
	if p, k := r.axisOf(o.axis); o.axis != "" && p != nil {
		at := q[0]
		p.axes[k].start = &at
	}
	if p, i := r.partOf(o.part); o.count == 7 && p != nil && i == 0 && r.free {
		p.pose = hal.Pose{Position: vec(q[:3]), Rotation: normal(q[3:7])}
	}
}

// report notes what was not understood and what was left out, once each.
func (r *mjcfReader) report() {
	for name, n := range r.unknown {
		r.note(r.place(n.first), "", "%s: unknown attribute, left out (%d times)", name, n.count)
	}
	for name, n := range r.left {
		r.note(r.place(n.first), "", "%d <%s> left out", n.count, name)
	}
	slices.SortStableFunc(r.notes, func(a, b yaml.Fault) int {
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return strings.Compare(a.Got, b.Got)
	})
}

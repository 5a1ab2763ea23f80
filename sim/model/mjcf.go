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
	main     *mjcfCompiler
	settings map[string]*mjcfCompiler // of files that are attached, by name
	strip    bool
	order    []mjcfPosition // of qpos
	names    map[string]int // unnamed things, by what they are
	tendons  map[string][]mjcfCoef
	unknown  counts
	fitaabb  bool
	noTouch  bool // no geom touches another: flag contact
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
var mjcfRefused = []string{"flexcomp", "flex", "composite", "plugin", "muscle", "adhesion", "pulley"}

// mjcfSkipped are elements of looks and solvers, and those of other programs.
var mjcfSkipped = []string{"visual", "statistic", "custom", "size", "light", "camera", "texture", "material", "skin",
	"hfield", "text", "numeric", "tuple", "bvh", "lengthrange"}

// readMJCF reads a <mujoco>.
func readMJCF(d *description, root *xml.Node, open func(name string) (io.ReadCloser, error)) {
	r := mjcfReader{description: d, open: open, defaults: map[string]map[string][]xml.Attr{},
		meshes: map[string]*mjcfMesh{},
		sites:  map[string]mjcfSite{}, masks: map[string][][2]int64{}, settings: map[string]*mjcfCompiler{},
		names: map[string]int{}, tendons: map[string][]mjcfCoef{}}
	d.name, d.self, d.derived = root.Get("model"), true, true
	r.include(root, map[string]bool{}, 0)
	r.main = compilerOf(root)
	r.attach(root, 0)
	r.refuse(root)
	if len(d.faults) > 0 {
		return
	}
	for _, c := range root.All("compiler") {
		r.compiler(c)
	}
	for _, c := range root.All("option") {
		for _, f := range c.All("flag") {
			r.noTouch = r.noTouch || f.Get("contact") == "disable"
		}
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
	for name, n := range r.unknown {
		r.note(r.place(n.first), "", "%s: unknown attribute, left out (%d times)", name, n.count)
	}
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
		case name == "" || deep > 16:
			r.fault(r.place(c), "include.file", "got %s, want a file that is not included yet", yaml.Quote(name))
		case r.open == nil:
			r.fault(r.place(c), "include.file", "got %s, want a folder to find it in", yaml.Quote(name))
		default:
			// from the main file's folder, then from that of the file that includes it
			if beside := path.Join(path.Dir(c.File), name); beside != path.Clean(name) && !r.opens(name) &&
				r.opens(beside) {
				name = beside
			}
			if seen[name] {
				r.fault(r.place(c), "include.file", "got %s, want a file that is not included yet", yaml.Quote(name))
				break
			}
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
	if v := r.number(n, "settotalmass", 0); v > 0 {
		r.total = v
	}
	r.strip = r.strip || n.Get("strippath") == "true"
	r.least = math.Max(r.least, r.number(n, "boundmass", 0))
	r.moment = math.Max(r.moment, r.number(n, "boundinertia", 0))
	r.fitaabb = r.fitaabb || n.Get("fitaabb") == "true"
	r.balance = r.balance || n.Get("balanceinertia") == "true"
	if v := n.Get("coordinate"); v == "global" {
		r.note(r.place(n), "compiler.coordinate", "got global: read as local, as MuJoCo 2.3.3 and later know no other")
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
	case "legacy", "exact", "convex", "shell":
	default:
		r.fault(r.place(n), "mesh.inertia", "got %s, want legacy, exact, convex or shell", yaml.Quote(m.inertia))
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
			m.points = append(m.points, m.point(vec(v[i:i+3])))
		}
		if len(m.points) == 0 {
			r.fault(r.place(n), "mesh", "got %s, want a file or vertices: builtin and plugin are not modelled here",
				yaml.Quote(n.Get("name")))
		}
	} else if r.strip {
		m.file = path.Join(r.main.folder, path.Base(m.file))
	} else if !path.IsAbs(m.file) {
		m.file = path.Join(r.main.folder, m.file)
		if beside := path.Join(path.Dir(n.File), m.file); beside != m.file && !r.opens(m.file) && r.opens(beside) {
			m.file = beside // of an included file: MuJoCo looks there as well
		}
	}
	r.meshes[name] = m
}

// point is a corner of the mesh, from its file: the reference comes first, then the scale.
func (m *mjcfMesh) point(c vec) [3]float64 {
	c = place(inverse(m.pose), c)
	return [3]float64{c[0] * m.scale[0], c[1] * m.scale[1], c[2] * m.scale[2]}
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

package model

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/xml"
	"github.com/halyard-robotics/halyard/internal/yaml"
)

// maxFile bounds a robot file, bytes.
const maxFile = 32 << 20

// OpenFile reads a robot file in XML: see ParseFile. If o has no Open, meshes are searched near the file: see Meshes.
func OpenFile(path string, o FileOptions) (*Robot, error) {
	data, err := readFile(path)
	if err != nil {
		return nil, &hal.Error{Kind: hal.Invalid, Op: "robot file", Err: err}
	}
	if o.Open == nil {
		o.Open = Meshes(path, data, nil)
	}
	r, err := ParseFile(data, path, o)
	if err == nil {
		r.Folder = filepath.Dir(path)
	}
	return r, err
}

// readFile reads a regular file of at most maxFile bytes, or one byte more.
func readFile(path string) ([]byte, error) {
	if is, err := os.Stat(path); err != nil {
		return nil, err
	} else if !is.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: %w", path, errIrregular)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() // read only: an error has no effect
	return io.ReadAll(io.LimitReader(f, maxFile+1))
}

// InXML reports whether the file at path is for OpenFile: by its name, or by how it begins.
func InXML(path string) bool {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".urdf", ".xml", ".mjcf", ".sdf", ".xacro", ".config":
		return true
	}
	is, err := os.Stat(path)
	if err != nil || !is.Mode().IsRegular() {
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close() // read only: an error has no effect
	start := make([]byte, 256)
	n, _ := io.ReadFull(f, start) // a short file has fewer
	return xml.Looks(start[:n])
}

// ParseFile reads a robot file in XML, of at most 32 MiB, in its built pose; its root element says which kind it is:
// <robot> is a URDF, <mujoco> an MJCF, <sdf> an SDF, <model> a model.config. Links without joints between them become
// one body, named after the one nearest to the root. Collision meshes become their convex hulls; what is drawn changes
// only Body.Looks and has no faults.
//
// What other programs accept is accepted: Robot.Notes says what was repaired or left out. All faults are reported
// together, as an error of kind hal.Invalid. source is what reports call the file.
func ParseFile(data []byte, source string, o FileOptions) (*Robot, error) {
	d := &description{source: source}
	root, err := xml.Read(data, xml.Limits{Bytes: maxFile})
	if err != nil {
		at := yaml.Place{Source: source}
		if e, ok := err.(*xml.Error); ok {
			at.Line, err = e.Line, fmt.Errorf("%s", e.Text)
		}
		d.fault(at, "", "%v", err)
		return nil, d.faults.Err()
	}
	switch root.Name {
	case "robot":
		readURDF(d, root)
	case "mujoco":
		readMJCF(d, root, o.Open)
	case "sdf", "gazebo", "model":
		readSDF(d, root, o.Open)
	default:
		d.fault(yaml.Place{Source: source, Line: root.Line}, "",
			"got <%.40s>, want a URDF, whose root is <robot>, an MJCF, whose root is <mujoco>, or an SDF, whose "+
				"root is <sdf>", root.Name)
	}
	if d.name == "" {
		d.name = strings.TrimSuffix(filepath.Base(source), filepath.Ext(source))
	}
	return d.robot(&o)
}

// robot checks and repairs the description, and makes the robot.
func (d *description) robot(o *FileOptions) (*Robot, error) {
	b := builder{d: d, o: o, r: &Robot{Title: d.name, Simloid: hal.None, Supply: o.Supply}}
	if len(d.faults) == 0 && d.checked() {
		b.base()
		b.meshes()
	}
	if len(d.faults) == 0 {
		d.repairAxes()
		d.repairLeaders()
		d.repairMasses(b.r.Fixed)
		d.scaleMasses()
		d.repairDrives(b.r.Fixed)
		b.rename()
		b.bodies()
		b.joints()
		b.sensors()
		b.separate()
	}
	for what, n := range d.left {
		d.note(d.place(n.first), "", "%d <%s> left out", n.count, what)
	}
	slices.SortStableFunc(d.notes, func(x, y yaml.Fault) int {
		return cmp.Or(cmp.Compare(x.Line, y.Line), cmp.Compare(x.Got, y.Got))
	})
	slices.SortStableFunc(d.repaired, func(x, y yaml.Fault) int { return cmp.Compare(x.Line, y.Line) })
	if o.Strict {
		for _, f := range d.repaired {
			f.Got = strings.TrimPrefix(f.Got, Repaired) + " (try: repair: true)"
			d.faults.Add(f)
		}
	}
	if err := d.faults.Err(); err != nil {
		return nil, err
	}
	b.r.Notes, b.r.Repairs = append(slices.Clone(d.repaired), d.notes...), len(d.repaired)
	return b.r, nil
}

// builder makes a Robot of a description that has been checked.
type builder struct {
	d     *description
	o     *FileOptions
	r     *Robot
	links map[string]string // safe names by those of the file
	named map[string]string // of axes
}

// base finds out whether the root moves. An empty root above a free part is only a name: it goes.
func (b *builder) base() {
	d := b.d
	b.r.Fixed = !d.free
	for i := range d.parts {
		p := &d.parts[i]
		if !p.free {
			continue
		}
		up := &d.parts[max(p.up, 0)]
		if p.up != 0 || len(up.solids) > 0 || up.mass != nil && up.mass.mass > 0 || len(d.children(0)) > 1 {
			d.fault(p.at, yaml.Path(p.joint)+".type", "got a floating joint, want it as the only one of an empty root")
			return
		}
		b.r.Fixed = false
		p.joint, p.up, p.free = "", hal.None, false
		d.parts = d.parts[1:]
		for k := range d.parts {
			d.parts[k].up = max(d.parts[k].up-1, hal.None)
		}
		break
	}
	switch b.o.Base {
	case "fixed":
		b.r.Fixed = true
	case "floating":
		b.r.Fixed = false
	}
	if b.r.Supply == (Supply{}) {
		b.r.Supply.Volts = 12
	}
}

// children are the parts that part i holds.
func (d *description) children(i int) (list []int) {
	for k := range d.parts {
		if d.parts[k].up == i {
			list = append(list, k)
		}
	}
	return list
}

// meshes reads the collision meshes.
func (b *builder) meshes() {
	store := meshStore{open: b.o.Open}
	for i := range b.d.parts {
		p := &b.d.parts[i]
		for k := range p.solids {
			s := &p.solids[k]
			if s.mesh == "" {
				continue
			}
			path := (linkPath(p.name) + ".collision").Index(k) + ".mesh"
			say, err := store.fit(s)
			if err != nil {
				b.d.fault(s.at, path, "%s: %v", yaml.Quote(s.mesh), err)
			} else if say != "" {
				b.d.note(s.at, path, "%s: %s", yaml.Quote(s.mesh), say)
			}
		}
	}
}

// safeName is the pattern of names that every protocol carries: none that splits a channel's name.
var safeName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.:+-]{0,99}$`)

// safe returns a name that matches safeName and is not in taken.
func safe(name string, taken map[string]bool) string {
	out := name
	if !safeName.MatchString(name) {
		out = strings.Map(func(r rune) rune {
			if r < 128 && safeName.MatchString("a"+string(r)) {
				return r
			}
			return '_'
		}, name)
		out = "_" + strings.TrimLeft(out, "_.:+-")
		if c := out[1:]; safeName.MatchString(c) {
			out = c
		}
		out = out[:min(len(out), 90)]
	}
	first := out
	for n := 2; taken[out]; n++ {
		out = fmt.Sprintf("%s_%d", first, n)
	}
	taken[out] = true
	return out
}

// rename gives links and axes names that every protocol carries.
func (b *builder) rename() {
	d := b.d
	b.r.Name = safe(d.name, map[string]bool{})
	if b.r.Name != d.name {
		d.note(yaml.Place{Source: d.source, Line: 1}, "robot.name", "%s is called %s here", yaml.Quote(d.name),
			b.r.Name)
	}
	b.links, b.named = map[string]string{}, map[string]string{}
	give := func(at yaml.Place, path yaml.Path, name string, to map[string]string, taken map[string]bool) {
		if to[name] = safe(name, taken); to[name] != name {
			d.note(at, path, "it is called %s here", to[name])
		}
	}
	links, axes := map[string]bool{}, map[string]bool{}
	// Good names first, so that they stay.
	for _, good := range []bool{true, false} {
		for i := range d.parts {
			p := &d.parts[i]
			if safeName.MatchString(p.name) == good {
				give(p.at, linkPath(p.name), p.name, b.links, links)
			}
			for k := range p.axes {
				if a := &p.axes[k]; safeName.MatchString(a.name) == good {
					give(a.at, jointPath(a.name), a.name, b.named, axes)
				}
			}
		}
	}
}

// bodies makes the bodies: a part with axes begins one, with a massless one for each axis but the last; others belong
// to the body of their parent.
func (b *builder) bodies() {
	d := b.d
	taken := map[string]bool{}
	for _, name := range b.links {
		taken[name] = true
	}
	var lumps []lump
	start := func(name string, at hal.Pose) {
		b.r.Bodies = append(b.r.Bodies, Body{Name: name, Pose: at})
		lumps = append(lumps, lump{})
	}
	for i := range d.parts {
		p := &d.parts[i]
		p.built = p.pose
		if p.up != hal.None {
			p.built = within(d.parts[p.up].built, p.pose)
		}
		switch n := len(p.axes); {
		case p.up != hal.None && n == 0:
			p.body = d.parts[p.up].body
			into := &b.r.Bodies[p.body]
			into.Merged = append(into.Merged, b.links[p.name])
			into.Frames = append(into.Frames, within(inverse(into.Pose), p.built))
		default:
			for k := range max(n-1, 0) {
				start(safe(b.links[p.name]+"_"+b.named[p.axes[k].name], taken), p.built)
			}
			p.body = len(b.r.Bodies)
			start(b.links[p.name], p.built)
		}
		b.fill(p, &lumps[p.body])
	}
	for i := range b.r.Bodies {
		if lumps[i].mass > 0 {
			lumps[i].give(&b.r.Bodies[i])
			if i > 0 || !b.r.Fixed {
				d.thicken(&b.r.Bodies[i])
			}
		}
	}
	if root := &b.r.Bodies[0]; !b.r.Fixed && root.Mass == 0 {
		p := &d.parts[0]
		d.repair(p.at, linkPath(p.name)+".inertial", "none", fmt.Sprintf("%g kg", lumpMass),
			"it floats freely, and has neither a mass nor solids to take one from")
		root.Mass, root.Inertia = lumpMass, *sphereOf(lumpMass)
	}
}

// fill adds a part's mass, solids and looks to its body.
func (b *builder) fill(p *part, l *lump) {
	body := &b.r.Bodies[p.body]
	inside := within(inverse(body.Pose), p.built)
	if m := p.mass; m != nil && m.mass > 0 {
		l.add(m.mass, symmetric(*m.inertia), within(inside, m.at))
	}
	if len(body.Shapes)+len(p.solids) > maxShapes {
		b.d.fault(p.at, linkPath(p.name)+".collision", "got more than %d for body %q", maxShapes, body.Name)
		return
	}
	for _, look := range p.looks(len(body.Shapes)) {
		look.Shape.Pose = within(inside, look.Shape.Pose)
		body.Looks = append(body.Looks, look)
	}
	for k := range p.solids {
		s := p.solids[k].shape
		s.Pose = within(inside, s.Pose)
		body.Shapes = append(body.Shapes, s)
	}
}

// sensors makes the sensors.
func (b *builder) sensors() {
	taken := map[string]bool{}
	for _, s := range b.d.sensors {
		p, _ := b.d.partOf(s.part)
		body := b.r.Bodies[p.body]
		b.r.Sensors = append(b.r.Sensors, Sensor{Name: safe(s.name, taken), Kind: s.kind, Body: p.body,
			Pose: within(inverse(body.Pose), within(p.built, s.pose)), Device: s.device})
	}
}

func (d *description) checkCount(path yaml.Path, n, most int) bool {
	if n > most {
		d.fault(yaml.Place{Source: d.source}, path, "got %d, want at most %d", n, most)
	}
	return n <= most
}

// looks returns what is drawn for a part whose shapes begin at first: its visuals if one of them is a mesh and all can
// be read; else the meshes of its collisions.
func (p *part) looks(first int) (list []Look) {
	end, meshes := first+len(p.solids), false
	for i := range p.visuals {
		look, ok := p.visuals[i].look(first, end)
		if !ok || i == maxShapes {
			meshes = false
			break
		}
		list, meshes = append(list, look), meshes || look.Mesh != ""
	}
	if meshes {
		return list
	}
	list = nil
	for i := range p.solids {
		if s := &p.solids[i]; s.mesh != "" {
			if look, ok := s.look(first+i, first+i+1); ok {
				list = append(list, look)
			}
		}
	}
	return list
}

// Unmatched compares the joints of a robot that motors move with the names that a config has for them: missing are the
// robot's that are not in names, unknown the names that the robot does not have, both in their own order.
func Unmatched(r *Robot, names []string) (missing, unknown []string) {
	known := map[string]bool{}
	for _, name := range names {
		known[name] = true
		if r.Joint(name) == hal.None {
			unknown = append(unknown, name)
		}
	}
	for i := range r.Joints {
		if !known[r.Joints[i].Name] {
			missing = append(missing, r.Joints[i].Name)
		}
	}
	return missing, unknown
}

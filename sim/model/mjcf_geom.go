package model

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/xml"
	"github.com/halyard-robotics/halyard/internal/yaml"
	"github.com/halyard-robotics/halyard/sim/collide"
)

// geom reads a <geom> of a part.
func (r *mjcfReader) geom(n *xml.Node, p *part, s mjcfScope) {
	n = r.resolve(n, s.class)
	path := linkPath(p.name) + ".geom"
	if name := n.Get("name"); name != "" {
		path = linkPath(p.name) + "." + yaml.Path("geom "+strconv.Quote(name+s.suffix))
	}
	g := solidPart{at: r.place(n), scale: vec{1, 1, 1}, name: n.Get("name") + s.suffix,
		shell: n.Get("shellinertia") == "true"}
	mask := [2]int64{int64(r.number(n, "contype", 1)), int64(r.number(n, "conaffinity", 1))}
	g.shape.Collides = mask != [2]int64{} && !r.noTouch
	g.shape.Material = r.surface(n)
	g.density = r.number(n, "density", ordinary)
	if _, ok := n.Attr("mass"); ok {
		g.massive, g.shape.Mass = true, r.number(n, "mass", 0)
	} else if g.density == 0 {
		g.massive = true
	}
	if group, in := r.number(n, "group", 0), r.of(n).groups; group < float64(in[0]) || group > float64(in[1]) {
		g.massive, g.shape.Mass = true, 0
	}
	at := r.pose(n)
	size := r.numbers(n, "size", 0)
	if v := r.numbers(n, "fromto", 6); v != nil {
		from, to := vec(v[:3]), vec(v[3:])
		along := add(from, scale(-1, to))
		length := math.Sqrt(dot(along, along))
		at = hal.Pose{Position: scale(0.5, add(from, to)), Rotation: shortest(along)}
		for len(size) < 3 {
			size = append(size, size[max(len(size)-1, 0):]...)
			if len(size) == 0 {
				size = []float64{0}
			}
		}
		if kind := n.Get("type"); kind == "box" || kind == "ellipsoid" {
			size[1], size[2] = size[0], length/2
		} else {
			size[1] = length / 2
		}
	}
	g.shape.Pose = within(s.frame, at)
	if r.form(n, &g, size, path) {
		if g.shape.Collides {
			r.masks[p.name] = append(r.masks[p.name], mask)
		}
		p.solids = append(p.solids, g)
	}
}

// surface is the friction of a geom: condim says which of the three numbers count.
func (r *mjcfReader) surface(n *xml.Node) Material {
	f := r.numbers(n, "friction", 0)
	for i, usual := range []float64{1, 0.005, 0.0001} {
		if len(f) <= i {
			f = append(f, usual)
		}
	}
	m := Material{Friction: f[0]}
	switch dim := r.number(n, "condim", 3); {
	case dim < 3:
		m.Friction = 0
	case dim >= 6:
		m.Torsion, m.Rolling = f[1], f[2]
	case dim >= 4:
		m.Torsion = f[1]
	}
	return m
}

// form gives a geom its kind and size; it is false where it is no solid of a robot.
func (r *mjcfReader) form(n *xml.Node, g *solidPart, size []float64, path yaml.Path) bool {
	kind := n.Get("type")
	if kind == "" && n.Get("mesh") != "" {
		kind = "mesh"
	}
	want := map[string]int{"": 1, "sphere": 1, "capsule": 2, "cylinder": 2, "box": 3, "ellipsoid": 3}[kind]
	if n.Get("mesh") != "" && kind != "mesh" && kind != "plane" {
		return r.fitted(n, g, kind, path)
	}
	if len(size) < want {
		r.fault(g.at, path+".size", "got %d numbers, want %d", len(size), want)
		return false
	}
	s := &g.shape
	switch kind {
	case "", "sphere":
		s.Kind, s.Radius = Sphere, size[0]
	case "capsule", "cylinder":
		s.Kind, s.Radius, s.Half[2] = Cylinder, size[0], size[1]
		if kind == "capsule" {
			s.Kind = Capsule
		}
	case "box":
		s.Kind, s.Half = Box, vec(size[:3])
	case "ellipsoid":
		return r.ellipsoid(g, vec(size[:3]), path)
	case "mesh":
		return r.meshed(n, g, path)
	case "plane":
		s.Kind, s.Half = Box, vec{math.Inf(1)}
		if strings.HasPrefix(string(path), string(linkPath(mjcfWorld))) {
			return true
		}
		r.note(g.at, path, "a plane on a body: left out")
		return false
	case "hfield":
		r.note(g.at, path, "a height field: left out (try: a scene with it)")
		return false
	default:
		r.fault(g.at, path+".type", "got %s, want plane, sphere, capsule, ellipsoid, cylinder, box or mesh",
			yaml.Quote(kind))
		return false
	}
	return true
}

// meshed makes a geom the hull of a mesh asset.
func (r *mjcfReader) meshed(n *xml.Node, g *solidPart, path yaml.Path) bool {
	m := r.meshes[n.Get("mesh")]
	if m == nil {
		r.fault(g.at, path+".mesh", "got %s, want the name of a mesh in <asset>", yaml.Quote(n.Get("mesh")))
		return false
	}
	if m.points == nil && strings.EqualFold(filepath.Ext(m.file), ".msh") {
		if m.points = r.msh(n, m); m.points == nil {
			return false
		}
	}
	if m.points == nil {
		g.mesh, g.scale, g.ref, g.inertia = m.file, m.scale, m.pose, m.inertia
		return true
	}
	hull, _, err := hullShape(m.points, &collide.Moments{})
	if err != nil {
		r.fault(g.at, path+".mesh", "%s: %v", yaml.Quote(n.Get("mesh")), err)
		return false
	}
	g.shape.Kind, g.shape.Half, g.shape.Hull = hull.Kind, hull.Half, hull.Hull
	g.shape.Pose = within(g.shape.Pose, hull.Pose)
	return true
}

// fitted makes a geom the shape that has about the inertia of a mesh asset.
func (r *mjcfReader) fitted(n *xml.Node, g *solidPart, kind string, path yaml.Path) bool {
	if !r.meshed(n, g, path) {
		return false
	}
	shape, ok := map[string]ShapeKind{"": Sphere, "sphere": Sphere, "capsule": Capsule, "cylinder": Cylinder,
		"box": Box}[kind]
	if !ok || r.fitaabb {
		r.note(g.at, path, "a %s fitted to mesh %s: the hull of the mesh counts", kind, yaml.Quote(n.Get("mesh")))
		return true
	}
	g.fit = r.number(n, "fitscale", 1)
	if g.mesh == "" && g.shape.Kind == Hull {
		g.fitted(shape)
	}
	g.shape.Kind = shape
	return true
}

// maxCorners bounds the corners of a mesh in MuJoCo's own format.
const maxCorners = 10_000_000

// msh reads the corners of a mesh in MuJoCo's own format: four counts (corners, normals, texture coordinates, faces),
// then the corners, three floats each. nil after a fault.
func (r *mjcfReader) msh(n *xml.Node, m *mjcfMesh) (points [][3]float64) {
	read := func() error {
		if r.open == nil {
			return errors.New("got a mesh, want none or a folder to find it in")
		}
		f, err := r.open(m.file)
		if err != nil {
			return err
		}
		defer f.Close() // read only: an error has no effect
		var counts [4]int32
		if err := binary.Read(f, binary.LittleEndian, &counts); err != nil {
			return err
		}
		if counts[0] < 4 || counts[0] > maxCorners {
			return fmt.Errorf("got %d corners, want 4..%d", counts[0], maxCorners)
		}
		in := bufio.NewReader(f)
		for range counts[0] {
			var c [3]float32
			if err := binary.Read(in, binary.LittleEndian, &c); err != nil {
				return err
			}
			p := m.point(vec{float64(c[0]), float64(c[1]), float64(c[2])})
			for _, x := range p {
				if !(math.Abs(x) <= maxLength) {
					return fmt.Errorf("got a corner at %g m, want at most %g", x, maxLength)
				}
			}
			points = append(points, p)
		}
		return nil
	}
	if err := read(); err != nil {
		r.fault(r.place(n), "geom.mesh", "%s: %v", yaml.Quote(m.file), err)
		return nil
	}
	return points
}

// ellipsoid makes a geom a polyhedron of an ellipsoid's volume.
func (r *mjcfReader) ellipsoid(g *solidPart, half vec, path yaml.Path) bool {
	for _, x := range half {
		if !(x > 1e-9 && x <= maxLength) {
			r.fault(g.at, path+".size", "got %g, want above 0, at most %g", x, maxLength)
			return false
		}
	}
	const rings, around = 9, 12
	var points [][3]float64
	for i := range rings + 1 {
		sin, cos := math.Sincos(math.Pi * float64(i) / rings)
		for k := range around {
			y, x := math.Sincos(2 * math.Pi * float64(k) / around)
			points = append(points, [3]float64{half[0] * sin * x, half[1] * sin * y, half[2] * cos})
			if i == 0 || i == rings {
				break
			}
		}
	}
	c, err := collide.NewConvex(points)
	if err != nil {
		r.fault(g.at, path+".size", "got %v, want a solid", half)
		return false
	}
	volume, _ := ellipsoidMass(half, false)
	grow := math.Cbrt(volume / c.Volume)
	for i := range points {
		points[i] = scale(grow, points[i])
	}
	size, inertia := ellipsoidMass(half, g.shell)
	if g.shell = false; !g.massive {
		g.massive, g.shape.Mass = true, g.density*size
	}
	hull, _, err := hullShape(points, &collide.Moments{})
	if err != nil {
		r.fault(g.at, path+".size", "%v", err)
		return false
	}
	own := hull.Hull.Moved(scale(-1, hull.Pose.Position)) // about the centre of the ellipsoid itself
	own.Centre, own.Inertia = vec{}, inertia
	g.shape.Kind, g.shape.Hull = hull.Kind, own
	return true
}

// degree is the unit of the file's angles, rad.
func (s *mjcfCompiler) degree() float64 {
	if s.angle == "radian" {
		return 1
	}
	return math.Pi / 180
}

// pose reads pos and one of the orientations, that of the element itself before that of its class.
func (r *mjcfReader) pose(n *xml.Node) hal.Pose {
	p := hal.Pose{Position: r.triple(n, "pos", vec{}), Rotation: [4]float64{1}}
	for _, a := range n.Attrs {
		switch a.Name {
		case "quat":
			if v := r.numbers(n, a.Name, 4); v != nil {
				p.Rotation = normal(v)
			}
		case "axisangle":
			if v := r.numbers(n, a.Name, 4); v != nil {
				turn := axis{along: vec(v[:3])}
				p.Rotation = turn.turn(r.of(n).degree() * v[3]).Rotation
			}
		case "euler":
			p.Rotation = r.turned(n, r.triple(n, a.Name, vec{}))
		case "xyaxes":
			if v := r.numbers(n, a.Name, 6); v != nil {
				p.Rotation = r.spanned(n, vec(v[:3]), vec(v[3:]))
			}
		case "zaxis":
			p.Rotation = shortest(r.triple(n, a.Name, vec{0, 0, 1}))
		default:
			continue
		}
		break
	}
	return p
}

// spanned is the rotation whose x is along x, and whose y is in the plane of both.
func (r *mjcfReader) spanned(n *xml.Node, x, y vec) [4]float64 {
	x, okX := unit(x)
	y, okY := unit(add(y, scale(-dot(x, y), x)))
	if !okX || !okY {
		r.fault(r.place(n), "xyaxes", "got %s, want two directions", yaml.Quote(n.Get("xyaxes")))
		return [4]float64{1}
	}
	z := cross(x, y)
	return quaternion(mat{{x[0], y[0], z[0]}, {x[1], y[1], z[1]}, {x[2], y[2], z[2]}})
}

// turned is the rotation of Euler angles by the compiler's sequence: lower case about the turned axes, upper case about
// the fixed ones.
func (r *mjcfReader) turned(n *xml.Node, angles vec) [4]float64 {
	s := r.of(n)
	out := hal.Pose{Rotation: [4]float64{1}}
	for i, c := range s.euler {
		if i == 3 {
			break
		}
		k := strings.IndexRune("xyz", c|0x20)
		if k < 0 {
			continue
		}
		a := axis{}
		a.along[k] = 1
		turn := a.turn(s.degree() * angles[i])
		if c >= 'a' {
			out = within(out, turn)
		} else {
			out = within(turn, out)
		}
	}
	return out.Rotation
}

// shortest is the shortest rotation from z to a direction.
func shortest(to vec) [4]float64 {
	to, ok := unit(to)
	if !ok {
		return [4]float64{1}
	}
	if to[2] < -1+1e-12 {
		return [4]float64{0, 1}
	}
	return normal([]float64{1 + to[2], -to[1], to[0], 0})
}

// normal is the unit quaternion of w, x, y, z; none where they are 0.
func normal(v []float64) (q [4]float64) {
	size := math.Sqrt(v[0]*v[0] + v[1]*v[1] + v[2]*v[2] + v[3]*v[3])
	if !(size > 1e-9 && size < 1e9) {
		return [4]float64{1}
	}
	for i := range q {
		q[i] = v[i] / size
	}
	return q
}

// numbers reads want numbers of an attribute, or any number where want is 0; nil where there is none, or too few.
func (r *mjcfReader) numbers(n *xml.Node, name string, want int) (v []float64) {
	text, ok := n.Attr(name)
	if !ok {
		return nil
	}
	for word := range strings.FieldsSeq(text) {
		x, err := strconv.ParseFloat(word, 64)
		if math.IsInf(x, 0) {
			x, err = math.Copysign(1e300, x), nil
		}
		if err != nil || math.IsNaN(x) {
			r.fault(r.place(n), yaml.Path(n.Name+"."+name), "got %s, want numbers", yaml.Quote(text))
			return nil
		}
		v = append(v, x)
	}
	if len(v) < want {
		r.fault(r.place(n), yaml.Path(n.Name+"."+name), "got %s, want %d numbers", yaml.Quote(text), want)
		return nil
	}
	if want > 0 {
		v = v[:want]
	}
	return v
}

// number reads one number of an attribute.
func (r *mjcfReader) number(n *xml.Node, name string, otherwise float64) float64 {
	if v := r.numbers(n, name, 1); v != nil && r.finite(r.place(n), yaml.Path(n.Name+"."+name), 1e300, v...) {
		return v[0]
	}
	return otherwise
}

// triple reads three numbers of an attribute.
func (r *mjcfReader) triple(n *xml.Node, name string, otherwise vec) vec {
	if v := r.numbers(n, name, 3); v != nil && r.finite(r.place(n), yaml.Path(n.Name+"."+name), 1e9, v...) {
		return vec(v)
	}
	return otherwise
}

// mjcfKnown are the attributes of MuJoCo's elements. Of others, as old files have them, a note says that they are left
// out.
var mjcfKnown = map[string]string{
	"mujoco": "model",
	"compiler": "autolimits boundmass boundinertia settotalmass balanceinertia strippath coordinate angle fitaabb " +
		"eulerseq meshdir texturedir assetdir discardvisual usethread fusestatic inertiafromgeom inertiagrouprange " +
		"saveinertial alignfree conflict",
	"option": "timestep impratio tolerance ls_tolerance noslip_tolerance ccd_tolerance sleep_tolerance gravity " +
		"wind magnetic density viscosity o_margin o_solref o_solimp o_friction integrator cone jacobian solver " +
		"iterations ls_iterations noslip_iterations ccd_iterations mpr_iterations sdf_iterations sdf_initpoints " +
		"actuatorgroupdisable",
	"flag": "constraint equality frictionloss limit contact spring damper passive gravity clampctrl warmstart " +
		"filterparent actuation refsafe sensor midphase eulerdamp autoreset nativeccd island override energy fwdinv " +
		"invdiscrete multiccd sleep",
	"default":   "class",
	"body":      "name childclass pos quat mocap axisangle xyaxes zaxis euler gravcomp sleep user",
	"worldbody": "name childclass",
	"frame":     "name childclass pos quat axisangle xyaxes zaxis euler",
	"replicate": "childclass count euler sep offset",
	"freejoint": "name group align",
	"joint": "name class type group pos axis springdamper limited actuatorfrclimited solreflimit solimplimit " +
		"solreffriction solimpfriction stiffness range actuatorfrcrange actuatorgravcomp margin ref springref " +
		"armature damping frictionloss user",
	"inertial": "pos quat axisangle xyaxes zaxis euler mass diaginertia fullinertia",
	"geom": "name class type contype conaffinity condim group priority size material friction mass density " +
		"shellinertia solmix solref solimp margin gap fromto pos quat axisangle xyaxes zaxis euler hfield mesh " +
		"fitscale rgba fluidshape fluidcoef user",
	"site": "name class type group pos quat material size fromto axisangle xyaxes zaxis euler rgba user",
	"mesh": "name class content_type file vertex normal texcoord face refpos refquat scale smoothnormal " +
		"maxhullvert inertia builtin params material",
	"general": "name class group nsample interp delay ctrllimited forcelimited actlimited ctrlrange forcerange " +
		"actrange lengthrange gear cranklength user joint jointinparent tendon slidersite cranksite site refsite " +
		"body actdim dyntype gaintype biastype dynprm gainprm biasprm actearly " +
		"kp kv dampratio timeconst inheritrange damping armature area diameter bias",
	"exclude": "name class body1 body2",
	"key":     "name time qpos qvel act ctrl mpos mquat",
}

// attributes notes attributes that MuJoCo does not know either.
func (r *mjcfReader) attributes(n *xml.Node) {
	element := n.Name
	if mjcfActuators[element] {
		element = "general"
	}
	known, ok := mjcfKnown[element]
	if !ok {
		return
	}
	names := strings.Fields(known)
	for _, a := range n.Attrs {
		if !slices.Contains(names, a.Name) {
			r.unknown.add(n.Name+" "+a.Name, n)
		}
	}
}

// known looks at the sections that say nothing of the robot itself.
func (r *mjcfReader) known(n *xml.Node) {
	switch n.Name {
	case "compiler":
		r.attributes(n)
	case "option":
		r.attributes(n)
		if v := r.triple(n, "gravity", vec{0, 0, -gravity}); v != (vec{0, 0, -gravity}) {
			r.note(r.place(n), "option.gravity", "got %v: the gravity is that of the config (try: world.gravity)", v)
		}
		for _, c := range n.All("flag") {
			r.attributes(c)
			for _, a := range c.Attrs {
				if a.Name == "gravity" && a.Value == "disable" {
					r.note(r.place(c), "option.flag.gravity", "disable: left out (try: world.gravity)")
				}
			}
		}
	case "default", "asset", "worldbody", "contact", "equality", "tendon", "actuator", "sensor", "keyframe",
		"extension":
	default:
		if !slices.Contains(mjcfSkipped, n.Name) {
			r.leftOut(n.Name, n)
		}
	}
}

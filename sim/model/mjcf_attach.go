package model

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/halyard-robotics/halyard/internal/xml"
	"github.com/halyard-robotics/halyard/internal/yaml"
)

// maxAttached bounds the elements that <attach> brings into a file.
const maxAttached = 200_000

// mjcfNames are the attributes that name a thing of the same file.
var mjcfNames = []string{"name", "class", "childclass", "joint", "joint1", "joint2", "jointinparent", "body", "body1",
	"body2", "geom", "geom1", "geom2", "site", "site1", "site2", "tendon", "mesh", "objname", "material", "texture"}

// attach puts the bodies of other files in the place of <attach>, with all their names behind its prefix, and what
// belongs to them (defaults, assets, actuators, sensors) beside that of the file.
func (r *mjcfReader) attach(root *xml.Node, deep int) {
	models := map[string]*xml.Node{}
	for _, section := range root.All("asset") {
		for _, m := range section.All("model") {
			if in := r.attachable(m, deep); in != nil {
				name := m.Get("name")
				if name == "" {
					name = in.Get("model")
				}
				models[name] = in
			}
		}
		section.Children = slices.DeleteFunc(section.Children, func(c *xml.Node) bool { return c.Name == "model" })
	}
	var walk func(n *xml.Node)
	walk = func(n *xml.Node) {
		for i, c := range n.Children {
			if c.Name != "attach" {
				walk(c)
				continue
			}
			n.Children[i] = &xml.Node{Name: "frame", Line: c.Line, File: c.File}
			of := models[c.Get("model")]
			if c.Get("model") == "" {
				of = root // a copy of its own part
			}
			if of == nil {
				r.fault(r.place(c), "attach.model", "got %s, want the name of a model of <asset>",
					yaml.Quote(c.Get("model")))
			} else {
				n.Children[i].Children = r.attached(root, of, c)
			}
		}
	}
	for _, world := range root.All("worldbody") {
		walk(world)
	}
}

// attachable reads the file of a <model>, with what is included in it and attached to it; nil after a fault.
func (r *mjcfReader) attachable(m *xml.Node, deep int) *xml.Node {
	name := m.Get("file")
	if name == "" || r.open == nil || deep > 8 {
		r.fault(r.place(m), "model.file", "got %s, want a file, in a folder to find it in", yaml.Quote(name))
		return nil
	}
	in := r.included(m, name)
	if in == nil {
		return nil
	}
	in.Walk(func(x *xml.Node) bool { x.File = name; return true })
	r.include(in, map[string]bool{name: true}, 0)
	own := compilerOf(in)
	in.Walk(func(x *xml.Node) bool { r.settings[x.File] = own; return true })
	r.attach(in, deep+1)
	return in
}

// mjcfCompiler are the settings of <compiler> that each file has for itself.
type mjcfCompiler struct {
	angle  string
	limits string // autolimits
	infer  string // inertiafromgeom
	euler  string // eulerseq
	folder string // of meshes
	groups [2]int // of geoms that have a mass
}

// compilerOf are the settings of a file.
func compilerOf(root *xml.Node) *mjcfCompiler {
	s := mjcfCompiler{infer: "auto", euler: "xyz", groups: [2]int{0, 5}}
	for _, c := range root.All("compiler") {
		s.angle, s.limits = cmp.Or(c.Get("angle"), s.angle), cmp.Or(c.Get("autolimits"), s.limits)
		s.infer, s.euler = cmp.Or(c.Get("inertiafromgeom"), s.infer), cmp.Or(c.Get("eulerseq"), s.euler)
		s.folder = cmp.Or(c.Get("meshdir"), c.Get("assetdir"), s.folder)
		var from, to int
		if n, _ := fmt.Sscan(c.Get("inertiagrouprange"), &from, &to); n == 2 {
			s.groups = [2]int{from, to}
		}
	}
	return &s
}

// of are the settings of the file that an element is from.
func (r *mjcfReader) of(n *xml.Node) *mjcfCompiler {
	if s := r.settings[n.File]; s != nil {
		return s
	}
	return r.main
}

// attached is the content of an <attach> to root: the body that it names, or all of the file's world.
func (r *mjcfReader) attached(root, of, at *xml.Node) (content []*xml.Node) {
	prefix, kind, name := at.Get("prefix"), "body", at.Get("body")
	if v := at.Get("frame"); v != "" {
		kind, name = "frame", v
	}
	for _, world := range of.All("worldbody") {
		world.Walk(func(n *xml.Node) bool {
			if name == "" && n == world {
				content = append(content, n.Children...)
				return false
			}
			if n.Name == kind && n.Get("name") == name {
				content = append(content, n)
				return false
			}
			return true
		})
	}
	if len(content) == 0 || r.names["attached"] > maxAttached {
		r.fault(r.place(at), yaml.Path("attach."+kind), "got %s, want the name of a %s of the model, and at most %d "+
			"elements", yaml.Quote(name), kind, maxAttached)
		return nil
	}
	have := map[string]bool{}
	for _, n := range content {
		n.Walk(func(x *xml.Node) bool { have[x.Get("name")] = true; return true })
	}
	for i, n := range content {
		content[i] = r.prefixed(n, prefix)
		if (n.Name == "body" || n.Name == "frame") && n.Get("childclass") == "" {
			content[i].Attrs = append(content[i].Attrs, xml.Attr{Name: "childclass", Value: prefix + "main"})
		}
	}
	root.Children = append(root.Children, &xml.Node{Name: "default", Line: at.Line, File: at.File,
		Attrs: []xml.Attr{{Name: "class", Value: prefix + "main"}}})
	for _, section := range of.Children {
		switch section.Name {
		case "default":
			c := r.prefixed(section, prefix)
			if section.Get("class") == "" {
				c.Attrs = append(c.Attrs, xml.Attr{Name: "class", Value: prefix + "main"})
			}
			root.Children = append(root.Children, c)
		case "asset", "actuator", "sensor", "tendon", "equality", "contact":
			out := &xml.Node{Name: section.Name, Line: section.Line, File: section.File}
			for _, n := range section.Children {
				if section.Name != "asset" && !belongs(n, have) {
					continue
				}
				c := r.prefixed(n, prefix)
				if section.Name != "contact" && section.Name != "sensor" && c.Get("class") == "" {
					c.Attrs = append(c.Attrs, xml.Attr{Name: "class", Value: prefix + "main"})
				}
				if c.Name == "mesh" && c.Get("file") != "" {
					meshAt(c, n, prefix, compilerOf(root).folder, compilerOf(of).folder)
				}
				have[n.Get("name")] = have[n.Get("name")] || section.Name == "tendon"
				out.Children = append(out.Children, c)
			}
			root.Children = append(root.Children, out)
		}
	}
	return content
}

// meshAt gives an attached mesh the name that it has without one, and its file's name as seen from the other folder.
func meshAt(c, n *xml.Node, prefix, from, folder string) {
	file := strings.ReplaceAll(n.Get("file"), `\`, "/")
	if n.Get("name") == "" {
		c.Attrs = append(c.Attrs, xml.Attr{Name: "name",
			Value: prefix + strings.TrimSuffix(path.Base(file), path.Ext(file))})
	}
	if path.IsAbs(file) {
		return
	}
	up := ""
	if from = path.Clean(from); from != "." {
		up = strings.Repeat("../", strings.Count(from, "/")+1)
	}
	for i := range c.Attrs {
		if c.Attrs[i].Name == "file" {
			c.Attrs[i].Value = up + path.Join(path.Dir(n.File), folder, file)
		}
	}
}

// belongs reports whether all that an element names is there.
func belongs(n *xml.Node, have map[string]bool) bool {
	for _, a := range n.Attrs {
		switch a.Name {
		case "name", "class", "childclass", "mesh", "material", "texture":
		default:
			if slices.Contains(mjcfNames, a.Name) && !have[a.Value] {
				return false
			}
		}
	}
	return !slices.ContainsFunc(n.Children, func(c *xml.Node) bool { return !belongs(c, have) })
}

// prefixed is a copy of an element with a prefix before all names in it.
func (r *mjcfReader) prefixed(n *xml.Node, prefix string) *xml.Node {
	out := *n
	r.names["attached"]++
	out.Attrs, out.Children = slices.Clone(n.Attrs), make([]*xml.Node, len(n.Children))
	for i := range out.Attrs {
		if a := &out.Attrs[i]; a.Value != "" && slices.Contains(mjcfNames, a.Name) {
			a.Value = prefix + a.Value
		}
	}
	for i, c := range n.Children {
		out.Children[i] = r.prefixed(c, prefix)
	}
	return &out
}

package mesh

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/halyard-robotics/halyard/internal/xml"
)

// maxDAE bounds a Collada file, which is held whole, bytes.
const maxDAE = 128 << 20

// collada reads Collada 1.4 and 1.5: the geometries of the scene as it places them, in metres (<unit> counts; <up_axis>
// does not, as in RViz and Gazebo). Read are <triangles>, <polylist>, <polygons>, <tristrips> and <trifans>; lines are
// left out.
type collada struct {
	ids    map[string]*xml.Node
	shapes map[string][][3][3]float64 // triangles by geometry
	points map[string][]float64       // numbers by source
	unit   float64
	placed int // geometries and nodes
	yield  func(*Triangle) error
}

// Bounds of a scene.
const (
	maxPlaced  = 100_000 // geometries and nodes
	maxNested  = 64      // nodes in each other, instances followed
	maxNumbers = 64 << 20
)

func (l *limits) decodeDAE(in *bufio.Reader, yield func(*Triangle) error) error {
	data, err := io.ReadAll(io.LimitReader(in, maxDAE+1))
	if err != nil {
		return err
	}
	root, err := xml.Read(data, xml.Limits{Bytes: maxDAE, Elements: 1 << 20})
	if err != nil {
		return err
	}
	if root.Name != "COLLADA" {
		return fmt.Errorf("line %d: got <%.40s>, want <COLLADA>", root.Line, root.Name)
	}
	c := collada{ids: map[string]*xml.Node{}, shapes: map[string][][3][3]float64{}, points: map[string][]float64{},
		unit: 1, yield: yield}
	root.Walk(func(n *xml.Node) bool {
		if id := n.Get("id"); id != "" && c.ids[id] == nil {
			c.ids[id] = n
		}
		return true
	})
	if a := root.Child("asset"); a != nil && a.Child("unit") != nil {
		if text := a.Child("unit").Get("meter"); text != "" {
			if c.unit, err = strconv.ParseFloat(text, 64); err != nil || !(c.unit > 0 && c.unit < 1e6) {
				return fmt.Errorf("line %d: unit: got %.40q, want metres", a.Child("unit").Line, text)
			}
		}
	}
	if s := root.Child("scene"); s != nil && s.Child("instance_visual_scene") != nil {
		if scene := c.find(s.Child("instance_visual_scene").Get("url")); scene != nil {
			return c.node(scene, identity(), 0)
		}
	}
	// Without a scene: all geometries as they are.
	if lib := root.Child("library_geometries"); lib != nil {
		for _, g := range lib.All("geometry") {
			if err := c.place(g, identity()); err != nil {
				return err
			}
		}
	}
	return nil
}

// transform is the upper three rows of an affine matrix.
type transform [3][4]float64

func identity() transform { return transform{{0: 1}, {1: 1}, {2: 1}} }

func (a *transform) times(b *transform) (out transform) {
	for i := range 3 {
		for k := range 4 {
			for j := range 3 {
				out[i][k] += float64(a[i][j] * b[j][k])
			}
		}
		out[i][3] += a[i][3]
	}
	return out
}

func (a *transform) of(p [3]float64) (out [3]float64) {
	for i := range 3 {
		out[i] = float64(a[i][0]*p[0]) + float64(a[i][1]*p[1]) + float64(a[i][2]*p[2]) + a[i][3]
	}
	return out
}

// mirrors reports whether the transform turns a right hand into a left one.
func (a *transform) mirrors() bool {
	minor := func(i, k int) float64 { return float64(a[1][i]*a[2][k]) - float64(a[1][k]*a[2][i]) }
	return float64(a[0][0]*minor(1, 2))-float64(a[0][1]*minor(0, 2))+float64(a[0][2]*minor(0, 1)) < 0
}

// find follows a url within the file.
func (c *collada) find(url string) *xml.Node { return c.ids[strings.TrimPrefix(url, "#")] }

// node yields what a node places, and the nodes below it.
func (c *collada) node(n *xml.Node, at transform, deep int) error {
	if deep > maxNested {
		return fmt.Errorf("line %d: got more than %d nodes in each other", n.Line, maxNested)
	}
	if c.placed++; c.placed > maxPlaced {
		return fmt.Errorf("line %d: got more than %d nodes placed", n.Line, maxPlaced)
	}
	for _, k := range n.Children {
		step, err := c.step(k)
		if err != nil {
			return err
		}
		if step != nil {
			at = at.times(step)
		}
	}
	for _, k := range n.Children {
		var err error
		switch k.Name {
		case "node":
			err = c.node(k, at, deep+1)
		case "instance_node":
			if to := c.find(k.Get("url")); to != nil {
				err = c.node(to, at, deep+1)
			}
		case "instance_geometry":
			to := c.find(k.Get("url"))
			if to == nil || to.Name != "geometry" {
				return fmt.Errorf("line %d: instance_geometry: got %.60q, want the id of a geometry", k.Line,
					k.Get("url"))
			}
			err = c.place(to, at)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// step is a transformation of a node; nil for other elements.
func (c *collada) step(n *xml.Node) (*transform, error) {
	want := map[string]int{"matrix": 16, "translate": 3, "rotate": 4, "scale": 3}[n.Name]
	if want == 0 {
		return nil, nil
	}
	v, err := numbers(n)
	if err != nil {
		return nil, err
	}
	if len(v) != want {
		return nil, fmt.Errorf("line %d: %s: got %d numbers, want %d", n.Line, n.Name, len(v), want)
	}
	t := identity()
	switch n.Name {
	case "matrix":
		for i := range 12 {
			t[i/4][i%4] = v[i]
		}
	case "translate":
		t[0][3], t[1][3], t[2][3] = v[0], v[1], v[2]
	case "scale":
		t[0][0], t[1][1], t[2][2] = v[0], v[1], v[2]
	case "rotate": // about x y z, degrees
		size := math.Sqrt(float64(v[0]*v[0]) + float64(v[1]*v[1]) + float64(v[2]*v[2]))
		if size == 0 {
			return &t, nil
		}
		x, y, z := v[0]/size, v[1]/size, v[2]/size
		s, k := math.Sincos(v[3] * math.Pi / 180)
		m := 1 - k
		u := [3]float64{x, y, z}
		across := [3][3]float64{{0, -z, y}, {z, 0, -x}, {-y, x, 0}}
		for i := range 3 {
			for j := range 3 {
				t[i][j] = float64(m*float64(u[i]*u[j])) + float64(s*across[i][j])
			}
			t[i][i] += k
		}
	}
	return &t, nil
}

// place yields the triangles of a geometry.
func (c *collada) place(g *xml.Node, at transform) error {
	if c.placed++; c.placed > maxPlaced {
		return fmt.Errorf("line %d: got more than %d geometries placed", g.Line, maxPlaced)
	}
	id := g.Get("id")
	list, known := c.shapes[id]
	if !known || id == "" {
		var err error
		if list, err = c.geometry(g); err != nil {
			return err
		}
		c.shapes[id] = list
	}
	mirrored := at.mirrors()
	for i := range list {
		var t Triangle
		for k := range t {
			t[k] = at.of(list[i][k])
			for j := range t[k] {
				t[k][j] *= c.unit
			}
		}
		if mirrored {
			t[1], t[2] = t[2], t[1]
		}
		if err := c.yield(&t); err != nil {
			return err
		}
	}
	return nil
}

// geometry reads the primitives of a geometry.
func (c *collada) geometry(g *xml.Node) (list [][3][3]float64, err error) {
	m := g.Child("mesh")
	if m == nil {
		return nil, nil // splines have no triangles
	}
	for _, p := range m.Children {
		switch p.Name {
		case "triangles", "polylist", "polygons", "tristrips", "trifans":
			if list, err = c.primitive(p, list); err != nil {
				return nil, fmt.Errorf("line %d: %s: %w", p.Line, p.Name, err)
			}
		}
	}
	return list, nil
}

// primitive appends the triangles of one element.
func (c *collada) primitive(p *xml.Node, list [][3][3]float64) ([][3][3]float64, error) {
	stride, offset := 0, -1
	var points []float64
	var step int
	for _, in := range p.All("input") {
		at, err := strconv.Atoi(or(in.Get("offset"), "0"))
		if err != nil || at < 0 || at > 64 {
			return nil, fmt.Errorf("offset: got %.20q, want 0..64", in.Get("offset"))
		}
		stride = max(stride, at+1)
		if in.Get("semantic") != "VERTEX" {
			continue
		}
		offset = at
		if points, step, err = c.positions(in.Get("source")); err != nil {
			return nil, err
		}
	}
	if offset < 0 {
		return nil, errors.New("got no input VERTEX")
	}
	var counts []float64
	if n := p.Child("vcount"); n != nil {
		var err error
		if counts, err = numbers(n); err != nil {
			return nil, err
		}
	}
	for _, n := range p.All("p") {
		index, err := numbers(n)
		if err != nil {
			return nil, err
		}
		corners := make([][3]float64, 0, len(index)/stride)
		for i := offset; i < len(index); i += stride {
			k := int(index[i]) * step
			if index[i] < 0 || float64(int(index[i])) != index[i] || k < 0 || k+3 > len(points) {
				return nil, fmt.Errorf("got index %g, want one of %d points", index[i], len(points)/step)
			}
			corners = append(corners, [3]float64(points[k:k+3]))
		}
		list, err = cut(p.Name, corners, counts, list)
		if err != nil {
			return nil, err
		}
	}
	return list, nil
}

// cut makes triangles of the corners of one <p>.
func cut(kind string, corners [][3]float64, counts []float64, list [][3][3]float64) ([][3][3]float64, error) {
	switch kind {
	case "triangles":
		for i := 0; i+3 <= len(corners); i += 3 {
			list = append(list, [3][3]float64(corners[i:i+3]))
		}
	case "tristrips":
		for i := 0; i+3 <= len(corners); i++ {
			a, b := i, i+1
			if i%2 == 1 {
				a, b = b, a
			}
			list = append(list, [3][3]float64{corners[a], corners[b], corners[i+2]})
		}
	case "polylist":
		at := 0
		for _, n := range counts {
			if !(n >= 0 && n <= float64(len(corners)-at)) {
				return nil, fmt.Errorf("vcount: got %g of %d corners", n, len(corners)-at)
			}
			list = fanOf(corners[at:at+int(n)], list)
			at += int(n)
		}
	default: // a polygon or a fan
		list = fanOf(corners, list)
	}
	return list, nil
}

func fanOf(corners [][3]float64, list [][3][3]float64) [][3][3]float64 {
	for i := 2; i < len(corners); i++ {
		list = append(list, [3][3]float64{corners[0], corners[i-1], corners[i]})
	}
	return list
}

func or(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

// positions are the numbers of the source of a VERTEX input, and how many of them a point has.
func (c *collada) positions(url string) ([]float64, int, error) {
	n := c.find(url)
	for range 4 {
		if n == nil {
			break
		}
		if n.Name == "vertices" {
			var next *xml.Node
			for _, in := range n.All("input") {
				if in.Get("semantic") == "POSITION" {
					next = c.find(in.Get("source"))
				}
			}
			n = next
			continue
		}
		list := n.Child("float_array")
		if list == nil {
			break
		}
		step := 3
		if t := n.Child("technique_common"); t != nil && t.Child("accessor") != nil {
			if s, err := strconv.Atoi(or(t.Child("accessor").Get("stride"), "3")); err == nil && s >= 3 && s <= 64 {
				step = s
			}
		}
		v, known := c.points[n.Get("id")]
		var err error
		if !known {
			v, err = numbers(list)
			c.points[n.Get("id")] = v
		}
		return v, step, err
	}
	return nil, 0, fmt.Errorf("source: got %.60q, want a source with positions", url)
}

// numbers are those of an element's text.
func numbers(n *xml.Node) (out []float64, err error) {
	for word := range strings.FieldsSeq(n.Text) {
		x, err := strconv.ParseFloat(word, 64)
		if err != nil {
			return nil, fmt.Errorf("line %d: %s: got %.40q, want a number", n.Line, n.Name, word)
		}
		if out = append(out, x); len(out) > maxNumbers {
			return nil, fmt.Errorf("line %d: %s: got more than %d numbers", n.Line, n.Name, maxNumbers)
		}
	}
	return out, nil
}

package mesh

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
)

// Bounds of a GLB file, which is held whole, and of its JSON, bytes: that of a robot's part has a few thousand, and an
// element of three bytes takes a hundred of memory.
const (
	maxGLB     = 128 << 20
	maxGLBText = 4 << 20
)

// The types of the two chunks of a GLB.
const (
	glbMagic = 0x46546C67 // "glTF"
	glbJSON  = 0x4E4F534A // "JSON"
	glbBIN   = 0x004E4942 // "BIN\0"
)

// glb reads glTF 2.0 in its binary form: the triangles of the scene as its nodes place them, in metres. The axes are
// the file's own: as in RViz and three.js, y is not turned up to z. What is drawn on the triangles is not read.
type glb struct {
	Scene       int
	Scenes      []struct{ Nodes []int }
	Nodes       []glbNode
	Meshes      []struct{ Primitives []glbPrimitive }
	Accessors   []glbAccessor
	BufferViews []glbView
	Buffers     []struct{ URI string }
	Required    []string `json:"extensionsRequired"`

	data   []byte // of the one buffer
	placed int    // nodes and primitives
	yield  func(*Triangle) error
}

type glbNode struct {
	Mesh        *int
	Children    []int
	Matrix      *[16]float64 // column by column
	Translation [3]float64
	Rotation    *[4]float64 // x, y, z, w
	Scale       *[3]float64
}

type glbPrimitive struct {
	Attributes struct {
		Position *int `json:"POSITION"`
	}
	Indices *int
	Mode    *int // 4 where it is left out
}

type glbAccessor struct {
	BufferView    *int
	ByteOffset    int
	ComponentType int
	Count         int
	Type          string
	Sparse        *struct{}
}

type glbView struct{ Buffer, ByteOffset, ByteLength, ByteStride int }

// The ways in which a primitive's corners make triangles, and the types of numbers.
const (
	glbTriangles, glbStrip, glbFan = 4, 5, 6

	glbU8, glbU16, glbU32, glbF32 = 5121, 5123, 5125, 5126
)

func (l *limits) decodeGLB(in *bufio.Reader, yield func(*Triangle) error) error {
	data, err := io.ReadAll(io.LimitReader(in, maxGLB+1))
	if err != nil {
		return err
	}
	text, bin, err := glbChunks(data)
	if err != nil {
		return err
	}
	g := glb{yield: yield, data: bin}
	if err := json.Unmarshal(text, &g); err != nil {
		return fmt.Errorf("JSON: %w", err)
	}
	for _, e := range g.Required {
		if !strings.HasPrefix(e, "KHR_materials_") && !strings.HasPrefix(e, "KHR_texture_") {
			return fmt.Errorf("extension %.40q: it is not read here (try: export without compression)", e)
		}
	}
	if len(g.Buffers) > 1 || len(g.Buffers) == 1 && g.Buffers[0].URI != "" {
		return errors.New("buffers: got data outside of the file, want all inside")
	}
	if len(g.Scenes) == 0 {
		return nil
	}
	if g.Scene < 0 || g.Scene >= len(g.Scenes) {
		return fmt.Errorf("scene %d: not in the file", g.Scene)
	}
	for _, n := range g.Scenes[g.Scene].Nodes {
		if err := g.node(n, identity(), 0); err != nil {
			return err
		}
	}
	return nil
}

// glbChunks returns the JSON of a GLB and its binary data.
//
//	u32 magic "glTF", u32 version 2, u32 length; then chunks of u32 length, u32 type, data
func glbChunks(data []byte) (text, bin []byte, err error) {
	u32 := func(at int) uint32 { return binary.LittleEndian.Uint32(data[at:]) }
	if len(data) > maxGLB {
		return nil, nil, fmt.Errorf("got more than %d bytes", maxGLB)
	}
	if len(data) < 12 || u32(0) != glbMagic || u32(4) != 2 {
		return nil, nil, errors.New("offset 0: got no head of a GLB of version 2")
	}
	for at := 12; at+8 <= len(data); {
		n, kind := int64(u32(at)), u32(at+4)
		if n > int64(len(data)-at-8) {
			return nil, nil, fmt.Errorf("offset %d: chunk of %d bytes: %w", at, n, io.ErrUnexpectedEOF)
		}
		switch chunk := data[at+8 : at+8+int(n)]; {
		case kind == glbJSON && text == nil:
			text = chunk
		case kind == glbBIN && bin == nil:
			bin = chunk
		}
		at += 8 + int(n)
	}
	if text == nil || len(text) > maxGLBText {
		return nil, nil, fmt.Errorf("JSON: got %d bytes, want 1..%d", len(text), maxGLBText)
	}
	return text, bin, nil
}

// node yields the triangles of a node and those below it; up places its parent.
func (g *glb) node(i int, up transform, deep int) error {
	if g.placed++; i < 0 || i >= len(g.Nodes) || deep > maxNested || g.placed > maxPlaced {
		return fmt.Errorf("node %d: got one that is not there, or more than %d below each other", i, maxNested)
	}
	n := &g.Nodes[i]
	own := n.transform()
	at := up.times(&own)
	if n.Mesh != nil {
		if *n.Mesh < 0 || *n.Mesh >= len(g.Meshes) {
			return fmt.Errorf("node %d: mesh %d: not in the file", i, *n.Mesh)
		}
		for k := range g.Meshes[*n.Mesh].Primitives {
			if err := g.primitive(&g.Meshes[*n.Mesh].Primitives[k], &at); err != nil {
				return fmt.Errorf("mesh %d: primitive %d: %w", *n.Mesh, k, err)
			}
		}
	}
	for _, c := range n.Children {
		if err := g.node(c, at, deep+1); err != nil {
			return err
		}
	}
	return nil
}

// transform is a node's matrix, or its translation, rotation and scale.
func (n *glbNode) transform() (t transform) {
	if n.Matrix != nil {
		for c := range 4 {
			for r := range 3 {
				t[r][c] = n.Matrix[4*c+r]
			}
		}
		return t
	}
	q, s, p := [4]float64{3: 1}, [3]float64{1, 1, 1}, n.Translation
	if n.Rotation != nil {
		q = *n.Rotation
	}
	if n.Scale != nil {
		s = *n.Scale
	}
	x, y, z, w := q[0], q[1], q[2], q[3]
	return transform{
		{(1 - 2*(y*y+z*z)) * s[0], 2 * (x*y - z*w) * s[1], 2 * (x*z + y*w) * s[2], p[0]},
		{2 * (x*y + z*w) * s[0], (1 - 2*(x*x+z*z)) * s[1], 2 * (y*z - x*w) * s[2], p[1]},
		{2 * (x*z - y*w) * s[0], 2 * (y*z + x*w) * s[1], (1 - 2*(x*x+y*y)) * s[2], p[2]},
	}
}

// primitive yields the triangles of a primitive; points and lines have none.
func (g *glb) primitive(p *glbPrimitive, at *transform) error {
	mode := glbTriangles
	if p.Mode != nil {
		mode = *p.Mode
	}
	if g.placed++; mode < glbTriangles || p.Attributes.Position == nil || g.placed > maxPlaced {
		return nil
	}
	corners, err := g.array(*p.Attributes.Position, "VEC3", map[int]int{glbF32: 12})
	if err != nil {
		return fmt.Errorf("positions: %w", err)
	}
	order := array{n: corners.n}
	if p.Indices != nil {
		if order, err = g.array(*p.Indices, "SCALAR", map[int]int{glbU8: 1, glbU16: 2, glbU32: 4}); err != nil {
			return fmt.Errorf("indices: %w", err)
		}
	}
	mirrored := at.mirrors()
	return triangles(mode, order.n, func(i, j, k int) error {
		if mirrored {
			j, k = k, j
		}
		var t Triangle
		for c, v := range [3]int{order.index(i), order.index(j), order.index(k)} {
			if v >= corners.n {
				return fmt.Errorf("index %d: want at most %d", v, corners.n-1)
			}
			t[c] = at.of(corners.point(v))
		}
		return g.yield(&t)
	})
}

// triangles calls each with the corners of each triangle of a list, a strip or a fan of n corners.
func triangles(mode, n int, each func(i, j, k int) error) error {
	step := 1
	if mode == glbTriangles {
		step = 3
	}
	for i := 0; i+2 < n; i += step {
		a, b, c := i, i+1, i+2
		switch {
		case mode == glbFan:
			a = 0
		case mode == glbStrip && i%2 == 1:
			b, c = c, b
		}
		if err := each(a, b, c); err != nil {
			return err
		}
	}
	return nil
}

// array is n elements of size bytes in the file, a stride apart. Without data its elements count from 0.
type array struct {
	n, size, stride int
	data            []byte
}

// array returns the elements of an accessor of a type, whose numbers have one of the types in sizes.
func (g *glb) array(i int, of string, sizes map[int]int) (a array, err error) {
	if i < 0 || i >= len(g.Accessors) {
		return a, fmt.Errorf("accessor %d: not in the file", i)
	}
	c := &g.Accessors[i]
	size, ok := sizes[c.ComponentType]
	if !ok || c.Type != of || c.Sparse != nil || c.BufferView == nil {
		return a, fmt.Errorf("accessor %d: got %.20q of type %d, sparse or without data, want plain ones", i, c.Type,
			c.ComponentType)
	}
	if *c.BufferView < 0 || *c.BufferView >= len(g.BufferViews) {
		return a, fmt.Errorf("accessor %d: view %d: not in the file", i, *c.BufferView)
	}
	v := g.BufferViews[*c.BufferView]
	a = array{n: c.Count, size: size, stride: size}
	if v.ByteStride != 0 {
		a.stride = v.ByteStride
	}
	most := len(g.data)
	for _, x := range []int{v.ByteOffset, v.ByteLength, c.ByteOffset, c.Count, a.stride} {
		if x < 0 || x > most {
			return a, fmt.Errorf("accessor %d: got %d, want at most the %d bytes of the file", i, x, most)
		}
	}
	if v.Buffer != 0 || a.stride < size || v.ByteOffset+v.ByteLength > most || c.Count > 0 &&
		int64(c.ByteOffset)+int64(c.Count-1)*int64(a.stride)+int64(size) > int64(v.ByteLength) {
		return a, fmt.Errorf("accessor %d: its data end outside of the file", i)
	}
	a.data = g.data[v.ByteOffset+c.ByteOffset:]
	return a, nil
}

// index is element i of an array of indices.
func (a *array) index(i int) int {
	switch {
	case a.data == nil:
		return i
	case a.size == 1:
		return int(a.data[i*a.stride])
	case a.size == 2:
		return int(binary.LittleEndian.Uint16(a.data[i*a.stride:]))
	}
	return int(binary.LittleEndian.Uint32(a.data[i*a.stride:]))
}

// point is element i of an array of points.
func (a *array) point(i int) (p [3]float64) {
	for k := range p {
		p[k] = float64(math.Float32frombits(binary.LittleEndian.Uint32(a.data[i*a.stride+4*k:])))
	}
	return p
}

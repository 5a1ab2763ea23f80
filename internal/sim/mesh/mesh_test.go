package mesh

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
)

// binarySTL is a file of triangles with their number.
func binarySTL(says uint32, triangles ...Triangle) []byte {
	b := binary.LittleEndian.AppendUint32(append([]byte("solid"), make([]byte, 75)...), says)
	for _, t := range triangles {
		b = append(b, make([]byte, 12)...)
		for _, corner := range t {
			for _, x := range corner {
				b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(x)))
			}
		}
		b = append(b, 0, 0)
	}
	return b
}

var (
	one   = Triangle{{0, 0, 0}, {1, 0, 0}, {0, 2, 3}}
	other = Triangle{{0, 0, 0}, {0, 2, 3}, {-1, 2, 3}}
)

const (
	facet    = "facet normal 0 0 1\nouter loop vertex 0 0 0 vertex 1 0 0\nvertex 0 2 3 endloop\nendfacet "
	vertices = "v 0 0 0\nv 1 0 0\nv 0 2 3 1 0.5 0.5\nv -1 2 3\n"
)

const daeVertex = `<input semantic="VERTEX" source="#v" offset="0"/>`

// dae is a Collada file of one geometry, in metres with y up, which does not count,, and the node that places it; ""
// places it as it is.
func dae(primitives, node string) []byte {
	if node == "" {
		node = `<instance_geometry url="#g"/>`
	}
	return []byte(`<?xml version="1.0"?><COLLADA><asset><unit meter="1"/><up_axis>Y_UP</up_axis></asset><library_geometries><geometry id="g"><mesh>
<source id="p"><float_array>0 0 0 1 0 0 0 2 3 -1 2 3</float_array></source><vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
` + primitives + `</mesh></geometry></library_geometries><library_visual_scenes><visual_scene id="s">
<node>` + node + `</node></visual_scene></library_visual_scenes><scene><instance_visual_scene url="#s"/></scene></COLLADA>`)
}

// files are the table of the decoders: triangles or the error.
func files() []struct {
	what, name string
	data       []byte
	want       []Triangle
	fault      string
} {
	nan := one
	nan[1][1] = math.NaN()
	return []struct {
		what, name string
		data       []byte
		want       []Triangle
		fault      string
	}{
		{"binary", "a.stl", binarySTL(1, one), []Triangle{one}, ""},
		{"two, and more behind", "a.STL", append(binarySTL(2, one, other), "more"...), []Triangle{one, other}, ""},
		{"text", "a.stl", []byte(" solid x\n" + facet + "endsolid x\n"), []Triangle{one}, ""},
		{"empty", "a.stl", nil, nil, "stl: offset 0: header: EOF"},
		{"a short header", "a.stl", make([]byte, 20), nil, "stl: offset 20: header: unexpected EOF"},
		{"no triangle", "a.stl", binarySTL(0), nil, "stl: got no triangle, want at least one"},
		{"no facet", "a.stl", []byte("solid x\nendsolid x"), nil, "stl: got no triangle, want at least one"},
		{"cut short", "a.stl", binarySTL(2, one), nil, "stl: offset 134: triangle 1 of 2: EOF"},
		{"cut inside", "a.stl", binarySTL(1, one)[:90], nil, "stl: offset 90: triangle 0 of 1: unexpected EOF"},
		{"a lie", "a.stl", binarySTL(math.MaxUint32, one), nil,
			"stl: offset 80: got 4294967295 triangles, want at most 4194304"},
		{"not finite", "a.stl", binarySTL(2, one, nan), nil,
			"stl: offset 134: corner: got [1 NaN 0], want finite numbers"},
		{"text without a number", "a.stl", []byte("solid facet\n\nvertex 0\na 0"), nil,
			`stl: line 4: vertex: got "a", want a number`},
		{"text cut short", "a.stl", []byte("solid facet\nvertex 0 0"), nil, "stl: line 2: vertex: unexpected EOF"},
		{"two corners", "a.stl", []byte("solid x facet\nvertex 0 0 0\nvertex 1 1 1\nendfacet endsolid"), nil,
			"stl: line 4: facet 1: got 2 corners, want 3"},
		{"four corners", "a.stl", []byte("solid x facet vertex 0 0 0 vertex 1 1 1 vertex 1 1 1 vertex 1 1 1 endfacet"),
			nil, "stl: line 1: facet 1: got 4 corners, want 3"},
		{"open facet", "a.stl", []byte("solid x\n" + facet + "facet\nvertex 0 0 0"), nil,
			"stl: line 6: facet 2: got no end"},
		{"a word without end", "a.stl", []byte("solid facet\n" + strings.Repeat("x", 2*maxLine)), nil,
			"stl: line 2: bufio.Scanner: token too long"},
		{"faces", "a.obj", []byte("# " + "a comment\r\nmtllib x.mtl\n" + vertices +
			"vn 0 0 1\nf 1/1 2/2/2 3//1\nf -4 -2 -1\r\n"), []Triangle{one, other}, ""},
		{"a polygon over two lines", "a.OBJ", []byte(vertices + "f 1 2 \\\n 3 4"), []Triangle{one, other}, ""},
		{"no text", "a.obj", []byte{0, 1, 2, 0xff}, nil, "obj: got no triangle, want at least one"},
		{"two coordinates", "a.obj", []byte("v 0 0"), nil, "obj: line 1: v: got 2 numbers, want 3"},
		{"no number", "a.obj", []byte("\nv 0 0 x"), nil, `obj: line 2: v: got "x", want a number`},
		{"not finite", "a.obj", []byte("v 0 0 NaN\nf 1 1 1"), nil,
			"obj: line 2: corner: got [0 0 NaN], want finite numbers"},
		{"no faces", "a.obj", []byte("v 1 2 3\n"), []Triangle{{{1, 2, 3}, {1, 2, 3}, {1, 2, 3}}}, ""},
		{"two vertices", "a.obj", []byte(vertices + "f 1 2"), nil, "obj: line 5: f: got 2 vertices, want at least 3"},
		{"vertex 0", "a.obj", []byte(vertices + "f 1 2 0"), nil, `obj: line 5: f: got "0", want one of 4 vertices`},
		{"a later vertex", "a.obj", []byte("f 1 2 3\n" + vertices), nil,
			`obj: line 1: f: got "1", want one of 0 vertices`},
		{"before the first", "a.obj", []byte(vertices + "f -1 -2 -5"), nil,
			`obj: line 5: f: got "-5", want one of 4 vertices`},
		{"far away", "a.obj", []byte(vertices + "f 1 2 9223372036854775808"), nil,
			`obj: line 5: f: got "9223372036854775808", want one of 4 vertices`},
		{"a line without end", "a.obj", []byte(vertices + "f " + strings.Repeat("1 ", maxLine)), nil,
			"obj: after 4 vertices: bufio.Scanner: token too long"},
		{"lines without end", "a.obj", []byte(strings.Repeat(strings.Repeat("1 ", 1000)+"\\\n", 100)), nil,
			"obj: line 33: got more than 65536 bytes"},
		{"cut after a backslash", "a.obj", []byte(vertices + "f 1 2 \\\n"), nil, "obj: last line: unexpected EOF"},
		{"collada", "a.dae", dae(`<triangles><input semantic="NORMAL" source="#p" offset="0"/><input semantic="VERTEX" source="#v" offset="1"/><p>0 0 9 1 9 2 0 0 0 2 0 3</p></triangles>`, ""), []Triangle{one, other}, ""},
		{"a polylist", "a.dae", dae(`<lines/><polylist>`+daeVertex+`<vcount>4 2</vcount><p>0 1 2 3 0 1</p></polylist>`,
			""), []Triangle{one, other}, ""},
		{"a polygon", "a.dae", dae(`<polygons>`+daeVertex+`<p>0 1 2 3</p></polygons>`, ""), []Triangle{one, other}, ""},
		{"a fan", "a.dae", dae(`<trifans>`+daeVertex+`<p>0 1 2 3</p></trifans>`, ""), []Triangle{one, other}, ""},
		{"a strip", "a.dae", dae(`<tristrips>`+daeVertex+`<p>0 1 2</p></tristrips>`, ""), []Triangle{one}, ""},
		{"placed", "a.dae", dae(`<triangles>`+daeVertex+`<p>0 1 2</p></triangles>`,
			`<translate>1 0 0</translate><node><scale>2 2 2</scale><matrix>1 0 0 0 0 1 0 0 0 0 1 1 0 0 0 1</matrix><instance_geometry url="#g"/></node>`),
			[]Triangle{{{1, 0, 2}, {3, 0, 2}, {1, 4, 8}}}, ""},
		{"turned", "a.dae", dae(`<triangles>`+daeVertex+`<p>0 0 0</p></triangles>`,
			`<rotate>0 0 1 90</rotate><translate>2 0 0</translate><instance_geometry url="#g"/>`),
			[]Triangle{{{2 * math.Cos(math.Pi/2), 2, 0}, {2 * math.Cos(math.Pi/2), 2, 0},
				{2 * math.Cos(math.Pi/2), 2, 0}}}, ""},
		{"mirrored", "a.dae", dae(`<triangles>`+daeVertex+`<p>0 1 2</p></triangles>`,
			`<scale>-1 1 1</scale><instance_geometry url="#g"/>`),
			[]Triangle{{{0, 0, 0}, {0, 2, 3}, {-1, 0, 0}}}, ""},
		{"no such point", "a.dae", dae(`<triangles>`+daeVertex+`<p>0 1 7</p></triangles>`, ""), nil,
			"dae: line 3: triangles: got index 7, want one of 4 points"},
		{"no number", "a.dae", dae(`<triangles>`+daeVertex+`<p>0 1 x</p></triangles>`, ""), nil,
			`dae: line 3: triangles: line 3: p: got "x", want a number`},
		{"no geometry", "a.dae", dae("", `<instance_geometry url="#x"/>`), nil,
			`dae: line 4: instance_geometry: got "#x", want the id of a geometry`},
		{"a node in itself", "a.dae", dae("", `<node id="n"><instance_node url="#n"/></node>`), nil,
			"dae: line 4: got more than 64 nodes in each other"},
		{"another root", "a.dae", []byte("<robot/>"), nil, "dae: line 1: got <robot>, want <COLLADA>"},
		{"a pointer", "a.stl", []byte(pointer + ".github.com/spec/v1\noid sha256:00\nsize 9\n"), nil,
			"got a pointer of Git LFS, want the mesh itself (try: git lfs pull)"},
		{"glTF", "a.glb", glbFile(`{"nodes":[{"mesh":0}]`, `{"attributes":{"POSITION":0},"indices":1}`),
			[]Triangle{one, other}, ""},
		{"glTF without indices", "a.glb", glbFile(`{"nodes":[{"mesh":0}]`, `{"attributes":{"POSITION":0},"mode":6}`),
			[]Triangle{one, other}, ""},
		{"a strip of glTF", "a.glb", glbFile(`{"nodes":[{"mesh":0}]`, `{"attributes":{"POSITION":0},"mode":5}`),
			[]Triangle{one, {one[1], other[2], one[2]}}, ""},
		{"points of glTF", "a.glb", glbFile(`{"nodes":[{"mesh":0}]`, `{"attributes":{"POSITION":0},"mode":0}`), nil,
			"glb: got no triangle, want at least one"},
		{"placed by glTF", "a.glb",
			glbFile(`{"nodes":[{"children":[1],"translation":[1,0,0]},{"mesh":0,"scale":[2,2,2],"rotation":[0,0,1,0]}]`,
				`{"attributes":{"POSITION":3}}`), []Triangle{{{1, 0, 0}, {-1, 0, 0}, {1, -4, 6}}}, ""},
		{"mirrored by glTF", "a.glb",
			glbFile(`{"nodes":[{"mesh":0,"matrix":[-1,0,0,0,0,1,0,0,0,0,1,0,0,0,0,1]}]`,
				`{"attributes":{"POSITION":3}}`),
			[]Triangle{{{0, 0, 0}, {0, 2, 3}, {-1, 0, 0}}}, ""},
		{"compressed glTF", "a.glb", glbFile(`{"extensionsRequired":["KHR_draco_mesh_compression"]`, ""), nil,
			`glb: extension "KHR_draco_mesh_compression": it is not read here (try: export without compression)`},
		{"a node of glTF in itself", "a.glb", glbFile(`{"nodes":[{"children":[0]}]`, ""), nil,
			"glb: node 0: got one that is not there, or more than 64 below each other"},
		{"positions outside", "a.glb", glbFile(`{"nodes":[{"mesh":0}]`, `{"attributes":{"POSITION":2}}`), nil,
			"glb: mesh 0: primitive 0: positions: accessor 2: its data end outside of the file"},
		{"a cut glTF", "a.glb", glbFile(`{"nodes":[]`, "")[:30], nil,
			"glb: offset 12: chunk of 413 bytes: unexpected EOF"},
		{"much JSON of glTF", "a.glb", glbFile(`{"nodes":[`+strings.Repeat("{},", 2<<20)+`{}]`, ""), nil,
			"glb: JSON: got 6291871 bytes, want 1..4194304"},
		{"no glTF", "a.glb", []byte("glTF"), nil, "glb: offset 0: got no head of a GLB of version 2"},
		{"no extension", "stl", nil, nil, `got "", want an .stl, .obj, .dae or .glb file`},
	}
}

// glbFile is one with the four vertices, and the indices of two triangles; nodes begins its JSON.
func glbFile(nodes, primitives string) []byte {
	text := nodes + `,"scenes":[{"nodes":[0]}],"meshes":[{"primitives":[` + primitives + `]}],"buffers":[{}],` +
		`"accessors":[{"bufferView":0,"componentType":5126,"count":4,"type":"VEC3"},` +
		`{"bufferView":1,"componentType":5123,"count":6,"type":"SCALAR"},` +
		`{"bufferView":0,"componentType":5126,"count":5,"type":"VEC3"},` +
		`{"bufferView":0,"componentType":5126,"count":3,"type":"VEC3"}],` +
		`"bufferViews":[{"byteLength":48},{"byteOffset":48,"byteLength":12}]}`
	var bin []byte
	for _, x := range []float32{0, 0, 0, 1, 0, 0, 0, 2, 3, -1, 2, 3} {
		bin = binary.LittleEndian.AppendUint32(bin, math.Float32bits(x))
	}
	for _, i := range []uint16{0, 1, 2, 0, 2, 3} {
		bin = binary.LittleEndian.AppendUint16(bin, i)
	}
	out := []byte("glTF\x02\x00\x00\x00\x00\x00\x00\x00")
	out = append(binary.LittleEndian.AppendUint32(out, uint32(len(text))), "JSON"+text...)
	return append(binary.LittleEndian.AppendUint32(out, uint32(len(bin))), "BIN\x00"+string(bin)...)
}

func TestDecode(t *testing.T) {
	for _, c := range files() {
		t.Run(c.what, func(t *testing.T) {
			var got []Triangle
			err := Decode(c.name, bytes.NewReader(c.data), func(t *Triangle) error {
				if len(got) < 10 {
					got = append(got, *t)
				}
				return nil
			})
			if c.fault != "" {
				if err == nil || err.Error() != c.fault {
					t.Errorf("got %v, want %s", err, c.fault)
				}
			} else if err != nil || fmt.Sprint(got) != fmt.Sprint(c.want) {
				t.Errorf("got %v, %v, want %v", got, err, c.want)
			}
		})
	}
}

// TestLimits: a file beyond a limit is refused there, not read on.
func TestLimits(t *testing.T) {
	l := limits{bytes: 2000, triangles: 2, vertices: 4}
	for _, c := range []struct{ name, text, want string }{
		{"a.obj", vertices + "f 1 2 3 4", ""},
		{"a.obj", vertices + "f 1 2 3 4 1", "obj: line 5: got more than 2 triangles"},
		{"a.obj", vertices + "v 0 0 0", "obj: line 5: got more than 4 vertices"},
		{"a.obj", strings.Repeat("#\n", 2000), "obj: after 0 vertices: got more than 2000 bytes"},
		{"a.stl", string(binarySTL(2, one, other)), ""},
		{"a.stl", string(binarySTL(3, one, other, one)), "stl: offset 80: got 3 triangles, want at most 2"},
		{"a.stl", "solid x\n" + facet + facet + facet, "stl: line 11: got more than 2 triangles"},
		{"a.stl", "solid x\n" + facet + strings.Repeat("\n", 2000), "stl: line 1911: got more than 2000 bytes"},
	} {
		file := strings.NewReader(c.text)
		err := l.decode(c.name, file, func(*Triangle) error { return nil })
		if c.want == "" && err != nil || c.want != "" && (err == nil || err.Error() != c.want) {
			t.Errorf("%.40q: got %v, want %s", c.text, err, c.want)
		}
	}
}

func TestDecodeEnds(t *testing.T) {
	own := errors.New("enough")
	if err := Decode("a.stl", bytes.NewReader(binarySTL(2, one, other)),
		func(*Triangle) error { return own }); !errors.Is(err, own) {
		t.Errorf("got %v, want the caller's error", err)
	}
	broken := io.MultiReader(bytes.NewReader(binarySTL(2, one)), readerOf{own})
	if err := Decode("a.stl", broken, func(*Triangle) error { return nil }); !errors.Is(err, own) {
		t.Errorf("a disk that fails: got %v", err)
	}
}

type readerOf struct{ err error }

func (r readerOf) Read([]byte) (int, error) { return 0, r.err }

func TestBounds(t *testing.T) {
	low, high, err := bounds("a.stl", bytes.NewReader(binarySTL(2, one, other)))
	if err != nil || low != [3]float64{-1, 0, 0} || high != [3]float64{1, 2, 3} {
		t.Errorf("got %v to %v, %v", low, high, err)
	}
}

func TestReadScalesAndMirrors(t *testing.T) {
	d, err := Read("a.stl", bytes.NewReader(binarySTL(1, one)), [3]float64{-0.001, 2, 1}, 10)
	if err != nil || d.Whole != 1 || fmt.Sprint(d.Corners) != "[-0 0 0 -0 4 3 -0.001 0 0]" {
		t.Errorf("got %+v, %v, want the corners scaled, and turned the other way", d, err)
	}
	if _, err := Read("a.obj", strings.NewReader(vertices+"f 1 2 3"), [3]float64{1e39, 1, 1}, 10); err == nil ||
		!strings.Contains(err.Error(), "obj: line 5: corner") {
		t.Errorf("beyond a float32: got %v", err)
	}
}

// ball is a sphere of radius 1 of 2 n (n - 1) triangles that turn counter-clockwise.
func ball(n int) []byte {
	var b bytes.Buffer
	for i := 1; i < n; i++ {
		for k := range n {
			up, round := math.Pi*float64(i)/float64(n), 2*math.Pi*float64(k)/float64(n)
			fmt.Fprintln(&b, "v", math.Sin(up)*math.Cos(round), math.Sin(up)*math.Sin(round), math.Cos(up))
		}
	}
	fmt.Fprintln(&b, "v 0 0 1\nv 0 0 -1")
	top, bottom := (n-1)*n+1, (n-1)*n+2
	for k := range n {
		next := (k + 1) % n
		fmt.Fprintln(&b, "f", top, k+1, next+1)
		fmt.Fprintln(&b, "f", bottom, (n-2)*n+next+1, (n-2)*n+k+1)
		for i := range n - 2 {
			fmt.Fprintln(&b, "f", i*n+k+1, (i+1)*n+k+1, (i+1)*n+next+1, i*n+next+1)
		}
	}
	return b.Bytes()
}

// TestReduced: a fine ball becomes a coarse one: within the bound, closed enough to keep its volume, its faces still
// outward.
func TestReduced(t *testing.T) {
	file := ball(150)
	for _, most := range []int{12, 300, 5000, 20000} {
		d, err := Read("ball.obj", bytes.NewReader(file), [3]float64{1, 1, 1}, most)
		if err != nil {
			t.Fatal(err)
		}
		n := len(d.Corners) / 9
		if d.Whole != 2*150*149 || n > most || n < most/8 {
			t.Errorf("at most %d: got %d of %d triangles", most, n, d.Whole)
		}
		volume := 0.0
		for at := 0; at < len(d.Corners); at += 9 {
			c := d.Corners[at : at+9]
			volume += float64(c[0]*(c[4]*c[8]-c[5]*c[7])-c[1]*(c[3]*c[8]-c[5]*c[6])+c[2]*(c[3]*c[7]-c[4]*c[6])) / 6
		}
		if want := 4 * math.Pi / 3; most >= 300 && math.Abs(volume-want) > 0.15*want {
			t.Errorf("at most %d: got %d triangles around %.3f m³, want %.3f", most, n, volume, want)
		}
	}
	flat := "v 1 1 1\n" + strings.Repeat("f 1 1 1\n", 100)
	if d, err := Read("point.obj", strings.NewReader(flat), [3]float64{1, 1, 1}, 10); err != nil ||
		len(d.Corners) != 90 {
		t.Errorf("a hundred times a point: got %v, %v", d, err)
	}
}

// FuzzDecode: any file is refused or has finite bounds, and what is drawn of it is within them.
func FuzzDecode(f *testing.F) {
	endings := []string{".obj", ".stl", ".dae", ".glb"}
	for _, c := range files() {
		if len(c.data) < 10_000 {
			f.Add(uint8(max(0, slices.Index(endings, strings.ToLower(c.name)[1:]))), c.data)
		}
	}
	f.Add(uint8(0), ball(5))
	f.Fuzz(func(t *testing.T, kind uint8, data []byte) {
		name := "a" + endings[int(kind)%len(endings)]
		low, high, err := bounds(name, bytes.NewReader(data))
		d, drawn := Read(name, bytes.NewReader(data), [3]float64{1, 1, 1}, 5)
		if err != nil {
			if drawn == nil {
				t.Fatalf("bounds: %v, but it is drawn", err)
			}
			return
		}
		if drawn != nil {
			return // too large for a float32
		}
		if len(d.Corners) == 0 || len(d.Corners)%9 != 0 || len(d.Corners) > 5*9 || d.Whole < len(d.Corners)/9 {
			t.Fatalf("got %d numbers of %d triangles", len(d.Corners), d.Whole)
		}
		for i, x := range d.Corners {
			if x < float32(low[i%3]) || x > float32(high[i%3]) || math.IsNaN(float64(x)) {
				t.Fatalf("got %g, want %g to %g", x, low[i%3], high[i%3])
			}
		}
	})
}

// bounds returns the smallest box along the axes that holds the file's triangles, in its own unit.
func bounds(name string, r io.Reader) (low, high [3]float64, err error) {
	inf := math.Inf(1)
	low, high = [3]float64{inf, inf, inf}, [3]float64{-inf, -inf, -inf}
	err = Decode(name, r, func(t *Triangle) error {
		for _, corner := range t {
			for i, x := range corner {
				low[i], high[i] = math.Min(low[i], x), math.Max(high[i], x)
			}
		}
		return nil
	})
	return low, high, err
}

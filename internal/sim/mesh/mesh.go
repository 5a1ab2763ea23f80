// Package mesh reads the triangles of mesh files: STL, binary and text, OBJ, Collada (DAE) and glTF (GLB).
package mesh

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"path"
	"strings"
)

// maxLine bounds a line of OBJ, and a word of STL, bytes.
const maxLine = 64 << 10

// pointer begins what a checkout without Git LFS has in place of a large file.
const pointer = "version https://git-lfs"

// limits are the maximum sizes of a file.
type limits struct {
	bytes     int64
	triangles int
	vertices  int // of an OBJ, which are held while its faces are read
}

var shipped = limits{bytes: 256 << 20, triangles: 4 << 20, vertices: 1 << 20}

// Triangle is three corners in the file's own unit, counter-clockwise seen from outside.
type Triangle [3][3]float64

// Readable reports, by the extension, whether Decode reads the file called name.
func Readable(name string) error {
	switch ext := strings.ToLower(path.Ext(name)); ext {
	case ".stl", ".obj", ".dae", ".glb":
		return nil
	default:
		return fmt.Errorf("got %q, want an .stl, .obj, .dae or .glb file", ext)
	}
}

// Decode calls yield with each triangle of the file called name, in its order; the numbers are finite. A polygon of an
// OBJ is a fan of triangles. Errors of the file name the line, or the offset in a binary one; an error of yield ends
// the reading.
func Decode(name string, r io.Reader, yield func(*Triangle) error) error {
	return shipped.decode(name, r, yield)
}

func (l *limits) decode(name string, r io.Reader, yield func(*Triangle) error) error {
	if err := Readable(name); err != nil {
		return err
	}
	in, n := bufio.NewReaderSize(&bounded{r: r, left: l.bytes, most: l.bytes}, 4096), 0
	each := func(t *Triangle) error {
		if n++; n > l.triangles {
			return fmt.Errorf("got more than %d triangles", l.triangles)
		}
		for _, corner := range t {
			for _, x := range corner {
				if math.IsNaN(x) || math.IsInf(x, 0) {
					return fmt.Errorf("corner: got %v, want finite numbers", corner)
				}
			}
		}
		return yield(t)
	}
	kind := strings.ToLower(path.Ext(name))[1:]
	decode := map[string]func(*bufio.Reader, func(*Triangle) error) error{"stl": l.decodeSTL, "obj": l.decodeOBJ,
		"dae": l.decodeDAE, "glb": l.decodeGLB}[kind]
	if start, _ := in.Peek(len(pointer)); string(start) == pointer {
		return errors.New("got a pointer of Git LFS, want the mesh itself (try: git lfs pull)")
	}
	err := decode(in, each)
	if err == nil && n == 0 {
		err = errors.New("got no triangle, want at least one")
	}
	if err != nil {
		return fmt.Errorf("%s: %w", kind, err)
	}
	return nil
}

// bounded fails after left bytes: a file that is cut off there would look whole.
type bounded struct {
	r          io.Reader
	left, most int64
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, fmt.Errorf("got more than %d bytes", b.most)
	}
	n, err := b.r.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}

package model

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"path"
	"strconv"
	"strings"

	"github.com/halyard-robotics/halyard/hal"
)

// Maximum sizes of a mesh.
const (
	maxTriangles = 4 << 20
	maxMeshBytes = 256 << 20
)

// thinnest is the least half size of a box that is fitted to a mesh, m: a flat one still has two sides.
const thinnest = 0.0005

// fit makes the shape, whose pose is the mesh's, the smallest box along the mesh's axes that contains the mesh.
func (s *Shape) fit(name string, by vec, open func(string) (io.ReadCloser, error)) error {
	if ext := strings.ToLower(path.Ext(name)); ext != ".stl" {
		return fmt.Errorf("got %q, want an .stl file", ext)
	}
	if open == nil {
		return errors.New("got a mesh, want none or a folder to find it in")
	}
	r, err := open(name)
	if err != nil {
		return err
	}
	defer r.Close() // read only: an error has no effect
	low, high, err := stlBounds(r)
	if err != nil {
		return err
	}
	var centre vec
	for i := range 3 {
		a, b := low[i]*by[i], high[i]*by[i] // a negative scale mirrors
		centre[i] = (a + b) / 2
		s.Half[i] = math.Max(thinnest, math.Abs(b-a)/2)
		if !(s.Half[i] <= maxLength && math.Abs(centre[i]) <= maxLength) {
			return fmt.Errorf("got a size of %g m, want at most %g", 2*s.Half[i], maxLength)
		}
	}
	s.Kind = Box
	s.Pose = within(s.Pose, hal.Pose{Position: centre})
	return nil
}

// stlBounds reads the bounding box of an STL file, binary or text, in its own unit.
//
//	binary: 80 bytes header, u32 number of triangles, then 50 bytes each: normal and three corners as 3 f32, u16
//	text:   solid NAME { facet normal x y z  outer loop  vertex x y z (three times)  endloop  endfacet } endsolid
//
// A binary file may begin with "solid" too: a text file also has a facet near its beginning, or ends at once.
func stlBounds(r io.Reader) (low, high vec, err error) {
	in := bufio.NewReaderSize(io.LimitReader(r, maxMeshBytes), 4096)
	start, err := in.Peek(1024)
	if err != nil && err != io.EOF {
		return low, high, err
	}
	low = vec{math.Inf(1), math.Inf(1), math.Inf(1)}
	high = scale(-1, low)
	corner := func(v vec) error {
		for i, x := range v {
			if math.IsNaN(x) || math.IsInf(x, 0) {
				return fmt.Errorf("stl: corner: got %v, want finite numbers", v)
			}
			low[i], high[i] = math.Min(low[i], x), math.Max(high[i], x)
		}
		return nil
	}
	text := bytes.HasPrefix(bytes.TrimLeft(start, " \t\r\n"), []byte("solid")) &&
		(bytes.Contains(start, []byte("facet")) || bytes.Contains(start, []byte("endsolid")))
	if text {
		err = textCorners(in, corner)
	} else {
		err = binaryCorners(in, corner)
	}
	if err == nil && low[0] > high[0] {
		err = errors.New("stl: got no triangle, want at least one")
	}
	return low, high, err
}

func binaryCorners(in io.Reader, corner func(vec) error) error {
	var head [84]byte
	if _, err := io.ReadFull(in, head[:]); err != nil {
		return fmt.Errorf("stl: header: %w", err)
	}
	n := binary.LittleEndian.Uint32(head[80:])
	if n > maxTriangles {
		return fmt.Errorf("stl: got %d triangles, want at most %d", n, maxTriangles)
	}
	var t [50]byte
	for i := range n {
		if _, err := io.ReadFull(in, t[:]); err != nil {
			return fmt.Errorf("stl: triangle %d of %d: %w", i, n, err)
		}
		for k := 12; k < 48; k += 12 {
			var v vec
			for c := range v {
				v[c] = float64(math.Float32frombits(binary.LittleEndian.Uint32(t[k+4*c:])))
			}
			if err := corner(v); err != nil {
				return err
			}
		}
	}
	return nil
}

func textCorners(in io.Reader, corner func(vec) error) error {
	words := bufio.NewScanner(in)
	words.Split(bufio.ScanWords)
	var triangles, corners int
	for words.Scan() {
		switch words.Text() {
		case "vertex":
			var v vec
			for i := range v {
				if !words.Scan() {
					return fmt.Errorf("stl: vertex: %w", io.ErrUnexpectedEOF)
				}
				x, err := strconv.ParseFloat(words.Text(), 64)
				if err != nil {
					return fmt.Errorf("stl: vertex: got %q, want a number", words.Text())
				}
				v[i] = x
			}
			corners++
			if err := corner(v); err != nil {
				return err
			}
		case "endfacet":
			triangles++
			if corners != 3*triangles || triangles > maxTriangles {
				return fmt.Errorf("stl: facet %d: got %d corners in all, want three each, at most %d facets", triangles, corners, maxTriangles)
			}
		}
	}
	if err := words.Err(); err != nil {
		return fmt.Errorf("stl: %w", err)
	}
	if corners != 3*triangles {
		return fmt.Errorf("stl: got %d corners in %d facets, want three each", corners, triangles)
	}
	return nil
}

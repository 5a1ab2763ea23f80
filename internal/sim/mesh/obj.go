package mesh

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strconv"
)

// decodeOBJ reads the faces of a Wavefront OBJ file; a line that ends with a backslash continues on the next one.
//
//	v x y z            a vertex; further numbers (weight, colour) are ignored
//	f 1 2/5 3//7 -1    a face of three or more vertices: from 1, or from the newest, -1; what follows a slash is ignored
//
// All other lines (normals, textures, groups, materials, curves) are ignored. Of a file without faces, as MuJoCo takes
// one for its hull, each vertex is a triangle without area.
func (l *limits) decodeOBJ(in *bufio.Reader, yield func(*Triangle) error) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxLine)
	var vertices [][3]float64
	faces := false
	var whole []byte // the line, with those that it continues on
	for n := 1; lines.Scan(); n++ {
		part := bytes.TrimSuffix(lines.Bytes(), []byte("\r"))
		rest, continues := bytes.CutSuffix(part, []byte(`\`))
		if whole = append(whole, rest...); len(whole) > maxLine {
			return fmt.Errorf("line %d: got more than %d bytes", n, maxLine)
		}
		if continues {
			whole = append(whole, ' ')
			continue
		}
		var err error
		switch words := bytes.Fields(whole); {
		case len(words) == 0:
		case string(words[0]) == "v":
			vertices, err = appendVertex(vertices, words[1:], l.vertices)
		case string(words[0]) == "f":
			faces = true
			err = fan(vertices, words[1:], yield)
		}
		if err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
		whole = whole[:0]
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("after %d vertices: %w", len(vertices), err)
	}
	if len(whole) > 0 {
		return fmt.Errorf("last line: %w", io.ErrUnexpectedEOF)
	}
	if faces {
		return nil
	}
	for _, v := range vertices {
		if err := yield(&Triangle{v, v, v}); err != nil {
			return err
		}
	}
	return nil
}

func appendVertex(to [][3]float64, words [][]byte, most int) ([][3]float64, error) {
	var v [3]float64
	if len(words) < len(v) {
		return to, fmt.Errorf("v: got %d numbers, want 3", len(words))
	}
	if len(to) == most {
		return to, fmt.Errorf("got more than %d vertices", most)
	}
	for i := range v {
		x, err := strconv.ParseFloat(string(words[i]), 64)
		if err != nil {
			return to, fmt.Errorf("v: got %.40q, want a number", words[i])
		}
		v[i] = x
	}
	return append(to, v), nil
}

// fan yields a face as triangles that share its first vertex.
func fan(vertices [][3]float64, words [][]byte, yield func(*Triangle) error) error {
	if len(words) < 3 {
		return fmt.Errorf("f: got %d vertices, want at least 3", len(words))
	}
	var t Triangle
	for i, word := range words {
		index, _, _ := bytes.Cut(word, []byte("/"))
		k, err := strconv.Atoi(string(index))
		if k < 0 {
			k += len(vertices) + 1
		}
		if err != nil || k < 1 || k > len(vertices) {
			return fmt.Errorf("f: got %.40q, want one of %d vertices", word, len(vertices))
		}
		if v := vertices[k-1]; i < 2 {
			t[i] = v
		} else {
			t[2] = v
			if err := yield(&t); err != nil {
				return err
			}
			t[1] = v
		}
	}
	return nil
}

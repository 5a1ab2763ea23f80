package mesh

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strconv"
)

// decodeSTL reads an STL file, binary or text.
//
//	binary: 80 bytes header, u32 number of triangles, then 50 bytes each: normal and three corners as 3 f32, u16
//	text:   solid NAME { facet normal x y z  outer loop  vertex x y z (three times)  endloop  endfacet } endsolid
//
// A binary file may begin with "solid" too: a text file also has a facet near its beginning, or ends at once.
func (l *limits) decodeSTL(in *bufio.Reader, yield func(*Triangle) error) error {
	start, err := in.Peek(1024)
	if err != nil && err != io.EOF {
		return err
	}
	text := bytes.HasPrefix(bytes.TrimLeft(start, " \t\r\n"), []byte("solid")) &&
		(bytes.Contains(start, []byte("facet")) || bytes.Contains(start, []byte("endsolid")))
	if text {
		return decodeTextSTL(in, yield)
	}
	return l.decodeBinarySTL(in, yield)
}

func (l *limits) decodeBinarySTL(in io.Reader, yield func(*Triangle) error) error {
	var head [84]byte
	if n, err := io.ReadFull(in, head[:]); err != nil {
		return fmt.Errorf("offset %d: header: %w", n, err)
	}
	n := binary.LittleEndian.Uint32(head[80:])
	if int64(n) > int64(l.triangles) {
		return fmt.Errorf("offset 80: got %d triangles, want at most %d", n, l.triangles)
	}
	var b [50]byte
	for i := range int64(n) {
		at := len(head) + int(i)*len(b)
		if got, err := io.ReadFull(in, b[:]); err != nil {
			return fmt.Errorf("offset %d: triangle %d of %d: %w", at+got, i, n, err)
		}
		var t Triangle
		for k := range t {
			for c := range t[k] {
				t[k][c] = float64(math.Float32frombits(binary.LittleEndian.Uint32(b[12+12*k+4*c:])))
			}
		}
		if err := yield(&t); err != nil {
			return fmt.Errorf("offset %d: %w", at, err)
		}
	}
	return nil
}

func decodeTextSTL(in io.Reader, yield func(*Triangle) error) error {
	line, next := 1, 1 // of the word, and after it
	words := bufio.NewScanner(in)
	words.Buffer(nil, maxLine)
	words.Split(func(data []byte, end bool) (int, []byte, error) {
		n, word, err := bufio.ScanWords(data, end)
		if word != nil {
			line = next + bytes.Count(data[:bytes.Index(data, word)], []byte("\n"))
		}
		next += bytes.Count(data[:n], []byte("\n"))
		return n, word, err
	})
	var t Triangle
	facets, corners := 0, 0
	for words.Scan() {
		switch string(words.Bytes()) {
		case "vertex":
			var v [3]float64
			for i := range v {
				if !words.Scan() {
					return fmt.Errorf("line %d: vertex: %w", next, io.ErrUnexpectedEOF)
				}
				x, err := strconv.ParseFloat(words.Text(), 64)
				if err != nil {
					return fmt.Errorf("line %d: vertex: got %.40q, want a number", line, words.Text())
				}
				v[i] = x
			}
			if corners < len(t) {
				t[corners] = v
			}
			corners++
		case "endfacet":
			if facets++; corners != len(t) {
				return fmt.Errorf("line %d: facet %d: got %d corners, want 3", line, facets, corners)
			}
			corners = 0
			if err := yield(&t); err != nil {
				return fmt.Errorf("line %d: %w", line, err)
			}
		}
	}
	if err := words.Err(); err != nil {
		return fmt.Errorf("line %d: %w", next, err)
	}
	if corners != 0 {
		return fmt.Errorf("line %d: facet %d: got no end", line, facets+1)
	}
	return nil
}

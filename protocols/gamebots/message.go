package gamebots

import (
	"bytes"
	"errors"
	"math"
	"strconv"

	"github.com/halyard-robotics/halyard/protocols"
)

// The errors of a line.
var (
	ErrFormat = errors.New("gamebots: not a message")
	ErrNumber = errors.New("gamebots: not a number of this kind")
	errLong   = errors.New("gamebots: line too long")
)

// maxPairs bounds the pairs of one line. The longest meaningful line is a query's answer with the pose of every sonar.
const maxPairs = 1024

// lines returns a reader of lines of at most size bytes. Carriage returns end them too.
func lines(read func([]byte) (int, error), size int) protocols.LineReader {
	return protocols.LineReader{Read: read, Buf: make([]byte, size), Ends: "\r\n", Long: errLong}
}

// nextLine returns the next line that is not empty.
func nextLine(r *protocols.LineReader) (line []byte, err error) {
	for len(line) == 0 && err == nil {
		line, err = r.Next()
	}
	return line, err
}

// Message is one line of either direction. Its fields are parts of the line passed to Parse.
type Message struct {
	Type  []byte // "DRIVE", in the case it came
	Pairs []pair
}

// Pair is a name and its value, which is empty if absent.
type pair struct {
	Segment     int // from 0; pairs of one pair of braces have the same
	Name, Value []byte
}

// Parse splits line, without its end, into m and reuses m's memory. The error is ErrFormat; m then has the pairs before
// the fault.
func Parse(line []byte, m *Message) error {
	m.Pairs = m.Pairs[:0]
	line = bytes.TrimLeft(line, blanks)
	n := bytes.IndexAny(line, blanks+"{}")
	if n < 0 {
		n = len(line)
	}
	m.Type = line[:n:n]
	if n == 0 {
		return ErrFormat
	}
	for segment := 0; ; segment++ {
		line = bytes.TrimLeft(line[n:], blanks)
		if len(line) == 0 {
			return nil
		}
		if n = bytes.IndexByte(line, '}'); line[0] != '{' || n < 0 {
			return ErrFormat
		}
		if err := m.segment(segment, line[1:n]); err != nil {
			return err
		}
		n++
	}
}

const blanks = " \t"

// segment splits the text between two braces. A number that follows a value belongs to it: some clients write
// "Location 1 2 3", and no name begins like a number.
func (m *Message) segment(index int, s []byte) error {
	if bytes.IndexByte(s, '{') >= 0 {
		return ErrFormat
	}
	for {
		name, rest := word(s)
		if len(name) == 0 {
			return nil
		}
		if len(m.Pairs) == maxPairs {
			return ErrFormat
		}
		// the words of one value need not be copied together: they lie side by side in the line
		value, rest := word(rest)
		for s = rest; len(value) > 0; {
			next, after := word(s)
			if len(next) == 0 || !numeric(next[0]) && value[len(value)-1] != ',' {
				break
			}
			// from the value's first byte to the next word's last
			value = value[:cap(value)-cap(next)+len(next)]
			s = after
		}
		m.Pairs = append(m.Pairs, pair{index, name, value[:len(value):len(value)]})
	}
}

// word cuts the first word off s.
func word(s []byte) (w, rest []byte) {
	s = bytes.TrimLeft(s, blanks)
	n := bytes.IndexAny(s, blanks)
	if n < 0 {
		n = len(s)
	}
	return s[:n], s[n:]
}

// numeric reports whether a word that begins with c is a number, or continues a list of numbers.
func numeric(c byte) bool {
	return c >= '0' && c <= '9' || c == '-' || c == '+' || c == '.' || c == ','
}

// Is reports whether m is of that type, in any case.
func (m *Message) Is(kind string) bool { return equal(m.Type, kind) }

// equal is bytes.EqualFold for a short word, without an allocation.
func equal(b []byte, s string) bool {
	if len(b) != len(s) {
		return false
	}
	for i := range b {
		if lower(b[i]) != lower(s[i]) {
			return false
		}
	}
	return true
}

// lower is c without its case, of ASCII.
func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}

// Value is the value of the first pair of that name, in any case.
func (m *Message) Value(name string) (v []byte, ok bool) {
	for i := range m.Pairs {
		if equal(m.Pairs[i].Name, name) {
			return m.Pairs[i].Value, true
		}
	}
	return nil, false
}

// Text is Value as a string of its own, "" if absent.
func (m *Message) Text(name string) string {
	v, _ := m.Value(name)
	return string(v)
}

// Numbers appends the numbers of a value to dst[:0]. If one is malformed or not finite, it returns ErrNumber and
// appends none.
func (m *Message) Numbers(name string, dst []float64) ([]float64, error) {
	dst = dst[:0]
	v, _ := m.Value(name)
	for len(v) > 0 {
		n := bytes.IndexAny(v, ", \t")
		if n < 0 {
			n = len(v)
		}
		if n > 0 {
			f, err := number(v[:n])
			if err != nil {
				return dst[:0], err
			}
			dst = append(dst, f)
		}
		v = v[min(n+1, len(v)):]
	}
	return dst, nil
}

// number parses a decimal number. Other forms that Go and C accept (hexadecimal, NaN, infinite) are refused: they would
// reach a motor.
func number(b []byte) (float64, error) {
	for _, c := range b {
		if !(numeric(c) && c != ',' || c == 'e' || c == 'E') {
			return 0, ErrNumber
		}
	}
	v, err := strconv.ParseFloat(string(b), 64)
	if err != nil || math.IsInf(v, 0) {
		return 0, ErrNumber
	}
	return v, nil
}

package yaml

import (
	"fmt"
	"strings"
)

// Document is one file, or one value that was not read from a file, and what is wrong with it. The zero Document has no
// nodes: its faults have no place.
type Document struct {
	Source string // what faults call it
	Root   *Node  // nil where nothing can be read
	Faults Faults

	bad map[Path]bool // what has a fault already; nothing is concluded from its value
}

// Read makes the tree of data, which it does not keep.
func Read(data []byte, source string) *Document {
	d := &Document{Source: source}
	d.Root = (&reader{Document: d}).document(data)
	return d
}

// Value reads the value of an option, all of which is at the place at: as YAML, and as plain text if it is invalid:
// [::1]:80 is an address.
func Value(value string, at Place) (*Node, Faults) {
	d := &Document{Source: at.Source}
	if n := (&reader{d, &at}).document([]byte(value)); n != nil {
		return n, d.Faults
	}
	return &Node{Kind: Text, Text: value, At: at}, nil
}

// Decode reads data into the struct that into points to; of an empty document all that is required is missing. It
// reports whether into may be checked further.
func Decode(data []byte, source string, into any) (*Document, bool) {
	d := Read(data, source)
	if d.Root == nil {
		return d, false
	}
	d.Decode(into, nil)
	return d, true
}

// Err is the faults in the order of the file, or nil.
func (d *Document) Err() error { return d.Faults.Err() }

// Valid returns v, which was made from the document, if it has no faults; else the zero value and the faults.
func Valid[T any](d *Document, v T) (valid T, err error) {
	if err := d.Err(); err != nil {
		return valid, err
	}
	return v, nil
}

func (d *Document) fault(path Path, at Place, got, rule, fix string) {
	if d.bad == nil {
		d.bad = map[Path]bool{}
	}
	d.bad[path] = true
	d.Faults.Add(Fault{Source: at.Source, Line: at.Line, Column: at.Column, Path: path, Got: got, Rule: rule, Fix: fix})
}

// Add reports a fault at path, unless there is one already: one slip is one fault.
func (d *Document) Add(path Path, got, rule, fix string) {
	if !d.bad[path] {
		d.fault(path, d.Place(path), got, rule, fix)
	}
}

// Refuse reports a fault of the whole document that was made at a place, such as an option.
func (d *Document) Refuse(at Place, got, rule, fix string) { d.fault("", at, got, rule, fix) }

// Place is where path stands, or what is nearest above it in the document.
func (d *Document) Place(path Path) Place {
	if d.Root == nil {
		return Place{Source: d.Source}
	}
	n, _ := d.Root.find(path)
	return n.At
}

// Has reports whether path is in the document.
func (d *Document) Has(path Path) bool {
	if d.Root == nil {
		return false
	}
	_, whole := d.Root.find(path)
	return whole
}

// Bad reports whether path has a fault of its own.
func (d *Document) Bad(path Path) bool { return d.bad[path] }

// Clean reports whether there is no fault at path or below.
func (d *Document) Clean(path Path) bool {
	for p := range d.bad {
		if rest, below := strings.CutPrefix(string(p), string(path)); below &&
			(rest == "" || path == "" || rest[0] == '.' || rest[0] == '[') {
			return false
		}
	}
	return true
}

// Within wants low <= x <= high, which NaN never is.
func (d *Document) Within(path Path, x, low, high float64) bool {
	if x >= low && x <= high {
		return true
	}
	d.Add(path, fmt.Sprintf("%g", x), fmt.Sprintf("%g..%g", low, high), "")
	return false
}

// Taken reports that value at path is that of another path already.
func (d *Document) Taken(path Path, value string, first Path) {
	d.Add(path, Quote(value), "one of its own", fmt.Sprintf("%s has it too", first))
}

// Note reports a fault at path whose text needs no "got" and "want".
func (d *Document) Note(path Path, text string) { d.Add(path, text, "", "") }

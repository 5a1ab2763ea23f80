package configs

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/halyard-robotics/halyard/hal"
)

// Fault is one thing that is wrong in a config.
type Fault struct {
	Source string   // the file, the embedded config's name, or the option that set the value ("--set agents[0].body=rael")
	Line   int      // from 1; 0 where there is no line: an option, or a missing document
	Column int      // from 1, in characters
	Path   Path     // "agents[0].hardware.joints.left_elbow.id"; empty for the whole document
	Got    string   // what was found, values as written
	Rule   string   // what is allowed
	Fix    string   // what would be right, where it can be told: `did you mean "body"?`
	Kind   hal.Kind // the exit code; the zero Kind counts as hal.Invalid
}

// String is the fault as one line: place, path, got, want, fix.
func (f Fault) String() string {
	var b strings.Builder
	b.WriteString(f.Source)
	if f.Line > 0 {
		fmt.Fprintf(&b, ":%d:%d", f.Line, f.Column)
	}
	if f.Path != "" {
		fmt.Fprintf(&b, ": %s", f.Path)
	}
	fmt.Fprintf(&b, ": got %s, want %s", f.Got, f.Rule)
	if f.Fix != "" {
		fmt.Fprintf(&b, "; %s", f.Fix)
	}
	return b.String()
}

// maxFaults bounds a report: a file of another kind may be wrong in every line.
const maxFaults = 200

// Faults are all that is wrong with a config; Parse returns them in the order of the file, after those of options. As an error its text is one line
// a fault, and its kind (hal.KindOf) that of the faults.
type Faults []Fault

// Add appends f. After maxFaults the rest is counted in one last fault.
func (fs *Faults) Add(f Fault) {
	switch n := len(*fs); {
	case n < maxFaults:
		*fs = append(*fs, f)
	case n == maxFaults:
		*fs = append(*fs, Fault{Source: f.Source, Got: fmt.Sprintf("more than %d faults", maxFaults), Rule: "none"})
	}
}

// sort puts fs into the order of the document. Faults of options have no line and come first, as they were found.
func (fs Faults) sort() {
	slices.SortStableFunc(fs, func(a, b Fault) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
}

// Err returns fs as an error, or nil where there is no fault.
func (fs Faults) Err() error {
	if len(fs) == 0 {
		return nil
	}
	return fs
}

func (fs Faults) Error() string {
	lines := make([]string, len(fs))
	for i, f := range fs {
		lines[i] = f.String()
	}
	return strings.Join(lines, "\n")
}

// As makes hal.KindOf see the kind: the one all faults share, or hal.Invalid.
func (fs Faults) As(target any) bool {
	e, ok := target.(**hal.Error)
	if !ok || len(fs) == 0 {
		return false
	}
	kind := fs[0].Kind
	for _, f := range fs {
		if f.Kind != kind {
			kind = hal.Invalid
		}
	}
	if kind == hal.Unexpected {
		kind = hal.Invalid
	}
	*e = &hal.Error{Kind: kind, Err: fs}
	return true
}

// Fault returns a fault at path with the place where path stands; a key that is not in the file has the place of the
// nearest one above it. The caller may set its Kind before it adds it to its Faults.
func (c *Config) Fault(path Path, got, rule, fix string) Fault {
	return faultAt(path, placeOf(c.places, path, c.Source), got, rule, fix)
}

// place is where something was written.
type place struct {
	source       string
	line, column int
}

func placeOf(places map[Path]place, path Path, source string) place {
	for p := path; ; p = p.Parent() {
		if at, ok := places[p]; ok {
			return at
		}
		if p == "" {
			return place{source: source}
		}
	}
}

func faultAt(path Path, at place, got, rule, fix string) Fault {
	return Fault{Source: at.source, Line: at.line, Column: at.column, Path: path, Got: got, Rule: rule, Fix: fix}
}

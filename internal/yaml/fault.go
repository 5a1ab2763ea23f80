package yaml

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/halyard-robotics/halyard/hal"
)

// Fault is one thing that is wrong in a file.
type Fault struct {
	// the file, the name of an embedded one, or the option that set the value ("--set agents[0].body=rael")
	Source string
	Line   int      // from 1; 0 where there is no line: an option, or a value that is not of a file
	Column int      // from 1, in characters; 0 where the line is all that is known
	Path   Path     // "agents[0].hardware.joints.left_elbow.id"; empty for the whole document
	Got    string   // what was found, values as written
	Rule   string   // what is allowed; empty where Got says all
	Fix    string   // the right form, if it is known: `did you mean "body"?`
	Kind   hal.Kind // the exit code; the zero Kind counts as hal.Invalid
}

// String is the fault as one line: FILE:LINE:COLUMN: PATH: got X, want Y; fix.
func (f Fault) String() string {
	var parts []string
	switch {
	case f.Column > 0:
		parts = append(parts, fmt.Sprintf("%s:%d:%d", f.Source, f.Line, f.Column))
	case f.Line > 0:
		parts = append(parts, fmt.Sprintf("%s:%d", f.Source, f.Line))
	case f.Source != "":
		parts = append(parts, f.Source)
	}
	if f.Path != "" {
		parts = append(parts, string(f.Path))
	}
	text := f.Got
	if f.Rule != "" {
		text = fmt.Sprintf("got %s, want %s", f.Got, f.Rule)
	}
	if f.Fix != "" {
		text += "; " + f.Fix
	}
	return strings.Join(append(parts, text), ": ")
}

// MaxFaults bounds a report: a file of another kind may be wrong in every line.
const MaxFaults = 200

// Faults are all that is wrong with a file. As an error its text is one line a fault, and its kind (hal.KindOf) that of
// the faults.
type Faults []Fault

// Add appends f. After MaxFaults the rest is counted in one last fault.
func (fs *Faults) Add(f Fault) {
	switch n := len(*fs); {
	case n < MaxFaults:
		*fs = append(*fs, f)
	case n == MaxFaults:
		*fs = append(*fs, Fault{Source: f.Source, Got: fmt.Sprintf("more than %d faults", MaxFaults), Rule: "none"})
	}
}

// full reports whether Add keeps no more.
func (fs Faults) full() bool { return len(fs) > MaxFaults }

// Err returns fs as an error, or nil where there is no fault. Faults without a line come first, as they were found:
// those of options. The others are in the order of their file, and the files in the order of their first faults.
func (fs Faults) Err() error {
	if len(fs) == 0 {
		return nil
	}
	files := map[string]int{}
	for _, f := range fs {
		if _, known := files[f.Source]; !known && f.Line > 0 {
			files[f.Source] = len(files) + 1
		}
	}
	slices.SortStableFunc(fs, func(a, b Fault) int {
		return cmp.Or(cmp.Compare(min(a.Line, 1)*files[a.Source], min(b.Line, 1)*files[b.Source]),
			cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
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

package usarini

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/halyard-robotics/halyard/hal"
)

// Fault is one thing that is wrong in a file.
type Fault struct {
	File string
	Line int    // from 1
	Key  string // "[USARBot.P2AT] Sensors.Position.X"; empty where the line has none
	Got  string
	Want string
}

// String is the fault as one line: file, line, key, got, want.
func (f Fault) String() string {
	at := fmt.Sprintf("%s:%d", f.File, f.Line)
	if f.Key != "" {
		at += ": " + f.Key
	}
	return fmt.Sprintf("%s: got %s, want %s", at, f.Got, f.Want)
}

// maxFaults bounds a report: a file of another kind may be wrong in every line.
const maxFaults = 200

// Faults are all that is wrong with a file, in its order. As an error its text is one line a fault, its kind hal.Invalid.
type Faults []Fault

// add appends f. After maxFaults the rest is told of in one last fault.
func (fs *Faults) add(f Fault) {
	switch n := len(*fs); {
	case n < maxFaults:
		*fs = append(*fs, f)
	case n == maxFaults:
		*fs = append(*fs, Fault{File: f.File, Line: f.Line, Got: fmt.Sprintf("more than %d faults", maxFaults), Want: "none"})
	}
}

// err is fs as an error, in the file's order, or nil.
func (fs Faults) err() error {
	if len(fs) == 0 {
		return nil
	}
	slices.SortStableFunc(fs, func(a, b Fault) int { return cmp.Compare(a.Line, b.Line) })
	return fs
}

func (fs Faults) Error() string {
	lines := make([]string, len(fs))
	for i, f := range fs {
		lines[i] = f.String()
	}
	return strings.Join(lines, "\n")
}

// As makes hal.KindOf see hal.Invalid.
func (fs Faults) As(target any) bool {
	e, ok := target.(**hal.Error)
	if ok {
		*e = &hal.Error{Kind: hal.Invalid, Err: fs}
	}
	return ok
}

// quote is what was found, cut to what fits into a line.
func quote(s string) string {
	const longest = 60
	if len(s) > longest {
		s = s[:longest] + "..."
	}
	return fmt.Sprintf("%q", s)
}

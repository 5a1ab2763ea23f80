package hydro

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"regexp"
	"strings"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/sim/r3"
	"github.com/halyard-robotics/halyard/sim/strict"
)

// The built-in vehicles.
//
//go:embed *.yaml
var embedded embed.FS

// Names lists the built-in vehicles.
func Names() []string {
	entries, _ := embedded.ReadDir(".") // an embedded folder can always be read
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".yaml"))
	}
	return names
}

// Load returns the built-in vehicle called name; else an error of kind hal.Invalid.
func Load(name string) (*Vehicle, error) {
	b, err := Source(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &hal.Error{Kind: hal.Invalid, Op: "vehicle", Err: fmt.Errorf("%q: got no such vehicle, want one of %s", name, strings.Join(Names(), ", "))}
	} else if err != nil {
		return nil, err
	}
	return Parse(b)
}

// Source returns the YAML of the built-in vehicle called name, to start a file of one's own from.
func Source(name string) ([]byte, error) {
	if !namePattern.MatchString(name) { // a name is no path
		return nil, fs.ErrNotExist
	}
	return embedded.ReadFile(name + ".yaml")
}

// Parse reads a vehicle file, of at most 1 MiB. Unknown keys are errors; whatever else is wrong is reported together,
// each fault with its path, what was found and what would be right. The error's kind is hal.Invalid.
func Parse(b []byte) (*Vehicle, error) {
	var f file
	var faults faults
	if faults.read(b, &f) {
		v := f.vehicle(&faults)
		if len(faults) == 0 {
			return v, nil
		}
	}
	return nil, &hal.Error{Kind: hal.Invalid, Op: "vehicle", Err: errors.Join(faults...)}
}

// What a file may hold at most, and its figures: far beyond any vehicle, so that products of them stay finite.
const (
	maxFile   = 1 << 20 // bytes
	maxFaults = 100
	maxParts  = 64 // thrusters, shapes, cameras, pieces of a curve
	maxCells  = 32 // along an axis
	maxLength = 100
	maxFigure = 1e6 // masses, forces, coefficients
)

// The names that vehicles, thrusters and cameras may have: they become names of channels and files.
var namePattern = regexp.MustCompile(`^[a-z][a-z0-9_-]*$`)

// faults collects everything that is wrong with a file.
type faults []error

func (f *faults) add(format string, args ...any) {
	if len(*f) < maxFaults {
		*f = append(*f, fmt.Errorf(format, args...))
	}
}

// number checks that x is finite and within low..high.
func (f *faults) number(path string, x, low, high float64) bool {
	if x >= low && x <= high {
		return true
	}
	f.add("%s: got %g, want %g..%g", path, x, low, high)
	return false
}

// list checks that v has n numbers within low..high.
func (f *faults) list(path string, v []float64, n int, low, high float64) bool {
	ok := len(v) == n
	for _, x := range v {
		ok = ok && x >= low && x <= high
	}
	if !ok {
		f.add("%s: got %v, want %d numbers of %g..%g", path, v, n, low, high)
	}
	return ok
}

// point is three numbers; 0, 0, 0 where the file gives none.
func (f *faults) point(path string, v []float64) (p [3]float64) {
	if v != nil && f.list(path, v, 3, -maxLength, maxLength) {
		p = [3]float64(v)
	}
	return p
}

// direction is three numbers as a unit vector.
func (f *faults) direction(path string, v []float64) [3]float64 {
	if !f.list(path, v, 3, -maxLength, maxLength) {
		return [3]float64{}
	}
	d := r3.Pack([3]float64(v))
	if n := d.Norm(); !(n > 1e-6) {
		f.add("%s: got %v, want a direction", path, v)
		return [3]float64{}
	}
	return d.Unit(r3.Vec{}).Array()
}

// name checks a name and that nothing else of its list has it.
func (f *faults) name(path, name string, seen map[string]bool) {
	switch {
	case !namePattern.MatchString(name):
		f.add("%s.name: got %q, want lower-case letters, digits, - and _", path, name)
	case seen[name]:
		f.add("%s.name: got %q twice", path, name)
	}
	seen[name] = true
}

// count checks that a list is not longer than a file may have it.
func (f *faults) count(path string, n int) bool {
	if n > maxParts {
		f.add("%s: got %d, want at most %d", path, n, maxParts)
	}
	return n <= maxParts
}

// read decodes a file; see strict.Read. It is false when nothing could be read.
func (f *faults) read(b []byte, into *file) bool {
	fault, ok := strict.Read(b, maxFile, into)
	switch {
	case errors.Is(fault, strict.ErrEmpty):
		f.add("%w, want a vehicle", fault)
	case fault != nil:
		f.add("%w", fault)
	}
	return ok
}

func radians(degrees float64) float64 { return degrees * (math.Pi / 180) }

package model

import (
	"errors"
	"fmt"
	"math"
	"regexp"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/sim/strict"
)

// What a file may hold at most. A robot of flesh has dozens of links; a file with a million is an accident or an attack.
const (
	maxFile   = 4 << 20 // bytes
	maxBodies = 1024
	maxJoints = 1024
	maxShapes = 64   // of one body
	maxFixed  = 4096 // shapes of a scene
	maxLoose  = 4096 // bodies of a scene
	maxFaults = 100  // reported
)

// And what a figure may be at most: far beyond any robot, so that products of figures stay finite.
const (
	maxLength  = 1e4 // m
	maxMass    = 1e6 // kg
	maxInertia = 1e9 // kg·m²
	maxForce   = 1e6 // N, N·m
)

// faults collects everything that is wrong with a file.
type faults []error

func (f *faults) add(format string, args ...any) {
	switch {
	case len(*f) < maxFaults:
		*f = append(*f, fmt.Errorf(format, args...))
	case len(*f) == maxFaults:
		*f = append(*f, errors.New("more faults are not listed"))
	}
}

// err is one error of all faults, or nil.
func (f faults) err(op string) error {
	if len(f) == 0 {
		return nil
	}
	return &hal.Error{Kind: hal.Invalid, Op: op, Err: errors.Join(f...)}
}

// number checks that x is finite and within low..high.
func (f *faults) number(path string, x, low, high float64) bool {
	if x >= low && x <= high {
		return true
	}
	f.add("%s: got %g, want %g..%g", path, x, low, high)
	return false
}

// positive checks that x is finite, above 0 and at most high.
func (f *faults) positive(path string, x, high float64) bool {
	if x > 0 && x <= high {
		return true
	}
	f.add("%s: got %g, want above 0, at most %g", path, x, high)
	return false
}

// count checks that there are not more of something than a file may hold.
func (f *faults) count(path string, n, most int) bool {
	if n > most {
		f.add("%s: got %d, want at most %d", path, n, most)
	}
	return n <= most
}

// name checks a name and that nothing else in seen has it.
func (f *faults) name(path, list, name string, i int, seen map[string]int) {
	if !namePattern.MatchString(name) {
		f.add("%s.name: got %q, want lower-case letters, digits, - and _", path, name)
	} else if first, twice := seen[name]; twice {
		f.add("%s.name: got %q, which %s[%d] has too", path, name, list, first)
	} else {
		seen[name] = i
	}
}

// index is the place of name in a map of names; hal.None and a fault where it is not there.
func (f *faults) index(path, what, name string, names map[string]int) int {
	if i, ok := names[name]; ok {
		return i
	}
	f.add("%s: got %q, want the name of a %s", path, name, what)
	return hal.None
}

// point is three finite numbers, or 0, 0, 0 where v is not given.
func (f *faults) point(path string, v []float64) vec {
	if v == nil {
		return vec{}
	}
	if len(v) != 3 {
		f.add("%s: got %v, want three numbers: x, y, z", path, v)
		return vec{}
	}
	for _, x := range v {
		if !(math.Abs(x) <= maxLength) {
			f.add("%s: got %v, want three numbers of at most %g", path, v, maxLength)
			return vec{}
		}
	}
	return vec(v)
}

// turn is roll, pitch and yaw in degrees as a quaternion.
func (f *faults) turn(path string, v []float64) [4]float64 {
	if v == nil {
		return [4]float64{1}
	}
	for _, x := range v {
		if len(v) != 3 || !(math.Abs(x) <= 360) {
			f.add("%s: got %v, want three angles of at most 360 degrees: roll, pitch, yaw", path, v)
			return [4]float64{1}
		}
	}
	if len(v) != 3 {
		f.add("%s: got none, want three angles: roll, pitch, yaw", path)
		return [4]float64{1}
	}
	return rollPitchYaw(radians(v[0]), radians(v[1]), radians(v[2]))
}

// pair checks that v is two rising angles, degrees, and returns them in radians, or whole where v is not given.
func (f *faults) pair(path string, v []float64, whole [2]float64) [2]float64 {
	if v == nil {
		return whole
	}
	const most = 360 * 256.0
	if len(v) != 2 || !(v[0] < v[1]) || !(v[0] >= -most) || !(v[1] <= most) {
		f.add("%s: got %v, want two rising angles, degrees", path, v)
		return whole
	}
	return [2]float64{radians(v[0]), radians(v[1])}
}

// The names that joints, bodies and robots may have: they become channel names, config keys and file names.
var namePattern = regexp.MustCompile(`^[a-z][a-z0-9_-]*$`)

// read decodes a file into a struct; see strict.Read. Of an empty one all that is missing is told. It is false when
// nothing could be read.
func read[T any](f *faults, b []byte, into *T, what string) bool {
	fault, ok := strict.Read(b, maxFile, into)
	switch {
	case errors.Is(fault, strict.ErrEmpty):
		f.add("%w, want a %s", fault, what)
		return true
	case fault != nil:
		f.add("%w", fault)
	}
	return ok
}

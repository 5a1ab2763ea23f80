package model

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/yaml"
)

// Maximum sizes of a robot or a scene. A real robot has dozens of links; a file with a million is a mistake or an
// attack.
const (
	maxBodies = 1024
	maxJoints = 1024
	maxShapes = 256  // of one body
	maxFixed  = 4096 // shapes of a scene
	maxLoose  = 4096 // bodies of a scene

	maxSamples = 4 << 20 // heights of all fields of a scene that a formula makes
)

// Maximum values: far beyond any robot, so that products of values stay finite.
const (
	maxLength  = 1e4 // m
	maxMass    = 1e6 // kg
	maxInertia = 1e9 // kg·m²
	maxForce   = 1e6 // N, N·m
)

// faults are the faults of a file, each with its place.
type faults struct{ *yaml.Document }

// add reports a fault in whole words.
func (f *faults) add(path yaml.Path, format string, args ...any) {
	f.Note(path, fmt.Sprintf(format, args...))
}

// positive checks that x is finite, above 0 and at most high.
func (f *faults) positive(path yaml.Path, x, high float64) {
	if !(x > 0 && x <= high) {
		f.add(path, "got %g, want above 0, at most %g", x, high)
	}
}

// count checks that there are not more of something than a file may hold.
func (f *faults) count(path yaml.Path, n, most int) bool {
	if n > most {
		f.add(path, "got %d, want at most %d", n, most)
	}
	return n <= most
}

// index is the place of name in a map of names; hal.None and a fault where it is not there.
func (f *faults) index(path yaml.Path, what, name string, names map[string]int) int {
	if i, ok := names[name]; ok {
		return i
	}
	f.add(path, "got %s, want the name of a %s", yaml.Quote(name), what)
	return hal.None
}

// material is the one called name.
func (f *faults) material(path yaml.Path, name string, materials map[string]Material) (Material, bool) {
	m, ok := materials[name]
	if !ok {
		f.add(path, "got %s, want the name of a material", yaml.Quote(name))
	}
	return m, ok
}

// word checks that a text is valid in USARSim's protocol.
func (f *faults) word(path yaml.Path, text string) {
	if !proper(text) {
		f.add(path, "got %s, want a word", yaml.Quote(text))
	}
}

// turn is roll, pitch and yaw in degrees as a quaternion.
func turn(v [3]float64) [4]float64 { return rollPitchYaw(radians(v[0]), radians(v[1]), radians(v[2])) }

// inRadians are two angles in degrees, or whole where they are not given.
func inRadians(v *[2]float64, whole [2]float64) [2]float64 {
	if v == nil {
		return whole
	}
	return [2]float64{radians(v[0]), radians(v[1])}
}

// places are the indexes of the items of a list by their names; of two with one name, which is a fault, the first.
func places[T any](list []T, name func(*T) string) map[string]int {
	names := map[string]int{}
	for i := range slices.Backward(list) {
		names[name(&list[i])] = i
	}
	return names
}

// The names that robots and scenes may have; files have the same rule as a form.
var namePattern = regexp.MustCompile(`^[a-z][a-z0-9_-]*$`)

package hydro

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/yaml"
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
		return nil, &hal.Error{Kind: hal.Invalid, Op: "vehicle",
			Err: fmt.Errorf("%q: got no such vehicle, want one of %s", name, strings.Join(Names(), ", "))}
	} else if err != nil {
		return nil, err
	}
	return Parse(b, name)
}

// topHull recognizes a vehicle file: each has the top-level key hull in block style.
var topHull = regexp.MustCompile(`(?m)^hull *:`)

// Open returns the built-in vehicle called name, or else that of the vehicle file at path. ok is false if there is
// neither, or the file is not a vehicle file. The error is a fault of the file, of kind hal.Invalid.
func Open(name, path string) (v *Vehicle, ok bool, err error) {
	b, source, err := yaml.Open(Source, name, path)
	if err != nil || !topHull.Match(b) {
		return nil, false, nil
	}
	v, err = Parse(b, source)
	return v, true, err
}

// Source returns the YAML of the built-in vehicle called name, to start a file of one's own from.
func Source(name string) ([]byte, error) {
	if !slices.Contains(Names(), name) { // a name is not a path
		return nil, fs.ErrNotExist
	}
	return embedded.ReadFile(name + ".yaml")
}

package model

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/yaml"
)

// The built-in robots are in this folder and in simloid/, the built-in scenes in scenes/.
//
//go:embed *.yaml simloid/*.yaml scenes/*.yaml usarsim/*.yaml arenas/*.yaml
var embedded embed.FS

// Names lists the built-in robots with servos. Those of Simloid are in SimloidIDs.
func Names() []string { return names(".") }

// names are the files of a folder of embedded, without their endings.
func names(folder string) []string {
	entries, _ := embedded.ReadDir(folder) // an embedded folder can always be read
	var names []string
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), ".yaml"); ok {
			names = append(names, name)
		}
	}
	return names
}

// SimloidIDs lists the ids of the original Simloid's robots, which Load names "simloid-31" and so on.
func SimloidIDs() []int {
	var ids []int
	for _, name := range names("simloid") {
		if id, err := strconv.Atoi(name); err == nil {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// Load returns the built-in robot called name; else an error of kind hal.Invalid.
func Load(name string) (*Robot, error) { return Open(name, "") }

// Open returns the built-in robot called name, or else that of the robot file at path. The error is of kind
// hal.Invalid: there is neither, or the faults of the file.
func Open(name, path string) (*Robot, error) {
	b, source, err := yaml.Open(Source, name, path)
	if err != nil {
		return nil, absent("model", "robot", name, append(append(Names(), RescueNames()...), "simloid-ID"))
	}
	return Parse(b, source)
}

// LoadSimloid returns the robot that Simloid's clients ask for by id, 10 to 95; else an error of kind hal.Invalid.
func LoadSimloid(id int) (*Robot, error) { return Load("simloid-" + strconv.Itoa(id)) }

// Source returns the YAML of the built-in robot called name, to start a file of one's own from.
func Source(name string) ([]byte, error) {
	// A name must not be a path: it could reach other files.
	if !namePattern.MatchString(name) {
		return nil, fs.ErrNotExist
	}
	if id, ok := strings.CutPrefix(name, "simloid-"); ok {
		return embedded.ReadFile(path.Join("simloid", id+".yaml"))
	}
	if name, ok := strings.CutPrefix(name, rescuePrefix); ok {
		return embedded.ReadFile(path.Join(rescueFolder, name+".yaml"))
	}
	return embedded.ReadFile(name + ".yaml")
}

// SceneNames lists the built-in scenes.
func SceneNames() []string { return names("scenes") }

// LoadScene returns the built-in scene called name, with random parts drawn from seed; else an error of kind
// hal.Invalid.
func LoadScene(name string, seed int64) (*Scene, error) {
	load, err := OpenScene(name, "")
	if err != nil {
		return nil, err
	}
	return load(seed)
}

// OpenScene returns a function that makes the built-in scene called name, or else that of the scene file at path, for a
// seed. The errors are those of Open.
func OpenScene(name, path string) (func(seed int64) (*Scene, error), error) {
	b, source, err := yaml.Open(SceneSource, name, path)
	if err != nil {
		return nil, absent("scene", "scene", name, append(SceneNames(), ArenaNames()...))
	}
	return func(seed int64) (*Scene, error) { return ParseScene(b, source, seed) }, nil
}

// SceneSource returns the YAML of the built-in scene called name.
func SceneSource(name string) ([]byte, error) {
	if !namePattern.MatchString(name) {
		return nil, fs.ErrNotExist
	}
	b, err := embedded.ReadFile(path.Join("scenes", name+".yaml"))
	if err != nil {
		return embedded.ReadFile(path.Join(arenaFolder, name+".yaml"))
	}
	return b, nil
}

func absent(op, what, name string, want []string) error {
	return &hal.Error{
		Kind: hal.Invalid, Op: op,
		Err: fmt.Errorf("%q: got no such %s, want one of %s", name, what, strings.Join(want, ", ")),
	}
}

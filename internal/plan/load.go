package plan

import (
	"errors"
	"slices"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/internal/catalog"
)

// Load reads a config and resolves it. All faults, those of its form and those of its names, come together in the order of
// the file; with faults the plan has what could be resolved, or is nil, and is never to be opened.
func Load(nameOrPath string, o configs.Options, cat *catalog.Catalog) (*Plan, error) {
	c, err := configs.Draft(nameOrPath, o)
	if c == nil {
		return nil, err
	}
	p, unresolved := Resolve(c, cat)
	return p, allFaults(err, unresolved)
}

// allFaults are those of a config's form and those of its names. What is of bad form has no name that could be looked up.
func allFaults(form, names error) error {
	var all, more configs.Faults
	errors.As(form, &all)
	errors.As(names, &more)
	bad := map[configs.Path]bool{}
	for _, f := range all {
		bad[f.Path] = true
	}
	for _, f := range more {
		if !bad[f.Path] && !bad[f.Path.Parent()] {
			all.Add(f)
		}
	}
	slices.SortStableFunc(all, func(a, b configs.Fault) int { return a.Line - b.Line })
	return all.Err()
}

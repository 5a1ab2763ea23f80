package plan

import (
	"errors"
	"slices"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/internal/catalog"
)

// Load reads a config and resolves it. All faults, of its form and of its names, are returned together in the order of
// the file. With faults the plan has the resolvable part, or is nil; never open it.
func Load(nameOrPath string, o configs.Options, cat *catalog.Catalog) (*Plan, error) {
	c, err := configs.Draft(nameOrPath, o)
	if c == nil {
		return nil, err
	}
	p, unresolved := Resolve(c, cat)
	return p, allFaults(err, unresolved)
}

// allFaults joins the faults of a config's form and of its names. A key of bad form has no name to resolve.
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

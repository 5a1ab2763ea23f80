package main

import (
	"slices"

	"github.com/halyard-robotics/halyard/internal/plan"

	"github.com/halyard-robotics/halyard/configs"
)

// someEmulated loads a config as it is and reports whether anything of it is emulated.
func someEmulated(a *app, f *configFlags, args []string, p **plan.Plan) bool {
	c, own, err := f.load(a, args)
	if err != nil {
		return false
	}
	*p = own
	return slices.ContainsFunc(c.Agents, func(g configs.Agent) bool {
		for _, body := range g.Parts {
			if body == configs.Emulated {
				return true
			}
		}
		return g.Body == configs.Emulated
	})
}

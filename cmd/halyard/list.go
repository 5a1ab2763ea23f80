package main

import (
	"math"

	"github.com/halyard-robotics/halyard/internal/plan"

	"github.com/spf13/cobra"

	"github.com/halyard-robotics/halyard/internal/report"
)

func newList(a *app) *cobra.Command {
	var f configFlags
	c := &cobra.Command{
		Use:               "list CONFIG",
		Short:             "list actuators, sensors and servers of a config",
		Args:              arguments("CONFIG", "halyard configs"),
		ValidArgsFunction: completeConfigs,
		RunE: func(_ *cobra.Command, args []string) error {
			c, p, err := f.load(a, args)
			if err != nil {
				return err
			}
			if p, err = p.Stationed(); err != nil {
				return err
			}
			var rows []plan.Thing
			none := report.Number(math.NaN())
			for i := range p.Agents {
				rows = p.Agents[i].Things(rows)
			}
			for _, s := range c.Servers {
				rows = append(rows, plan.Thing{Kind: "server", Agent: s.Agent, Name: s.Protocol, Min: none, Max: none, On: s.Listen})
			}
			return show(a, rows)
		},
	}
	f.add(c)
	f.addListen(c)
	return c
}

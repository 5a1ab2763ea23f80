package main

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/halyard-robotics/halyard/cmd/halyard-lab/internal/lab"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/bench"
	"github.com/halyard-robotics/halyard/internal/command"
)

// newBench creates the sub-command: the benchmarks of halyard, and more.
func newBench(p *command.Program) *cobra.Command {
	var physics lab.PhysicsFlags
	var links int
	var o lab.BenchOptions
	var c *cobra.Command
	c = bench.Command(&p.Host, bench.Size{}, func(which []string) ([]bench.Benchmark, error) {
		if c == nil {
			return lab.Benchmarks(o), nil
		}
		if c.Flags().Changed("n") {
			physics.Links = &links
		}
		for _, f := range []struct {
			given             bool
			bench, flags, try string
		}{
			{physics.Given(), "physics", "--model, --n or --integrator, which are", ""},
			{o.Config != "", "configs", "--config, which is", " --config " + o.Config},
			{o.All, "drivers", "--all, which is", " --all"},
		} {
			if f.given && !slices.Contains(which, f.bench) {
				return nil, &hal.Error{Kind: hal.Invalid, Op: "bench " + which[0],
					Err: fmt.Errorf("got %s of %s", f.flags, f.bench), Try: "halyard-lab bench " + f.bench + f.try}
			}
		}
		if slices.Contains(which, "physics") {
			steps, err := c.Flags().GetInt("steps")
			if err != nil {
				return nil, err
			}
			if o.Physics, err = physics.Cases(steps); err != nil {
				return nil, err
			}
		}
		return lab.Benchmarks(o), nil
	})
	c.Flags().StringVar(&o.Config, "config", "",
		"with configs: the config to run, embedded or a file (default: all embedded)")
	c.Flags().BoolVar(&o.All, "all", false, "with drivers: also every read mode, baud rate, chain length and return "+
		"delay of the servo buses (600 more cases)")
	c.Flags().StringVar(&physics.Model, "model", "", "with physics: chain, quad, humanoid or heap (default: all)")
	c.Flags().IntVar(&links, "n", 0, "with physics: links of the chain (default: 2, 10, 20 and 40)")
	c.Flags().StringVar(&physics.Integrator, "integrator", "", "with physics: euler or rk4 (default: both)")
	return c
}

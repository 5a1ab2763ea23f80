package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/lab"
	"github.com/halyard-robotics/halyard/internal/report"
)

// newBench creates the sub-command. It does not judge the results: tests and CI compare them with limits on known machines.
func newBench(a *app) *cobra.Command {
	var steps int
	var seconds float64
	var physics lab.PhysicsFlags
	var links int
	var only string
	var all bool
	var names []string
	long := "Measures this machine and prints each result next to its theoretical limit:\n"
	for _, b := range lab.Benchmarks() {
		names = append(names, b.Name)
		long += fmt.Sprintf("\n  %-8s %s", b.Name, b.About)
	}
	c := &cobra.Command{
		Use:       "bench [NAME]",
		Short:     "compare this machine with theoretical limits",
		Long:      long,
		Args:      arguments("[NAME]", "halyard bench clock"),
		ValidArgs: names,
		RunE: func(cmd *cobra.Command, args []string) error {
			if steps < 0 || !(seconds > 0 && seconds <= 86400) {
				return &hal.Error{Kind: hal.Invalid, Op: "bench",
					Err: fmt.Errorf("got %d steps and %g seconds, want no less than 0 and above 0, at most 86400", steps, seconds)}
			}
			if len(args) > 0 && !slices.Contains(names, args[0]) {
				return &hal.Error{Kind: hal.Invalid, Op: "bench",
					Err: fmt.Errorf("got %q, want one of %s", args[0], strings.Join(names, ", ")), Try: "halyard bench"}
			}
			which := names // all of them, in their order
			if len(args) > 0 {
				which = args
			}
			if cmd.Flags().Changed("n") {
				physics.Links = &links
			}
			for _, f := range []struct {
				given             bool
				bench, flags, try string
			}{
				{physics.Given(), "physics", "--model, --n or --integrator, which are", ""},
				{only != "", "configs", "--config, which is", " --config " + only},
				{all, "drivers", "--all, which is", " --all"},
			} {
				if f.given && !slices.Contains(which, f.bench) {
					return &hal.Error{Kind: hal.Invalid, Op: "bench " + args[0], Err: fmt.Errorf("got %s of %s", f.flags, f.bench), Try: "halyard bench " + f.bench + f.try}
				}
			}
			size := lab.BenchSize{Steps: steps, Config: only, All: all, Time: time.Duration(seconds * float64(time.Second))}
			if program, err := os.Executable(); err == nil && a.supervised {
				size.Supervisor = []string{program, "supervise"}
			}
			if slices.Contains(which, "physics") {
				var err error
				if size.Physics, err = physics.Cases(steps); err != nil {
					return err
				}
			}
			return a.bench(cmd.Context(), which, size)
		},
	}
	c.Flags().IntVar(&steps, "steps", 0, "cycles or steps of each case; 0 = the benchmark's default")
	c.Flags().Float64Var(&seconds, "seconds", 60, "duration of each case of clock, configs, okon's control loop and gamebots' robots")
	c.Flags().StringVar(&only, "config", "", "with configs: the config to run, embedded or a file (default: all embedded)")
	c.Flags().BoolVar(&all, "all", false, "with drivers: also every read mode, baud rate, chain length and return delay of the servo buses (600 more cases)")
	c.Flags().StringVar(&physics.Model, "model", "", "with physics: chain, quad, humanoid or heap (default: all)")
	c.Flags().IntVar(&links, "n", 0, "with physics: links of the chain (default: 2, 10, 20 and 40)")
	c.Flags().StringVar(&physics.Integrator, "integrator", "", "with physics: euler or rk4 (default: both)")
	return c
}

// bench runs the named benchmarks, one after another: concurrent ones would disturb each other. It shows the results of each
// benchmark at its end, since some take minutes; a single JSON object is printed after all.
func (a *app) bench(ctx context.Context, names []string, size lab.BenchSize) error {
	var all []lab.Result
	for _, b := range lab.Benchmarks() {
		if !slices.Contains(names, b.Name) {
			continue
		}
		a.note("bench %s: %s", b.Name, b.About)
		var done []lab.Result
		bar := a.progress("results", 0)
		if err := b.Run(ctx, size, func(r lab.Result) { done = append(done, r); bar.Add(1) }); err != nil {
			return err
		}
		if a.format == "json" {
			all = append(all, done...)
			continue
		}
		if err := a.showResults(done); err != nil {
			return err
		}
	}
	if a.format == "json" {
		return show(a, all)
	}
	return nil
}

// showResults shows one table for each run of results with the same values, since their names are the column headers; JSON
// lines are printed one after another in any case.
func (a *app) showResults(list []lab.Result) error {
	for len(list) > 0 {
		n := 1
		for n < len(list) && slices.Equal(report.Header(list[n].Cells()), report.Header(list[0].Cells())) {
			n++
		}
		if err := show(a, list[:n]); err != nil {
			return err
		}
		if list = list[n:]; a.format == "table" {
			fmt.Fprintln(a.out)
		}
	}
	return nil
}

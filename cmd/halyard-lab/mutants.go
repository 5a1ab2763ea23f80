package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/halyard-robotics/halyard/cmd/halyard-lab/internal/chaos"
	"github.com/halyard-robotics/halyard/cmd/halyard-lab/internal/mutants"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/command"
)

// newMutants creates the sub-command.
func newMutants(p *command.Program) *cobra.Command {
	var schedules int
	var check, own bool
	c := &cobra.Command{
		Use:   "mutants [TEXT]",
		Short: "test the tests with single errors in the source",
		Long: "Puts single errors into what keeps a robot safe, one at a time, runs the tests of the packages that " +
			"must notice it, or with\n" +
			"--chaos random schedules, and prints which noticed it and which errors survived. It leaves the tree as " +
			"it is. With TEXT only\n" +
			"errors whose file or description contains it. An error is stale if the source has changed since it was " +
			"written.\n" +
			"The exit code is 8 if an error survived or is stale.",
		Example: "  halyard-lab mutants hal/stop.go\n  halyard-lab mutants --check\n  halyard-lab mutants --chaos 60",
		Args:    command.Arguments("[TEXT]", "halyard-lab mutants hal/stop.go"),
		RunE: func(cmd *cobra.Command, args []string) error {
			all, err := mutants.All()
			if err != nil {
				return err
			}
			var some []mutants.Mutant
			for _, m := range all {
				if len(args) == 0 || strings.Contains(m.File+": "+m.Breaks, args[0]) {
					some = append(some, m)
				}
			}
			if len(some) == 0 {
				return &hal.Error{Kind: hal.Invalid, Op: "mutants",
					Err: fmt.Errorf("got %q, want a text of one of %d errors", args[0], len(all)),
					Try: "halyard-lab mutants --check"}
			}
			return runMutants(cmd.Context(), p, some,
				mutants.Runner{Chaos: schedules, Own: own, Robots: chaos.Sample()}, check)
		},
	}
	c.Flags().IntVar(&schedules, "chaos", 0,
		"schedules of each of some robots of halyard-lab chaos, in place of tests; 0 = tests")
	c.Flags().BoolVar(&own, "own", false, "run only the tests of the package with the error")
	c.Flags().BoolVar(&check, "check", false, "only check that each error fits the source")
	return c
}

// runMutants tries list and prints each result when it is there.
func runMutants(ctx context.Context, p *command.Program, list []mutants.Mutant, r mutants.Runner, check bool) error {
	root, err := mutants.Root(ctx)
	if err != nil {
		return err
	}
	r.Root = root
	if !check {
		defer r.Close()
		if err := r.Prepare(ctx, list); err != nil {
			return err
		}
	}
	counts := map[string]int{}
	var rows []mutants.Result
	for i := range list {
		m := &list[i]
		res := mutants.Result{File: m.File, Breaks: m.Breaks, Outcome: "fits"}
		if check {
			if _, err := m.Apply(root); err != nil {
				res.Outcome, res.By = mutants.Stale, err.Error()
			}
		} else if res, err = r.Try(ctx, i); err != nil {
			return err
		}
		counts[res.Outcome]++
		if *p.Format == "json" {
			rows = append(rows, res)
		} else if *p.Format == "jsonl" {
			p.Line(res)
		} else {
			fmt.Fprintf(p.Out, "%-8s  %s: %s  %s\n", res.Outcome, res.File, res.Breaks, res.By)
		}
	}
	if *p.Format == "json" {
		if err := command.Show(&p.Host, rows); err != nil {
			return err
		}
	}
	p.Note("%d errors: %d noticed, %d survived, %d stale", len(list), counts[mutants.Noticed], counts[mutants.Survived],
		counts[mutants.Stale])
	if n := counts[mutants.Survived] + counts[mutants.Stale]; n > 0 {
		return &hal.Error{Kind: hal.Differs, Op: "mutants", Err: fmt.Errorf("%d of %d errors survived or are stale", n,
			len(list))}
	}
	return nil
}

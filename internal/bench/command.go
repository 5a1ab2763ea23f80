package bench

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/command"
	"github.com/halyard-robotics/halyard/internal/must"
	"github.com/halyard-robotics/halyard/internal/report"
)

// Command creates the sub-command that runs the benchmarks of list, which returns them when the flags are read, and
// then with an error of the flags. It does not judge the results: tests compare them with limits on known machines.
func Command(h *command.Host, size Size, list func(which []string) ([]Benchmark, error)) *cobra.Command {
	var seconds float64
	var names []string
	all, _ := list(nil)
	long := "Measures this machine and prints each result next to its theoretical limit:\n"
	for _, b := range all {
		names = append(names, b.Name)
		long += fmt.Sprintf("\n  %-8s %s", b.Name, b.About)
	}
	c := &cobra.Command{
		Use:       "bench [NAME]",
		Short:     "compare this machine with theoretical limits",
		Long:      long,
		Args:      command.Arguments("[NAME]", "halyard bench clock"),
		ValidArgs: names,
		RunE: func(cmd *cobra.Command, args []string) error {
			if size.Steps < 0 || !(seconds > 0 && seconds <= 86400) {
				return &hal.Error{Kind: hal.Invalid, Op: "bench",
					Err: fmt.Errorf("got %d steps and %g seconds, want no less than 0 and above 0, at most 86400",
						size.Steps, seconds)}
			}
			if len(args) > 0 && !slices.Contains(names, args[0]) {
				return &hal.Error{Kind: hal.Invalid, Op: "bench",
					Err: fmt.Errorf("got %q, want one of %s", args[0], strings.Join(names, ", ")),
					Try: cmd.CommandPath()}
			}
			which := names // all of them, in their order
			if len(args) > 0 {
				which = args
			}
			benchmarks, err := list(which)
			if err != nil {
				return err
			}
			size.Time = time.Duration(seconds * float64(time.Second))
			return run(cmd.Context(), h, which, benchmarks, size)
		},
	}
	c.Flags().IntVar(&size.Steps, "steps", 0, "cycles or steps of each case; 0 = the benchmark's default")
	c.Flags().Float64Var(&seconds, "seconds", 60, "duration of each case in real time")
	return c
}

// run runs the named benchmarks, one after another: concurrent ones would disturb each other. It shows the results of
// each benchmark at its end, since some take minutes; a single JSON object is printed after all.
func run(ctx context.Context, h *command.Host, names []string, list []Benchmark, size Size) (err error) {
	defer must.Catch(&err)
	var all []Result
	for _, b := range list {
		if !slices.Contains(names, b.Name) {
			continue
		}
		h.Note("bench %s: %s", b.Name, b.About)
		var done []Result
		bar := h.Progress("results", 0)
		must.Be(b.Run(ctx, size, func(r Result) { done = append(done, r); bar.Add(1) }))
		if *h.Format == "json" {
			all = append(all, done...)
			continue
		}
		must.Be(ShowResults(h, done))
	}
	if *h.Format == "json" {
		return command.Show(h, all)
	}
	return nil
}

// ShowResults shows one table for each run of results with the same values, since their names are the column headers;
// JSON lines are printed one after another in any case.
func ShowResults(h *command.Host, list []Result) error {
	for len(list) > 0 {
		n := 1
		for n < len(list) && slices.Equal(report.Header(list[n].Cells()), report.Header(list[0].Cells())) {
			n++
		}
		if err := command.Show(h, list[:n]); err != nil {
			return err
		}
		if list = list[n:]; *h.Format == "table" {
			fmt.Fprintln(h.Out)
		}
	}
	return nil
}

package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/halyard-robotics/halyard/cmd/halyard-lab/internal/lab"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/command"
)

// newFaults makes the sub-command.
func newFaults(p *command.Program) *cobra.Command {
	var seeds int
	var only string
	kinds := lab.FaultWords()
	long := "Tests every device of a config with every fault of its bus, emulated in memory and in virtual time: " +
		"one second without\n" +
		"the fault, one with an intermittent fault, 1.5 with a permanent fault, two without. A cell passes if no " +
		"wrong\n" +
		"value is reported as good, a missing value is reported as old or by the event /AGENT/NAME/Fault, the other " +
		"devices are not\n" +
		"affected, and the device recovers and follows commands within a second of the end of the fault. The faults:\n"
	var faults []string
	for _, w := range kinds {
		faults = append(faults, w.Name)
		long += fmt.Sprintf("\n  %-11s %s", w.Name, w.About)
	}
	long += "\n\nOutcomes:\n" +
		"  no effect          no value was missing for long\n" +
		"  detected           the event was raised\n" +
		"  detected, latched  the event was raised, and the servo must be enabled again\n" +
		"Columns: max age is the age of the oldest value read, detect the time from the start of the fault " +
		"(intermittent or permanent)\n" +
		"to the event, recover the time from the end of the fault to the first good value."
	c := &cobra.Command{
		Use:   "faults [DEVICE]",
		Short: "test drivers against emulated faults",
		Long:  long,
		Args:  command.Arguments("[DEVICE]", "halyard-lab faults bno055"),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return lab.DeviceNames(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			rows := lab.FaultRows()
			if len(args) > 0 {
				name := args[0]
				rows = slices.DeleteFunc(rows, func(r *lab.FaultRow) bool { return r.Device != name && r.Bus != name })
			}
			if only != "" {
				kinds = slices.DeleteFunc(kinds, func(w lab.FaultWord) bool { return w.Name != only })
			}
			switch {
			case len(rows) == 0:
				return &hal.Error{Kind: hal.Invalid, Op: "faults", Err: fmt.Errorf("device: got %q, want one of %s",
					args[0], strings.Join(lab.DeviceNames(), ", ")), Try: "halyard-lab faults " + lab.DeviceNames()[0]}
			case len(kinds) == 0:
				return &hal.Error{Kind: hal.Invalid, Op: "faults", Err: fmt.Errorf("--fault: got %q, want one of %s",
					only, strings.Join(faults, ", ")), Try: "halyard-lab faults --help"}
			case seeds < 1 || seeds > 1000:
				return &hal.Error{Kind: hal.Invalid, Op: "faults",
					Err: fmt.Errorf("--seeds: got %d, want 1..1000", seeds)}
			}
			return runFaults(cmd.Context(), p, rows, kinds, seeds)
		},
	}
	c.Flags().IntVar(&seeds, "seeds", 3, "runs of each cell, each with its own random seed")
	c.Flags().StringVar(&only, "fault", "", "test only this fault")
	c.RegisterFlagCompletionFunc("fault", command.Words(faults...))
	return c
}

// faults prints the matrix. Cells that are not as they must be are an error of kind hal.Differs.
func runFaults(ctx context.Context, p *command.Program, rows []*lab.FaultRow, words []lab.FaultWord, seeds int) error {
	var all []lab.Cell
	bar, failed := p.Progress("cells", len(rows)*len(words)), 0
	for _, r := range rows {
		for i := range words {
			c, err := lab.RunCell(ctx, r, &words[i], seeds)
			if err != nil {
				return err
			}
			if bar.Add(1); c.Failed {
				failed++
			}
			if all = append(all, c); *p.Format == "jsonl" {
				if err := p.Line(c); err != nil {
					return err
				}
			}
		}
	}
	if *p.Format != "jsonl" {
		if err := command.Show(&p.Host, all); err != nil {
			return err
		}
	}
	if failed > 0 {
		return &hal.Error{Kind: hal.Differs, Op: "faults", Err: fmt.Errorf("%d of %d cells are not as they must be",
			failed, len(all))}
	}
	return nil
}

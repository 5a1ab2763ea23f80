package main

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/halyard-robotics/halyard/hal"
)

// newFaults makes the sub-command.
func newFaults(a *app) *cobra.Command {
	var seeds int
	var only string
	words := faultWords()
	long := "Tries every device that a config may name against every fault of its wire, emulated in memory and in virtual time:\n" +
		"a second of calm, one in which the fault strikes now and then, one and a half in which it strikes wholly, two after\n" +
		"it. A cell is good when no value that is handed on as right is wrong, what is not known is seen to be old or told as\n" +
		"the event /AGENT/NAME/Fault, the other devices notice nothing, and the device is well within a second of the fault's\n" +
		"end and obeys again. The faults:\n"
	for _, w := range words {
		long += fmt.Sprintf("\n  %-10s %s", w.name, w.about)
	}
	long += "\n\nUnharmed: no value was missed for long. Told: the event came. Oldest is the greatest age of a value that was seen, told\n" +
		"from the beginning of the fault (or of its second half) to the event, back from its end to the first good value."
	c := &cobra.Command{
		Use:   "faults [DEVICE]",
		Short: "every device against every fault of its wire, emulated: what is told, and how soon it is back",
		Long:  long,
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			rows := faultRows()
			if len(args) > 0 {
				name := args[0]
				rows = slices.DeleteFunc(rows, func(r *faultRow) bool { return r.device != name && r.bus != name })
			}
			if only != "" {
				words = slices.DeleteFunc(words, func(w faultWord) bool { return w.name != only })
			}
			switch {
			case len(rows) == 0:
				return &hal.Error{Kind: hal.Invalid, Op: "faults", Err: fmt.Errorf("device: got %q, want one of %s", args[0], deviceNames())}
			case len(words) == 0 || seeds < 1 || seeds > 1000:
				return &hal.Error{Kind: hal.Invalid, Op: "faults", Err: fmt.Errorf("got fault %q and %d seeds, want a fault of the help and 1..1000", only, seeds),
					Try: "halyard faults --help"}
			}
			return a.faults(cmd.Context(), rows, words, seeds)
		},
	}
	c.Flags().IntVar(&seeds, "seeds", 3, "how often each cell is tried, each time with other dice")
	c.Flags().StringVar(&only, "fault", "", "one fault alone")
	return c
}

// deviceNames are the devices on trial as a person reads them.
func deviceNames() string {
	var names []string
	for _, r := range faultRows() {
		names = append(names, r.device)
	}
	return strings.Join(slices.Compact(names), ", ")
}

// faults prints the matrix. Cells that are not as they must be are an error of kind hal.Differs.
func (a *app) faults(ctx context.Context, rows []*faultRow, words []faultWord, seeds int) error {
	var all []cell
	failed := 0
	for _, r := range rows {
		for i := range words {
			c, err := runCell(ctx, r, &words[i], seeds)
			if err != nil {
				return err
			}
			if c.failed {
				failed++
			}
			if all = append(all, c); a.format == "jsonl" {
				if err := a.line(c); err != nil {
					return err
				}
			}
		}
	}
	if a.format != "jsonl" {
		if err := show(a, all); err != nil {
			return err
		}
	}
	if failed > 0 {
		return &hal.Error{Kind: hal.Differs, Op: "faults", Err: fmt.Errorf("%d of %d cells are not as they must be", failed, len(all))}
	}
	return nil
}

// cell is what one fault does to one device, over all seeds: the worst of each.
type cell struct {
	Device  string `json:"device"`
	Bus     string `json:"bus"`
	Fault   string `json:"fault"`
	Outcome string `json:"outcome"` // unharmed, told, n/a, or what is wrong
	Oldest  number `json:"oldest_ms"`
	Told    number `json:"told_ms"`
	Back    number `json:"back_ms"`
	Seeds   int    `json:"seeds"`

	failed bool
}

func (cell) header() []string {
	return []string{"device", "bus", "fault", "outcome", "oldest ms", "told ms", "back ms", "seeds"}
}

func (c cell) cells() []string {
	return []string{c.Device, c.Bus, c.Fault, c.Outcome, c.Oldest.String(), c.Told.String(), c.Back.String(), fmt.Sprint(c.Seeds)}
}

// rank orders the outcomes: the worst seed speaks for the cell, and what is known outweighs what went well.
func rank(outcome string) int {
	if i := slices.Index([]string{"unharmed", "told", "told, held"}, outcome); i >= 0 {
		return i
	}
	return 3
}

// runCell tries a fault on a device with each seed.
func runCell(ctx context.Context, r *faultRow, w *faultWord, seeds int) (cell, error) {
	c := cell{Device: r.device, Bus: r.bus, Fault: w.name, Outcome: "n/a", Oldest: number(math.NaN()), Told: number(math.NaN()), Back: number(math.NaN())}
	if w.plant(r) == nil {
		return c, nil
	}
	c.Outcome, c.Seeds = "unharmed", seeds
	for seed := range seeds {
		if err := ctx.Err(); err != nil {
			return c, err
		}
		one := tryCell(r, w, int64(seed+1))
		c.Oldest, c.Told, c.Back = worst(c.Oldest, one.Oldest), worst(c.Told, one.Told), worst(c.Back, one.Back)
		switch known, ok := r.known[w.name]; {
		case one.failed && ok && (strings.HasPrefix(one.Outcome, "wrong: ") || strings.HasPrefix(one.Outcome, "does not obey")):
			c.Outcome = known // and nothing else: what is known to believe noise is not known to break
		case one.failed && !c.failed:
			c.Outcome, c.failed = fmt.Sprintf("%s (seed %d)", one.Outcome, seed+1), true
		case !c.failed && rank(one.Outcome) > rank(c.Outcome):
			c.Outcome = one.Outcome
		}
	}
	return c, nil
}

// worst is the greater of two numbers, either of which may be none.
func worst(a, b number) number {
	if math.IsNaN(float64(a)) || b > a {
		return b
	}
	return a
}

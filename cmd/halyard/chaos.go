package main

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/lab/chaos"
)

// newChaos makes the sub-command.
func newChaos(a *app) *cobra.Command {
	var seeds int
	var first int64
	var replay string
	var long strings.Builder
	long.WriteString("Runs random schedules of commands, clients that hang or leave, stops, faults and a late host on an emulated robot, in\n" +
		"virtual time, and judges each cycle by what its motors do. Without CONFIG it takes every embedded config with servos\n" +
		"on a line. A violation is reduced to the shortest schedule that shows it, which --replay runs again. The invariants:\n\n")
	for _, v := range chaos.Invariants {
		fmt.Fprintf(&long, "  %-14s %s\n", v.Name, v.Promise)
	}
	c := &cobra.Command{
		Use:               "chaos [CONFIG]",
		Short:             "test a robot's safety with random schedules",
		Long:              long.String(),
		Example:           "  halyard chaos so101 --seeds 1000\n  halyard chaos so101 --first 42 --seeds 1 -o jsonl\n  halyard chaos so101 --first 42 --replay script.txt",
		Args:              arguments("[CONFIG]", "halyard chaos so101"),
		ValidArgsFunction: completeConfigs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if seeds < 1 || first < 1 {
				return &hal.Error{Kind: hal.Invalid, Op: "chaos", Err: fmt.Errorf("--seeds and --first: got %d and %d, want 1 or more", seeds, first)}
			}
			if replay != "" {
				if len(args) != 1 {
					return &hal.Error{Kind: hal.Invalid, Op: "chaos --replay", Err: fmt.Errorf("got no CONFIG, want that of the script")}
				}
				return a.replayChaos(args[0], first, replay)
			}
			names, err := args, error(nil)
			if len(args) == 0 {
				if names, err = chaos.Configs(); err != nil {
					return err
				}
			}
			return a.chaos(cmd.Context(), names, first, seeds)
		},
	}
	c.Flags().IntVar(&seeds, "seeds", 100, "schedules of each config")
	c.Flags().Int64Var(&first, "first", 1, "first seed; of --replay, the seed of the robot")
	c.Flags().StringVar(&replay, "replay", "", "run the schedule of this file")
	return c
}

// chaosRow is what came of one config.
type chaosRow struct {
	Config    string `json:"config"`
	Schedules int    `json:"schedules"`
	Judged    uint64 `json:"judged"`
	Violated  int    `json:"violated"`
	First     string `json:"first,omitempty"`
}

func (chaosRow) Header() []string {
	return []string{"config", "schedules", "judged", "violated", "first"}
}

func (r chaosRow) Cells() []string {
	return []string{r.Config, strconv.Itoa(r.Schedules), strconv.FormatUint(r.Judged, 10), strconv.Itoa(r.Violated), r.First}
}

// chaos runs seeds schedules of each config, one on each processor, and reports them in order. A violation is an error of
// kind hal.Differs.
func (a *app) chaos(ctx context.Context, names []string, first int64, seeds int) error {
	begin, violated := time.Now(), 0
	var rows []chaosRow
	for _, name := range names {
		row := chaosRow{Config: name}
		for done := 0; done < seeds && ctx.Err() == nil; {
			n := min(seeds-done, 8*runtime.NumCPU())
			results, errs := make([]chaos.Result, n), make([]error, n)
			var all sync.WaitGroup
			for w := range min(n, runtime.NumCPU()) {
				all.Go(func() {
					for i := w; i < n; i += runtime.NumCPU() {
						results[i], errs[i] = chaos.Seed(name, first+int64(done+i))
					}
				})
			}
			all.Wait()
			for i := range results {
				if errs[i] != nil {
					return errs[i]
				}
				r := &results[i]
				row.Schedules++
				for _, count := range r.Exercised {
					row.Judged += count
				}
				if r.Violated != "" {
					if row.Violated++; row.First == "" {
						row.First = r.Describe()
					}
				}
				if a.format == "jsonl" {
					a.Line(r)
				} else if r.Violated != "" {
					a.note("%s\n  %s", r.Describe(), strings.Join(r.Script, "\n  "))
				}
			}
			done += n
		}
		violated += row.Violated
		rows = append(rows, row)
	}
	if a.format != "jsonl" {
		if err := show(a, rows); err != nil {
			return err
		}
	}
	a.note("%d schedules a second", int(float64(len(names)*seeds)/time.Since(begin).Seconds()))
	if violated > 0 {
		return &hal.Error{Kind: hal.Differs, Op: "chaos", Err: fmt.Errorf("%d schedules broke an invariant", violated)}
	}
	return ctx.Err()
}

// replayChaos runs the schedule of a file.
func (a *app) replayChaos(config string, seed int64, file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return &hal.Error{Kind: hal.Absent, Op: "chaos --replay", Err: err}
	}
	schedule, err := chaos.ParseAll(string(text))
	if err != nil {
		return &hal.Error{Kind: hal.Invalid, Op: file, Err: err}
	}
	r, err := chaos.Run(config, seed, schedule)
	if err != nil {
		return err
	}
	if a.format == "jsonl" {
		a.Line(r)
	}
	if r.Violated != "" {
		return &hal.Error{Kind: hal.Differs, Op: "chaos", Err: fmt.Errorf("%s", r.Describe())}
	}
	a.note("%s seed %d: %d actions, no violation", config, seed, len(schedule))
	return nil
}

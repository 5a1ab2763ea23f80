package main

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/halyard-robotics/halyard/cmd/halyard-lab/internal/chaos"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/command"
	"github.com/halyard-robotics/halyard/internal/report"
)

// newChaos makes the sub-command.
func newChaos(p *command.Program) *cobra.Command {
	var seeds int
	var quick, ideal, known bool
	var first int64
	var replay string
	var long strings.Builder
	long.WriteString("Runs random schedules on an emulated robot in virtual time: commands, clients that hang or " +
		"leave, stops, pushed joints, device\n" +
		"faults and a slow host. It compares what the motors do in each cycle with the invariants below. CONFIG may " +
		"be TYPE/MODEL, a bus\n" +
		"type and a servo model: a robot of such servos. Without CONFIG it tests all embedded configs with servos " +
		"and all servo models.\n" +
		"It reduces a violation to the shortest schedule that shows it; --replay runs that schedule. The " +
		"invariants:\n\n")
	for _, v := range chaos.Invariants {
		fmt.Fprintf(&long, "  %-18s %s\n", v.Name, v.Promise)
	}
	c := &cobra.Command{
		Use:   "chaos [CONFIG]",
		Short: "test a robot's safety with random schedules",
		Long:  long.String(),
		Example: "  halyard-lab chaos so101 --seeds 1000\n  halyard-lab chaos so101 --first 42 --seeds 1 " +
			"-o jsonl\n  halyard-lab chaos so101 --first 42 --replay script.txt",
		Args:              command.Arguments("[CONFIG]", "halyard-lab chaos so101"),
		ValidArgsFunction: command.CompleteConfigs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if seeds < 1 || first < 1 {
				return &hal.Error{Kind: hal.Invalid, Op: "chaos",
					Err: fmt.Errorf("--seeds and --first: got %d and %d, want 1 or more", seeds, first)}
			}
			if known {
				return knownChaos(p)
			}
			if replay != "" {
				if len(args) != 1 {
					return &hal.Error{Kind: hal.Invalid, Op: "chaos --replay",
						Err: fmt.Errorf("got no CONFIG, want that of the script")}
				}
				return replayChaos(p, args[0], first, replay, ideal)
			}
			names, err := args, error(nil)
			if len(args) == 0 {
				if names, err = chaos.Configs(); err != nil {
					return err
				}
				names = append(names, chaos.Generated()...)
			}
			return runChaos(cmd.Context(), p, names, first, seeds, quick, ideal)
		},
	}
	c.Flags().IntVar(&seeds, "seeds", 100, "schedules of each config")
	c.Flags().Int64Var(&first, "first", 1, "first seed; with --replay the seed of the robot")
	c.Flags().BoolVar(&quick, "quick", false, "end at the first violation, and do not reduce it")
	c.Flags().BoolVar(&ideal, "ideal", false, "measure at the end of a cycle, not at its beginning as real lines do")
	c.Flags().BoolVar(&known, "known", false, "run the schedules that broke an invariant once, with both timings")
	c.Flags().StringVar(&replay, "replay", "", "run the schedule of this file")
	return c
}

// chaosRow is how often one invariant was exercised, by the type of bus.
type chaosRow struct {
	Invariant string            `json:"invariant"`
	Exercised map[string]uint64 `json:"exercised"`
}

func (r chaosRow) Cells() report.Cells {
	cells := report.Cells{{"invariant", r.Invariant}}
	for _, kind := range report.SortedKeys(r.Exercised) {
		cells = append(cells, [2]any{kind, r.Exercised[kind]})
	}
	return cells
}

// chaos runs seeds schedules of each robot and reports them in order. A violation is an error of kind hal.Differs.
func runChaos(ctx context.Context, p *command.Program, names []string, first int64, seeds int,
	quick, ideal bool) error {
	sweep, end := context.WithCancel(ctx)
	defer end()
	begin, schedules, violated, counts := time.Now(), 0, 0, chaos.Counts{}
	bar := p.Progress("schedules", len(names)*seeds)
	for _, name := range names {
		robot, err := chaos.Open(name, ideal)
		if err != nil {
			return err
		}
		robot.Quick = quick
		err = robot.Sweep(sweep, first, seeds, runtime.NumCPU(), func(r *chaos.Result) {
			counts.Add(r.Exercised)
			bar.Add(1)
			if r.Violated != "" {
				if violated++; quick {
					end()
				}
			}
			if r.Seed > 0 {
				schedules++
			}
			if *p.Format == "jsonl" {
				p.Line(r)
			} else if r.Violated != "" {
				p.Note("%s\n  %s", r.Describe(), strings.Join(r.Script, "\n  "))
			}
		})
		if err != nil && violated == 0 {
			return err
		}
	}
	var rows []chaosRow
	for i, v := range chaos.Invariants {
		row := chaosRow{v.Name, map[string]uint64{}}
		for kind, n := range counts {
			row.Exercised[kind] = n[i]
		}
		rows = append(rows, row)
	}
	if *p.Format == "jsonl" {
		p.Line(map[string]any{"schedules": schedules, "violated": violated, "exercised": rows})
	} else if err := command.Show(&p.Host, rows); err != nil {
		return err
	}
	p.Note("%d schedules, %d a second", schedules, int(float64(schedules)/time.Since(begin).Seconds()))
	if violated > 0 {
		return &hal.Error{Kind: hal.Differs, Op: "chaos", Err: fmt.Errorf("%d schedules broke an invariant", violated)}
	}
	return ctx.Err()
}

// replayChaos runs the schedule of a file.
func replayChaos(p *command.Program, config string, seed int64, file string, ideal bool) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return &hal.Error{Kind: hal.Absent, Op: "chaos --replay", Err: err}
	}
	schedule, err := chaos.ParseAll(string(text))
	if err != nil {
		return &hal.Error{Kind: hal.Invalid, Op: file, Err: err}
	}
	robot, err := chaos.Open(config, ideal)
	if err != nil {
		return err
	}
	r, err := robot.Run(seed, schedule)
	if err != nil {
		return err
	}
	if *p.Format == "jsonl" {
		p.Line(r)
	}
	if r.Violated != "" {
		return &hal.Error{Kind: hal.Differs, Op: "chaos", Err: fmt.Errorf("%s", r.Describe())}
	}
	p.Note("%s seed %d: %d actions, no violation", config, seed, len(schedule))
	return nil
}

// knownChaos runs the schedules that broke an invariant once, and ends at the first that does.
func knownChaos(p *command.Program) error {
	all, err := chaos.AllKnown()
	for i := range all {
		for _, ideal := range []bool{false, true} {
			r, err := all[i].Run(ideal)
			if err != nil {
				return err
			}
			if r.Violated != "" {
				return &hal.Error{Kind: hal.Differs, Op: "chaos", Err: fmt.Errorf("%s: %s", all[i].Name, r.Describe())}
			}
		}
	}
	p.Note("%d schedules, no violation", len(all))
	return err
}

package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/halyard-robotics/halyard/cmd/halyard-lab/internal/bodies"
	"github.com/halyard-robotics/halyard/internal/command"
)

// newBodies creates the sub-command.
func newBodies(p *command.Program) *cobra.Command {
	var o bodies.Options
	var doors []string
	var allLines bool
	var servos string
	c := &cobra.Command{
		Use:   "bodies",
		Short: "compare a robot on three bodies, through each door",
		Long: "Moves an arm of six XM430 through each door (protocol) while it is simulated, emulated in lock-step " +
			"and in " +
			"real time, and\nreal: its servos emulated in another process, on a pseudo-terminal. It prints what the " +
			"clients " +
			"see: lag, shift and difference\nbeside the simulated robot, resets, and what they are told. " +
			"docs/three-bodies.md explains the figures.",
		Example: "  halyard-lab bodies\n  halyard-lab bodies --door osp,batch --resets 1000 -o jsonl",
		Args:    command.Arguments("", "halyard-lab bodies"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if servos != "" {
				return bodies.ServeElsewhere(cmd.Context(), servos, os.Stdin, os.Stdout)
			}
			self, err := os.Executable()
			if err != nil {
				return err
			}
			o.Emulator = bodies.Elsewhere(self, "bodies", "--serve-servos")
			return runBodies(cmd.Context(), p, o, doors, allLines)
		},
	}
	f := c.Flags()
	f.StringSliceVar(&doors, "door", nil, "doors to try (default: all)")
	f.StringSliceVar(&o.Bodies, "body", nil,
		"bodies beside sim: lock-step and real time (emulated), real (default: all)")
	f.DurationVar(&o.Motion, "motion", 8*time.Second, "time of each motion")
	f.IntVar(&o.Resets, "resets", 30, "resets in real time; in lock-step as many as --lockstep-resets")
	f.IntVar(&o.LockstepResets, "lockstep-resets", 1000, "resets in lock-step")
	f.BoolVar(&allLines, "lines", false, "compare slow lines and adapters instead, with the plan")
	f.StringVar(&servos, "serve-servos", "", "serve the servos of a config: for the bench itself")
	f.MarkHidden("serve-servos")
	return c
}

func runBodies(ctx context.Context, p *command.Program, o bodies.Options, doors []string, lines bool) error {
	if lines {
		rows, err := bodies.CompareLines(ctx, o)
		if err != nil {
			return fmt.Errorf("bodies: %w", err)
		}
		return command.Show(&p.Host, rows)
	}
	rows, err := bodies.CompareDoors(ctx, doors, o)
	if err != nil {
		return fmt.Errorf("bodies: %w", err)
	}
	return command.Show(&p.Host, rows)
}

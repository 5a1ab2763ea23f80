package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/halyard-robotics/halyard/cmd/halyard-lab/internal/zoo"
	"github.com/halyard-robotics/halyard/internal/command"
)

// newZoo creates the sub-command, which tries the robot files of other people.
func newZoo(p *command.Program) *cobra.Command {
	var all, move bool
	c := &cobra.Command{
		Use:   "zoo FOLDER",
		Short: "try every robot file of a folder",
		Long: "Loads every URDF, MJCF and SDF below FOLDER, each content once, and prints how many load, how many " +
			"need a " +
			"repair, and for what\nreasons the others are refused. An MJCF that another one includes is no robot.",
		Example: "  halyard-lab zoo robots\n  halyard-lab zoo robots --all",
		Args:    command.Arguments("FOLDER", "halyard-lab zoo robots"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runZoo(cmd.Context(), p, args[0], all, move)
		},
	}
	c.Flags().BoolVar(&all, "all", false, "print each file, not only the reasons")
	c.Flags().BoolVar(&move, "move", false, "hold each robot at its root and move each joint by 0.3 rad or 0.05 m")
	return c
}

// runZoo tries all files and prints them, or the reasons.
func runZoo(ctx context.Context, p *command.Program, dir string, all, move bool) error {
	list, err := zoo.Try(ctx, dir, move)
	if err != nil {
		return fmt.Errorf("zoo %s: %w", dir, err)
	}
	if all {
		return command.Show(&p.Host, list)
	}
	return command.Show(&p.Host, zoo.Shares(list))
}

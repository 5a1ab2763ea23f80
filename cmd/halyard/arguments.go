package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/halyard-robotics/halyard/internal/command"
)

// groupHelp runs a command that only groups others: without arguments it prints help, otherwise the first one names no
// command.
func groupHelp(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return c.Help()
	}
	return misused(c, args, fmt.Errorf("unknown command %q for %q", args[0], c.CommandPath()))
}

// topicHelp prints the help of the command that args name.
func topicHelp(c *cobra.Command, args []string) error {
	of, _, err := c.Root().Find(args)
	if err != nil {
		return misused(c.Root(), args, err)
	}
	return of.Help()
}

// arguments accepts the arguments in want; see command.Arguments.
func arguments(want, example string) cobra.PositionalArgs { return command.Arguments(want, example) }

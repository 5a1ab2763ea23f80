package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/halyard-robotics/halyard/hal"
)

// groupHelp runs a command that only groups others: without arguments it prints help, otherwise the first one names no command.
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

// arguments accepts the arguments in want: one word each, in brackets if optional, with ... if it may be repeated. Any other
// number is an error of kind hal.Invalid that shows want and example, a command line.
func arguments(want, example string) cobra.PositionalArgs {
	words := strings.Fields(want)
	least, most := 0, len(words)
	for _, w := range words {
		if !strings.HasPrefix(w, "[") {
			least++
		}
		if strings.Contains(w, "...") {
			most = -1
		}
	}
	return func(c *cobra.Command, args []string) error {
		if len(args) >= least && (most < 0 || len(args) <= most) {
			return nil
		}
		plural := "s"
		if len(args) == 1 {
			plural = ""
		}
		_, name, _ := strings.Cut(c.CommandPath(), " ")
		wanted := want
		if most == 0 {
			wanted = "none"
		}
		return &hal.Error{Kind: hal.Invalid, Op: name, Err: fmt.Errorf("got %d argument%s, want %s", len(args), plural, wanted), Try: example}
	}
}

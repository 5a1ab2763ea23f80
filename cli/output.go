package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/halyard-robotics/halyard/internal/command"
	"github.com/halyard-robotics/halyard/internal/report"
)

// host is the app as the commands see it that several programs have.
func (a *app) host() *command.Host {
	return &command.Host{In: a.in, Out: a.out, Err: a.err, Format: &a.format, Units: &a.units, Note: a.note,
		Progress: a.progress,
		Config:   a.config}
}

// show prints rows in the selected form: a table, one JSON object, or a JSON line each.
func show[R report.Row](a *app, rows []R) error {
	a.bar.Clear()
	a.sink.Flush(flushTime) // notes stand before the table, not in its middle
	return command.Show(a.host(), rows)
}

// shown is show, unless rows failed with err.
func shown[R report.Row](a *app, rows []R, err error) error {
	if err != nil {
		return err
	}
	return show(a, rows)
}

// Line prints v as one JSON line.
func (a *app) Line(v any) error { return a.host().Line(v) }

// complain reports the error that ends the command, with the next command.
func (a *app) complain(err error) { a.host().Complain("halyard", err) }

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

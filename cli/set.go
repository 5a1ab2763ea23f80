package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/halyard-robotics/halyard/internal/control"
)

func newSet(a *app) *cobra.Command {
	rig := ""
	c := &cobra.Command{
		Use:   "set NAME [VALUE...]",
		Short: "set or print a named value of a running rig",
		Long:  "Sets a named value of a running rig, and prints what it is then. Without VALUE it only prints it.",
		Example: "  halyard set /teleop/engaged true\n  halyard set /teleop/episode start pick up the cube\n" +
			"  halyard set /teleop/state\n  halyard set /rex/policy walk",
		Args: func(c *cobra.Command, args []string) error {
			return arguments("NAME", "halyard set /teleop/engaged true")(c, args[:min(1, len(args))])
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			var text *string
			if len(args) > 1 {
				joined := strings.Join(args[1:], " ")
				text = &joined
			}
			value, err := control.Set(cmd.Context(), rig, args[0], text)
			switch {
			case err != nil:
				return err
			case a.format != "table":
				return a.Line(value)
			}
			fmt.Fprintln(a.out, value)
			return nil
		},
	}
	c.Flags().StringVar(&rig, "rig", "", "name of the rig, where several run")
	c.Flags().SetInterspersed(false) // -0.2 is a value: flags stand before NAME
	return c
}

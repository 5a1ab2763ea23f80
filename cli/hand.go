package cli

import (
	"errors"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/assembly"
	"github.com/halyard-robotics/halyard/internal/control"
)

func newHand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "hand DIR [ORDER...]",
		Short: "show and move the joints of emulated servos",
		Long: "Moves joints of emulated servos as a hand does, against any torque of the servo. DIR is the folder " +
			"of halyard emulate --dir or\n" +
			"serve --expose. Without ORDER it lists every joint.\nOrders:\n" +
			assembly.HandHelp,
		Example: "  halyard hand d\n  halyard hand d move elbow_flex 0.5\n  halyard hand d unplug gripper\n  " +
			"halyard hand d push elbow_flex -0.2",
		Args: func(c *cobra.Command, args []string) error {
			return arguments("DIR", "halyard emulate so101 --dir d")(c, args[:min(1, len(args))])
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			var ans assembly.HandAnswer
			if err := control.AskLine(cmd.Context(), filepath.Join(args[0], assembly.HandSocket),
				strings.Join(args[1:], " "), &ans); err != nil {
				return &hal.Error{Kind: hal.KindOf(err), Op: "hand " + args[0], Err: err,
					Try: "halyard emulate CONFIG --dir " + args[0]}
			}
			if ans.Error != "" {
				return &hal.Error{Kind: hal.Invalid, Err: errors.New(ans.Error)}
			}
			if ans.Note != "" {
				a.note("%s", ans.Note)
			}
			if len(ans.Registers) > 0 {
				return show(a, ans.Registers)
			}
			if len(ans.Joints) > 0 {
				return show(a, ans.Joints)
			}
			return nil
		},
	}
	c.Flags().SetInterspersed(false) // the words after DIR are the order: -0.2 is not a flag
	return c
}

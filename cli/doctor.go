package cli

import (
	"github.com/spf13/cobra"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/internal/commission/doctor"
)

func newDoctor(a *app) *cobra.Command {
	var f configFlags
	var faults []string
	var strict bool
	c := &cobra.Command{
		Use:   "doctor CONFIG",
		Short: "check a robot before its first motion",
		Long: "Checks the ports and servos of CONFIG; simulated joints too, as if they were real.\n" +
			"With --body emulated it checks emulated servos in memory, with the faults of --fault.\n" +
			"Nothing moves and no register is written. The exit code is that of the worst finding.",
		Example: "  halyard doctor my-robot.yaml\n  halyard doctor so101 --body emulated --fault \"off " +
			"servo 3\"",
		Args:              arguments("CONFIG", "halyard configs"),
		ValidArgsFunction: completeConfigs,
		RunE: func(cmd *cobra.Command, args []string) error {
			d, err := doctor.Load(args[0], configs.Options{Body: f.body, Set: f.set, Listen: f.listen},
				a.catalog(), faults)
			if err != nil {
				return err
			}
			d.Note = a.note
			if err := d.Run(cmd.Context()); err != nil {
				return err
			}
			if err := show(a, d.Found); err != nil {
				return err
			}
			return d.Verdict(strict)
		},
	}
	f.add(c)
	c.Flags().StringArrayVar(&faults, "fault", nil,
		`inject a fault into the emulated servos: "off servo 3", "BUS: crc servo 3 p=0.1"`)
	c.Flags().BoolVar(&strict, "strict", false, "exit with code 8 on any warning")
	return c
}

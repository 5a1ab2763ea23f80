package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/halyard-robotics/halyard/internal/commission"
)

func newRegistersWrite(a *app) *cobra.Command {
	var dry bool
	c := &cobra.Command{
		Use:   "write PORT --id N NAME=VALUE...",
		Short: "write registers and verify them",
		Long: "VALUE is raw, or has the unit of the register: return_delay=0, max_voltage=12.6V, " +
			"min_position=-1.57rad. A float register\n" +
			"takes its unit without a suffix.\n" +
			"EEPROM is writable only with torque off; its lock is opened and closed again. If a write fails, the " +
			"earlier ones are\n" +
			"reverted. Registers that move the servo or disconnect it are refused.",
		Example: "  halyard registers write /dev/ttyUSB0 --id 1 return_delay=0 temperature_limit=70",
		Args:    arguments("PORT NAME=VALUE...", "halyard registers write /dev/ttyUSB0 --id 1 torque_enable=0"),
	}
	c.Flags().BoolVarP(&dry, "dry-run", "n", false, "check everything, write nothing")
	return registersCommand(a, c, func(ctx context.Context, s *commission.Registers, args []string) error {
		writes, err := s.Parse(args)
		if err != nil {
			return err
		}
		rows, err := s.Change(ctx, writes, dry)
		return shown(a, rows, err)
	})
}

func newRegistersRestore(a *app) *cobra.Command {
	var dry bool
	c := &cobra.Command{
		Use:   "restore PORT --id N FILE",
		Short: "write registers from a saved file",
		Args:  arguments("PORT FILE", "halyard registers restore /dev/ttyUSB0 --id 1 elbow.json"),
	}
	c.Flags().BoolVarP(&dry, "dry-run", "n", false, "check everything, write nothing")
	return registersCommand(a, c, func(ctx context.Context, s *commission.Registers, args []string) error {
		if err := s.Fixed("restore"); err != nil {
			return err
		}
		rows, err := s.Differences(ctx, args)
		if err != nil {
			return err
		}
		writes, left := s.Back(rows)
		for _, why := range left {
			a.note("! not set back: %v", why)
		}
		done, err := s.Change(ctx, writes, dry)
		if err != nil {
			return err
		}
		a.note("%s id %d: %d registers set back", s.Model.Units().Name, s.ID, len(done))
		return show(a, done)
	})
}

package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/commission"
)

func newRegistersDiff(a *app) *cobra.Command {
	return registersCommand(a, &cobra.Command{
		Use:   "diff PORT --id N [FILE|ID]",
		Short: "compare registers with a file, a servo or the defaults",
		Long: "Compares settings, not measurements: EEPROM, and configuration in RAM.\n" +
			"Exit code 8 where anything differs.",
		Example: "  halyard registers diff /dev/ttyUSB0 --id 1 2\n  halyard registers diff /dev/ttyUSB0 --id 1 " +
			"elbow.json",
		Args: arguments("PORT [FILE|ID]", "halyard registers diff /dev/ttyUSB0 --id 1 elbow.json"),
	}, func(ctx context.Context, s *commission.Registers, args []string) error {
		rows, err := s.Differences(ctx, args)
		if err != nil {
			return err
		}
		if err := show(a, rows); err != nil {
			return err
		}
		if len(rows) == 0 {
			a.note("%s id %d: no differences", s.Model.Units().Name, s.ID)
			return nil
		}
		return &hal.Error{Kind: hal.Differs, Bus: s.Bus, ID: s.ID, Op: "registers diff",
			Err: fmt.Errorf("%d registers differ", len(rows))}
	})
}

package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/commission"
)

func newRegisters(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "registers",
		Short: "read, write and compare servo registers",
		Long: "Accesses the registers of one servo of any vendor.\n" + commission.TargetHelp +
			"\nThe servo is searched at every usual rate and with every protocol; " +
			"--baud and --protocol shorten the search.",
	}
	c.AddCommand(newRegistersRead(a), newRegistersWrite(a), newRegistersDump(a), newRegistersDiff(a),
		newRegistersRestore(a))
	return c
}

// registersCommand returns a sub-command on one servo; run gets the servo and the arguments after the port.
func registersCommand(a *app, c *cobra.Command,
	run func(ctx context.Context, s *commission.Registers, args []string) error) *cobra.Command {
	var f lineFlags
	id := c.Flags().Int("id", -1, "id of the servo")
	c.MarkFlagRequired("id")
	f.add(a, c)
	switch c.Name() {
	case "read":
		c.ValidArgsFunction = f.completeRegisters(false)
	case "write":
		c.ValidArgsFunction = f.completeRegisters(true)
	default: // a file may follow
		c.ValidArgsFunction = func(cmd *cobra.Command, args []string, begun string) ([]string,
			cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveDefault
			}
			return f.completeLines(cmd, args, begun)
		}
	}
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if *id < 0 || *id > 253 {
			return &hal.Error{Kind: hal.Invalid, Op: "--id", Err: fmt.Errorf("got %d, want 0..253", *id)}
		}
		b, err := f.Open(cmd, args[0])
		if err != nil {
			return err
		}
		defer b.Line.Close()
		if err := b.Unecho(a.note); err != nil {
			return err
		}
		b.Searching(*id, a.note)
		s, err := commission.MeetRegisters(cmd.Context(), &b.Finder, *id)
		if err != nil {
			return err
		}
		s.Note = a.note
		return run(cmd.Context(), s, args[1:])
	}
	return c
}

func newRegistersRead(a *app) *cobra.Command {
	return registersCommand(a, &cobra.Command{
		Use:   "read PORT --id N [NAME...]",
		Short: "print registers by name",
		Example: "  halyard registers read /dev/ttyUSB0 --id 1 present_voltage present_position\n  halyard " +
			"registers read so101:arm --id 3",
		Args: arguments("PORT [NAME...]", "halyard registers read /dev/ttyUSB0 --id 1 present_position"),
	}, func(ctx context.Context, s *commission.Registers, names []string) error {
		rows, err := s.Rows(ctx, names)
		return errors.Join(show(a, rows), err)
	})
}

func newRegistersDump(a *app) *cobra.Command {
	return registersCommand(a, &cobra.Command{
		Use:   "dump PORT --id N [FILE]",
		Short: "save all registers to a file",
		Long: "Writes all registers to FILE as JSON; an existing file is not overwritten. Without FILE it prints " +
			"them.",
		Example: "  halyard registers dump /dev/ttyUSB0 --id 1 elbow.json",
		Args:    arguments("PORT [FILE]", "halyard registers dump /dev/ttyUSB0 --id 1 elbow.json"),
	}, func(ctx context.Context, s *commission.Registers, args []string) error {
		values, err := commission.ReadAll(ctx, s, s.Model, s.ID)
		if err != nil {
			return err
		}
		f := commission.RegisterFile{Model: s.Model.Units().Name, Type: s.Type, ID: s.ID, Baud: s.Baud,
			Registers: values}
		if len(args) == 0 {
			return f.Encode(a.out)
		}
		if err := f.Save(args[0]); err != nil {
			return err
		}
		a.note("%s id %d: %d registers saved in %s. Next: halyard registers diff %s --id %d %s",
			f.Model, f.ID, len(values), args[0], s.Bus, s.ID, args[0])
		return nil
	})
}

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

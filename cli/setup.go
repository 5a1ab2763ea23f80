package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/halyard-robotics/halyard/internal/commission"
)

func newSetup(a *app) *cobra.Command {
	s := commission.Setup{Note: a.note}
	var f lineFlags
	var deaf bool
	c := &cobra.Command{
		Use:   "setup CONFIG:BUS | PORT --id OLD [--new-id N] [--new-baud B] [--set REGISTER=VALUE]",
		Short: "assign servo ids, baud rates and settings",
		Long: commission.TargetHelp + "\nFinds the servo with id OLD, saves its registers, switches its torque off, " +
			"writes the new settings, and verifies them.\n" +
			"Settings are raw values: --set return_delay=0. A new id that is taken, or several servos with the old " +
			"one,\n" +
			"are refused. If a step fails, earlier writes are reverted.\n" +
			"CONFIG:BUS without --id sets up all joints of the bus: it prompts for each servo, searches for it at " +
			"every rate,\n" +
			"and gives it the id, the rate and the kept settings of the config. --backup is a folder then.",
		Example: "  halyard setup so101:arm --backup before\n  halyard setup /dev/ttyUSB0 --id 1 --new-id 3",
		Args:    arguments("CONFIG:BUS|PORT", "halyard setup so101:arm"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if flags := cmd.Flags(); !flags.Changed("id") && !flags.Changed("new-id") && !flags.Changed("new-baud") &&
				!flags.Changed("set") {
				w, err := commission.NewWalk(f.buses, args[0], deaf)
				if err != nil {
					return err
				}
				if w.BareLine, err = f.Open(cmd, args[0]); err != nil {
					return err
				}
				if !cmd.Flags().Changed("baud") {
					w.SearchUsual()
				}
				w.Folder, w.Dry = s.Backup, s.Dry
				return a.walk(cmd.Context(), w)
			}
			if err := s.Check(cmd.Flags().Changed("new-id")); err != nil {
				return err
			}
			b, err := f.Open(cmd, args[0])
			if err != nil {
				return err
			}
			defer b.Line.Close()
			if r := f.buses.Of(b.Types[0]).FixedAll; r != nil {
				return r.Error(b.Port, s.ID, "setup", s.NewID)
			}
			s.Finder = b.Finder
			done, err := s.Start(cmd.Context())
			if done == nil {
				return err
			}
			if done.Done {
				a.note("%s: id %d at %d Bd%s. Next: halyard scan %s --baud %d --protocol %s", done.Model, done.ID,
					done.Baud, commission.SettingsText(s.Writes), args[0], done.Baud, done.Type)
			}
			return errors.Join(err, show(a, []commission.Assignment{*done}))
		},
	}
	c.Flags().IntVar(&s.ID, "id", -1, "present id of the servo")
	c.Flags().IntVar(&s.NewID, "new-id", -1, "new id")
	c.Flags().IntVar(&s.NewBaud, "new-baud", 0, "new baud rate, bit/s")
	c.Flags().StringArrayVar(&s.Set, "set", nil, "REGISTER=VALUE: also write a raw value")
	c.Flags().StringVar(&s.Backup, "backup", "",
		"file for the servo's registers, as JSON; folder if setting up a whole bus")
	c.Flags().BoolVarP(&s.Dry, "dry-run", "n", false, "check everything, write nothing")
	c.Flags().BoolVar(&deaf, "no-input", false, "fail instead of prompting")
	f.add(a, c)
	return c
}

// walk runs w and shows its rows: each at once as JSON lines, else all at the end.
func (a *app) walk(ctx context.Context, w *commission.Walk) error {
	w.In, w.Note = commission.NewAsker(a.in), a.note
	if a.format == "jsonl" {
		w.Each = func(r commission.WalkRow) error { return a.Line(r) }
		return w.Run(ctx)
	}
	err := w.Run(ctx)
	if rows := w.Rows(); err == nil || len(rows) > 0 {
		err = errors.Join(show(a, rows), err)
	}
	return err
}

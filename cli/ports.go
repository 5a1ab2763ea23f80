package cli

import (
	"errors"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/halyard-robotics/halyard/drivers/serial"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/assembly"
	"github.com/halyard-robotics/halyard/internal/commission/host"
)

func newPorts(a *app) *cobra.Command {
	var udev, watch bool
	c := &cobra.Command{
		Use:   "ports",
		Short: "list serial ports, CAN, I2C, SPI, GPIO, PWM and cameras",
		Long: "Use the first column in a config: it stays the same when the adapter is plugged in again. No port is " +
			"opened.\n" +
			"Problems are listed with their fix. To find out which adapter is which: run with --watch and unplug one.",
		Example: "  halyard ports --watch\n  halyard ports --udev | sudo tee " + serial.RulesFile,
		Args:    arguments("", "halyard ports"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if udev && watch {
				return &hal.Error{Kind: hal.Invalid, Op: "ports",
					Err: errors.New("got --udev and --watch, want one of them")}
			}
			if watch {
				tick := time.NewTicker(host.WatchPulse)
				defer tick.Stop()
				return a.watchPorts(cmd.Context(), assembly.MachineRoot, tick.C)
			}
			if udev {
				_, err := io.WriteString(a.out, host.UdevRules(assembly.MachineRoot))
				return err
			}
			rows, err := host.ListPorts(assembly.MachineRoot)
			if err != nil {
				return err
			}
			if err := show(a, rows); err != nil {
				return err
			}
			for _, r := range rows {
				for _, n := range r.Notes {
					a.note("! %s: %s.  Fix: %s", r.Device, n.Found, n.Fix)
				}
			}
			if len(rows) == 0 {
				a.note("no adapter is plugged in. Without hardware: halyard emulate xm430-arm")
			}
			return nil
		},
	}
	c.Flags().BoolVar(&udev, "udev", false, "print udev rules for access, short latency and stable names")
	c.Flags().BoolVarP(&watch, "watch", "w", false, "print adapters that are plugged in or unplugged, until Ctrl-C")
	return c
}

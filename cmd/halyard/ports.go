package main

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
		Short: "list serial adapters and the processes using them",
		Long: "The name to write into a config is the first: it stays when the adapter is plugged in again. No port is opened.\n" +
			"What stands between you and a port is told with its fix. Which of two adapters is which: --watch, and pull one out.",
		Example: "  halyard ports --watch\n  halyard ports --udev | sudo tee " + serial.RulesFile,
		Args:    arguments("", "halyard ports"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if udev && watch {
				return &hal.Error{Kind: hal.Invalid, Op: "ports", Err: errors.New("got --udev and --watch, want one of them")}
			}
			if watch {
				tick := time.NewTicker(host.WatchPulse)
				defer tick.Stop()
				return a.watchPorts(cmd.Context(), assembly.MachineRoot, tick.C)
			}
			if udev {
				_, err := io.WriteString(a.out, serial.UdevRules())
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
				a.note("no serial adapter is plugged in. Without hardware: halyard emulate xm430-arm")
			}
			return nil
		},
	}
	c.Flags().BoolVar(&udev, "udev", false, "print the udev rules that give access, short latency and stable names; you install them")
	c.Flags().BoolVarP(&watch, "watch", "w", false, "tell what is plugged in and pulled out, until Ctrl-C")
	return c
}

package main

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/catalog"
	"github.com/halyard-robotics/halyard/internal/commission"
)

func newScan(a *app) *cobra.Command {
	var f lineFlags
	c := &cobra.Command{
		Use:   "scan PORT",
		Short: "find servos and chips on a bus",
		Long: commission.TargetHelp + "\nPolls every id at every rate with every protocol.\n" +
			"Nothing moves: no servo accepts packets of another protocol.\n" +
			"On an I2C bus (/dev/i2c-1) it lists the chips and their addresses, on an SPI port (/dev/spidev0.0) the " +
			"chip.\n" +
			"For motor controllers set --protocol: " + strings.Join(catalog.BuiltinBuses().Named(), ", ") +
			"; on CAN, PORT is an interface.",
		Example: "  halyard scan /dev/ttyUSB0\n  halyard scan so101:arm\n  halyard scan /dev/i2c-1\n  halyard scan " +
			"can0 --protocol " + catalog.BuiltinBuses().CAN()[0],
		Args: arguments("PORT", "halyard ports"),
		RunE: func(cmd *cobra.Command, args []string) error {
			port, kind := catalog.ChipPort(args[0])
			for _, flag := range []string{"baud", "protocol", "serial-backend"} {
				if kind != "" && cmd.Flags().Changed(flag) {
					return &hal.Error{Kind: hal.Invalid, Op: "scan " + args[0],
						Err: fmt.Errorf("got --%s, want it with a serial or CAN port", flag), Try: "halyard scan " +
							args[0]}
				}
			}
			switch kind {
			case catalog.I2CBus:
				return a.scanI2C(cmd.Context(), port)
			case catalog.SPIBus:
				return a.scanSPI(port)
			}
			b, err := f.Open(cmd, args[0])
			if err != nil {
				return err
			}
			defer b.Line.Close()
			s := commission.Survey{BareLine: b, Note: a.note}
			ids, _ := s.Total()
			s.Step = a.progress("ids", ids).Add
			rows, err := s.Run(cmd.Context())
			if err = cmp.Or(err, show(a, rows)); err == nil && len(rows) == 0 {
				err = s.Silence()
			}
			return err
		},
	}
	f.add(c)
	return c
}

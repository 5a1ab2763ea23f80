package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/halyard-robotics/halyard/drivers/i2c"
	"github.com/halyard-robotics/halyard/drivers/spi"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/catalog"
	"github.com/halyard-robotics/halyard/internal/commission"
)

func newScan(a *app) *cobra.Command {
	var f lineFlags
	var all bool
	c := &cobra.Command{
		Use:   "scan PORT",
		Short: "find servos and chips on a bus",
		Long: commission.TargetHelp + "\nAsks all servos together, at every rate with every protocol, in seconds. " +
			"Where none replies, and with --all, " +
			"it then asks\neach id; in a terminal Enter ends that.\n" +
			"Nothing moves: no servo accepts packets of another protocol.\n" +
			"On an I2C bus (/dev/i2c-1) it lists the chips and their addresses, on an SPI port (/dev/spidev0.0) the " +
			"chip.\n" +
			"For motor controllers set --protocol: " + strings.Join(a.catalog().Buses.Named(), ", ") +
			"; on CAN, PORT is an interface.",
		Example: "  halyard scan /dev/ttyUSB0\n  halyard scan so101:arm\n  halyard scan /dev/i2c-1\n  halyard scan " +
			"can0 --protocol " + a.catalog().Buses.CAN()[0],
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
			s := &commission.Survey{BareLine: b, Note: a.note}
			told := cmd.Flags().Changed("baud") && cmd.Flags().Changed("protocol")
			if _, most := s.Total(); told && len(s.Bauds) == 1 && len(s.Types) == 1 && most < quickEnough {
				all = true // some devices ignore a packet to all that others reply to
			}
			return a.scan(cmd.Context(), s, all)
		},
	}
	f.add(a, c)
	c.Flags().BoolVar(&all, "all", false, "ask each id too, for servos that do not reply to a packet to all")
	return c
}

// quickEnough is how long all ids of one rate and protocol may take to be asked without --all.
const quickEnough = 4 * time.Second

// scan shows the servos of a line: those that reply to a packet to all, and where none does, or with all, those of each
// id. Enter in a terminal ends the latter.
func (a *app) scan(ctx context.Context, s *commission.Survey, all bool) error {
	begin := time.Now()
	rows, err := s.Quick(ctx)
	if err != nil {
		return errors.Join(err, show(a, rows))
	}
	ids, most := s.Total()
	took := time.Since(begin).Round(100 * time.Millisecond)
	if len(rows) > 0 && !all {
		a.note("%s: servos found in %v: %d. --all also asks each id, up to %v", s.Port, took, len(rows),
			most.Round(time.Second))
		return show(a, rows)
	}
	if len(rows) > 0 {
		a.note("%s: servos that reply to a packet to all, found in %v: %d; each id is asked now", s.Port, took,
			len(rows))
	} else {
		a.note("%s: no reply to a packet to all in %v; each id is asked now", s.Port, took)
	}
	asking, end := context.WithCancel(ctx)
	defer end()
	if terminalOf(a.in) != nil {
		a.note("Enter ends it, with what was found until then.")
		go func() {
			commission.NewAsker(a.in).Line(asking)
			end()
		}()
	}
	s.Step = a.progress("ids", ids).Add
	more, err := s.Run(asking)
	if ctx.Err() == nil && errors.Is(err, context.Canceled) {
		err = nil // by Enter
	}
	rows = commission.Joined(rows, more)
	if err = cmp.Or(err, show(a, rows)); err == nil && len(rows) == 0 {
		err = s.Silence()
	}
	return err
}

// scanSPI prints the chip that answers on the SPI port.
func (a *app) scanSPI(port string) error {
	bus, err := spi.Open(port, spi.DefaultClock)
	if err != nil {
		return err
	}
	defer bus.Close()
	rows, err := commission.SurveySPI(port, bus)
	if err = cmp.Or(err, show(a, rows)); err == nil && len(rows) == 0 {
		return &hal.Error{Kind: hal.BusFault, Bus: port, Op: "scan",
			Err: errors.New("no reply: check the chip's power, MISO, MOSI, SCLK and CS"), Try: "halyard ports"}
	}
	return err
}

// scanI2C lists the devices that answer on the I2C bus at port.
func (a *app) scanI2C(ctx context.Context, port string) error {
	bus, err := i2c.Open(port)
	if err != nil {
		return err
	}
	defer bus.Close()
	rows, err := commission.SurveyI2C(ctx, port, bus)
	if err = cmp.Or(err, show(a, rows)); err == nil && len(rows) == 0 {
		return &hal.Error{Kind: hal.BusFault, Bus: port, Op: "scan",
			Err: fmt.Errorf("no device replies at 0x%02X..0x%02X: check the devices' power, SDA and SCL, and the "+
				"pull-ups", commission.FirstAddress, commission.LastAddress), Try: "halyard ports"}
	}
	return err
}

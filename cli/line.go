package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/drivers/serial"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/catalog"
	"github.com/halyard-robotics/halyard/internal/commission"
)

// lineFlags is the flags of commands on a bare line.
type lineFlags struct {
	buses            catalog.Buses
	bauds            []int
	protocol, opener string
}

func (f *lineFlags) add(a *app, c *cobra.Command) {
	f.buses = a.catalog().Buses
	c.Flags().IntSliceVar(&f.bauds, "baud", catalog.UsualBauds(), "baud rates to try, bit/s")
	c.Flags().StringVar(&f.protocol, "protocol", "all",
		strings.Join(f.buses.Names(), ", ")+"; both: the two of one vendor that share a line; "+
			"all leaves out "+strings.Join(f.buses.Named(), ", "))
	c.Flags().StringVar(&f.opener, "serial-backend", serial.Bugst,
		"library that opens the port: bugst, or tarm (up to 115200 Bd)")
	f.complete(c)
}

// Open opens the line of target. --baud and --protocol override a config's bus.
func (f *lineFlags) Open(c *cobra.Command, target string) (*commission.BareLine, error) {
	if b, err := f.openNamed(c, target); b != nil || err != nil {
		return b, err
	}
	bauds, word, opener := f.bauds, f.protocol, f.opener
	port, bus, err := commission.BusOf(f.buses, target)
	if err != nil {
		return nil, err
	}
	if bus != nil {
		if !c.Flags().Changed("serial-backend") {
			opener = bus.SerialBackend
		}
		if !c.Flags().Changed("baud") {
			bauds = []int{bus.Baud}
		}
		if !c.Flags().Changed("protocol") {
			word = bus.Type
		}
	}
	types, err := f.buses.Scanned(word)
	if err != nil {
		return nil, err
	}
	if err := commission.NoLine(f.buses, port); err != nil {
		return nil, err
	}
	for _, b := range bauds {
		if b < 1 || b > serial.MaxBaud {
			return nil, &hal.Error{Kind: hal.Invalid, Op: "--baud",
				Err: fmt.Errorf("got %d, want 1..%d", b, serial.MaxBaud)}
		}
	}
	if len(bauds) == 0 {
		return nil, &hal.Error{Kind: hal.Invalid, Op: "--baud", Err: errors.New("got none, want a rate")}
	}
	line, err := serial.Open(port, bauds[0], opener)
	if err != nil {
		return nil, err
	}
	b := &commission.BareLine{Finder: commission.Finder{Line: line, Port: port, Bauds: bauds, Buses: f.buses,
		Types: types}}
	if b.Latency = catalog.LatencyOf(port, line); b.Latency == catalog.TerminalTimeout {
		b.Hurry = catalog.TerminalHurry
	}
	return b, nil
}

// openNamed opens the line of target if its devices are searched only with a given protocol, by --protocol or by the
// config's bus; else it returns nil.
func (f *lineFlags) openNamed(c *cobra.Command, target string) (*commission.BareLine, error) {
	port, bus, err := commission.BusOf(f.buses, target)
	if err != nil {
		return nil, err
	}
	word, at := f.protocol, configs.Bus{Port: port, SerialBackend: f.opener}
	var settings map[int]map[string]int
	if bus != nil {
		config, name, _ := commission.BusIn(f.buses, target)
		at, settings = *bus, commission.SettingsOn(config, name)
		if !c.Flags().Changed("protocol") {
			word = bus.Type
		}
	}
	t := f.buses.Of(word)
	if !t.Named {
		return nil, nil
	}
	if c.Flags().Changed("baud") && len(f.bauds) > 0 {
		at.Baud = f.bauds[0]
	}
	return commission.OpenNamed(f.buses, word, &at, settings)
}

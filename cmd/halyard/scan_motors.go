package main

import (
	"cmp"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/catalog"
	"github.com/halyard-robotics/halyard/internal/commission"
)

// motors says what target means where that is a line of motor controllers, by --protocol or by the config's bus.
func (f *lineFlags) motors(c *cobra.Command, target string) (s commission.MotorScan, ok bool, err error) {
	port, bus, err := commission.BusOf(target)
	if err != nil {
		return s, false, err
	}
	config, name, _ := commission.BusIn(target)
	s = commission.MotorScan{Word: f.protocol, Bus: configs.Bus{Port: port, SerialBackend: f.opener}}
	if bus != nil {
		s.Bus, s.Said = *bus, commission.SaidOn(config, name)
		if !c.Flags().Changed("protocol") {
			s.Word = bus.Type
		}
	}
	if c.Flags().Changed("baud") && len(f.bauds) > 0 {
		s.Bus.Baud = f.bauds[0]
	}
	s.Bus.Baud = cmp.Or(s.Bus.Baud, commission.UsualRates[s.Word])
	return s, catalog.BusTypes[s.Word].Duplex, nil
}

// scanMotors shows which motor controllers answer.
func (a *app) scanMotors(s commission.MotorScan, err error) error {
	if err != nil {
		return err
	}
	t := catalog.BusTypes[s.Word]
	line, err := t.PortOpener(&s.Bus, nil)()
	if err != nil {
		return err
	}
	defer line.Close()
	rows, err := s.Run(line)
	if err != nil {
		return err
	}
	if err := show(a, rows); err != nil || len(rows) > 0 {
		return err
	}
	try := "halyard ports"
	if t.Filters != nil {
		try = "ip -details link show " + s.Bus.Port
	}
	return &hal.Error{Kind: hal.BusFault, Bus: s.Bus.Port, Op: "scan",
		Err: fmt.Errorf("no %s answers at %d bit/s: check its power and the wires", s.Word, s.Bus.Baud), Try: try}
}

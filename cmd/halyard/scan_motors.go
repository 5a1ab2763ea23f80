package main

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/spf13/cobra"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/cybergear"
	"github.com/halyard-robotics/halyard/servo/odrive"
	"github.com/halyard-robotics/halyard/servo/vesc"
)

// motorScan is a line on which motor controllers are looked for.
type motorScan struct {
	word string // the type of bus
	bus  configs.Bus
	said map[int]map[string]int // registers of the config, by id
}

// usualRates are the rates of motor buses as controllers come, bit/s.
var usualRates = map[string]int{"vesc": vesc.Baud, "odrive": odrive.Baud, odriveCAN: odrive.Bitrate, cybergearType: cybergear.Bitrate}

// motors says what target means where that is a line of motor controllers, by --protocol or by the config's bus.
func (f *lineFlags) motors(c *cobra.Command, target string) (s motorScan, ok bool, err error) {
	port, bus, err := busOf(target)
	if err != nil {
		return s, false, err
	}
	config, name, _ := busIn(target)
	s = motorScan{word: f.protocol, bus: configs.Bus{Port: port, Opener: f.opener}}
	if bus != nil {
		s.bus, s.said = *bus, saidOn(config, name)
		if !c.Flags().Changed("protocol") {
			s.word = bus.Type
		}
	}
	if c.Flags().Changed("baud") && len(f.bauds) > 0 {
		s.bus.Baud = f.bauds[0]
	}
	s.bus.Baud = cmp.Or(s.bus.Baud, usualRates[s.word])
	return s, busTypes[s.word].duplex, nil
}

// open opens the line for tools on one controller.
func (s *motorScan) open() (*bareLine, error) {
	t := busTypes[s.word]
	line, err := t.portOpener(&s.bus, nil)()
	if err != nil {
		return nil, err
	}
	return &bareLine{finder: finder{line: line, port: s.bus.Port, latency: latencyOf(s.bus.Port, line), bauds: []int{s.bus.Baud},
		protocols: []int{slices.Index(brandWords, s.word)}, duplex: true, said: s.said}}, nil
}

// scanMotors shows which motor controllers answer.
func (a *app) scanMotors(s motorScan, err error) error {
	if err != nil {
		return err
	}
	t := busTypes[s.word]
	line, err := t.portOpener(&s.bus, nil)()
	if err != nil {
		return err
	}
	defer line.Close()
	rows, err := s.run(line)
	if err != nil {
		return err
	}
	if err := show(a, rows); err != nil || len(rows) > 0 {
		return err
	}
	try := "halyard ports"
	if t.filters != nil {
		try = "ip -details link show " + s.bus.Port
	}
	return &hal.Error{Kind: hal.BusFault, Bus: s.bus.Port, Op: "scan",
		Err: fmt.Errorf("no %s answers at %d bit/s: check its power and the wires", s.word, s.bus.Baud), Try: try}
}

// run asks every id of the line. Nothing moves and nothing is written.
func (s *motorScan) run(line servo.Line) ([]foundServo, error) {
	patience := latencyOf(s.bus.Port, line)
	if s.word == "vesc" {
		return s.vescs(line)
	}
	// The chain that would drive them asks each who it is.
	cfg := chainConfig{name: s.bus.Port, line: line, latency: patience}
	models := map[string]servoModel{"odrive": odriveModel("odrive-v3"), odriveCAN: odriveModel("odrive-s1"), cybergearType: lookupServo("cybergear")}
	last := map[string]int{"odrive": 1, odriveCAN: odrive.LastNode, cybergearType: cybergear.LastID}[s.word]
	for id := 0; id <= last; id++ {
		cfg.servos = append(cfg.servos, chainServo{id: byte(id), model: models[s.word]})
	}
	faults, unplaced := faultsOf(busTypes[s.word].chain(cfg).Open())
	if unplaced != nil {
		return nil, unplaced
	}
	rows := []foundServo{}
	for id := 0; id <= last; id++ {
		row := s.row(id)
		switch e := faults[id]; {
		case e == nil:
			row.Finding = "a motor controller, which does not say its motor"
			if s.word == cybergearType {
				row.Model, row.Finding = "cybergear", ""
			}
		case e.Kind == hal.Absent:
			continue
		default:
			row.Finding = e.Err.Error()
		}
		rows = append(rows, row)
	}
	return rows, nil
}

func (s *motorScan) row(id int) foundServo {
	return foundServo{Port: s.bus.Port, Baud: s.bus.Baud, Type: s.word, ID: id, Voltage: number(math.NaN())}
}

// vescs asks the controller at the line's end, and those that it knows behind it.
func (s *motorScan) vescs(line servo.Line) ([]foundServo, error) {
	c := vesc.NewClient(line)
	c.Name, c.Latency = s.bus.Port, latencyOf(s.bus.Port, line)
	first, err := c.First()
	if hal.KindOf(err) == hal.Timeout && err != nil {
		return []foundServo{}, nil
	} else if err != nil {
		return nil, err
	}
	behind, err := c.Behind()
	if err != nil {
		return nil, err
	}
	var rows []foundServo
	for _, id := range append([]byte{first}, behind...) {
		row := s.row(int(id))
		f, err := c.Identify(id)
		switch {
		case errors.Is(err, servo.ErrDisconnected):
			return rows, err
		case err != nil:
			row.Finding = err.Error()
		default:
			row.Firmware, row.Voltage = 100*int(f.Major)+int(f.Minor), number(f.Volts)
			row.Finding = fmt.Sprintf("VESC firmware %d.%02d on %s: %d pole pairs, timeout %v, %v", f.Major, f.Minor, f.Hardware, f.PolePairs, f.Timeout, f.Fault)
		}
		rows = append(rows, row)
	}
	return rows, nil
}

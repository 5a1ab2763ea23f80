package commission

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/halyard-robotics/halyard/internal/catalog"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/report"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/cybergear"
	"github.com/halyard-robotics/halyard/servo/odrive"
	"github.com/halyard-robotics/halyard/servo/vesc"
)

// MotorScan is a line on which motor controllers are looked for.
type MotorScan struct {
	Word string // the type of bus
	Bus  configs.Bus
	Said map[int]map[string]int // registers of the config, by id
}

// UsualRates are the rates of motor buses as controllers come, bit/s.
var UsualRates = map[string]int{"vesc": vesc.Baud, "odrive": odrive.Baud, catalog.OdriveCAN: odrive.Bitrate, catalog.CybergearType: cybergear.Bitrate}

// Open opens the line for tools on one controller.
func (s *MotorScan) Open() (*BareLine, error) {
	t := catalog.BusTypes[s.Word]
	line, err := t.PortOpener(&s.Bus, nil)()
	if err != nil {
		return nil, err
	}
	return &BareLine{Finder: Finder{Line: line, Port: s.Bus.Port, Latency: catalog.LatencyOf(s.Bus.Port, line), Bauds: []int{s.Bus.Baud},
		Protocols: []int{slices.Index(catalog.BrandWords, s.Word)}, Duplex: true, Said: s.Said}}, nil
}

// Run asks every id of the line. Nothing moves and nothing is written.
func (s *MotorScan) Run(line servo.Line) ([]FoundServo, error) {
	patience := catalog.LatencyOf(s.Bus.Port, line)
	if s.Word == "vesc" {
		return s.vescs(line)
	}
	// The chain that would drive them asks each who it is.
	cfg := catalog.ChainConfig{Name: s.Bus.Port, Line: line, Latency: patience}
	models := map[string]catalog.ServoModel{"odrive": catalog.OdriveModel("odrive-v3"), catalog.OdriveCAN: catalog.OdriveModel("odrive-s1"), catalog.CybergearType: catalog.LookupServo("cybergear")}
	last := map[string]int{"odrive": 1, catalog.OdriveCAN: odrive.LastNode, catalog.CybergearType: cybergear.LastID}[s.Word]
	for id := 0; id <= last; id++ {
		cfg.Servos = append(cfg.Servos, catalog.ChainServo{Id: byte(id), Model: models[s.Word]})
	}
	faults, unplaced := FaultsOf(catalog.BusTypes[s.Word].Chain(cfg).Open())
	if unplaced != nil {
		return nil, unplaced
	}
	rows := []FoundServo{}
	for id := 0; id <= last; id++ {
		row := s.Row(id)
		switch e := faults[id]; {
		case e == nil:
			row.Finding = "a motor controller, which does not say its motor"
			if s.Word == catalog.CybergearType {
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

func (s *MotorScan) Row(id int) FoundServo {
	return FoundServo{Port: s.Bus.Port, Baud: s.Bus.Baud, Type: s.Word, ID: id, Voltage: report.Number(math.NaN())}
}

// vescs asks the controller at the line's end, and those that it knows behind it.
func (s *MotorScan) vescs(line servo.Line) ([]FoundServo, error) {
	c := vesc.NewClient(line)
	c.Name, c.Latency = s.Bus.Port, catalog.LatencyOf(s.Bus.Port, line)
	first, err := c.First()
	if hal.KindOf(err) == hal.Timeout && err != nil {
		return []FoundServo{}, nil
	} else if err != nil {
		return nil, err
	}
	behind, err := c.Behind()
	if err != nil {
		return nil, err
	}
	var rows []FoundServo
	for _, id := range append([]byte{first}, behind...) {
		row := s.Row(int(id))
		f, err := c.Identify(id)
		switch {
		case errors.Is(err, servo.ErrDisconnected):
			return rows, err
		case err != nil:
			row.Finding = err.Error()
		default:
			row.Firmware, row.Voltage = 100*int(f.Major)+int(f.Minor), report.Number(f.Volts)
			row.Finding = fmt.Sprintf("VESC firmware %d.%02d on %s: %d pole pairs, timeout %v, %v", f.Major, f.Minor, f.Hardware, f.PolePairs, f.Timeout, f.Fault)
		}
		rows = append(rows, row)
	}
	return rows, nil
}

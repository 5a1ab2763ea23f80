package commission

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/halyard-robotics/halyard/internal/catalog"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/report"
	"github.com/halyard-robotics/halyard/servo/feetech"
	"github.com/halyard-robotics/halyard/servo/hiwonder"
	"github.com/halyard-robotics/halyard/servo/kondo"
)

// protocolWord is a protocol as a person says it: the number of Dynamixel's, the name of another vendor.
func protocolWord(p int) string {
	if p >= catalog.AsFeetech {
		return catalog.BrandWords[p]
	}
	return strconv.Itoa(p)
}

// TypeOf is the type of bus on which servos of a protocol hang, as a config says it.
func TypeOf(p int) string {
	if p >= catalog.AsFeetech {
		return catalog.BrandWords[p]
	}
	return "dynamixel" + strconv.Itoa(p)
}

func protocolWords(list []int) []string {
	words := make([]string, len(list))
	for i, p := range list {
		words[i] = protocolWord(p)
	}
	return words
}

// askBrand asks every id of another vendor, one after the other.
func (s *Survey) askBrand(ctx context.Context, baud, protocol int) ([]FoundServo, error) {
	if err := catalog.Parity(s.Line, protocol == catalog.AsKondo); err != nil {
		return nil, err
	}
	defer catalog.Parity(s.Line, false) // where that fails the next question tells
	return s.sweep(ctx, catalog.LastID[protocol], func(id int, patience time.Duration) (FoundServo, error) {
		row := FoundServo{Port: s.Port, Baud: baud, Type: catalog.BrandWords[protocol], ID: id, Voltage: report.Number(math.NaN())}
		err := s.meet(&row, protocol, patience)
		if hal.KindOf(err) == hal.BusFault {
			row.Finding = CollisionText
		}
		return row, err
	})
}

// meet asks the servo of row who it is and fills in what it says.
func (s *Survey) meet(row *FoundServo, protocol int, patience time.Duration) error {
	id := byte(row.ID)
	switch protocol {
	case catalog.AsFeetech:
		c := feetech.NewClient(s.ear)
		c.Name, c.Latency = s.Port, patience
		f, err := c.Ping(id)
		if err != nil {
			return err
		}
		row.Number, row.Firmware = int(f.Number), int(f.Firmware[0])
		t := feetechTool{c: c}
		if _, err := t.Identify(row.ID); hal.KindOf(err) == hal.Invalid {
			row.Finding = "a Feetech servo, of " + unknownText
			return nil
		} else if err != nil {
			return err
		}
		row.Model = t.m.Name
		if f.Model() == nil {
			row.Finding = fmt.Sprintf("number %d is not published: taken for a %s, whose series' table it has", f.Number, t.m.Name)
		}
		raw, err := c.ReadRegister(id, t.m, "present_voltage")
		if err == nil {
			row.Voltage = report.Number(t.m.Register("present_voltage").SI(raw))
			err = s.differs(func() error { _, err := c.ReadRegister(id, t.m, "present_position"); return err })
		}
		return err
	case catalog.AsHiwonder:
		// It does not say what it is; only one model is known.
		c, m := hiwonder.NewClient(s.ear), hiwonder.Models()[0]
		c.Name, c.Latency = s.Port, patience
		raw, err := c.ReadRegister(id, m, "present_voltage")
		if err == nil {
			row.Model, row.Voltage = m.Name, report.Number(m.Register("present_voltage").SI(raw))
			err = s.differs(func() error { _, err := c.ReadRegister(id, m, "present_position"); return err })
		}
		return err
	default:
		c := kondo.NewClient(s.ear)
		c.Name, c.Latency = s.Port, patience
		err := c.Ping(id)
		row.Finding = "a servo that speaks ICS, which does not say its model"
		return err
	}
}

// differs reads what differs between equal servos with one id, whose other answers lie over each other unseen. That it did
// not come says nothing.
func (s *Survey) differs(read func() error) error {
	if err := s.insist(read); hal.KindOf(err) != hal.Timeout {
		return err
	}
	return nil
}

// unmask looks whether a servo that answers as a Dynamixel of protocol 1.0 but is none that is known is a Feetech, whose
// packets are the same.
func (s *Survey) unmask(row *FoundServo) {
	other := FoundServo{Port: row.Port, Baud: row.Baud, Type: catalog.BrandWords[catalog.AsFeetech], ID: row.ID, Voltage: report.Number(math.NaN())}
	if s.meet(&other, catalog.AsFeetech, s.Latency) == nil && other.Model != "" {
		*row = other
	}
}

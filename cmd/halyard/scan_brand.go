package main

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo/feetech"
	"github.com/halyard-robotics/halyard/servo/hiwonder"
	"github.com/halyard-robotics/halyard/servo/kondo"
)

// What other brands speak, behind the two protocols of Dynamixel.
const (
	asFeetech  = 3
	asHiwonder = 4
	asKondo    = 5

	// Motor controllers, which nobody looks for unless told.
	asVESC      = 6
	asODrive    = 7
	asODriveCAN = 8
	asCyberGear = 9
)

// brandWords are the types of line by these numbers.
var brandWords = []string{asFeetech: "feetech", asHiwonder: "hiwonder", asKondo: "kondo",
	asVESC: "vesc", asODrive: "odrive", asODriveCAN: odriveCAN, asCyberGear: cybergearType}

// protocolWord is a protocol as a person says it: the number of Dynamixel's, the name of another brand.
func protocolWord(p int) string {
	if p >= asFeetech {
		return brandWords[p]
	}
	return strconv.Itoa(p)
}

// typeOf is the type of bus on which servos of a protocol hang, as a config says it.
func typeOf(p int) string {
	if p >= asFeetech {
		return brandWords[p]
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

// askBrand asks every id of another brand, one after the other.
func (s *survey) askBrand(ctx context.Context, baud, protocol int) ([]foundServo, error) {
	if err := parity(s.line, protocol == asKondo); err != nil {
		return nil, err
	}
	defer parity(s.line, false) // where that fails the next question tells
	return s.sweep(ctx, lastID[protocol], func(id int, patience time.Duration) (foundServo, error) {
		row := foundServo{Port: s.port, Baud: baud, Type: brandWords[protocol], ID: id, Voltage: number(math.NaN())}
		err := s.meet(&row, protocol, patience)
		if hal.KindOf(err) == hal.BusFault {
			row.Finding = collisionText
		}
		return row, err
	})
}

// meet asks the servo of row who it is and fills in what it says.
func (s *survey) meet(row *foundServo, protocol int, patience time.Duration) error {
	id := byte(row.ID)
	switch protocol {
	case asFeetech:
		c := feetech.NewClient(s.ear)
		c.Name, c.Latency = s.port, patience
		f, err := c.Ping(id)
		if err != nil {
			return err
		}
		row.Number, row.Firmware = int(f.Number), int(f.Firmware[0])
		t := feetechTool{c: c}
		if _, err := t.identify(row.ID); hal.KindOf(err) == hal.Invalid {
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
			row.Voltage = number(t.m.Register("present_voltage").SI(raw))
			err = s.differs(func() error { _, err := c.ReadRegister(id, t.m, "present_position"); return err })
		}
		return err
	case asHiwonder:
		// It does not say what it is; only one model is known.
		c, m := hiwonder.NewClient(s.ear), hiwonder.Models()[0]
		c.Name, c.Latency = s.port, patience
		raw, err := c.ReadRegister(id, m, "present_voltage")
		if err == nil {
			row.Model, row.Voltage = m.Name, number(m.Register("present_voltage").SI(raw))
			err = s.differs(func() error { _, err := c.ReadRegister(id, m, "present_position"); return err })
		}
		return err
	default:
		c := kondo.NewClient(s.ear)
		c.Name, c.Latency = s.port, patience
		err := c.Ping(id)
		row.Finding = "a servo that speaks ICS, which does not say its model"
		return err
	}
}

// differs reads what differs between equal servos with one id, whose other answers lie over each other unseen. That it did
// not come says nothing.
func (s *survey) differs(read func() error) error {
	if err := s.insist(read); hal.KindOf(err) != hal.Timeout {
		return err
	}
	return nil
}

// unmask looks whether a servo that answers as a Dynamixel of protocol 1.0 but is none that is known is a Feetech, whose
// packets are the same.
func (s *survey) unmask(row *foundServo) {
	other := foundServo{Port: row.Port, Baud: row.Baud, Type: brandWords[asFeetech], ID: row.ID, Voltage: number(math.NaN())}
	if s.meet(&other, asFeetech, s.latency) == nil && other.Model != "" {
		*row = other
	}
}

package commission

import (
	"context"
	"slices"
	"time"

	"github.com/halyard-robotics/halyard/internal/catalog"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/dynamixel"
	"github.com/halyard-robotics/halyard/servo/feetech"
	"github.com/halyard-robotics/halyard/servo/hiwonder"
	"github.com/halyard-robotics/halyard/servo/kondo"
)

// Spot is a servo that was found: where it answers, and what talks to it there.
type Spot struct {
	Place
	Tool
	Model catalog.ServoModel // nil: it answers, but not soundly, or it is a stranger
	err   error              // why model is nil
}

// Finder looks for one id on a line.
type Finder struct {
	Line      servo.Line
	Port      string
	Latency   time.Duration
	Bauds     []int
	Protocols []int
	Duplex    bool                   // its adapter receives nothing of what it sends
	Said      map[int]map[string]int // registers that a config says of motor controllers, by id
}

// scan is what looks at the finder's line, for who has not found what he wanted.
func (f *Finder) scan() string {
	if f.Duplex {
		return "halyard scan " + f.Port + " --protocol " + TypeOf(f.Protocols[0])
	}
	return "halyard scan " + f.Port
}

// Searching tells a person who waits what for.
func (f *Finder) Searching(id int, note func(string, ...any)) {
	if len(f.Bauds) > 1 {
		note("%s: looking for id %d at %d rates; --baud makes it quick", f.Port, id, len(f.Bauds))
	}
}

// Find returns the places where id answers, most of them in the order of the finder's rates: the first alone, or all.
func (f *Finder) Find(ctx context.Context, id int, all bool) (spots []Spot, err error) {
	for _, b := range f.Bauds {
		if err := f.Line.SetBaud(b); hal.KindOf(err) == hal.Invalid {
			continue // not a rate of this adapter
		} else if err != nil {
			return nil, err
		}
		for _, p := range f.Protocols {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if id > catalog.LastID[p] || !Possible(p, b) {
				continue
			}
			s, there, err := f.Probe(Place{b, p, id})
			if err != nil {
				return nil, err
			}
			if there && p == 1 && s.Model == nil {
				// A Feetech servo answers as a Dynamixel of protocol 1.0 that is none.
				if brand, ok, err := f.Probe(Place{b, catalog.AsFeetech, id}); err != nil {
					return nil, err
				} else if ok && brand.Model != nil {
					s = brand
				}
			}
			// It is the same servo, asked for by its own name as well.
			if there = there && !slices.ContainsFunc(spots, func(o Spot) bool { return o.Place == s.Place }); !there {
				continue
			}
			if spots = append(spots, s); !all {
				return spots, nil
			}
			if p == catalog.AsKondo {
				break // nobody else shares its line
			}
		}
	}
	return spots, nil
}

// Probe asks one place, at the line's present rate; there reports that something answers.
func (f *Finder) Probe(p Place) (s Spot, there bool, err error) {
	s.Place = p
	if s.Tool, err = f.toolOf(p.Protocol); err != nil {
		return s, false, err
	}
	s.err = f.insist(func() (err error) { s.Model, err = s.Identify(p.Id); return err })
	switch kind := hal.KindOf(s.err); {
	case s.err == nil:
		return s, true, nil
	case kind == hal.Timeout:
		return s, false, nil
	case kind == hal.BusFault || kind == hal.Invalid:
		s.Model = nil
		return s, true, nil
	}
	return s, false, s.err
}

// insist is insist that lets the line fall silent after what was spoilt: it may have been the answer of the try before.
func (f *Finder) insist(try func() error) error {
	return Insist(func() error {
		err := try()
		if hal.KindOf(err) == hal.BusFault {
			settle(f.Line, 2*f.Latency+3*time.Millisecond)
		}
		return err
	})
}

// Possible reports whether there are servos of a protocol at a rate.
func Possible(protocol, baud int) bool {
	switch protocol {
	case catalog.AsFeetech:
		return feetechRates(baud)
	case catalog.AsHiwonder:
		return baud == hiwonder.Baud
	case catalog.AsKondo:
		return slices.Contains(kondo.Bauds(), baud)
	case catalog.AsVESC, catalog.AsODrive, catalog.AsODriveCAN, catalog.AsCyberGear:
		return true
	}
	for _, m := range dynamixel.Models() {
		if _, ok := m.BaudCode(baud); ok && m.Protocol == protocol {
			return true
		}
	}
	// Protocol 1.0 divides 2 Mbit/s, and is what Feetech servos are found by.
	return protocol == 1 && (baud > 0 && baud <= 2_000_000 || feetechRates(baud))
}

func feetechRates(baud int) bool {
	_, ok := feetech.Models()[0].BaudCode(baud)
	return ok
}

package main

import (
	"context"
	"slices"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/dynamixel"
	"github.com/halyard-robotics/halyard/servo/feetech"
	"github.com/halyard-robotics/halyard/servo/hiwonder"
	"github.com/halyard-robotics/halyard/servo/kondo"
)

// spot is a servo that was found: where it answers, and what talks to it there.
type spot struct {
	place
	tool
	model servoModel // nil: it answers, but not soundly, or it is a stranger
	err   error      // why model is nil
}

// finder looks for one id on a line.
type finder struct {
	line      servo.Line
	port      string
	latency   time.Duration
	bauds     []int
	protocols []int
	duplex    bool                   // its adapter hears nothing of what it sends
	said      map[int]map[string]int // registers that a config says of motor controllers, by id
}

// scan is what looks at the finder's line, for who has not found what he wanted.
func (f *finder) scan() string {
	if f.duplex {
		return "halyard scan " + f.port + " --protocol " + typeOf(f.protocols[0])
	}
	return "halyard scan " + f.port
}

// searching tells a person who waits what for.
func (f *finder) searching(id int, note func(string, ...any)) {
	if len(f.bauds) > 1 {
		note("%s: looking for id %d at %d rates; --baud makes it quick", f.port, id, len(f.bauds))
	}
}

// find returns the places where id answers, most of them in the order of the finder's rates: the first alone, or all.
func (f *finder) find(ctx context.Context, id int, all bool) (spots []spot, err error) {
	for _, b := range f.bauds {
		if err := f.line.SetBaud(b); hal.KindOf(err) == hal.Invalid {
			continue // not a rate of this adapter
		} else if err != nil {
			return nil, err
		}
		for _, p := range f.protocols {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if id > lastID[p] || !possible(p, b) {
				continue
			}
			s, there, err := f.probe(place{b, p, id})
			if err != nil {
				return nil, err
			}
			if there && p == 1 && s.model == nil {
				// A Feetech servo answers as a Dynamixel of protocol 1.0 that is none.
				if brand, ok, err := f.probe(place{b, asFeetech, id}); err != nil {
					return nil, err
				} else if ok && brand.model != nil {
					s = brand
				}
			}
			// It is the same servo, asked for by its own name as well.
			if there = there && !slices.ContainsFunc(spots, func(o spot) bool { return o.place == s.place }); !there {
				continue
			}
			if spots = append(spots, s); !all {
				return spots, nil
			}
			if p == asKondo {
				break // nobody else shares its line
			}
		}
	}
	return spots, nil
}

// probe asks one place, at the line's present rate; there says that something answers.
func (f *finder) probe(p place) (s spot, there bool, err error) {
	s.place = p
	if s.tool, err = f.toolOf(p.protocol); err != nil {
		return s, false, err
	}
	s.err = f.insist(func() (err error) { s.model, err = s.identify(p.id); return err })
	switch kind := hal.KindOf(s.err); {
	case s.err == nil:
		return s, true, nil
	case kind == hal.Timeout:
		return s, false, nil
	case kind == hal.BusFault || kind == hal.Invalid:
		s.model = nil
		return s, true, nil
	}
	return s, false, s.err
}

// insist is insist that lets the line fall silent after what was spoilt: it may have been the answer of the try before.
func (f *finder) insist(try func() error) error {
	return insist(func() error {
		err := try()
		if hal.KindOf(err) == hal.BusFault {
			settle(f.line, 2*f.latency+3*time.Millisecond)
		}
		return err
	})
}

// possible tells whether there are servos of a protocol at a rate.
func possible(protocol, baud int) bool {
	switch protocol {
	case asFeetech:
		return feetechRates(baud)
	case asHiwonder:
		return baud == hiwonder.Baud
	case asKondo:
		return slices.Contains(kondo.Bauds(), baud)
	case asVESC, asODrive, asODriveCAN, asCyberGear:
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

// allProtocols are every protocol in the order in which they are asked. Kondo comes first: parity alone keeps its servos
// from taking parts of others' packets for commands, which a pseudo terminal does not carry. Feetech servos are found by
// protocol 1.0.
func allProtocols() []int {
	return []int{asKondo, 2, 1, asHiwonder}
}

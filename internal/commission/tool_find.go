package commission

import (
	"context"
	"slices"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/catalog"
	"github.com/halyard-robotics/halyard/servo"
)

// Spot is a servo that was found: where it answers, and what talks to it there.
type Spot struct {
	Place
	servo.Tool
	Model servo.Model   // nil: it answers, but not soundly, or it is a stranger
	Buses catalog.Buses // those of its finder
	err   error         // why Model is nil
}

// Finder looks for one id on a line.
type Finder struct {
	Line     servo.Line
	Port     string
	Latency  time.Duration
	Bauds    []int
	Buses    catalog.Buses          // the bus types that are known
	Types    []string               // bus types to ask for, in their order
	Duplex   bool                   // its adapter does not receive what it sends
	Settings map[int]map[string]int // of a config, by id
}

// scan is the command that scans the finder's line.
func (f *Finder) scan() string {
	if f.Duplex {
		return "halyard scan " + f.Port + " --protocol " + f.Types[0]
	}
	return "halyard scan " + f.Port
}

// Searching notes what the search waits for.
func (f *Finder) Searching(id int, note func(string, ...any)) {
	if len(f.Bauds) > 1 {
		note("%s: looking for id %d at %d rates; --baud makes it quick", f.Port, id, len(f.Bauds))
	}
}

// Find returns the places where id answers, at most most of them, in the order of the finder's rates: only the first,
// or all.
func (f *Finder) Find(ctx context.Context, id int, all bool) (spots []Spot, err error) {
	for _, b := range f.Bauds {
		if err := f.Line.SetBaud(b); hal.KindOf(err) == hal.Invalid {
			continue // not a rate of this adapter
		} else if err != nil {
			return nil, err
		}
		for _, kind := range f.Types {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			t := f.Buses.Of(kind)
			if id > t.LastID || !f.possible(kind, b) {
				continue
			}
			s, there, err := f.Probe(Place{b, kind, id})
			if err != nil {
				return nil, err
			}
			// It is the same servo, asked for by its own type as well.
			if there = there && !slices.ContainsFunc(spots, func(o Spot) bool { return o.Place == s.Place }); !there {
				continue
			}
			if spots = append(spots, s); !all {
				return spots, nil
			}
			if t.Alone {
				break // its line carries no others
			}
		}
	}
	return spots, nil
}

// Probe asks one place, at the line's present rate; there reports that something answers. What is a stranger to its
// type may be known to another of the same packets.
func (f *Finder) Probe(p Place) (s Spot, there bool, err error) {
	if s, there, err = f.probe(p); !there || s.Model != nil {
		return s, there, err
	}
	t := f.Buses.Of(p.Type)
	for _, kind := range f.Buses.Alike(t.Type) {
		if other, ok, err := f.probe(Place{p.Baud, kind, p.ID}); err != nil {
			return s, false, err
		} else if ok && other.Model != nil {
			return other, true, nil
		}
	}
	return s, true, nil
}

func (f *Finder) probe(p Place) (s Spot, there bool, err error) {
	s.Place, s.Buses = p, f.Buses
	if s.Tool, err = f.toolOf(p.Type); err != nil {
		return s, false, err
	}
	s.err = f.insist(func() error {
		found, err := s.Identify(p.ID)
		s.Model = found.Model
		return err
	})
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

// insist is servo.Retry that lets the line fall silent after what was spoilt: it may have been the answer of the try
// before.
func (f *Finder) insist(try func() error) error {
	return servo.Retry(func() error {
		err := try()
		if hal.KindOf(err) == hal.BusFault {
			f.settle(f.Line)
		}
		return err
	})
}

func (f *Finder) settle(line servo.Line) { servo.Settle(line, 2*f.Latency+3*time.Millisecond) }

func (f *Finder) possible(kind string, baud int) bool { return Possible(f.Buses, kind, baud) }

// Possible reports whether there are servos of a bus type, or of one with the same packets, at a rate.
func Possible(buses catalog.Buses, kind string, baud int) bool {
	t := buses.Of(kind)
	return servo.Supports(t.Driver, baud) ||
		slices.ContainsFunc(buses.Alike(t.Type), func(o string) bool {
			return servo.Supports(buses.Of(o).Driver, baud)
		})
}

package commission

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/halyard-robotics/halyard/internal/catalog"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo/dynamixel"
)

// Survey asks a line for servos, one baud rate and protocol after the other. In protocol 2.0 a broadcast ping is
// answered by all in the order of their ids; only where answers lie over each other is each id asked alone, as always in
// protocol 1.0, where all would answer a broadcast at once. A line may have servos of both protocols and at several
// rates: none of them hears the others' packets as its own.
type Survey struct {
	*BareLine
	ear  *countingLine                    // the line, while ids are asked
	Note func(format string, args ...any) // progress
}

// Estimate is how long one rate and protocol take where nobody answers.
func (s *Survey) Estimate(baud, protocol int) time.Duration {
	octet := 10 * time.Second / time.Duration(baud)
	if protocol == 2 {
		return 253*(14*octet+3*time.Millisecond) + s.Latency // what PingAll waits for
	}
	// A ping and its answer, the longest return delay and the client's slack, an id.
	return time.Duration(catalog.LastID[protocol]+1) * (15*octet + 2508*time.Microsecond + cmp.Or(s.Hurry, s.Latency))
}

// Run returns every servo found. When ctx ends or the adapter vanishes, it returns those found until then as well.
func (s *Survey) Run(ctx context.Context) ([]FoundServo, error) {
	var total time.Duration
	for _, b := range s.Bauds {
		for _, p := range s.Protocols {
			if Possible(p, b) {
				total += s.Estimate(b, p)
			}
		}
	}
	s.Note("%s: %d rates, protocol %s: up to %v", s.Port, len(s.Bauds), strings.Join(protocolWords(s.Protocols), " and "),
		total.Round(100*time.Millisecond))
	rows := []FoundServo{}
	for i, b := range s.Bauds {
		if !slices.ContainsFunc(s.Protocols, func(p int) bool { return Possible(p, b) }) {
			continue
		}
		if err := s.Line.SetBaud(b); err != nil {
			if hal.KindOf(err) == hal.Invalid { // the adapter cannot go so fast
				s.Note("%d Bd: skipped: %v", b, err)
				continue
			}
			return rows, err
		}
		if err := s.Unecho(s.Note); err != nil {
			return rows, err
		}
		for _, p := range s.Protocols {
			if !Possible(p, b) {
				continue
			}
			found, err := s.ask(ctx, b, p)
			rows = append(rows, found...)
			if err != nil {
				return rows, err
			}
			if p == catalog.AsKondo && len(found) > 0 {
				s.Note("%d Bd: Kondo servos share a line with nobody: no other protocol is asked", b)
				break
			}
			s.Note("%d of %d: %d Bd, protocol %s: %s", i+1, len(s.Bauds), b, protocolWord(p), summary(found))
		}
	}
	return rows, nil
}

// ask finds the servos of one protocol at the line's rate.
func (s *Survey) ask(ctx context.Context, baud, protocol int) ([]FoundServo, error) {
	s.ear = &countingLine{Line: s.Line}
	if protocol >= catalog.AsFeetech {
		return s.askBrand(ctx, baud, protocol)
	}
	c := dynamixel.NewClient(s.ear, protocol)
	c.Name, c.Latency = s.Port, s.Latency
	row := func(f dynamixel.Found, err error) FoundServo {
		c.Latency = s.Latency
		r := FoundServo{Port: s.Port, Baud: baud, Protocol: protocol, ID: int(f.ID)}
		r.describe(c, &f, err)
		if r.Finding == unknownText && protocol == 1 {
			s.unmask(&r)
		}
		return r
	}
	if protocol == 2 {
		all, err := c.PingAll()
		if hal.KindOf(err) == hal.Absent {
			return nil, err
		}
		if err == nil {
			var rows []FoundServo
			for _, f := range all {
				if f.Answers > 1 {
					err = errors.New("answered twice")
				}
				rows = append(rows, row(f, err))
				err = nil
			}
			return rows, ctx.Err()
		}
		// Answers lay over each other: ask one id after the other.
	}
	return s.sweep(ctx, catalog.LastID[protocol], func(id int, patience time.Duration) (FoundServo, error) {
		c.Latency = patience
		f, err := c.Ping(byte(id))
		if kind := hal.KindOf(err); err != nil && (kind == hal.Timeout || kind == hal.Absent) {
			return FoundServo{}, err
		}
		return row(f, err), err
	})
}

const unknownText = "a model that is not known here"

const CollisionText = "its answers collide: two servos with this id? connect one alone, then halyard setup gives it another"

// Silence is the error of a scan without a servo, with what to look at next, in the order of likelihood: power, the data
// line, the adapter.
func (s *Survey) Silence() error {
	return &hal.Error{
		Kind: hal.BusFault, Bus: s.Port, Op: "scan",
		Err: fmt.Errorf("nobody answered at %s baud, protocol %s: check the servos' power, the cable's data line, and that "+
			"the adapter is the one of the bus",
			strings.Join(Decimals(s.Bauds), ", "), strings.Join(protocolWords(s.Protocols), " and ")),
		Try: "halyard ports",
	}
}

package commission

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/catalog"
	"github.com/halyard-robotics/halyard/servo"
)

// countingLine is a line that counts all received bytes, also those that are discarded.
type countingLine struct {
	servo.Line
	received int
}

func (e *countingLine) Read(p []byte, timeout time.Duration) (int, error) {
	n, err := e.Line.Read(p, timeout)
	e.received += n
	return n, err
}

// Discard reads the bytes that it drops, so that they count.
func (e *countingLine) Discard() error {
	servo.Settle(e, 0)
	return e.Line.Discard()
}

// SetEven sets the parity of the line, where it has one.
func (e *countingLine) SetEven(even bool) error { return catalog.Parity(e.Line, even) }

// heardAfter is how many ids further on an answer may be received that came too late, where they are asked in a hurry.
const heardAfter = 3

// sweep asks every id from 0 to last but those in skip in a hurry. What is known an id that did not answer, and an
// answer that is spoilt, may be the answer of one asked before that came too late: those are asked again, with time.
func (s *Survey) sweep(ctx context.Context, last int, skip []int,
	ask func(id int, patience time.Duration) (FoundServo, error)) (rows []FoundServo, err error) {
	hurry := cmp.Or(s.Hurry, s.Latency)
	known := map[int]bool{}
	// one asks an id; suspect reports that what was received may be another's.
	one := func(id int, patience time.Duration) (suspect bool, err error) {
		before := s.ear.received
		r, err := ask(id, patience)
		kind := hal.KindOf(err)
		switch {
		case err != nil && kind == hal.Absent:
			return false, err
		case err != nil && patience < s.Latency && (kind == hal.BusFault || s.ear.received > before):
			return true, nil
		case err != nil && kind == hal.Timeout:
			return false, nil
		}
		known[id], rows = true, append(rows, r)
		return false, nil
	}
	for _, id := range skip {
		known[id] = true
	}
	for id := 0; id <= last && ctx.Err() == nil; id++ {
		if s.Step != nil {
			s.Step(1)
		}
		if known[id] {
			continue
		}
		suspect, err := one(id, hurry)
		if suspect {
			s.settle(s.ear)
		}
		for back := max(0, id-heardAfter); suspect && back <= id && err == nil; back++ {
			if !known[back] {
				_, err = one(back, s.Latency)
			}
		}
		if err != nil {
			return rows, err
		}
	}
	slices.SortStableFunc(rows, func(a, b FoundServo) int { return a.ID - b.ID })
	return rows, ctx.Err()
}

package commission

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/catalog"
	"github.com/halyard-robotics/halyard/servo"
)

// firstIDs is how many ids a first packet to all waits for; where one replies, all are waited for.
const firstIDs = 40

// Quick asks all servos together, at each rate and by each protocol, and identifies those that reply. Ids are asked one
// after the other only where replies collide, and of bus types without such a packet and few ids. It does not find
// devices that ignore it.
func (s *Survey) Quick(ctx context.Context) (rows []FoundServo, err error) {
	rows = []FoundServo{}
	for _, b := range s.Bauds {
		if err := s.Line.SetBaud(b); hal.KindOf(err) == hal.Invalid {
			continue
		} else if err != nil {
			return rows, err
		}
		if err := s.Unecho(s.Note); err != nil {
			return rows, err
		}
		for _, kind := range s.Types {
			if ctx.Err() != nil {
				return rows, ctx.Err()
			}
			if !s.possible(kind, b) {
				continue
			}
			found, err := s.roll(ctx, b, kind)
			rows = append(rows, found...)
			if err != nil {
				return rows, err
			}
			if len(found) == 0 {
				continue
			}
			s.Note("%d Bd, protocol %s: %s", b, spoken(found, kind), summary(found))
			if s.Buses.Of(kind).Alone {
				break
			}
		}
	}
	return rows, nil
}

// smallLastID is the greatest id of a bus type whose ids are asked one by one in a quick scan.
const smallLastID = 31

// roll finds the servos of one bus type at the line's rate that reply to a packet to all.
func (s *Survey) roll(ctx context.Context, baud int, kind string) ([]FoundServo, error) {
	t := s.Buses.Of(kind)
	if t.Roll == nil {
		if t.LastID > smallLastID {
			return nil, nil
		}
		return s.ask(ctx, baud, kind)
	}
	s.ear = &countingLine{Line: s.Line}
	tool, err := s.toolOn(s.ear, kind)
	if err != nil {
		return nil, err
	}
	defer catalog.Parity(s.Line, false)
	got, err := s.replies(&t, min(firstIDs, t.LastID+1))
	if err != nil || len(got) == 0 {
		return nil, err
	}
	if t.RollSlot(baud) > 0 {
		if got, err = s.replies(&t, t.LastID+1); err != nil {
			return nil, err
		}
	}
	ids, sound := t.RollIDs(got)
	if !sound || len(ids) == 0 { // they answer over each other
		return s.sweep(ctx, t.LastID, nil, func(id int, patience time.Duration) (FoundServo, error) {
			return s.meet(tool, baud, kind, id, patience)
		})
	}
	s.rolled = t.RollSlot(baud) > 0
	defer func() { s.rolled = false }()
	var rows []FoundServo
	for i, id := range ids {
		if slices.Contains(ids[:i], id) {
			s.mark(rows, id)
			continue
		}
		row, err := s.meet(tool, baud, kind, id, s.Latency)
		for try := 1; try < servo.Tries && (err != nil || row.Model == "" || row.Finding != ""); try++ {
			if hal.KindOf(err) == hal.Absent && err != nil {
				break
			}
			s.settle(s.ear) // it may have been an answer that came too late
			row, err = s.meet(tool, baud, kind, id, s.Latency)
		}
		if hal.KindOf(err) == hal.Absent && err != nil {
			return rows, err
		}
		rows = append(rows, row)
	}
	slices.SortStableFunc(rows, func(a, b FoundServo) int { return a.ID - b.ID })
	return rows, nil
}

// replies is what a line receives after a packet to all of a bus type, within the time that so many ids have.
func (s *Survey) replies(t *catalog.BusType, ids int) (got []byte, err error) {
	if err := s.ear.Discard(); err != nil {
		return nil, err
	}
	if _, err := s.ear.Write(t.Roll); err != nil {
		return nil, err
	}
	end := s.ear.Now() + servo.WireTime(len(t.Roll)+16, 11, s.ear.Baud()) + servo.Slack + s.Latency +
		time.Duration(ids)*t.RollSlot(s.ear.Baud())
	var piece [256]byte
	for {
		wait := end - s.ear.Now()
		if wait <= 0 || len(got) > 64<<10 {
			return got, nil
		}
		n, err := s.ear.Read(piece[:], wait)
		if got = append(got, piece[:n]...); errors.Is(err, servo.ErrDisconnected) {
			return got, err
		}
	}
}

// Joined are the servos of two scans of a line, each once: those of more, which asked longer, count.
func Joined(rows, more []FoundServo) []FoundServo {
	all := slices.Clone(more)
	for _, r := range rows {
		if !slices.ContainsFunc(more, func(m FoundServo) bool {
			return m.ID == r.ID && m.Baud == r.Baud && m.Type == r.Type
		}) {
			all = append(all, r)
		}
	}
	slices.SortStableFunc(all, func(a, b FoundServo) int { return a.ID - b.ID })
	return all
}

package commission

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/catalog"
	"github.com/halyard-robotics/halyard/internal/report"
	"github.com/halyard-robotics/halyard/servo"
)

// Survey asks a line for servos, one baud rate and bus type after the other. Where the protocol has a request that all
// answer in turn it is used; where it has none, or replies collided, each id is asked. A line may have servos of
// several types and at several rates: none of them executes the others' packets, but for a type that is the only one on
// its line.
type Survey struct {
	*BareLine
	ear    *countingLine                    // the line, while ids are asked
	Note   func(format string, args ...any) // progress
	each   bool                             // each id is asked, also of a type that lists its own
	rolled bool                             // the device has replied in turn with all others
	Step   func(ids int)                    // so many more ids were asked, of Total; nil = not counted
}

// Estimate is how long one rate and bus type take where nothing answers.
func (s *Survey) Estimate(baud int, kind string) time.Duration {
	octet := 10 * time.Second / time.Duration(baud)
	t := s.Buses.Of(kind)
	// A ping and its answer, the longest return delay and the tool's slack, an id.
	bytes := 15
	if t.Slot > 0 {
		bytes = 24
	}
	each := time.Duration(t.LastID+1) * (time.Duration(bytes)*octet + 2508*time.Microsecond +
		cmp.Or(s.Hurry, s.Latency))
	list := time.Duration(t.LastID+1)*(14*octet+t.Slot) + s.Latency
	switch {
	case t.Slot == 0:
		return each
	case s.each || len(s.Bauds) == 1:
		return list + each
	}
	return list
}

// Total is how many ids are asked in all, where no type of bus lists its own, and the time that it takes where nothing
// answers.
func (s *Survey) Total() (ids int, most time.Duration) {
	for _, b := range s.Bauds {
		for _, kind := range s.Types {
			if s.possible(kind, b) {
				ids += s.Buses.Of(kind).LastID + 1
				most += s.Estimate(b, kind)
			}
		}
	}
	return ids, most
}

// Run returns every servo found. When ctx ends or the adapter vanishes, it returns those found until then as well.
func (s *Survey) Run(ctx context.Context) ([]FoundServo, error) {
	_, total := s.Total()
	s.Note("%s: %d rates, protocol %s: up to %v", s.Port, len(s.Bauds), strings.Join(s.Types, " and "),
		total.Round(100*time.Millisecond))
	rows, err := s.pass(ctx)
	if err == nil && len(rows) == 0 && len(s.Bauds) > 1 && slices.ContainsFunc(s.Types, s.listed) {
		s.Note("%s: no answer to a ping of all: each id is asked", s.Port)
		s.each = true
		rows, err = s.pass(ctx)
	}
	return rows, err
}

// listed reports whether the devices of a bus type answer a ping of all, which some clones do not.
func (f *Finder) listed(kind string) bool { return f.Buses.Of(kind).Slot > 0 }

// pass asks at each rate once.
func (s *Survey) pass(ctx context.Context) ([]FoundServo, error) {
	rows := []FoundServo{}
	for i, b := range s.Bauds {
		if !slices.ContainsFunc(s.Types, func(kind string) bool { return s.possible(kind, b) }) {
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
		for _, kind := range s.Types {
			if !s.possible(kind, b) {
				continue
			}
			found, err := s.ask(ctx, b, kind)
			rows = append(rows, found...)
			if err != nil {
				return rows, err
			}
			if t := s.Buses.Of(kind); t.Alone && len(found) > 0 {
				s.Note("%d Bd: %s servos share a line with no others: no other protocol is asked", b, t.Vendor)
				break
			}
			s.Note("%d of %d: %d Bd, protocol %s: %s", i+1, len(s.Bauds), b, spoken(found, kind),
				summary(found))
		}
	}
	return rows, nil
}

// ask finds the servos of one bus type at the line's rate.
func (s *Survey) ask(ctx context.Context, baud int, kind string) (rows []FoundServo, err error) {
	s.ear = &countingLine{Line: s.Line}
	tool, err := s.toolOn(s.ear, kind)
	if err != nil {
		return nil, err
	}
	defer catalog.Parity(s.Line, false) // where that fails the next request reports it
	ids, ok, err := tool.List()
	if err != nil {
		return nil, err
	}
	if !ok {
		return s.sweep(ctx, s.Buses.Of(kind).LastID, nil,
			func(id int, patience time.Duration) (FoundServo, error) {
				return s.meet(tool, baud, kind, id, patience)
			})
	}
	// A device that ignores a ping of all answers its own.
	if s.listed(kind) && (s.each || len(ids) > 0 || len(s.Bauds) == 1) {
		rows, err = s.sweep(ctx, s.Buses.Of(kind).LastID, ids,
			func(id int, patience time.Duration) (FoundServo, error) {
				return s.meet(tool, baud, kind, id, patience)
			})
		if err != nil {
			return rows, err
		}
	}
	for i, id := range ids {
		if slices.Contains(ids[:i], id) {
			s.mark(rows, id)
			continue
		}
		row, err := s.meet(tool, baud, kind, id, s.Latency)
		if k := hal.KindOf(err); err != nil && k == hal.Absent {
			return rows, err
		}
		rows = append(rows, row)
	}
	slices.SortStableFunc(rows, func(a, b FoundServo) int { return a.ID - b.ID })
	return rows, ctx.Err()
}

// mark notes that two devices have an id.
func (s *Survey) mark(rows []FoundServo, id int) {
	for i := range rows {
		if rows[i].ID == id {
			rows[i].Finding = TwinText(s.Buses.Of(rows[i].Type))
		}
	}
}

// TwinText is the finding of two devices with one id on a bus type.
func TwinText(t catalog.BusType) string {
	fix := "connect one of them, then assign another id with halyard setup"
	if t.FixedIDs != nil {
		fix = "connect one of them: " + t.FixedIDs.Try
	}
	return "two devices have this id: " + fix
}

// CollisionText is what replies over each other mostly mean.
const CollisionText = "its replies collide: two servos with this id? connect one of them, then assign another id " +
	"with halyard setup"

// meet asks the servo at id what it is and fills in what it reports. Reading what differs between two servos finds
// twins out.
func (s *Survey) meet(tool servo.Tool, baud int, kind string, id int, patience time.Duration) (FoundServo, error) {
	row := FoundServo{Port: s.Port, Baud: baud, Type: kind, ID: id, Voltage: report.Number(math.NaN())}
	tool.SetLatency(patience)
	found, err := tool.Identify(id)
	tool.SetLatency(s.Latency)
	row.Number, row.Firmware, row.Finding = found.Number, found.Firmware, found.Note
	switch k := hal.KindOf(err); {
	case err == nil:
	case k == hal.BusFault:
		row.Finding = CollisionText
		return row, err
	case k == hal.Invalid:
		return s.stranger(row, err)
	default:
		return row, err
	}
	if !found.Assumed {
		row.Model = found.Model.Units().Name
	}
	if err := s.twins(tool, &row, found.Model); err != nil || row.Finding != "" {
		return row, err
	}
	if s.rolled { // two of one id would have replied over each other, or twice
		return row, nil
	}
	if two, err := Doubled(s.ear, tool, found.Model, id, max(patience, s.Latency)); err != nil || two {
		row.Finding = TwinText(s.Buses.Of(kind))
		return row, err
	}
	return row, nil
}

// Questions that Doubled asks, and the answers to them from which on two devices have the id: one may be lost or come
// too late, and one of an earlier request may still be on its way.
const doubleAsks, doubleAnswers = 3, 5

// Doubled reports whether questions to id have two sound answers each, one behind the other: two devices that reply
// after different delays. It counts answers over all questions, since on a loaded machine the second comes late. Motor
// controllers, which no question is known of, have none.
func Doubled(line servo.Port, tool servo.Tool, m servo.Model, id int, patience time.Duration) (bool, error) {
	q := tool.Question(m, id)
	if q.Ask == nil || q.Sound == nil {
		return false, nil
	}
	if err := line.Discard(); err != nil {
		return false, err
	}
	var got []byte
	var piece [128]byte
	wait := servo.WireTime(len(q.Ask)+2*len(q.Want), 11, line.Baud()) + servo.Slack + patience
	for asked := 1; asked <= doubleAsks; asked++ {
		if _, err := line.Write(q.Ask); err != nil {
			return false, err
		}
		for len(got) < 2*len(q.Want)*asked {
			n, err := line.Read(piece[:], wait)
			if errors.Is(err, servo.ErrDisconnected) {
				return false, err
			}
			if got = append(got, piece[:n]...); n == 0 {
				break
			}
		}
	}
	return soundAnswers(got, &q) >= doubleAnswers, nil
}

// soundAnswers counts the sound answers to q in got, which may have other bytes between them.
func soundAnswers(got []byte, q *servo.Question) (n int) {
	for size := len(q.Want); len(got) >= size; {
		if whole := got[:size]; q.Same(whole) && q.Sound(whole) {
			n, got = n+1, got[size:]
			continue
		}
		got = got[1:]
	}
	return n
}

// twins reads the voltage of a servo, and its position: equal servos answer a ping with equal bytes, which lie over
// each other unseen, and differ in those.
func (s *Survey) twins(tool servo.Tool, row *FoundServo, m servo.Model) error {
	volts, position := m.Register("present_voltage"), m.Register("present_position")
	if volts == nil || position == nil || !Readable(volts) || !Readable(position) {
		return nil
	}
	err := servo.Retry(func() error {
		raw, err := tool.Read(row.ID, volts.Name)
		if err == nil {
			row.Voltage = report.Number(volts.SI(raw))
			_, err = tool.Read(row.ID, position.Name)
		}
		return err
	})
	switch hal.KindOf(err) {
	case hal.Absent:
		return err
	case hal.Timeout:
		row.Finding = "it answers pings but no reads: its status return level is 0"
	case hal.BusFault:
		row.Finding = CollisionText
	}
	return nil
}

// stranger is row of a servo that its bus type does not know: one with the same packets may.
func (s *Survey) stranger(row FoundServo, why error) (FoundServo, error) {
	t := s.Buses.Of(row.Type)
	for _, kind := range s.Buses.Alike(t.Type) {
		tool, err := s.toolOn(s.ear, kind)
		if err != nil {
			return row, err
		}
		if _, err := tool.Identify(row.ID); err == nil {
			return s.meet(tool, row.Baud, kind, row.ID, s.Latency)
		}
	}
	if row.Finding == "" {
		row.Finding = reasonOf(why)
	}
	return row, nil
}

// Silence is the error of a scan without a servo, with what to check next, in the order of likelihood: power, the data
// line, the adapter.
func (s *Survey) Silence() error {
	if s.Duplex {
		try := "halyard ports"
		if s.Buses.Of(s.Types[0]).Filters != nil {
			try = "ip -details link show " + s.Port
		}
		return &hal.Error{Kind: hal.BusFault, Bus: s.Port, Op: "scan",
			Err: fmt.Errorf("no %s answers at %d bit/s: check its power and the wires", s.Types[0], s.Bauds[0]),
			Try: try}
	}
	return &hal.Error{
		Kind: hal.BusFault, Bus: s.Port, Op: "scan",
		Err: fmt.Errorf("no reply at %s baud, protocol %s: check the servos' power, the cable's data line, and that "+
			"the adapter is the one of the bus",
			listed(s.Bauds), strings.Join(s.Types, " and ")),
		Try: "halyard ports",
	}
}

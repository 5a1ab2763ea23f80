package commission

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/catalog"
	"github.com/halyard-robotics/halyard/servo"
)

// prove makes sure that the servo can be what it must be, and that no other is: once two servos share an id and a
// rate, no packet reaches only one of them any more. A rate that the adapter cannot go is found out here, too.
func (s *Setup) prove(m servo.Model, old, to Place) error {
	name := m.Units().Name
	if last := s.Buses.Of(to.Type).LastID; to.ID > last {
		return s.invalid("--new-id: got %d, want 0..%d, of type %s", to.ID, last, to.Type)
	}
	if to.Baud != old.Baud {
		// Of some the rate is set with the maker's tool.
		if r := m.Register("baud_rate"); r == nil || r.Unread {
			return s.invalid("--new-baud: got %d, which a %s does not support", to.Baud, name)
		}
		if _, ok := m.BaudCode(to.Baud); !ok {
			return s.invalid("--new-baud: got %d, want a rate of the %s: %s", to.Baud, name, ratesOf(m))
		}
	}
	for _, w := range s.Writes {
		if err := m.Register(w.Register).CheckWrite(name, w.Value); err != nil {
			return s.invalid("--set %s=%d: not a writable register of a %s, or out of its range: %w", w.Register,
				w.Value, name, err)
		}
		if err := s.refuse(m, old.ID, w); err != nil {
			return err
		}
	}
	for _, p := range []Place{{old.Baud, old.Type, to.ID}, to} { // it passes the first on its way
		if p == old {
			continue
		}
		if err := s.Line.SetBaud(p.Baud); err != nil {
			return err
		}
		if _, taken, err := s.Probe(p); err != nil {
			return err
		} else if taken {
			return s.unsafe("halyard scan "+s.Port,
				"id %d is taken at %d Bd: two servos with one id cannot be addressed separately", p.ID, p.Baud)
		}
	}
	return s.Line.SetBaud(old.Baud)
}

// change writes the settings, the id and then the rate, and verifies each: until then the servo is where it was found.
func (s *Setup) change(ctx context.Context, one *Spot, to Place) error {
	if one.Model.Register("torque_enable") != nil && !s.Buses.Of(one.Type).FreeID {
		if err := writeOne(one, one.ID, "torque_enable", 0); err != nil {
			return err
		}
	}
	for _, w := range s.Writes {
		if err := writeOne(one, one.ID, w.Register, w.Value); err != nil {
			return err
		}
	}
	step := Place{one.Baud, one.Type, to.ID}
	if err := s.move(one, one.Place, step); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return s.move(one, step, to)
}

// move changes the id or the rate of one, one of them, and looks for it at its new place. What was lost is sent again
// as long as the servo still answers at its old place.
func (s *Setup) move(one *Spot, from, to Place) error {
	if from == to {
		return nil
	}
	var lost error
	for range servo.Tries {
		tool, err := s.look(one, from)
		if err != nil {
			return errors.Join(lost, err)
		}
		if from.ID == to.ID {
			lost = tool.SetBaud(from.ID, to.Baud)
		} else {
			lost = tool.SetID(from.ID, to.ID)
		}
		if kind := hal.KindOf(lost); lost != nil && kind != hal.Timeout && kind != hal.BusFault {
			return lost
		}
		// Whether it took is not known by the acknowledgement: some servos answer from the new place.
		if _, err := s.look(one, to); err == nil || hal.KindOf(err) == hal.Absent {
			return err
		}
	}
	return errors.Join(lost, &hal.Error{Kind: hal.Timeout, Bus: s.Port, ID: from.ID, Op: "setup",
		Err: fmt.Errorf("it does not answer at id %d, %d Bd", to.ID, to.Baud)})
}

// look finds the same model as one at p, which reports that id.
func (s *Setup) look(one *Spot, p Place) (servo.Tool, error) {
	if err := s.Line.SetBaud(p.Baud); err != nil {
		return nil, err
	}
	got, there, err := s.Probe(p)
	switch {
	case err != nil:
		return nil, err
	case !there:
		return nil, &hal.Error{Kind: hal.Timeout, Bus: s.Port, ID: p.ID, Op: "setup", Err: servo.ErrNoReply}
	case got.Model == nil:
		return nil, got.err
	case got.Model.Units().Name != one.Model.Units().Name:
		return nil, s.differs(p.ID, "model", got.Model.Units().Name, one.Model.Units().Name)
	}
	if r := got.Model.Register("id"); r != nil && Readable(r) {
		if id, err := ReadOne(got, p.ID, "id"); err != nil {
			return nil, err
		} else if id != int64(p.ID) {
			return nil, s.differs(p.ID, "id", id, p.ID)
		}
	}
	return got, nil
}

func (s *Setup) differs(id int, what string, got, want any) error {
	return &hal.Error{Kind: hal.BusFault, Bus: s.Port, ID: id, Op: "verify " + what,
		Err: fmt.Errorf("got %v, want %v", got, want)}
}

// restore looks for the servo everywhere where a change can have left it, and puts it back as it was: the
// way of change backwards. It takes no context: it is what happens when that one has ended. Torque stays off.
func (s *Setup) restore(one *Spot, to Place, backup map[string]int64) error {
	old, step := one.Place, Place{one.Baud, one.Type, to.ID}
	for _, way := range [][2]Place{{to, step}, {step, old}} {
		if way[0] == way[1] {
			continue
		}
		if _, err := s.look(one, way[0]); err != nil {
			if hal.KindOf(err) == hal.Absent {
				return err
			}
			continue
		}
		if err := s.move(one, way[0], way[1]); err != nil {
			return err
		}
	}
	tool, err := s.look(one, old)
	if err != nil {
		return &hal.Error{Kind: hal.BusFault, Bus: s.Port, ID: old.ID, Op: "restore",
			Err: fmt.Errorf("the servo is not where it was: %w", err), Try: "halyard scan " + s.Port}
	}
	for _, w := range s.Writes {
		if v, known := backup[w.Register]; known {
			if err := writeOne(tool, old.ID, w.Register, v); err != nil {
				return err
			}
		}
	}
	s.Note("%s: back at id %d, %d Bd", one.Model.Units().Name, old.ID, old.Baud)
	return nil
}

// String is the place in words.
func (p Place) String() string { return fmt.Sprintf("%d@%d", p.ID, p.Baud) }

func places(list []Place) string {
	text := make([]string, len(list))
	for i, p := range list {
		text[i] = fmt.Sprintf("%d Bd (%s)", p.Baud, p.Type)
	}
	return strings.Join(text, " and ")
}

// ratesOf are the usual rates that a model knows.
func ratesOf(m servo.Model) string {
	var list []int
	for _, b := range catalog.UsualBauds() {
		if _, ok := m.BaudCode(b); ok {
			list = append(list, b)
		}
	}
	return listed(list)
}

package commission

import (
	"context"
	"fmt"
	"strings"

	"github.com/halyard-robotics/halyard/internal/catalog"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/dynamixel"
)

// Change writes the settings, the new id and then the new baud rate, and verifies each.
func (s *Setup) Change(ctx context.Context, old, to Place) error {
	c, err := s.at(old)
	if err != nil {
		return err
	}
	id := byte(old.Id)
	if err := s.store(c, id, servo.Setting{Register: "torque_enable", Value: 0}); err != nil {
		return err
	}
	if err := unlocked(s.tool(c), s.model, old.Id); err != nil {
		return err
	}
	for _, w := range s.Writes {
		if err := s.store(c, id, w); err != nil {
			return err
		}
	}
	step := Place{old.Baud, old.Protocol, to.Id}
	if err := s.Move(old, step); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return s.Move(step, to)
}

// Refuse says why a setting must not be written, as "registers write" does: nothing moves here, and no servo is lost.
func (s *Setup) Refuse(m catalog.ServoModel, id int, w servo.Setting) error {
	return (&Registers{Spot: Spot{Place: Place{Id: id}, Model: m}, Bus: s.Port}).Refuse(m.Register(w.Register), w.Value)
}

// store writes a register and reads it back, at one place.
func (s *Setup) store(c *dynamixel.Client, id byte, w servo.Setting) error {
	return writeOne(s.tool(c), int(id), w.Register, w.Value)
}

func (s *Setup) differs(id int, what string, got, want int64) error {
	return &hal.Error{Kind: hal.BusFault, Bus: s.Port, ID: id, Op: "verify " + what, Err: fmt.Errorf("got %d, want %d", got, want)}
}

// Move changes the servo's id or its baud rate, one of them, and looks for it at its new place. Torque must be off.
// A packet that was lost is sent again as long as the servo still answers at its old place.
func (s *Setup) Move(from, to Place) error {
	if from == to {
		return nil
	}
	r, value := s.model.Register("id"), int64(to.Id)
	if from.Id == to.Id {
		code, _ := s.model.BaudCode(to.Baud) // both rates are the model's
		r, value = s.model.Register("baud_rate"), int64(code)
	}
	var lost error
	for range Tries {
		c, err := s.at(from)
		if err != nil {
			return err
		}
		// Whether it took is not known by the acknowledgement: some servos answer from the new place.
		if err := c.Write(byte(from.Id), r.Addr, r.Append(nil, value)); err != nil && hal.KindOf(err) != hal.Timeout {
			return err
		}
		if lost = s.verify(to); lost == nil || s.verify(from) != nil {
			return lost
		}
	}
	return lost
}

// verify finds the same model at p, which reports that it is there.
func (s *Setup) verify(p Place) error {
	c, err := s.at(p)
	if err != nil {
		return err
	}
	return s.insist(func() error {
		f, err := c.Ping(byte(p.Id))
		if err != nil {
			return err
		}
		if f.Number != s.model.Number {
			return s.differs(p.Id, "model", int64(f.Number), int64(s.model.Number))
		}
		id, err := c.ReadRegister(byte(p.Id), s.model, "id")
		if err == nil && id != int64(p.Id) {
			err = s.differs(p.Id, "id", id, int64(p.Id))
		}
		return err
	})
}

// restore looks for the servo everywhere where a change from old to to can have left it, and puts it back as it was: the
// way of change backwards. It takes no context: it is what happens when that one has ended. Torque stays off.
func (s *Setup) restore(old, to Place, backup map[string]int64) error {
	step := Place{old.Baud, old.Protocol, to.Id}
	for _, way := range [][2]Place{{to, step}, {step, old}} {
		if way[0] == way[1] || s.verify(way[0]) != nil {
			continue
		}
		if err := s.Move(way[0], way[1]); err != nil {
			return err
		}
	}
	if err := s.verify(old); err != nil {
		return &hal.Error{Kind: hal.BusFault, Bus: s.Port, ID: old.Id, Op: "restore",
			Err: fmt.Errorf("the servo is not where it was: %w", err), Try: "halyard scan " + s.Port}
	}
	c, err := s.at(old)
	if err != nil {
		return err
	}
	for _, w := range s.Writes {
		if err := s.store(c, byte(old.Id), servo.Setting{Register: w.Register, Value: backup[w.Register]}); err != nil {
			return err
		}
	}
	s.Note("%s: back at id %d, %d Bd", s.model.Name, old.Id, old.Baud)
	return nil
}

// String is the place as people say it.
func (p Place) String() string { return fmt.Sprintf("%d@%d", p.Id, p.Baud) }

func places(list []Place) string {
	text := make([]string, len(list))
	for i, p := range list {
		text[i] = fmt.Sprintf("%d Bd (protocol %s)", p.Baud, protocolWord(p.Protocol))
	}
	return strings.Join(text, " and ")
}

// prove makes sure that the servo can be what it must be, and that nobody else is: once two servos share an id and a
// rate, no packet reaches one of them alone any more. A rate that the adapter cannot go is found out here, too.
func (s *Setup) prove(old, to Place) error {
	if to.Id > catalog.LastID[to.Protocol] {
		return s.invalid("--new-id: got %d, want 0..%d in protocol %d", to.Id, catalog.LastID[to.Protocol], to.Protocol)
	}
	if _, ok := s.model.BaudCode(to.Baud); !ok {
		return s.invalid("--new-baud: got %d, want a rate of the %s: %s", to.Baud, s.model.Name, ratesOf(s.model))
	}
	for _, w := range s.Writes {
		r := s.model.Register(w.Register)
		if r == nil || r.Access == dynamixel.ReadOnly || w.Value < r.Min || w.Value > r.Max {
			return s.invalid("--set %s=%d: not a writable register of a %s, or out of its range", w.Register, w.Value, s.model.Name)
		}
		if err := s.Refuse(s.model, old.Id, w); err != nil {
			return err
		}
	}
	looks := []Place{{to.Baud, to.Protocol, to.Id}}
	if to.Baud != old.Baud && to.Id != old.Id {
		looks = append(looks, Place{old.Baud, to.Protocol, to.Id}) // it passes there on its way
	}
	for _, p := range looks {
		if p == old {
			continue
		}
		c, err := s.at(p)
		if err != nil {
			return err
		}
		switch _, err := s.pingOf(c, p.Id); hal.KindOf(err) {
		case hal.Timeout:
		case hal.Absent:
			return err
		default: // an answer, sound or not
			return s.unsafe("halyard scan "+s.Port, "id %d is taken at %d Bd: two servos on one id cannot be told apart any more", p.Id, p.Baud)
		}
	}
	return nil
}

// ratesOf are the usual rates that a model of any vendor knows.
func ratesOf(m catalog.ServoModel) string {
	var list []int
	for _, b := range catalog.UsualBauds() {
		if _, ok := m.BaudCode(b); ok {
			list = append(list, b)
		}
	}
	return strings.Join(Decimals(list), ", ")
}

// keep writes the backup file, where one is wanted.
func (s *Setup) keep(done *Assignment) error {
	if s.Backup == "" {
		return nil
	}
	f := RegisterFile{Model: done.Model, Type: done.Type, ID: done.OldID, Baud: done.OldBaud, Registers: done.Backup}
	return f.Save(s.Backup)
}

package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/dynamixel"
)

// change writes the settings, the new id and then the new baud rate, and verifies each.
func (s *setup) change(ctx context.Context, old, to place) error {
	c, err := s.at(old)
	if err != nil {
		return err
	}
	id := byte(old.id)
	if err := s.store(c, id, servo.Setting{Register: "torque_enable", Value: 0}); err != nil {
		return err
	}
	if err := unlocked(s.tool(c), s.model, old.id); err != nil {
		return err
	}
	for _, w := range s.writes {
		if err := s.store(c, id, w); err != nil {
			return err
		}
	}
	step := place{old.baud, old.protocol, to.id}
	if err := s.move(old, step); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return s.move(step, to)
}

// refuse says why a setting must not be written, as "registers write" does: nothing moves here, and no servo is lost.
func (s *setup) refuse(m servoModel, id int, w servo.Setting) error {
	return (&registers{spot: spot{place: place{id: id}, model: m}, bus: s.port}).refuse(m.Register(w.Register), w.Value)
}

// store writes a register and reads it back, at one place.
func (s *setup) store(c *dynamixel.Client, id byte, w servo.Setting) error {
	return writeOne(s.tool(c), int(id), w.Register, w.Value)
}

func (s *setup) differs(id int, what string, got, want int64) error {
	return &hal.Error{Kind: hal.BusFault, Bus: s.port, ID: id, Op: "verify " + what, Err: fmt.Errorf("got %d, want %d", got, want)}
}

// move changes the servo's id or its baud rate, one of them, and looks for it at its new place. Torque must be off.
// A packet that was lost is sent again as long as the servo still answers at its old place.
func (s *setup) move(from, to place) error {
	if from == to {
		return nil
	}
	r, value := s.model.Register("id"), int64(to.id)
	if from.id == to.id {
		code, _ := s.model.BaudCode(to.baud) // both rates are the model's
		r, value = s.model.Register("baud_rate"), int64(code)
	}
	var lost error
	for range tries {
		c, err := s.at(from)
		if err != nil {
			return err
		}
		// Whether it took is not known by the acknowledgement: some servos answer from the new place.
		if err := c.Write(byte(from.id), r.Addr, r.Append(nil, value)); err != nil && hal.KindOf(err) != hal.Timeout {
			return err
		}
		if lost = s.verify(to); lost == nil || s.verify(from) != nil {
			return lost
		}
	}
	return lost
}

// verify finds the same model at p, which says that it is there.
func (s *setup) verify(p place) error {
	c, err := s.at(p)
	if err != nil {
		return err
	}
	return s.insist(func() error {
		f, err := c.Ping(byte(p.id))
		if err != nil {
			return err
		}
		if f.Number != s.model.Number {
			return s.differs(p.id, "model", int64(f.Number), int64(s.model.Number))
		}
		id, err := c.ReadRegister(byte(p.id), s.model, "id")
		if err == nil && id != int64(p.id) {
			err = s.differs(p.id, "id", id, int64(p.id))
		}
		return err
	})
}

// restore looks for the servo everywhere where a change from old to to can have left it, and puts it back as it was: the
// way of change backwards. It takes no context: it is what happens when that one has ended. Torque stays off.
func (s *setup) restore(old, to place, backup map[string]int64) error {
	step := place{old.baud, old.protocol, to.id}
	for _, way := range [][2]place{{to, step}, {step, old}} {
		if way[0] == way[1] || s.verify(way[0]) != nil {
			continue
		}
		if err := s.move(way[0], way[1]); err != nil {
			return err
		}
	}
	if err := s.verify(old); err != nil {
		return &hal.Error{Kind: hal.BusFault, Bus: s.port, ID: old.id, Op: "restore",
			Err: fmt.Errorf("the servo is not where it was: %w", err), Try: "halyard scan " + s.port}
	}
	c, err := s.at(old)
	if err != nil {
		return err
	}
	for _, w := range s.writes {
		if err := s.store(c, byte(old.id), servo.Setting{Register: w.Register, Value: backup[w.Register]}); err != nil {
			return err
		}
	}
	s.note("%s: back at id %d, %d Bd", s.model.Name, old.id, old.baud)
	return nil
}

// String is the place as people say it.
func (p place) String() string { return fmt.Sprintf("%d@%d", p.id, p.baud) }

func places(list []place) string {
	text := make([]string, len(list))
	for i, p := range list {
		text[i] = fmt.Sprintf("%d Bd (protocol %s)", p.baud, protocolWord(p.protocol))
	}
	return strings.Join(text, " and ")
}

// prove makes sure that the servo can be what it shall be, and that nobody else is: once two servos share an id and a
// rate, no packet reaches one of them alone any more. A rate that the adapter cannot go is found out here, too.
func (s *setup) prove(old, to place) error {
	if to.id > lastID[to.protocol] {
		return s.invalid("--new-id: got %d, want 0..%d in protocol %d", to.id, lastID[to.protocol], to.protocol)
	}
	if _, ok := s.model.BaudCode(to.baud); !ok {
		return s.invalid("--new-baud: got %d, want a rate of the %s: %s", to.baud, s.model.Name, ratesOf(s.model))
	}
	for _, w := range s.writes {
		r := s.model.Register(w.Register)
		if r == nil || r.Access == dynamixel.ReadOnly || w.Value < r.Min || w.Value > r.Max {
			return s.invalid("--set %s=%d: not a writable register of a %s, or out of its range", w.Register, w.Value, s.model.Name)
		}
		if err := s.refuse(s.model, old.id, w); err != nil {
			return err
		}
	}
	looks := []place{{to.baud, to.protocol, to.id}}
	if to.baud != old.baud && to.id != old.id {
		looks = append(looks, place{old.baud, to.protocol, to.id}) // it passes there on its way
	}
	for _, p := range looks {
		if p == old {
			continue
		}
		c, err := s.at(p)
		if err != nil {
			return err
		}
		switch _, err := s.pingOf(c, p.id); hal.KindOf(err) {
		case hal.Timeout:
		case hal.Absent:
			return err
		default: // an answer, sound or not
			return s.unsafe("halyard scan "+s.port, "id %d is taken at %d Bd: two servos on one id cannot be told apart any more", p.id, p.baud)
		}
	}
	return nil
}

// ratesOf are the usual rates that a model of any brand knows.
func ratesOf(m servoModel) string {
	var list []int
	for _, b := range usualBauds() {
		if _, ok := m.BaudCode(b); ok {
			list = append(list, b)
		}
	}
	return strings.Join(decimals(list), ", ")
}

// keep writes the backup file, where one is wanted.
func (s *setup) keep(done *assignment) error {
	if s.backup == "" {
		return nil
	}
	f := registerFile{Model: done.Model, Type: done.Type, ID: done.OldID, Baud: done.OldBaud, Registers: done.Backup}
	return f.save(s.backup)
}

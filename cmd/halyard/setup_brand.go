package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
)

// runBrand is run for other brands than Dynamixel, by their tools: locate, prove, save, change, verify, and restore where
// a step does not come through.
func (s *setup) runBrand(ctx context.Context) (*assignment, error) {
	spots, err := s.find(ctx, s.id, false)
	switch {
	case err != nil:
		return nil, err
	case len(spots) == 0:
		return nil, &hal.Error{Kind: hal.Absent, Bus: s.port, ID: s.id, Op: "setup",
			Err: errors.New("no servo answers there"), Try: "halyard scan " + s.port + " --protocol " + brandWords[s.protocols[0]]}
	case spots[0].model == nil && hal.KindOf(spots[0].err) == hal.BusFault:
		return nil, s.unsafe("halyard scan "+s.port, "id %d: several servos answer on top of each other: connect one alone", s.id)
	case spots[0].model == nil:
		return nil, spots[0].err
	}
	one := &spots[0]
	old, to, m := one.place, one.place, one.model
	if s.newID >= 0 {
		to.id = s.newID
	}
	if s.newBaud > 0 {
		to.baud = s.newBaud
	}
	if err := s.proveBrand(m, old, to); err != nil {
		return nil, err
	}
	done := &assignment{Port: s.port, Model: m.Units().Name, Type: typeOf(old.protocol), OldID: old.id, OldBaud: old.baud, ID: to.id, Baud: to.baud}
	if err := s.line.SetBaud(old.baud); err != nil {
		return nil, err
	}
	if done.Backup, err = readAll(ctx, one, m, old.id); err != nil {
		return nil, err
	}
	if err := s.keep(done); err != nil {
		return nil, err // nothing was written
	}
	if s.dry {
		return done, nil
	}
	if err := s.changeBrand(ctx, one, to); err != nil {
		if worse := s.restoreBrand(old, to, done.Backup); worse != nil {
			return nil, fmt.Errorf("%w; before that: %v", worse, err)
		}
		return nil, err
	}
	if err := keepsBy(one.tool, s.note); err != nil {
		return nil, err
	}
	done.Done = true
	return done, nil
}

// proveBrand makes sure that the servo can be what it shall be, and that nobody else is, also on the way there.
func (s *setup) proveBrand(m servoModel, old, to place) error {
	name := m.Units().Name
	if to.id > lastID[to.protocol] {
		return s.invalid("--new-id: got %d, want 0..%d", to.id, lastID[to.protocol])
	}
	if _, ok := m.BaudCode(to.baud); to.baud != old.baud && (!ok || to.protocol != asFeetech) {
		return s.invalid("--new-baud: got %d, which a %s cannot be told", to.baud, name)
	}
	for _, w := range s.writes {
		if err := m.Register(w.Register).CheckWrite(name, w.Value); err != nil {
			return s.invalid("--set %s=%d: not a register of a %s, or out of its range: %w", w.Register, w.Value, name, err)
		}
		if err := s.refuse(m, old.id, w); err != nil {
			return err
		}
	}
	for _, p := range []place{{old.baud, old.protocol, to.id}, to} {
		if p == old {
			continue
		}
		if err := s.line.SetBaud(p.baud); err != nil {
			return err
		}
		if _, taken, err := s.probe(p); err != nil {
			return err
		} else if taken {
			return s.unsafe("halyard scan "+s.port, "id %d is taken at %d Bd: two servos on one id cannot be told apart any more", p.id, p.baud)
		}
	}
	return nil
}

// changeBrand writes the settings, the id and then the rate: until then the servo is where it was found.
func (s *setup) changeBrand(ctx context.Context, one *spot, to place) error {
	if one.model.Register("torque_enable") != nil && to.protocol != asKondo { // whose id may change under torque
		if err := writeOne(one, one.id, "torque_enable", 0); err != nil {
			return err
		}
	}
	for _, w := range s.writes {
		if err := writeOne(one, one.id, w.Register, w.Value); err != nil {
			return err
		}
	}
	step := place{one.baud, one.protocol, to.id}
	if err := s.moveBrand(one.place, step); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return s.moveBrand(step, to)
}

// moveBrand changes the id or the rate, one of them, and looks for the servo at its new place. What was lost is sent again
// as long as the servo still answers at its old place.
func (s *setup) moveBrand(from, to place) error {
	if from == to {
		return nil
	}
	var lost error
	for range tries {
		one, there, err := s.look(from)
		if err != nil {
			return err
		}
		if !there {
			return lost
		}
		register, value := "id", int64(to.id)
		if from.id == to.id {
			code, _ := one.model.BaudCode(to.baud) // both rates are the model's
			register, value = "baud_rate", int64(code)
		}
		lost = one.write(from.id, register, value)
		if hal.KindOf(lost) == hal.Unsafe {
			return lost
		}
		if _, there, err := s.look(to); there || err != nil {
			return err
		}
	}
	return errors.Join(lost, &hal.Error{Kind: hal.BusFault, Bus: s.port, ID: from.id, Op: "setup",
		Err: fmt.Errorf("it does not answer at id %d, %d Bd", to.id, to.baud)})
}

// look asks for a sound servo at p.
func (s *setup) look(p place) (one spot, there bool, err error) {
	if err := s.line.SetBaud(p.baud); err != nil {
		return one, false, err
	}
	one, there, err = s.probe(p)
	return one, there && one.model != nil, err
}

// restoreBrand looks for the servo everywhere where a change can have left it, and puts it back as it was. It takes no
// context: it is what happens when that one has ended. Torque stays off.
func (s *setup) restoreBrand(old, to place, backup map[string]int64) error {
	step := place{old.baud, old.protocol, to.id}
	for _, way := range [][2]place{{to, step}, {step, old}} {
		if way[0] == way[1] {
			continue
		}
		if _, there, err := s.look(way[0]); err != nil {
			return err
		} else if !there {
			continue
		}
		if err := s.moveBrand(way[0], way[1]); err != nil {
			return err
		}
	}
	one, there, err := s.look(old)
	if err != nil || !there {
		return &hal.Error{Kind: hal.BusFault, Bus: s.port, ID: old.id, Op: "restore",
			Err: errors.Join(errors.New("the servo is not where it was"), err), Try: "halyard scan " + s.port}
	}
	writes := s.writes
	if old.protocol == asFeetech { // a lost step may have left it open
		writes = append(writes[:len(writes):len(writes)], servo.Setting{Register: "lock"})
		backup["lock"] = 1
	}
	for _, w := range writes {
		if v, known := backup[w.Register]; known {
			if err := writeOne(one, old.id, w.Register, v); err != nil {
				return err
			}
		}
	}
	s.note("%s: back at id %d, %d Bd", one.model.Units().Name, old.id, old.baud)
	return nil
}

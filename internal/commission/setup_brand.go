package commission

import (
	"context"
	"errors"
	"fmt"

	"github.com/halyard-robotics/halyard/internal/catalog"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
)

// runBrand is run for other vendors than Dynamixel, by their tools: locate, prove, save, change, verify, and restore where
// a step does not come through.
func (s *Setup) runBrand(ctx context.Context) (*Assignment, error) {
	spots, err := s.Find(ctx, s.Id, false)
	switch {
	case err != nil:
		return nil, err
	case len(spots) == 0:
		return nil, &hal.Error{Kind: hal.Absent, Bus: s.Port, ID: s.Id, Op: "setup",
			Err: errors.New("no servo answers there"), Try: "halyard scan " + s.Port + " --protocol " + catalog.BrandWords[s.Protocols[0]]}
	case spots[0].Model == nil && hal.KindOf(spots[0].err) == hal.BusFault:
		return nil, s.unsafe("halyard scan "+s.Port, "id %d: several servos answer on top of each other: connect one alone", s.Id)
	case spots[0].Model == nil:
		return nil, spots[0].err
	}
	one := &spots[0]
	old, to, m := one.Place, one.Place, one.Model
	if s.NewID >= 0 {
		to.Id = s.NewID
	}
	if s.NewBaud > 0 {
		to.Baud = s.NewBaud
	}
	if err := s.proveBrand(m, old, to); err != nil {
		return nil, err
	}
	done := &Assignment{Port: s.Port, Model: m.Units().Name, Type: TypeOf(old.Protocol), OldID: old.Id, OldBaud: old.Baud, ID: to.Id, Baud: to.Baud}
	if err := s.Line.SetBaud(old.Baud); err != nil {
		return nil, err
	}
	if done.Backup, err = ReadAll(ctx, one, m, old.Id); err != nil {
		return nil, err
	}
	if err := s.keep(done); err != nil {
		return nil, err // nothing was written
	}
	if s.Dry {
		return done, nil
	}
	if err := s.changeBrand(ctx, one, to); err != nil {
		if worse := s.restoreBrand(old, to, done.Backup); worse != nil {
			return nil, fmt.Errorf("%w; before that: %v", worse, err)
		}
		return nil, err
	}
	if err := keepsBy(one.Tool, s.Note); err != nil {
		return nil, err
	}
	done.Done = true
	return done, nil
}

// proveBrand makes sure that the servo can be what it must be, and that nobody else is, also on the way there.
func (s *Setup) proveBrand(m catalog.ServoModel, old, to Place) error {
	name := m.Units().Name
	if to.Id > catalog.LastID[to.Protocol] {
		return s.invalid("--new-id: got %d, want 0..%d", to.Id, catalog.LastID[to.Protocol])
	}
	if _, ok := m.BaudCode(to.Baud); to.Baud != old.Baud && (!ok || to.Protocol != catalog.AsFeetech) {
		return s.invalid("--new-baud: got %d, which a %s cannot be told", to.Baud, name)
	}
	for _, w := range s.Writes {
		if err := m.Register(w.Register).CheckWrite(name, w.Value); err != nil {
			return s.invalid("--set %s=%d: not a register of a %s, or out of its range: %w", w.Register, w.Value, name, err)
		}
		if err := s.Refuse(m, old.Id, w); err != nil {
			return err
		}
	}
	for _, p := range []Place{{old.Baud, old.Protocol, to.Id}, to} {
		if p == old {
			continue
		}
		if err := s.Line.SetBaud(p.Baud); err != nil {
			return err
		}
		if _, taken, err := s.Probe(p); err != nil {
			return err
		} else if taken {
			return s.unsafe("halyard scan "+s.Port, "id %d is taken at %d Bd: two servos on one id cannot be told apart any more", p.Id, p.Baud)
		}
	}
	return nil
}

// changeBrand writes the settings, the id and then the rate: until then the servo is where it was found.
func (s *Setup) changeBrand(ctx context.Context, one *Spot, to Place) error {
	if one.Model.Register("torque_enable") != nil && to.Protocol != catalog.AsKondo { // whose id may change under torque
		if err := writeOne(one, one.Id, "torque_enable", 0); err != nil {
			return err
		}
	}
	for _, w := range s.Writes {
		if err := writeOne(one, one.Id, w.Register, w.Value); err != nil {
			return err
		}
	}
	step := Place{one.Baud, one.Protocol, to.Id}
	if err := s.moveBrand(one.Place, step); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return s.moveBrand(step, to)
}

// moveBrand changes the id or the rate, one of them, and looks for the servo at its new place. What was lost is sent again
// as long as the servo still answers at its old place.
func (s *Setup) moveBrand(from, to Place) error {
	if from == to {
		return nil
	}
	var lost error
	for range Tries {
		one, there, err := s.Look(from)
		if err != nil {
			return err
		}
		if !there {
			return lost
		}
		register, value := "id", int64(to.Id)
		if from.Id == to.Id {
			code, _ := one.Model.BaudCode(to.Baud) // both rates are the model's
			register, value = "baud_rate", int64(code)
		}
		lost = one.Write(from.Id, register, value)
		if hal.KindOf(lost) == hal.Unsafe {
			return lost
		}
		if _, there, err := s.Look(to); there || err != nil {
			return err
		}
	}
	return errors.Join(lost, &hal.Error{Kind: hal.BusFault, Bus: s.Port, ID: from.Id, Op: "setup",
		Err: fmt.Errorf("it does not answer at id %d, %d Bd", to.Id, to.Baud)})
}

// Look asks for a sound servo at p.
func (s *Setup) Look(p Place) (one Spot, there bool, err error) {
	if err := s.Line.SetBaud(p.Baud); err != nil {
		return one, false, err
	}
	one, there, err = s.Probe(p)
	return one, there && one.Model != nil, err
}

// restoreBrand looks for the servo everywhere where a change can have left it, and puts it back as it was. It takes no
// context: it is what happens when that one has ended. Torque stays off.
func (s *Setup) restoreBrand(old, to Place, backup map[string]int64) error {
	step := Place{old.Baud, old.Protocol, to.Id}
	for _, way := range [][2]Place{{to, step}, {step, old}} {
		if way[0] == way[1] {
			continue
		}
		if _, there, err := s.Look(way[0]); err != nil {
			return err
		} else if !there {
			continue
		}
		if err := s.moveBrand(way[0], way[1]); err != nil {
			return err
		}
	}
	one, there, err := s.Look(old)
	if err != nil || !there {
		return &hal.Error{Kind: hal.BusFault, Bus: s.Port, ID: old.Id, Op: "restore",
			Err: errors.Join(errors.New("the servo is not where it was"), err), Try: "halyard scan " + s.Port}
	}
	writes := s.Writes
	if old.Protocol == catalog.AsFeetech { // a lost step may have left it open
		writes = append(writes[:len(writes):len(writes)], servo.Setting{Register: "lock"})
		backup["lock"] = 1
	}
	for _, w := range writes {
		if v, known := backup[w.Register]; known {
			if err := writeOne(one, old.Id, w.Register, v); err != nil {
				return err
			}
		}
	}
	s.Note("%s: back at id %d, %d Bd", one.Model.Units().Name, old.Id, old.Baud)
	return nil
}

package commission

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/report"
	"github.com/halyard-robotics/halyard/servo"
)

// Assignment is what became of one servo.
type Assignment struct {
	Port    string           `json:"port"`
	Model   string           `json:"model"`
	Type    string           `json:"type"` // of the bus that it is connected to
	OldID   int              `json:"old_id"`
	OldBaud int              `json:"old_baud"`
	ID      int              `json:"id"`
	Baud    int              `json:"baud"`
	Done    bool             `json:"done"`   // false of a dry run
	Backup  map[string]int64 `json:"backup"` // every register before the change, raw
}

func (s Assignment) Cells() report.Cells {
	return report.Cells{{"model", s.Model}, {"type", s.Type}, {"id", s.OldID}, {"baud", s.OldBaud}, {"new id", s.ID},
		{"new baud", s.Baud}, {"done", map[bool]string{true: "yes", false: "dry run"}[s.Done]}}
}

// Setup gives one servo another id, baud rate or setting. The order is made for a servo that must not be lost:
//
//	locate   the one place where the old id answers; more than one is refused
//	prove    the servo accepts the settings, and no other servo has them already, also in between
//	save     every register, before anything is written
//	change   torque off; settings, id, baud rate, each verified where it should be then
//	restore  where a step does not come through, or the user interrupts
type Setup struct {
	Finder
	ID, NewID int      // newID -1: keep
	NewBaud   int      // 0: keep
	Set       []string // NAME=VALUE of further registers
	Backup    string   // file for the register backup; "" = none
	Dry       bool
	Note      func(format string, args ...any)

	Writes []servo.Setting // of set
}

func (s *Setup) invalid(format string, args ...any) error {
	return &hal.Error{Kind: hal.Invalid, Op: "setup", Err: fmt.Errorf(format, args...), Try: "halyard help setup"}
}

func (s *Setup) unsafe(try, format string, args ...any) error {
	return &hal.Error{Kind: hal.Unsafe, Bus: s.Port, Op: "setup", Err: fmt.Errorf(format, args...), Try: try}
}

// Check refuses what no servo could do, before the port is opened, and reads the settings.
func (s *Setup) Check(renumber bool) error {
	switch {
	case s.ID < 0 || s.ID > 253:
		return s.invalid("--id: got %d, want 0..253", s.ID)
	case renumber && (s.NewID < 0 || s.NewID > 253):
		return s.invalid("--new-id: got %d, want 0..253", s.NewID)
	case (!renumber || s.NewID == s.ID) && s.NewBaud == 0 && len(s.Set) == 0:
		return s.invalid("got nothing to change, want --new-id, --new-baud or --set")
	}
	for _, text := range s.Set {
		name, value, ok := strings.Cut(text, "=")
		v, err := strconv.ParseInt(value, 0, 64)
		if !ok || err != nil || name == "id" || name == "baud_rate" {
			return s.invalid("--set: got %q, want REGISTER=NUMBER, not id nor baud_rate", text)
		}
		s.Writes = append(s.Writes, servo.Setting{Register: name, Value: v})
	}
	return nil
}

// Place is where a servo answers: at a rate, in the protocol of a bus type.
type Place struct {
	Baud int
	Type string
	ID   int
}

// Start finds the servo and does it all. One whose change failed is put back before Start returns, also when ctx ended.
func (s *Setup) Start(ctx context.Context) (*Assignment, error) {
	if err := s.Unecho(s.Note); err != nil {
		return nil, err
	}
	one, err := s.locate(ctx)
	if err != nil {
		return nil, err
	}
	if err := s.readdress(one); err != nil {
		return nil, err
	}
	old, to := one.Place, one.Place
	if s.NewID >= 0 {
		to.ID = s.NewID
	}
	if s.NewBaud > 0 {
		to.Baud = s.NewBaud
	}
	if err := s.prove(one.Model, old, to); err != nil {
		return nil, err
	}
	done := &Assignment{Port: s.Port, Model: one.Model.Units().Name, Type: old.Type, OldID: old.ID, OldBaud: old.Baud,
		ID: to.ID, Baud: to.Baud}
	if err := s.Line.SetBaud(old.Baud); err != nil {
		return nil, err
	}
	if done.Backup, err = ReadAll(ctx, one, one.Model, old.ID); err != nil {
		return nil, err
	}
	if err := s.keep(done); err != nil {
		return nil, err // nothing was written
	}
	if s.Dry {
		return done, nil
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := s.change(ctx, one, to); err != nil {
		if worse := s.restore(one, to, done.Backup); worse != nil {
			// That counts, also where the user interrupted: the servo is in between.
			return nil, fmt.Errorf("%w; before that: %v", worse, err)
		}
		return nil, err
	}
	if err := save(one, s.Note); err != nil {
		return nil, err
	}
	done.Done = true
	return done, nil
}

// locate finds the one place where the old id answers. Several are refused: which is meant is not known.
func (s *Setup) locate(ctx context.Context) (*Spot, error) {
	s.Searching(s.ID, s.Note)
	spots, err := s.Find(ctx, s.ID, true)
	switch {
	case err != nil:
		return nil, err
	case len(spots) == 0:
		return nil, &hal.Error{Kind: hal.Absent, Bus: s.Port, ID: s.ID, Op: "setup",
			Err: fmt.Errorf("no servo answers at %s Bd", listed(s.Bauds)), Try: s.scan()}
	case len(spots) > 1:
		list := make([]Place, len(spots))
		for i := range spots {
			list[i] = spots[i].Place
		}
		return nil, s.unsafe("", "id %d: servos reply at %s: choose one with --baud and --protocol, or connect only one", s.ID, places(list))
	}
	one := &spots[0]
	twins := one.Model == nil && hal.KindOf(one.err) == hal.BusFault
	if one.Model != nil {
		if err := s.Line.SetBaud(one.Baud); err != nil {
			return nil, err
		}
		row := FoundServo{ID: s.ID}
		survey := Survey{BareLine: &BareLine{Finder: s.Finder}}
		if err := survey.twins(one, &row, one.Model); err != nil {
			return nil, err
		}
		twins = row.Finding != ""
	}
	switch {
	case twins:
		return nil, s.unsafe("halyard scan "+s.Port,
			"id %d at %d Bd: replies of several servos collide: connect only one", s.ID, one.Baud)
	case errors.Is(one.err, servo.ErrUnknownModel):
		return nil, s.invalid("id %d: %w", s.ID, servo.ErrUnknownModel)
	case one.Model == nil:
		return nil, one.err
	}
	return one, nil
}

// readdress turns a new id into what the driver makes of it: a register that holds it, or why it is set elsewhere.
func (s *Setup) readdress(one *Spot) error {
	t := s.Buses.Of(one.Type)
	switch {
	case s.NewID < 0:
	case t.IDRegister != "":
		s.Writes = append(s.Writes, servo.Setting{Register: t.IDRegister, Value: int64(s.NewID)})
		s.NewID = -1
	case t.FixedIDs != nil:
		return t.FixedIDs.Error(s.Port, s.ID, "setup", s.NewID)
	}
	return nil
}

// refuse reports why a setting must not be written, as "registers write" does: nothing moves here, and no servo is
// lost.
func (s *Setup) refuse(m servo.Model, id int, w servo.Setting) error {
	return (&Registers{Spot: Spot{Place: Place{ID: id}, Model: m}, Bus: s.Port}).Refuse(m.Register(w.Register), w.Value)
}

// keep writes the backup file, where one is wanted.
func (s *Setup) keep(done *Assignment) error {
	if s.Backup == "" {
		return nil
	}
	f := RegisterFile{Model: done.Model, Type: done.Type, ID: done.OldID, Baud: done.OldBaud, Registers: done.Backup}
	return f.Save(s.Backup)
}

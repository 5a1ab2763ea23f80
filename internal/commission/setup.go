package commission

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/halyard-robotics/halyard/internal/catalog"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/dynamixel"
)

// Assignment is what became of one servo.
type Assignment struct {
	Port     string           `json:"port"`
	Model    string           `json:"model"`
	Protocol int              `json:"protocol"` // of Dynamixel; 0 = another vendor
	Type     string           `json:"type"`     // of the bus that it is connected to
	OldID    int              `json:"old_id"`
	OldBaud  int              `json:"old_baud"`
	ID       int              `json:"id"`
	Baud     int              `json:"baud"`
	Done     bool             `json:"done"`   // false of a dry run
	Backup   map[string]int64 `json:"backup"` // every register before the change, raw
}

func (Assignment) Header() []string {
	return []string{"model", "type", "id", "baud", "new id", "new baud", "done"}
}

func (s Assignment) Cells() []string {
	return []string{s.Model, s.Type, strconv.Itoa(s.OldID), strconv.Itoa(s.OldBaud),
		strconv.Itoa(s.ID), strconv.Itoa(s.Baud), map[bool]string{true: "yes", false: "dry run"}[s.Done]}
}

// Setup gives one servo another id, baud rate or setting. The order is made for a servo that must not be lost:
//
//	locate   the one place where the old id answers; more than one is refused
//	prove    the servo can be what it must be, and nobody else is that already, also on the way there
//	save     every register, before anything is written
//	change   torque off; settings, id, baud rate, each verified where it should be then
//	restore  where a step does not come through, or the user interrupts
type Setup struct {
	Finder
	Id, NewID int      // newID -1: keep
	NewBaud   int      // 0: keep
	Set       []string // NAME=VALUE of further registers
	Backup    string   // file for the register backup; "" = none
	Dry       bool
	Note      func(format string, args ...any)

	client *dynamixel.Client
	model  *dynamixel.Model
	Writes []servo.Setting // what set says
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
	case s.Id < 0 || s.Id > 253:
		return s.invalid("--id: got %d, want 0..253", s.Id)
	case renumber && (s.NewID < 0 || s.NewID > 253):
		return s.invalid("--new-id: got %d, want 0..253", s.NewID)
	case (!renumber || s.NewID == s.Id) && s.NewBaud == 0 && len(s.Set) == 0:
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

// Place is where a servo answers.
type Place struct{ Baud, Protocol, Id int }

// Start finds the servo, whatever its vendor, and does it all.
func (s *Setup) Start(ctx context.Context) (*Assignment, error) {
	if err := s.Unecho(s.Note); err != nil {
		return nil, err
	}
	s.Searching(s.Id, s.Note)
	spots, err := s.Find(ctx, s.Id, true)
	switch {
	case err != nil:
		return nil, err
	case len(spots) == 0:
		return nil, &hal.Error{Kind: hal.Absent, Bus: s.Port, ID: s.Id, Op: "setup",
			Err: fmt.Errorf("no servo answers at %s Bd", strings.Join(Decimals(s.Bauds), ", ")), Try: s.scan()}
	case len(spots) > 1:
		return nil, s.several(spots)
	}
	one := spots[0]
	if err := s.ofMotor(one.Protocol); err != nil {
		return nil, err
	}
	s.Bauds, s.Protocols = []int{one.Baud}, []int{one.Protocol}
	if one.Protocol >= catalog.AsFeetech {
		return s.runBrand(ctx)
	}
	return s.Run(ctx)
}

func (s *Setup) several(spots []Spot) error {
	list := make([]Place, len(spots))
	for i := range spots {
		list[i] = spots[i].Place
	}
	return s.unsafe("", "id %d: servos answer at %s: say which with --baud and --protocol, or connect one alone", s.Id, places(list))
}

// Run does it all for a Dynamixel. A servo whose change failed is put back before run returns, also when ctx ended.
func (s *Setup) Run(ctx context.Context) (*Assignment, error) {
	old, err := s.locate(ctx)
	if err != nil {
		return nil, err
	}
	to := *old
	if s.NewID >= 0 {
		to.Id = s.NewID
	}
	if s.NewBaud > 0 {
		to.Baud = s.NewBaud
	}
	if err := s.prove(*old, to); err != nil {
		return nil, err
	}
	done := &Assignment{Port: s.Port, Model: s.model.Name, Protocol: old.Protocol, Type: TypeOf(old.Protocol), OldID: old.Id, OldBaud: old.Baud, ID: to.Id, Baud: to.Baud}
	if err := s.Line.SetBaud(old.Baud); err != nil {
		return nil, err
	}
	if done.Backup, err = ReadAll(ctx, s.tool(s.client), s.model, old.Id); err != nil {
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
	if err := s.Change(ctx, *old, to); err != nil {
		if worse := s.restore(*old, to, done.Backup); worse != nil {
			// That counts, also where the user interrupted: the servo is in between.
			return nil, fmt.Errorf("%w; before that: %v", worse, err)
		}
		return nil, err
	}
	done.Done = true
	return done, nil
}

// at tunes the line and returns a client for p.
func (s *Setup) at(p Place) (*dynamixel.Client, error) {
	if err := s.Line.SetBaud(p.Baud); err != nil {
		return nil, err
	}
	c := dynamixel.NewClient(s.Line, p.Protocol)
	c.Name, c.Latency = s.Port, s.Latency
	return c, nil
}

// tool is c for the servo that was found.
func (s *Setup) tool(c *dynamixel.Client) Tool {
	return settled{&dynamixelTool{c, s.model}, s.Line, 2*s.Latency + 3*time.Millisecond}
}

// pingOf pings an id until it answers or is surely silent.
func (s *Setup) pingOf(c *dynamixel.Client, id int) (f dynamixel.Found, err error) {
	err = s.insist(func() error { f, err = c.Ping(byte(id)); return err })
	return f, err
}

// locate finds the one place where the old id answers. Several are refused: who is meant is not known.
func (s *Setup) locate(ctx context.Context) (*Place, error) {
	var found []Place
	for _, b := range s.Bauds {
		for _, p := range s.Protocols {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if s.Id > catalog.LastID[p] {
				continue
			}
			at := Place{b, p, s.Id}
			c, err := s.at(at)
			if hal.KindOf(err) == hal.Invalid {
				break // the adapter has no such rate
			}
			if err != nil {
				return nil, err
			}
			f, err := s.pingOf(c, s.Id)
			row := FoundServo{Protocol: p}
			if err == nil {
				row.describe(c, &f, nil)
			}
			switch kind := hal.KindOf(err); {
			case err != nil && kind == hal.Timeout:
				continue
			case err != nil && kind != hal.BusFault:
				return nil, err
			case err != nil || row.Model != "" && row.Finding != "":
				return nil, s.unsafe("halyard scan "+s.Port, "id %d at %d Bd: several servos answer on top of each other: connect one alone", s.Id, b)
			}
			found = append(found, at)
			s.client, s.model = c, f.Model(p)
		}
	}
	switch {
	case len(found) == 0:
		return nil, &hal.Error{Kind: hal.Absent, Bus: s.Port, ID: s.Id, Op: "setup",
			Err: fmt.Errorf("no servo answers at %s Bd", strings.Join(Decimals(s.Bauds), ", ")), Try: "halyard scan " + s.Port}
	case len(found) > 1:
		return nil, s.unsafe("", "id %d: servos answer at %s: say which with --baud and --protocol, or connect one alone", s.Id, places(found))
	case s.model == nil:
		return nil, s.invalid("id %d: a model that is not known here", s.Id)
	}
	return &found[0], nil
}

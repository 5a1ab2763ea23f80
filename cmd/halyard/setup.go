package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/dynamixel"
)

// assignment is what became of one servo.
type assignment struct {
	Port     string           `json:"port"`
	Model    string           `json:"model"`
	Protocol int              `json:"protocol"` // of Dynamixel; 0 = another brand
	Type     string           `json:"type"`     // of the bus that it hangs on
	OldID    int              `json:"old_id"`
	OldBaud  int              `json:"old_baud"`
	ID       int              `json:"id"`
	Baud     int              `json:"baud"`
	Done     bool             `json:"done"`   // false of a dry run
	Backup   map[string]int64 `json:"backup"` // every register before the change, raw
}

func (assignment) header() []string {
	return []string{"model", "type", "id", "baud", "new id", "new baud", "done"}
}

func (s assignment) cells() []string {
	return []string{s.Model, s.Type, strconv.Itoa(s.OldID), strconv.Itoa(s.OldBaud),
		strconv.Itoa(s.ID), strconv.Itoa(s.Baud), map[bool]string{true: "yes", false: "dry run"}[s.Done]}
}

// setup gives one servo another id, baud rate or setting. The order is made for a servo that must not be lost:
//
//	locate   the one place where the old id answers; more than one is refused
//	prove    the servo can be what it shall be, and nobody else is that already, also on the way there
//	save     every register, before anything is written
//	change   torque off; settings, id, baud rate, each verified where it should be then
//	restore  where a step does not come through, or the user interrupts
type setup struct {
	finder
	id, newID int      // newID -1: keep
	newBaud   int      // 0: keep
	set       []string // NAME=VALUE of further registers
	backup    string   // file for the register backup; "" = none
	dry       bool
	note      func(format string, args ...any)

	client *dynamixel.Client
	model  *dynamixel.Model
	writes []servo.Setting // what set says
}

func newSetup(a *app) *cobra.Command {
	s := setup{note: a.note}
	var f lineFlags
	var deaf bool
	c := &cobra.Command{
		Use:   "setup CONFIG:BUS | PORT --id OLD [--new-id N] [--new-baud B] [--set REGISTER=VALUE]",
		Short: "give servos their ids, baud rates and settings: one by its id, or all of a config's bus, asking for each",
		Long: targetHelp + "\nFinds the servo with id OLD, saves its registers, switches its torque off, writes what is new, and verifies it.\n" +
			"Settings are raw values: --set return_delay=0. A new id that is taken, or several servos with the old one,\n" +
			"are refused. What was written is taken back when a step does not come through.\n" +
			"CONFIG:BUS without --id goes through the joints of the bus: it asks for each one's servo, looks for it at every rate,\n" +
			"and gives it the id, the rate and the kept settings of the config. --backup is a folder then.",
		Example: "  halyard setup so101:arm --backup before\n  halyard setup /dev/ttyUSB0 --id 1 --new-id 3",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if flags := cmd.Flags(); !flags.Changed("id") && !flags.Changed("new-id") && !flags.Changed("new-baud") && !flags.Changed("set") {
				w, err := newWalk(a, cmd, &f, args[0], deaf)
				if err != nil {
					return err
				}
				w.folder, w.dry = s.backup, s.dry
				return w.run(cmd.Context())
			}
			if err := s.check(cmd.Flags().Changed("new-id")); err != nil {
				return err
			}
			b, err := f.open(cmd, args[0])
			if err != nil {
				return err
			}
			defer b.line.Close()
			if b.protocols[0] == asVESC {
				return vescRefusal(b.port, s.id, "setup")
			}
			s.finder = b.finder
			done, err := s.start(cmd.Context())
			if done == nil {
				return err
			}
			if done.Done {
				a.note("%s: id %d at %d Bd%s. Next: halyard scan %s --baud %d --protocol %s", done.Model, done.ID, done.Baud, settingsText(s.writes), args[0], done.Baud, done.Type)
			}
			return errors.Join(err, show(a, []assignment{*done}))
		},
	}
	c.Flags().IntVar(&s.id, "id", -1, "the servo's id now")
	c.Flags().IntVar(&s.newID, "new-id", -1, "the id it shall have")
	c.Flags().IntVar(&s.newBaud, "new-baud", 0, "the baud rate it shall have, bits a second")
	c.Flags().StringArrayVar(&s.set, "set", nil, "REGISTER=VALUE to write as well, a raw value")
	c.Flags().StringVar(&s.backup, "backup", "", "file to save the servo's registers in, as JSON; of a whole bus the folder for them")
	c.Flags().BoolVarP(&s.dry, "dry-run", "n", false, "check everything, write nothing")
	c.Flags().BoolVar(&deaf, "no-input", false, "refuse what would ask")
	f.add(c)
	return c
}

func (s *setup) invalid(format string, args ...any) error {
	return &hal.Error{Kind: hal.Invalid, Op: "setup", Err: fmt.Errorf(format, args...), Try: "halyard help setup"}
}

func (s *setup) unsafe(try, format string, args ...any) error {
	return &hal.Error{Kind: hal.Unsafe, Bus: s.port, Op: "setup", Err: fmt.Errorf(format, args...), Try: try}
}

// check refuses what no servo could do, before the port is opened, and reads the settings.
func (s *setup) check(renumber bool) error {
	switch {
	case s.id < 0 || s.id > 253:
		return s.invalid("--id: got %d, want 0..253", s.id)
	case renumber && (s.newID < 0 || s.newID > 253):
		return s.invalid("--new-id: got %d, want 0..253", s.newID)
	case (!renumber || s.newID == s.id) && s.newBaud == 0 && len(s.set) == 0:
		return s.invalid("got nothing to change, want --new-id, --new-baud or --set")
	}
	for _, text := range s.set {
		name, value, ok := strings.Cut(text, "=")
		v, err := strconv.ParseInt(value, 0, 64)
		if !ok || err != nil || name == "id" || name == "baud_rate" {
			return s.invalid("--set: got %q, want REGISTER=NUMBER, not id nor baud_rate", text)
		}
		s.writes = append(s.writes, servo.Setting{Register: name, Value: v})
	}
	return nil
}

// place is where a servo answers.
type place struct{ baud, protocol, id int }

// start finds the servo, whatever its brand, and does it all.
func (s *setup) start(ctx context.Context) (*assignment, error) {
	if err := s.unecho(s.note); err != nil {
		return nil, err
	}
	s.searching(s.id, s.note)
	spots, err := s.find(ctx, s.id, true)
	switch {
	case err != nil:
		return nil, err
	case len(spots) == 0:
		return nil, &hal.Error{Kind: hal.Absent, Bus: s.port, ID: s.id, Op: "setup",
			Err: fmt.Errorf("no servo answers at %s Bd", strings.Join(decimals(s.bauds), ", ")), Try: s.scan()}
	case len(spots) > 1:
		return nil, s.several(spots)
	}
	one := spots[0]
	if err := s.ofMotor(one.protocol); err != nil {
		return nil, err
	}
	s.bauds, s.protocols = []int{one.baud}, []int{one.protocol}
	if one.protocol >= asFeetech {
		return s.runBrand(ctx)
	}
	return s.run(ctx)
}

func (s *setup) several(spots []spot) error {
	list := make([]place, len(spots))
	for i := range spots {
		list[i] = spots[i].place
	}
	return s.unsafe("", "id %d: servos answer at %s: say which with --baud and --protocol, or connect one alone", s.id, places(list))
}

// run does it all for a Dynamixel. A servo whose change failed is put back before run returns, also when ctx ended.
func (s *setup) run(ctx context.Context) (*assignment, error) {
	old, err := s.locate(ctx)
	if err != nil {
		return nil, err
	}
	to := *old
	if s.newID >= 0 {
		to.id = s.newID
	}
	if s.newBaud > 0 {
		to.baud = s.newBaud
	}
	if err := s.prove(*old, to); err != nil {
		return nil, err
	}
	done := &assignment{Port: s.port, Model: s.model.Name, Protocol: old.protocol, Type: typeOf(old.protocol), OldID: old.id, OldBaud: old.baud, ID: to.id, Baud: to.baud}
	if err := s.line.SetBaud(old.baud); err != nil {
		return nil, err
	}
	if done.Backup, err = readAll(ctx, s.tool(s.client), s.model, old.id); err != nil {
		return nil, err
	}
	if err := s.keep(done); err != nil {
		return nil, err // nothing was written
	}
	if s.dry {
		return done, nil
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := s.change(ctx, *old, to); err != nil {
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
func (s *setup) at(p place) (*dynamixel.Client, error) {
	if err := s.line.SetBaud(p.baud); err != nil {
		return nil, err
	}
	c := dynamixel.NewClient(s.line, p.protocol)
	c.Name, c.Latency = s.port, s.latency
	return c, nil
}

// tool is c for the servo that was found.
func (s *setup) tool(c *dynamixel.Client) tool {
	return settled{&dynamixelTool{c, s.model}, s.line, 2*s.latency + 3*time.Millisecond}
}

// pingOf pings an id until it answers or is surely silent.
func (s *setup) pingOf(c *dynamixel.Client, id int) (f dynamixel.Found, err error) {
	err = s.insist(func() error { f, err = c.Ping(byte(id)); return err })
	return f, err
}

// locate finds the one place where the old id answers. Several are refused: who is meant is not known.
func (s *setup) locate(ctx context.Context) (*place, error) {
	var found []place
	for _, b := range s.bauds {
		for _, p := range s.protocols {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if s.id > lastID[p] {
				continue
			}
			at := place{b, p, s.id}
			c, err := s.at(at)
			if hal.KindOf(err) == hal.Invalid {
				break // the adapter has no such rate
			}
			if err != nil {
				return nil, err
			}
			f, err := s.pingOf(c, s.id)
			row := foundServo{Protocol: p}
			if err == nil {
				row.describe(c, &f, nil)
			}
			switch kind := hal.KindOf(err); {
			case err != nil && kind == hal.Timeout:
				continue
			case err != nil && kind != hal.BusFault:
				return nil, err
			case err != nil || row.Model != "" && row.Finding != "":
				return nil, s.unsafe("halyard scan "+s.port, "id %d at %d Bd: several servos answer on top of each other: connect one alone", s.id, b)
			}
			found = append(found, at)
			s.client, s.model = c, f.Model(p)
		}
	}
	switch {
	case len(found) == 0:
		return nil, &hal.Error{Kind: hal.Absent, Bus: s.port, ID: s.id, Op: "setup",
			Err: fmt.Errorf("no servo answers at %s Bd", strings.Join(decimals(s.bauds), ", ")), Try: "halyard scan " + s.port}
	case len(found) > 1:
		return nil, s.unsafe("", "id %d: servos answer at %s: say which with --baud and --protocol, or connect one alone", s.id, places(found))
	case s.model == nil:
		return nil, s.invalid("id %d: a model that is not known here", s.id)
	}
	return &found[0], nil
}

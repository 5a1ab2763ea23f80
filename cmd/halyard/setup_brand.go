package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo/feetech"
	"github.com/halyard-robotics/halyard/servo/hiwonder"
	"github.com/halyard-robotics/halyard/servo/kondo"
)

// tool is a brand's client as setup uses it. Its WriteRegister does what the brand's EEPROM asks for, and reads back.
type tool interface {
	identify(id int) (servoModel, error)
	table(id int) (map[string]int64, error)
	write(id int, register string, v int64) error
}

// runBrand is run for other brands than Dynamixel: locate, prove, save, change, verify, and restore where a step does
// not come through.
func (s *setup) runBrand(ctx context.Context) (*assignment, error) {
	protocol := s.protocols[0]
	t := s.tool(protocol)
	if err := parity(s.line, protocol == asKondo); err != nil {
		return nil, err
	}
	old := place{0, protocol, s.id}
	// The first rate at which it answers is its own: servos on one line with one id at two rates are not looked for.
	var m servoModel
	for _, b := range s.bauds {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := s.line.SetBaud(b); hal.KindOf(err) == hal.Invalid {
			continue // not a rate of this adapter
		} else if err != nil {
			return nil, err
		}
		var err error
		if m, err = t.identify(s.id); hal.KindOf(err) == hal.Timeout && err != nil {
			continue
		} else if err != nil {
			return nil, err
		}
		old.baud = b
		break
	}
	if old.baud == 0 {
		return nil, &hal.Error{Kind: hal.Absent, Bus: s.port, ID: s.id, Op: "setup",
			Err: errors.New("no servo answers there"), Try: "halyard scan " + s.port + " --protocol " + brandWords[protocol]}
	}
	to := old
	if s.newID >= 0 {
		to.id = s.newID
	}
	if s.newBaud > 0 {
		to.baud = s.newBaud
	}
	if err := s.proveBrand(t, m, old, to); err != nil {
		return nil, err
	}
	done := &assignment{Port: s.port, Model: m.Units().Name, OldID: old.id, OldBaud: old.baud, ID: to.id, Baud: to.baud}
	var err error
	if done.Backup, err = t.table(old.id); err != nil {
		return nil, err
	}
	if err := s.keep(done); err != nil || s.dry {
		return done, err
	}
	if err := s.changeBrand(t, m, old, to, done.Backup); err != nil {
		return nil, err
	}
	done.Done = true
	s.note("%s: id %d at %d Bd", done.Model, to.id, to.baud)
	return done, nil
}

// proveBrand makes sure that the servo can be what it shall be, and that nobody else is.
func (s *setup) proveBrand(t tool, m servoModel, old, to place) error {
	if to.id > lastID[to.protocol] {
		return s.invalid("--new-id: got %d, want 0..%d", to.id, lastID[to.protocol])
	}
	if _, ok := m.BaudCode(to.baud); !ok || to.baud != old.baud && m.Register("response_level") == nil {
		return s.invalid("--new-baud: got %d, which a %s cannot be told", to.baud, m.Units().Name)
	}
	for _, w := range s.writes {
		if r := m.Register(w.Register); r == nil || w.Value < r.Min || w.Value > r.Max {
			return s.invalid("--set %s=%d: not a register of a %s, or out of its range", w.Register, w.Value, m.Units().Name)
		}
	}
	if to.id == old.id {
		return nil
	}
	if _, err := t.identify(to.id); err == nil || hal.KindOf(err) == hal.BusFault {
		return s.unsafe("", "id %d is taken: two servos on one id cannot be told apart any more", to.id)
	} else if hal.KindOf(err) != hal.Timeout {
		return err
	}
	return nil
}

// keep writes the backup file, where one is wanted; never over an older one.
func (s *setup) keep(done *assignment) error {
	if s.backup == "" {
		return nil
	}
	data, err := json.MarshalIndent(done, "", "  ")
	if err != nil {
		return err
	}
	f, err := os.OpenFile(s.backup, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return s.invalid("--backup: %w", err)
	}
	_, err = f.Write(append(data, '\n'))
	return errors.Join(err, f.Close())
}

// changeBrand writes the settings, the id and then the rate. Settings are taken back where a later step fails.
func (s *setup) changeBrand(t tool, m servoModel, old, to place, backup map[string]int64) error {
	if m.Register("torque_enable") != nil && to.protocol != asKondo {
		if err := t.write(old.id, "torque_enable", 0); err != nil {
			return err
		}
	}
	var written []string
	err := func() error {
		for _, w := range s.writes {
			written = append(written, w.Register)
			if err := t.write(old.id, w.Register, w.Value); err != nil {
				return err
			}
		}
		if to.id != old.id {
			return t.write(old.id, "id", int64(to.id))
		}
		return nil
	}()
	if err != nil {
		for _, name := range written {
			if worse := t.write(old.id, name, backup[name]); worse != nil {
				return fmt.Errorf("%w; taking %s back: %v", err, name, worse)
			}
		}
		return err
	}
	// The rate comes last: until then the servo is where it was found.
	if to.baud != old.baud {
		code, _ := m.BaudCode(to.baud)
		if err := t.write(to.id, "baud_rate", int64(code)); err != nil {
			return err
		}
	}
	_, err = t.identify(to.id)
	return err
}

// tool is the client of a brand on the setup's line.
func (s *setup) tool(protocol int) tool {
	switch protocol {
	case asFeetech:
		c := feetech.NewClient(s.line)
		c.Name, c.Latency = s.port, s.latency
		return &feetechTool{c: c}
	case asHiwonder:
		c := hiwonder.NewClient(s.line)
		c.Name, c.Latency = s.port, s.latency
		return hiwonderTool{c, hiwonder.Models()[0]}
	default:
		c := kondo.NewClient(s.line)
		c.Name, c.Latency = s.port, s.latency
		return kondoTool{c, kondo.Models()[0]}
	}
}

type feetechTool struct {
	c *feetech.Client
	m *feetech.Model
}

func (t *feetechTool) identify(id int) (servoModel, error) {
	f, err := t.c.Ping(byte(id))
	if err != nil {
		return nil, err
	}
	if t.m = f.Model(); t.m == nil {
		return nil, &hal.Error{Kind: hal.Invalid, ID: id, Op: "setup", Err: fmt.Errorf("model %d: %s", f.Number, unknownText)}
	}
	return t.m, nil
}

func (t *feetechTool) table(id int) (map[string]int64, error) { return t.c.Table(byte(id), t.m) }
func (t *feetechTool) write(id int, register string, v int64) error {
	return t.c.WriteRegister(byte(id), t.m, register, v)
}

type hiwonderTool struct {
	c *hiwonder.Client
	m *hiwonder.Model
}

func (t hiwonderTool) identify(id int) (servoModel, error) {
	_, err := t.c.Ping(byte(id))
	return t.m, err
}

func (t hiwonderTool) table(id int) (map[string]int64, error) { return t.c.Table(byte(id), t.m) }
func (t hiwonderTool) write(id int, register string, v int64) error {
	return t.c.WriteRegister(byte(id), t.m, register, v)
}

// kondoTool changes ids alone, and only of a servo that is alone on its line: the command names nobody.
type kondoTool struct {
	c *kondo.Client
	m *kondo.Model
}

func (t kondoTool) identify(id int) (servoModel, error) { return t.m, t.c.Ping(byte(id)) }

func (t kondoTool) table(id int) (map[string]int64, error) {
	v, err := t.c.Get(byte(id), kondo.Stretch)
	return map[string]int64{"id": int64(id), "stretch": int64(v)}, err
}

func (t kondoTool) write(id int, register string, v int64) error {
	if register != "id" {
		return &hal.Error{Kind: hal.Invalid, ID: id, Op: "setup", Err: fmt.Errorf("got %s, want the id alone: ICS keeps nothing else", register)}
	}
	if alone, err := t.c.Alone(); err != nil || int(alone) != id {
		return errors.Join(err, &hal.Error{Kind: hal.Unsafe, ID: id, Op: "setup", Err: errors.New("it must be alone on its line")})
	}
	return t.c.SetID(byte(v))
}

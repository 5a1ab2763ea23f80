package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/dynamixel"
	"github.com/halyard-robotics/halyard/servo/feetech"
	"github.com/halyard-robotics/halyard/servo/hiwonder"
	"github.com/halyard-robotics/halyard/servo/kondo"
)

// tool is a brand's client as commands on single servos use it. write does what the brand's EEPROM asks for (torque off,
// lock open and closed again) and reads back. The errors are hal's: Timeout where nobody answers, BusFault where an answer
// is spoilt, Invalid for what the servo does not have.
type tool interface {
	identify(id int) (servoModel, error)
	read(id int, register string) (int64, error)
	write(id int, register string, v int64) error
}

// newTool is the client of a protocol on line, and the line's parity with it.
func newTool(line servo.Line, port string, latency time.Duration, protocol int) (tool, error) {
	return newToolOf(line, port, latency, protocol, nil)
}

// newToolOf is newTool for a servo that is taken for an m, whatever it says itself.
func newToolOf(line servo.Line, port string, latency time.Duration, protocol int, m servoModel) (tool, error) {
	if err := parity(line, protocol == asKondo); err != nil {
		return nil, err
	}
	t := settled{line: line, quiet: 2*latency + 3*time.Millisecond}
	switch protocol {
	case asFeetech:
		c := feetech.NewClient(line)
		c.Name, c.Latency = port, latency
		one := &feetechTool{c: c}
		one.m, _ = m.(*feetech.Model)
		t.tool = one
	case asHiwonder:
		c := hiwonder.NewClient(line)
		c.Name, c.Latency = port, latency
		t.tool = hiwonderTool{c, hiwonder.Models()[0]}
	case asKondo:
		c := kondo.NewClient(line)
		c.Name, c.Latency = port, latency
		t.tool = kondoTool{c, kondo.Models()[0]}
	default:
		c := dynamixel.NewClient(line, protocol)
		c.Name, c.Latency = port, latency
		t.tool = &dynamixelTool{c, dynamixelOf(m)}
	}
	return t, nil
}

// settled is a tool that lets its line fall silent after an answer that did not come in time or was spoilt: an answer says
// of which servo it is, but not of which register, and a late one would be taken for the next question's.
type settled struct {
	tool
	line  servo.Line
	quiet time.Duration
}

func (s settled) read(id int, register string) (int64, error) {
	v, err := s.tool.read(id, register)
	return v, s.settle(err)
}

func (s settled) write(id int, register string, v int64) error {
	return s.settle(s.tool.write(id, register, v))
}

// longestBabble bounds what is waited for on a line that never falls silent, reads.
const longestBabble = 100

// settle waits for silence where err says that there may be more to come, and hands err on.
func (s settled) settle(err error) error {
	if kind := hal.KindOf(err); err == nil || kind != hal.Timeout && kind != hal.BusFault {
		return err
	}
	settle(s.line, s.quiet)
	return err
}

// settle waits until nothing has come for quiet, within reason.
func settle(line servo.Line, quiet time.Duration) {
	var scrap [256]byte
	for range longestBabble {
		if _, err := line.Read(scrap[:], quiet); err != nil {
			return // silence, or the line is gone, which the next question tells
		}
	}
}

// stranger is the error of a servo that answers and is no model of ours.
func stranger(id int, number uint16) error {
	return &hal.Error{Kind: hal.Invalid, ID: id, Op: "identify", Err: fmt.Errorf("model %d: %s", number, unknownText)}
}

// toolOf is newTool for one of a finder's protocols, motor controllers among them.
func (f *finder) toolOf(protocol int) (tool, error) {
	if t := motorTool(f.line, f, protocol); t != nil {
		return settled{t, f.line, 2*f.latency + 3*time.Millisecond}, nil
	}
	return newTool(f.line, f.port, f.latency, protocol)
}

// registersOf is the table of a model of any brand; nobody writes to it.
func registersOf(m servoModel) []servo.Register {
	switch m := m.(type) {
	case *dynamixel.Model:
		return m.Registers
	case *feetech.Model:
		return m.Registers
	case *hiwonder.Model:
		return m.Registers
	case *kondo.Model:
		return m.Registers
	case *tabled:
		return m.table
	}
	return nil
}

// registerNames are what they are called.
func registerNames(m servoModel) (names []string) {
	for _, r := range registersOf(m) {
		names = append(names, r.Name)
	}
	return names
}

// readable tells whether a tool can read r. Windows on other registers show what is read anyway; of a Kondo servo most
// can be set alone.
func readable(m servoModel, r *servo.Register) bool {
	if _, ok := m.(*kondo.Model); ok {
		return slices.Contains([]string{"id", "stretch", "speed", "present_amps", "present_heat"}, r.Name)
	}
	if t, ok := m.(*tabled); ok && t.name == "cybergear" {
		return r.Name != "torque_enable"
	}
	return !strings.HasPrefix(r.Name, "indirect_")
}

// readAll reads every register that can be read. What the servo itself refuses is left out: a later firmware has
// registers that an earlier one has not.
func readAll(ctx context.Context, t tool, m servoModel, id int) (map[string]int64, error) {
	table := map[string]int64{}
	for i, all := 0, registersOf(m); i < len(all); i++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if !readable(m, &all[i]) {
			continue
		}
		v, err := readOne(t, id, all[i].Name)
		var refused dynamixel.Refusal
		if errors.As(err, &refused) || errors.Is(err, servo.ErrNone) {
			continue
		}
		if err != nil {
			return nil, err
		}
		table[all[i].Name] = v
	}
	return table, nil
}

// readOne reads a register and asks again for what the line lost.
func readOne(t tool, id int, name string) (v int64, err error) {
	err = insist(func() error { v, err = t.read(id, name); return err })
	return v, err
}

// writeOne writes a register and tries again what the line lost.
func writeOne(t tool, id int, name string, v int64) error {
	return insist(func() error { return t.write(id, name, v) })
}

// ordered are the names of the registers in values, in the order of the model's table.
func ordered(m servoModel, values map[string]int64) (names []string) {
	for _, r := range registersOf(m) {
		if _, ok := values[r.Name]; ok {
			names = append(names, r.Name)
		}
	}
	return names
}

// spot is a servo that was found: where it answers, and what talks to it there.
type spot struct {
	place
	tool
	model servoModel // nil: it answers, but not soundly, or it is a stranger
	err   error      // why model is nil
}

// finder looks for one id on a line.
type finder struct {
	line      servo.Line
	port      string
	latency   time.Duration
	bauds     []int
	protocols []int
	duplex    bool                   // its adapter hears nothing of what it sends
	said      map[int]map[string]int // registers that a config says of motor controllers, by id
}

// scan is what looks at the finder's line, for who has not found what he wanted.
func (f *finder) scan() string {
	if f.duplex {
		return "halyard scan " + f.port + " --protocol " + typeOf(f.protocols[0])
	}
	return "halyard scan " + f.port
}

// searching tells a person who waits what for.
func (f *finder) searching(id int, note func(string, ...any)) {
	if len(f.bauds) > 1 {
		note("%s: looking for id %d at %d rates; --baud makes it quick", f.port, id, len(f.bauds))
	}
}

// find returns the places where id answers, most of them in the order of the finder's rates: the first alone, or all.
func (f *finder) find(ctx context.Context, id int, all bool) (spots []spot, err error) {
	for _, b := range f.bauds {
		if err := f.line.SetBaud(b); hal.KindOf(err) == hal.Invalid {
			continue // not a rate of this adapter
		} else if err != nil {
			return nil, err
		}
		for _, p := range f.protocols {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if id > lastID[p] || !possible(p, b) {
				continue
			}
			s, there, err := f.probe(place{b, p, id})
			if err != nil {
				return nil, err
			}
			if there && p == 1 && s.model == nil {
				// A Feetech servo answers as a Dynamixel of protocol 1.0 that is none.
				if brand, ok, err := f.probe(place{b, asFeetech, id}); err != nil {
					return nil, err
				} else if ok && brand.model != nil {
					s = brand
				}
			}
			// It is the same servo, asked for by its own name as well.
			if there = there && !slices.ContainsFunc(spots, func(o spot) bool { return o.place == s.place }); !there {
				continue
			}
			if spots = append(spots, s); !all {
				return spots, nil
			}
			if p == asKondo {
				break // nobody else shares its line
			}
		}
	}
	return spots, nil
}

// probe asks one place, at the line's present rate; there says that something answers.
func (f *finder) probe(p place) (s spot, there bool, err error) {
	s.place = p
	if s.tool, err = f.toolOf(p.protocol); err != nil {
		return s, false, err
	}
	s.err = f.insist(func() (err error) { s.model, err = s.identify(p.id); return err })
	switch kind := hal.KindOf(s.err); {
	case s.err == nil:
		return s, true, nil
	case kind == hal.Timeout:
		return s, false, nil
	case kind == hal.BusFault || kind == hal.Invalid:
		s.model = nil
		return s, true, nil
	}
	return s, false, s.err
}

// insist is insist that lets the line fall silent after what was spoilt: it may have been the answer of the try before.
func (f *finder) insist(try func() error) error {
	return insist(func() error {
		err := try()
		if hal.KindOf(err) == hal.BusFault {
			settle(f.line, 2*f.latency+3*time.Millisecond)
		}
		return err
	})
}

// possible tells whether there are servos of a protocol at a rate.
func possible(protocol, baud int) bool {
	switch protocol {
	case asFeetech:
		return feetechRates(baud)
	case asHiwonder:
		return baud == hiwonder.Baud
	case asKondo:
		return slices.Contains(kondo.Bauds(), baud)
	case asVESC, asODrive, asODriveCAN, asCyberGear:
		return true
	}
	for _, m := range dynamixel.Models() {
		if _, ok := m.BaudCode(baud); ok && m.Protocol == protocol {
			return true
		}
	}
	// Protocol 1.0 divides 2 Mbit/s, and is what Feetech servos are found by.
	return protocol == 1 && (baud > 0 && baud <= 2_000_000 || feetechRates(baud))
}

func feetechRates(baud int) bool {
	_, ok := feetech.Models()[0].BaudCode(baud)
	return ok
}

// allProtocols are every protocol in the order in which they are asked. Kondo comes first: parity alone keeps its servos
// from taking parts of others' packets for commands, which a pseudo terminal does not carry. Feetech servos are found by
// protocol 1.0.
func allProtocols() []int {
	return []int{asKondo, 2, 1, asHiwonder}
}

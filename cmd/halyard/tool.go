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

// maxNoiseReads bounds what is waited for on a line that never falls silent, reads.
const maxNoiseReads = 100

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
	for range maxNoiseReads {
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
	case *registerModel:
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
	if t, ok := m.(*registerModel); ok && t.name == "cybergear" {
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
		if errors.As(err, &refused) || errors.Is(err, servo.ErrNoRegister) {
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

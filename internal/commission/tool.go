package commission

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/halyard-robotics/halyard/internal/catalog"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/dynamixel"
	"github.com/halyard-robotics/halyard/servo/feetech"
	"github.com/halyard-robotics/halyard/servo/hiwonder"
	"github.com/halyard-robotics/halyard/servo/kondo"
)

// Tool is a vendor's client as commands on single servos use it. write does what the vendor's EEPROM asks for (torque off,
// lock open and closed again) and reads back. The errors are hal's: Timeout where nobody answers, BusFault where an answer
// is spoilt, Invalid for what the servo does not have.
type Tool interface {
	Identify(id int) (catalog.ServoModel, error)
	Read(id int, register string) (int64, error)
	Write(id int, register string, v int64) error
}

// NewTool is the client of a protocol on line, and the line's parity with it.
func NewTool(line servo.Line, port string, latency time.Duration, protocol int) (Tool, error) {
	return NewToolOf(line, port, latency, protocol, nil)
}

// NewToolOf is newTool for a servo that is taken for an m, whatever it says itself.
func NewToolOf(line servo.Line, port string, latency time.Duration, protocol int, m catalog.ServoModel) (Tool, error) {
	if err := catalog.Parity(line, protocol == catalog.AsKondo); err != nil {
		return nil, err
	}
	t := settled{line: line, quiet: 2*latency + 3*time.Millisecond}
	switch protocol {
	case catalog.AsFeetech:
		c := feetech.NewClient(line)
		c.Name, c.Latency = port, latency
		one := &feetechTool{c: c}
		one.m, _ = m.(*feetech.Model)
		t.Tool = one
	case catalog.AsHiwonder:
		c := hiwonder.NewClient(line)
		c.Name, c.Latency = port, latency
		t.Tool = hiwonderTool{c, hiwonder.Models()[0]}
	case catalog.AsKondo:
		c := kondo.NewClient(line)
		c.Name, c.Latency = port, latency
		t.Tool = kondoTool{c, kondo.Models()[0]}
	default:
		c := dynamixel.NewClient(line, protocol)
		c.Name, c.Latency = port, latency
		t.Tool = &dynamixelTool{c, catalog.DynamixelOf(m)}
	}
	return t, nil
}

// settled is a tool that lets its line fall silent after an answer that did not come in time or was spoilt: an answer says
// of which servo it is, but not of which register, and a late one would be taken for the next question's.
type settled struct {
	Tool
	line  servo.Line
	quiet time.Duration
}

func (s settled) Read(id int, register string) (int64, error) {
	v, err := s.Tool.Read(id, register)
	return v, s.settle(err)
}

func (s settled) Write(id int, register string, v int64) error {
	return s.settle(s.Tool.Write(id, register, v))
}

// maxNoiseReads bounds what is waited for on a line that never falls silent, reads.
const maxNoiseReads = 100

// settle waits for silence where err reports that there may be more to come, and hands err on.
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
func (f *Finder) toolOf(protocol int) (Tool, error) {
	if t := motorTool(f.Line, f, protocol); t != nil {
		return settled{t, f.Line, 2*f.Latency + 3*time.Millisecond}, nil
	}
	return NewTool(f.Line, f.Port, f.Latency, protocol)
}

// Readable reports whether a tool can read r. Windows on other registers show what is read anyway; of a Kondo servo most
// can be set alone.
func Readable(m catalog.ServoModel, r *servo.Register) bool {
	if _, ok := m.(*kondo.Model); ok {
		return slices.Contains([]string{"id", "stretch", "speed", "present_amps", "present_heat"}, r.Name)
	}
	if t, ok := m.(*catalog.RegisterModel); ok && t.Name == "cybergear" {
		return r.Name != "torque_enable"
	}
	return !strings.HasPrefix(r.Name, "indirect_")
}

// ReadAll reads every register that can be read. What the servo itself refuses is left out: a later firmware has
// registers that an earlier one has not.
func ReadAll(ctx context.Context, t Tool, m catalog.ServoModel, id int) (map[string]int64, error) {
	table := map[string]int64{}
	for i, all := 0, catalog.RegistersOf(m); i < len(all); i++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if !Readable(m, &all[i]) {
			continue
		}
		v, err := ReadOne(t, id, all[i].Name)
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

// ReadOne reads a register and asks again for what the line lost.
func ReadOne(t Tool, id int, name string) (v int64, err error) {
	err = Insist(func() error { v, err = t.Read(id, name); return err })
	return v, err
}

// writeOne writes a register and tries again what the line lost.
func writeOne(t Tool, id int, name string, v int64) error {
	return Insist(func() error { return t.Write(id, name, v) })
}

// ordered are the names of the registers in values, in the order of the model's table.
func ordered(m catalog.ServoModel, values map[string]int64) (names []string) {
	for _, r := range catalog.RegistersOf(m) {
		if _, ok := values[r.Name]; ok {
			names = append(names, r.Name)
		}
	}
	return names
}

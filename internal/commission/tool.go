package commission

import (
	"context"
	"errors"
	"strings"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/internal/catalog"
	"github.com/halyard-robotics/halyard/servo"
)

// NewTool is the tool of a bus type on line, and the line's parity with it.
func NewTool(line servo.Line, t catalog.BusType, cfg servo.ToolConfig) (servo.Tool, error) {
	if err := catalog.Parity(line, t.Even); err != nil {
		return nil, err
	}
	return t.Driver.Tool(line, cfg), nil
}

// toolOf is NewTool for one of a finder's bus types.
func (f *Finder) toolOf(kind string) (servo.Tool, error) { return f.toolOn(f.Line, kind) }

func (f *Finder) toolOn(line servo.Line, kind string) (servo.Tool, error) {
	return NewTool(line, f.Buses.Of(kind), servo.ToolConfig{Bus: f.Port, Latency: f.Latency, Settings: f.Settings})
}

// Readable reports whether a tool can read r. Windows on other registers show what is read anyway.
func Readable(r *servo.Register) bool { return !r.Unread && !strings.HasPrefix(r.Name, "indirect_") }

// ReadAll reads every register that can be read. What the servo itself refuses, and what is no number, is left out: a
// later firmware has registers that an earlier one has not.
func ReadAll(ctx context.Context, t servo.Tool, m servo.Model, id int) (map[string]int64, error) {
	table := map[string]int64{}
	for i, all := 0, m.Table(); i < len(all); i++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if !Readable(&all[i]) {
			continue
		}
		v, err := ReadOne(t, id, all[i].Name)
		if errors.Is(err, servo.ErrNoRegister) || errors.Is(err, servo.ErrNoValue) {
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
func ReadOne(t servo.Tool, id int, name string) (v int64, err error) {
	err = servo.Retry(func() error { v, err = t.Read(id, name); return err })
	return v, err
}

// writeOne writes a register and tries again what the line lost.
func writeOne(t servo.Tool, id int, name string, v int64) error {
	return servo.Retry(func() error { return t.Write(id, name, v) })
}

// ordered are the names of the registers in values, in the order of the model's table.
func ordered(m servo.Model, values map[string]int64) (names []string) {
	for _, r := range m.Table() {
		if _, ok := values[r.Name]; ok {
			names = append(names, r.Name)
		}
	}
	return names
}

// save makes the device keep what was written by t, and reports where that is more than it seems.
func save(t servo.Tool, note func(string, ...any)) error {
	restarts, err := t.Save()
	if restarts && err == nil {
		note("! it restarts now: its port may be absent for some seconds")
	}
	return err
}

// SettingsOn are the registers that a config sets of what is connected to a bus, by id.
func SettingsOn(c *configs.Config, bus string) map[int]map[string]int {
	settings := map[int]map[string]int{}
	for _, r := range c.Robots() {
		if r.Hardware == nil {
			continue
		}
		for _, j := range r.Hardware.Joints {
			if j.Bus == bus {
				settings[j.ID] = j.Registers
			}
		}
	}
	return settings
}

package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
)

// differenceRow is a register that is not the same here and there.
type differenceRow struct {
	Name    string `json:"register"`
	Here    int64  `json:"here"` // raw, of the servo
	There   int64  `json:"there"`
	Default int64  `json:"default"`
	Unit    string `json:"unit"`

	here, there, standard string // with units
	what                  string // what "there" is
}

func (d differenceRow) header() []string {
	return []string{"register", "here", "means", d.what, "means", "default", "means"}
}

func (d differenceRow) cells() []string {
	return []string{d.Name, strconv.FormatInt(d.Here, 10), d.here, strconv.FormatInt(d.There, 10), d.there,
		strconv.FormatInt(d.Default, 10), d.standard}
}

func newRegistersDiff(a *app) *cobra.Command {
	return registersCommand(a, &cobra.Command{
		Use:   "diff PORT --id N [FILE|ID]",
		Short: "what is set otherwise than in a file, in another servo of the line, or than the factory did",
		Long: "Compares what is set, not what is measured: what the EEPROM keeps, and what is configured in RAM.\n" +
			"Exit code 8 where anything differs.",
		Example: "  halyard registers diff /dev/ttyUSB0 --id 1 2\n  halyard registers diff /dev/ttyUSB0 --id 1 elbow.json",
		Args:    cobra.RangeArgs(1, 2),
	}, func(ctx context.Context, s *registers, args []string) error {
		rows, err := s.differences(ctx, args)
		if err != nil {
			return err
		}
		if err := show(a, rows); err != nil {
			return err
		}
		if len(rows) == 0 {
			a.note("%s id %d: nothing is set otherwise", s.model.Units().Name, s.id)
			return nil
		}
		return &hal.Error{Kind: hal.Differs, Bus: s.bus, ID: s.id, Op: "registers diff", Err: fmt.Errorf("%d registers differ", len(rows))}
	})
}

// differences compares the servo with what args name: a file, an id, or, without any, the factory's defaults.
func (s *registers) differences(ctx context.Context, args []string) ([]differenceRow, error) {
	what, other, err := "factory", map[string]int64{}, error(nil)
	if motor, ok := s.model.(*registerModel); ok && len(args) == 0 && motor.name != "cybergear" {
		return nil, s.invalid("what the factory set a %s to depends on its firmware: want a file or a neighbour", motor.name)
	}
	if len(args) == 0 {
		for _, r := range registersOf(s.model) {
			other[r.Name] = r.Default
		}
		delete(other, "id")
		delete(other, "baud_rate")
	} else if id, neighbour := fileOrID(args[0]); neighbour {
		what = "id " + args[0]
		if other, err = s.neighbour(ctx, id); err != nil {
			return nil, err
		}
		delete(other, "id")
	} else {
		what = "file"
		if other, err = s.saved(args[0]); err != nil {
			return nil, err
		}
	}
	own, err := readAll(ctx, s, s.model, s.id)
	if err != nil {
		return nil, err
	}
	rows := []differenceRow{}
	for _, name := range ordered(s.model, own) {
		r := s.model.Register(name)
		here := own[name]
		there, known := other[name]
		if !known || here == there || !kept(s.model, r) {
			continue
		}
		rows = append(rows, differenceRow{Name: name, Here: here, There: there, Default: r.Default, Unit: r.Unit, what: what,
			here: meaning(s.model, r, here), there: meaning(s.model, r, there), standard: meaning(s.model, r, r.Default)})
	}
	return rows, nil
}

// kept tells whether a register says how the servo is set up.
func kept(m servoModel, r *servo.Register) bool {
	if _, ok := m.(*registerModel); ok {
		return r.Access != servo.ReadOnly && r.Name != "torque_enable" && !strings.HasPrefix(r.Name, "goal_")
	}
	return r.Access == servo.EEPROM || r.Setting() || r.Name == "firmware"
}

// neighbour reads another servo at the same rate, which must be of the same model.
func (s *registers) neighbour(ctx context.Context, id int) (map[string]int64, error) {
	if last := lastID[s.protocol]; id < 0 || id > last {
		return nil, s.invalid("got neighbour %d, want a file that is there, or an id of 0..%d", id, last)
	}
	// A tool remembers whom it has met: the other is met, read, and then the first again.
	m, err := s.identify(id)
	if err == nil && m.Units().Name != s.model.Units().Name {
		err = s.invalid("id %d is a %s, id %d a %s: their registers are not the same", id, m.Units().Name, s.id, s.model.Units().Name)
	}
	if err != nil {
		return nil, err
	}
	return readAll(ctx, s, s.model, id)
}

// saved reads a file of the same model.
func (s *registers) saved(path string) (map[string]int64, error) {
	f, err := loadRegisters(path)
	if err == nil && f.Model != s.model.Units().Name {
		err = s.invalid("%s is of a %s, this servo is a %s", path, f.Model, s.model.Units().Name)
	} else if err == nil && len(f.Registers) == 0 {
		err = s.invalid("%s has no registers", path)
	}
	if err != nil {
		return nil, err
	}
	return f.Registers, nil
}

package commission

import (
	"context"
	"strings"

	"github.com/halyard-robotics/halyard/internal/report"
	"github.com/halyard-robotics/halyard/servo"
)

// DifferenceRow is a register that is not the same here and there.
type DifferenceRow struct {
	Name    string `json:"register"`
	Here    int64  `json:"here"` // raw, of the servo
	There   int64  `json:"there"`
	Default int64  `json:"default"`
	Unit    string `json:"unit"`

	here, there, standard string // with units
	What                  string // what "there" is
}

func (d DifferenceRow) Cells() report.Cells {
	return report.Cells{{"register", d.Name}, {"here", d.Here}, {"value", d.here}, {d.What, d.There},
		{"value", d.there},
		{"default", d.Default}, {"value", d.standard}}
}

// Differences compares the servo with what args name: a file, an id, or, without any, the factory's defaults.
func (s *Registers) Differences(ctx context.Context, args []string) ([]DifferenceRow, error) {
	what, other, err := "factory", map[string]int64{}, error(nil)
	if len(args) == 0 && s.Buses.Of(s.Type).NoDefaults {
		return nil, s.invalid("what the factory set a %s to depends on its firmware: want a file or a neighbour",
			s.Model.Units().Name)
	}
	if len(args) == 0 {
		for _, r := range s.Model.Table() {
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
	own, err := ReadAll(ctx, s, s.Model, s.ID)
	if err != nil {
		return nil, err
	}
	rows := []DifferenceRow{}
	for _, name := range ordered(s.Model, own) {
		r := s.Model.Register(name)
		here := own[name]
		there, known := other[name]
		if !known || here == there || !s.kept(r) {
			continue
		}
		rows = append(rows, DifferenceRow{Name: name, Here: here, There: there, Default: r.Default, Unit: r.Unit,
			What: what, here: Meaning(s.Model, r, here), there: Meaning(s.Model, r, there),
			standard: Meaning(s.Model, r, r.Default)})
	}
	return rows, nil
}

// kept reports whether a register describes how the servo is set up.
func (s *Registers) kept(r *servo.Register) bool {
	if s.Buses.Of(s.Type).Named {
		return r.Access != servo.ReadOnly && r.Name != "torque_enable" && !strings.HasPrefix(r.Name, "goal_")
	}
	return r.Access == servo.EEPROM || r.Setting() || r.Name == "firmware"
}

// neighbour reads another servo at the same rate, which must be of the same model.
func (s *Registers) neighbour(ctx context.Context, id int) (map[string]int64, error) {
	if last := s.Buses.Of(s.Type).LastID; id < 0 || id > last {
		return nil, s.invalid("got neighbour %d, want a file that is there, or an id of 0..%d", id, last)
	}
	f, err := s.Identify(id)
	if err == nil && f.Model.Units().Name != s.Model.Units().Name {
		err = s.invalid("id %d is a %s, id %d a %s: their registers are not the same", id, f.Model.Units().Name, s.ID,
			s.Model.Units().Name)
	}
	if err != nil {
		return nil, err
	}
	return ReadAll(ctx, s, s.Model, id)
}

// saved reads a file of the same model.
func (s *Registers) saved(path string) (map[string]int64, error) {
	f, err := LoadRegisters(s.Buses, path)
	if err == nil && f.Model != s.Model.Units().Name {
		err = s.invalid("%s is of a %s, this servo is a %s", path, f.Model, s.Model.Units().Name)
	} else if err == nil && len(f.Registers) == 0 {
		err = s.invalid("%s has no registers", path)
	}
	if err != nil {
		return nil, err
	}
	return f.Registers, nil
}

package commission

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/catalog"
	"github.com/halyard-robotics/halyard/internal/report"
	"github.com/halyard-robotics/halyard/servo"
)

// RegisterRow is one register of a servo and what its value means.
type RegisterRow struct {
	Name    string        `json:"register"`
	Address int           `json:"address"`
	Raw     int64         `json:"raw"`
	Value   report.Number `json:"value"` // in Unit
	Unit    string        `json:"unit"`  // "" = a plain number
	Meaning string        `json:"meaning"`
	Default int64         `json:"default"` // the factory's, raw
	Min     int64         `json:"min"`     // what may be written, raw
	Max     int64         `json:"max"`
	Access  string        `json:"access"` // read-only, ram (lost with the power) or eeprom (kept)
}

func (r RegisterRow) Cells() report.Cells {
	span := "-"
	if r.Access != accessNames[servo.ReadOnly] {
		span = fmt.Sprintf("%d..%d", r.Min, r.Max)
	}
	return report.Cells{{"register", r.Name}, {"raw", r.Raw}, {"value", r.Meaning}, {"default", r.Default},
		{"range", span},
		{"access", r.Access}}
}

var accessNames = [...]string{servo.ReadOnly: "read-only", servo.RAM: "ram", servo.EEPROM: "eeprom"}

func rowOf(m servo.Model, name string, raw int64) RegisterRow {
	r := m.Register(name)
	return RegisterRow{Name: name, Address: int(r.Addr), Raw: raw, Value: report.Number(r.SI(raw)), Unit: r.Unit,
		Meaning: Meaning(m, r, raw), Default: r.Default, Min: r.Min, Max: r.Max, Access: accessNames[r.Access]}
}

// Meaning is a raw value as a person reads it: with its unit, a rate in bits a second, alarms by their names.
func Meaning(m servo.Model, r *servo.Register, raw int64) string {
	if text := m.Meaning(r, raw); text != "" {
		return text
	}
	v := r.SI(raw)
	switch r.Unit {
	case "":
		if r.Scale != 0 {
			return fmt.Sprintf("%.4g", v)
		}
		return "-"
	case "1":
		return fmt.Sprintf("%.4g %%", 100*v)
	case "s":
		return time.Duration(v * float64(time.Second)).Round(time.Microsecond).String()
	case "rad", "rad/s":
		return fmt.Sprintf("%.4g %s (%.1f°%s)", v, r.Unit, v*180/math.Pi, strings.TrimPrefix(r.Unit, "rad"))
	}
	return fmt.Sprintf("%.4g %s", v, r.Unit)
}

// Registers is one run of the command: a servo that was found and what is wanted of it.
type Registers struct {
	Spot
	Bus  string // in errors and in what is to be typed next
	Note func(format string, args ...any)
}

// MeetRegisters finds the servo with id. The first place where it replies is used: for one id at two rates, choose
// which by --baud.
func MeetRegisters(ctx context.Context, f *Finder, id int) (*Registers, error) {
	spots, err := f.Find(ctx, id, false)
	if err != nil {
		return nil, err
	}
	if len(spots) == 0 {
		return nil, &hal.Error{Kind: hal.Absent, Bus: f.Port, ID: id, Op: "registers",
			Err: fmt.Errorf("no servo answers at %s Bd, protocol %s", listed(f.Bauds),
				strings.Join(f.Types, " or ")), Try: f.scan()}
	}
	if spots[0].Model == nil {
		return nil, spots[0].err
	}
	return &Registers{Spot: spots[0], Bus: f.Port, Note: func(string, ...any) {}}, nil
}

// Rows reads the named registers, or all.
func (s *Registers) Rows(ctx context.Context, names []string) ([]RegisterRow, error) {
	for _, name := range names {
		if err := s.known(name); err != nil {
			return nil, err
		}
	}
	all := len(names) == 0
	for _, r := range s.Model.Table() {
		if all && Readable(&r) {
			names = append(names, r.Name)
		}
	}
	rows, failed, silent := []RegisterRow{}, error(nil), 0
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return rows, err
		}
		v, err := ReadOne(s, s.ID, name)
		switch kind := hal.KindOf(err); {
		case err == nil:
			rows, silent = append(rows, rowOf(s.Model, name, v)), 0
			continue
		case all && errors.Is(err, servo.ErrNoRegister): // a later firmware has registers that an earlier one has not
			continue
		case kind == hal.Absent:
			return rows, err
		case kind == hal.Timeout:
			silent++
		}
		// One value that cannot be read is no reason to keep back its neighbours.
		row := rowOf(s.Model, name, 0)
		row.Raw, row.Value, row.Meaning = 0, report.Number(math.NaN()), reasonOf(err)
		if !errors.Is(err, servo.ErrNoValue) {
			s.Note("%s: %s", name, reasonOf(err))
			failed = err
		}
		if rows = append(rows, row); silent == servo.Tries {
			return rows, err // it has gone
		}
	}
	if failed != nil && !slices.ContainsFunc(rows, func(r RegisterRow) bool { return !math.IsNaN(float64(r.Value)) }) {
		return rows, failed
	}
	return rows, nil
}

// known refuses a name that the servo's model does not have, with the one that was meant.
func (s *Registers) known(name string) error {
	if s.Model.Register(name) != nil {
		return nil
	}
	return s.invalid("a %s has no register %q%s", s.Model.Units().Name, name,
		Meant(name, catalog.RegisterNames(s.Model)))
}

func (s *Registers) invalid(format string, args ...any) error {
	return &hal.Error{Kind: hal.Invalid, Bus: s.Bus, ID: s.ID, Op: "registers", Err: fmt.Errorf(format, args...),
		Try: fmt.Sprintf("halyard registers read %s --id %d", s.Bus, s.ID)}
}

// fileOrID distinguishes an id of another servo on the line from the name of a file: an existing file wins.
func fileOrID(text string) (id int, isID bool) {
	if _, err := os.Stat(text); err == nil {
		return 0, false
	}
	id, err := strconv.Atoi(text)
	return id, err == nil
}

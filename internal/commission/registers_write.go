package commission

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/report"
	"github.com/halyard-robotics/halyard/servo"
)

// ChangeRow is one register that was written.
type ChangeRow struct {
	Name   string `json:"register"`
	Before *int64 `json:"before"` // raw; null where it cannot be read
	After  int64  `json:"after"`  // read back, where it can be
	Done   bool   `json:"done"`   // false of a dry run

	before, after string
}

func (c ChangeRow) Cells() report.Cells {
	var was any = "-"
	if c.Before != nil {
		was = *c.Before
	}
	return report.Cells{{"register", c.Name}, {"before", was}, {"value", c.before}, {"after", c.After},
		{"value", c.after},
		{"done", map[bool]string{true: "yes", false: "dry run"}[c.Done]}}
}

// Back are the writes that undo differences, and why some cannot be made. What restore is not for (the id, the rate,
// goals) is left out without a word.
func (s *Registers) Back(rows []DifferenceRow) (writes []Write, left []error) {
	for _, d := range rows {
		r := s.Model.Register(d.Name)
		if r.Access == servo.ReadOnly {
			continue
		}
		switch err := s.Refuse(r, d.There); {
		case err == nil:
			writes = append(writes, Write{r, d.There})
		case hal.KindOf(err) == hal.Invalid:
			left = append(left, err)
		}
	}
	return writes, left
}

// Write is a register and what it must be, raw.
type Write struct {
	Register *servo.Register
	Value    int64
}

// Parse reads NAME=VALUE and refuses what must not be written, before anything is.
func (s *Registers) Parse(args []string) ([]Write, error) {
	if err := s.Fixed("write"); err != nil {
		return nil, err
	}
	var list []Write
	for _, text := range args {
		name, value, ok := strings.Cut(text, "=")
		if !ok {
			return nil, s.invalid("got %q, want NAME=VALUE", text)
		}
		if err := s.known(name); err != nil {
			return nil, err
		}
		r := s.Model.Register(name)
		v, err := RawOf(r, value)
		if err != nil {
			return nil, s.invalid("%s: %w", name, err)
		}
		if err := s.Refuse(r, v); err != nil {
			return nil, err
		}
		list = append(list, Write{r, v})
	}
	return list, nil
}

// RawOf reads a raw value, or one with the register's unit behind it. It must be in range as given: nothing is cut.
func RawOf(r *servo.Register, text string) (int64, error) {
	// The raw value of a float is not shown.
	float := r.Encoding == servo.Float
	if v, err := strconv.ParseInt(text, 0, 64); err == nil && !float {
		return v, nil
	}
	unit := r.Unit
	digits, ok := strings.CutSuffix(text, unit)
	ok = ok || float
	if unit == "1" {
		digits, ok = strings.CutSuffix(text, "%")
	} else if !ok && unit == "°C" {
		digits, ok = strings.CutSuffix(text, "C")
	}
	v, err := strconv.ParseFloat(strings.TrimSpace(digits), 64)
	if !ok || unit == "" && !float || err != nil {
		return 0, fmt.Errorf("got %q, want a whole number%s", text,
			map[bool]string{true: "", false: " or one in " + strings.Replace(unit, "1", "%", 1)}[unit == ""])
	}
	if unit == "1" {
		v /= 100
	}
	least, most := r.SI(r.Min), r.SI(r.Max)
	if !(v >= min(least, most)-r.Scale/2 && v <= max(least, most)+r.Scale/2) {
		if unit == "1" {
			least, most, unit = 100*least, 100*most, "%"
		}
		return 0, fmt.Errorf("got %s, want %.4g..%.4g %s", text, least, most, unit)
	}
	return r.Raw(v), nil
}

// Refuse reports why v must not be written to r by hand; nil where it may.
func (s *Registers) Refuse(r *servo.Register, v int64) error {
	unsafe := func(try, format string, args ...any) error {
		return &hal.Error{Kind: hal.Unsafe, Bus: s.Bus, ID: s.ID, Op: "write " + r.Name,
			Err: fmt.Errorf(format, args...), Try: try}
	}
	switch r.Name {
	case "id", "baud_rate":
		return unsafe(fmt.Sprintf("halyard setup %s --id %d --new-id N", s.Bus, s.ID),
			"it would be lost where its new place is taken: setup looks first")
	case "lock":
		return unsafe("", "writes open and close the lock themselves")
	case "protocol_type":
		return unsafe("", "it would not be found again by what talks to this bus")
	case "torque_enable":
		if v != 0 {
			return unsafe("halyard serve",
				"a servo under torque may move: that is for a program with a guard; 0 takes its torque")
		}
	case "goal_position", "goal_velocity", "goal_current", "goal_pwm", "goal_torque", "goal_time", "moving_speed",
		"motor_mode", "registered_position", "registered_time":
		return unsafe("halyard serve", "goals move the servo: that is for a program with a guard")
	case "status_return":
		if v == 0 {
			return unsafe("", "it would answer no reads any more: 1 or 2")
		}
	}
	if strings.HasPrefix(r.Name, "indirect_data_") {
		return unsafe("", "it is another register behind a pointer, maybe a goal or the torque: write that by its "+
			"own name")
	}
	if err := r.CheckWrite(s.Model.Units().Name, v); err != nil {
		return s.invalid("%s: %w", r.Name, err)
	}
	return nil
}

// Change writes all, each read back. Where one does not come through, or ctx ends, those before it are reverted.
func (s *Registers) Change(ctx context.Context, writes []Write, dry bool) (rows []ChangeRow, err error) {
	for _, w := range writes {
		row := ChangeRow{Name: w.Register.Name, After: w.Value, after: Meaning(s.Model, w.Register, w.Value),
			before: "-"}
		if Readable(w.Register) || strings.HasPrefix(row.Name, "indirect_") {
			was, err := ReadOne(s, s.ID, row.Name)
			if err != nil {
				return nil, err
			}
			row.Before, row.before = &was, Meaning(s.Model, w.Register, was)
		}
		rows = append(rows, row)
	}
	if dry {
		return rows, nil
	}
	for i, w := range writes {
		if err = ctx.Err(); err == nil {
			err = writeOne(s, s.ID, w.Register.Name, w.Value)
		}
		if err != nil {
			var e *hal.Error
			if errors.As(err, &e) && e.Kind == hal.Unsafe && e.Try == "" && strings.Contains(err.Error(), "torque") {
				e.Try = fmt.Sprintf("hold what it carries, then: halyard registers write %s --id %d torque_enable=0",
					s.Bus, e.ID)
			}
			return nil, s.takeBack(rows[:i+1], err)
		}
		rows[i].Done = true
	}
	if !slices.ContainsFunc(writes, func(w Write) bool { return w.Register.Access == servo.EEPROM }) {
		return rows, nil
	}
	return rows, save(s.Tool, s.Note)
}

// takeBack puts back what was written before the last of rows failed because of why.
func (s *Registers) takeBack(rows []ChangeRow, why error) error {
	for _, r := range rows {
		if r.Before == nil || hal.KindOf(why) == hal.Unsafe && !r.Done {
			continue
		}
		if worse := writeOne(s, s.ID, r.Name, *r.Before); worse != nil {
			return fmt.Errorf("%w; and %s is not as it was: %v", why, r.Name, worse)
		}
	}
	return why
}

// Meant is ", did you mean X?" where something in list is near name.
func Meant(name string, list []string) string {
	if fix := configs.Meant(name, list); fix != "" {
		return ": " + fix
	}
	return ""
}

// Fixed is why nothing can be written to the servo, nil where it can.
func (s *Registers) Fixed(what string) error {
	if r := s.Buses.Of(s.Type).FixedAll; r != nil {
		return r.Error(s.Bus, s.ID, "registers "+what, 0)
	}
	return nil
}

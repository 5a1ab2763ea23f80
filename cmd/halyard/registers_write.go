package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
)

// changeRow is one register that was written.
type changeRow struct {
	Name   string `json:"register"`
	Before *int64 `json:"before"` // raw; null where it cannot be read
	After  int64  `json:"after"`  // read back, where it can be
	Done   bool   `json:"done"`   // false of a dry run

	before, after string
}

func (changeRow) header() []string {
	return []string{"register", "before", "means", "after", "means", "done"}
}

func (c changeRow) cells() []string {
	was := "-"
	if c.Before != nil {
		was = strconv.FormatInt(*c.Before, 10)
	}
	return []string{c.Name, was, c.before, strconv.FormatInt(c.After, 10), c.after, map[bool]string{true: "yes", false: "dry run"}[c.Done]}
}

func newRegistersWrite(a *app) *cobra.Command {
	var dry bool
	c := &cobra.Command{
		Use:   "write PORT --id N NAME=VALUE...",
		Short: "set registers for good where the servo keeps them, and read them back",
		Long: "VALUE is raw, or has the register's unit: return_delay=0, max_voltage=12.6V, min_position=-1.57rad; what is a float\n" +
			"in the device is in its unit anyway.\n" +
			"Torque must be off for what the EEPROM keeps; its lock is opened and closed again. When one write does not come\n" +
			"through, those before it are taken back. What would move the servo or lose it is refused.",
		Example: "  halyard registers write /dev/ttyUSB0 --id 1 return_delay=0 temperature_limit=70",
		Args:    cobra.MinimumNArgs(2),
	}
	c.Flags().BoolVarP(&dry, "dry-run", "n", false, "check everything, write nothing")
	return registersCommand(a, c, func(ctx context.Context, s *registers, args []string) error {
		writes, err := s.parse(args)
		if err != nil {
			return err
		}
		rows, err := s.change(ctx, writes, dry)
		if err != nil {
			return err
		}
		return show(a, rows)
	})
}

func newRegistersRestore(a *app) *cobra.Command {
	var dry bool
	c := &cobra.Command{
		Use:   "restore PORT --id N FILE",
		Short: "set what differs from a file of dump or of setup back to it; the id and the rate stay",
		Args:  cobra.ExactArgs(2),
	}
	c.Flags().BoolVarP(&dry, "dry-run", "n", false, "check everything, write nothing")
	return registersCommand(a, c, func(ctx context.Context, s *registers, args []string) error {
		if s.protocol == asVESC {
			return vescRefusal(s.bus, s.id, "registers restore")
		}
		rows, err := s.differences(ctx, args)
		if err != nil {
			return err
		}
		writes, left := s.back(rows)
		for _, why := range left {
			a.note("! not set back: %v", why)
		}
		done, err := s.change(ctx, writes, dry)
		if err != nil {
			return err
		}
		a.note("%s id %d: %d registers set back", s.model.Units().Name, s.id, len(done))
		return show(a, done)
	})
}

// back are the writes that undo differences, and why some cannot be made. What restore is not for (the id, the rate, goals)
// is left out without a word.
func (s *registers) back(rows []differenceRow) (writes []write, left []error) {
	for _, d := range rows {
		r := s.model.Register(d.Name)
		if r.Access == servo.ReadOnly {
			continue
		}
		switch err := s.refuse(r, d.There); {
		case err == nil:
			writes = append(writes, write{r, d.There})
		case hal.KindOf(err) == hal.Invalid:
			left = append(left, err)
		}
	}
	return writes, left
}

// write is a register and what it shall be, raw.
type write struct {
	register *servo.Register
	value    int64
}

// parse reads NAME=VALUE and refuses what must not be written, before anything is.
func (s *registers) parse(args []string) ([]write, error) {
	if s.protocol == asVESC {
		return nil, vescRefusal(s.bus, s.id, "registers write")
	}
	var list []write
	for _, text := range args {
		name, value, ok := strings.Cut(text, "=")
		if !ok {
			return nil, s.invalid("got %q, want NAME=VALUE", text)
		}
		if err := s.known(name); err != nil {
			return nil, err
		}
		r := s.model.Register(name)
		v, err := rawOf(r, value)
		if err != nil {
			return nil, s.invalid("%s: %w", name, err)
		}
		if err := s.refuse(r, v); err != nil {
			return nil, err
		}
		list = append(list, write{r, v})
	}
	return list, nil
}

// rawOf reads a raw value, or one with the register's unit behind it. It must be in range as it is said: nothing is cut.
func rawOf(r *servo.Register, text string) (int64, error) {
	// Of a float on the wire nobody has seen the raw value.
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
		return 0, fmt.Errorf("got %q, want a whole number%s", text, map[bool]string{true: "", false: " or one in " + strings.Replace(unit, "1", "%", 1)}[unit == ""])
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

// refuse says why v must not be written to r by hand; nil where it may.
func (s *registers) refuse(r *servo.Register, v int64) error {
	unsafe := func(try, format string, args ...any) error {
		return &hal.Error{Kind: hal.Unsafe, Bus: s.bus, ID: s.id, Op: "write " + r.Name, Err: fmt.Errorf(format, args...), Try: try}
	}
	switch r.Name {
	case "id", "baud_rate":
		return unsafe(fmt.Sprintf("halyard setup %s --id %d --new-id N", s.bus, s.id), "it would be lost where its new place is taken: setup looks first")
	case "lock":
		return unsafe("", "writes open and close the lock themselves")
	case "protocol_type":
		return unsafe("", "it would not be found again by what talks to this bus")
	case "torque_enable":
		if v != 0 {
			return unsafe("halyard serve", "a servo under torque may move: that is for a program with a guard; 0 takes its torque")
		}
	case "goal_position", "goal_velocity", "goal_current", "goal_pwm", "goal_torque", "goal_time", "moving_speed", "motor_mode", "registered_position", "registered_time":
		return unsafe("halyard serve", "goals move the servo: that is for a program with a guard")
	case "status_return":
		if v == 0 {
			return unsafe("", "it would answer no reads any more: 1 or 2")
		}
	}
	if err := r.CheckWrite(s.model.Units().Name, v); err != nil {
		return s.invalid("%s: %w", r.Name, err)
	}
	return nil
}

// change writes all, each read back. Where one does not come through, or ctx ends, those before it are taken back.
func (s *registers) change(ctx context.Context, writes []write, dry bool) (rows []changeRow, err error) {
	for _, w := range writes {
		row := changeRow{Name: w.register.Name, After: w.value, after: meaning(s.model, w.register, w.value), before: "-"}
		if readable(s.model, w.register) || strings.HasPrefix(row.Name, "indirect_") {
			was, err := readOne(s, s.id, row.Name)
			if err != nil {
				return nil, err
			}
			row.Before, row.before = &was, meaning(s.model, w.register, was)
		}
		rows = append(rows, row)
	}
	if dry {
		return rows, nil
	}
	for i, w := range writes {
		if err = ctx.Err(); err == nil {
			err = writeOne(s, s.id, w.register.Name, w.value)
		}
		if err != nil {
			var e *hal.Error
			if errors.As(err, &e) && e.Kind == hal.Unsafe && e.Try == "" && strings.Contains(err.Error(), "torque") {
				e.Try = fmt.Sprintf("hold what it carries, then: halyard registers write %s --id %d torque_enable=0", s.bus, e.ID)
			}
			return nil, s.takeBack(rows[:i+1], err)
		}
		rows[i].Done = true
	}
	if !slices.ContainsFunc(writes, func(w write) bool { return w.register.Access == servo.EEPROM }) {
		return rows, nil
	}
	return rows, keepsBy(s.tool, s.note)
}

// takeBack puts back what was written before the last of rows failed because of why.
func (s *registers) takeBack(rows []changeRow, why error) error {
	for _, r := range rows {
		if r.Before == nil || hal.KindOf(why) == hal.Unsafe && !r.Done {
			continue
		}
		if worse := writeOne(s, s.id, r.Name, *r.Before); worse != nil {
			return fmt.Errorf("%w; and %s is not as it was: %v", why, r.Name, worse)
		}
	}
	return why
}

// meant is ", did you mean X?" where something in list is near name.
func meant(name string, list []string) string {
	if c := configs.Closest(name, list); c != "" {
		return fmt.Sprintf(": did you mean %q?", c)
	}
	return ""
}

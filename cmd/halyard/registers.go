package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/dynamixel"
	"github.com/halyard-robotics/halyard/servo/feetech"
)

// registerRow is one register of a servo and what its value means.
type registerRow struct {
	Name    string `json:"register"`
	Address int    `json:"address"`
	Raw     int64  `json:"raw"`
	Value   number `json:"value"` // in Unit
	Unit    string `json:"unit"`  // "" = a plain number
	Meaning string `json:"meaning"`
	Default int64  `json:"default"` // the factory's, raw
	Min     int64  `json:"min"`     // what may be written, raw
	Max     int64  `json:"max"`
	Access  string `json:"access"` // read-only, ram (lost with the power) or eeprom (kept)
}

func (registerRow) header() []string {
	return []string{"register", "raw", "value", "default", "range", "access"}
}

func (r registerRow) cells() []string {
	span := "-"
	if r.Access != accessNames[servo.ReadOnly] {
		span = fmt.Sprintf("%d..%d", r.Min, r.Max)
	}
	return []string{r.Name, strconv.FormatInt(r.Raw, 10), r.Meaning, strconv.FormatInt(r.Default, 10), span, r.Access}
}

var accessNames = [...]string{servo.ReadOnly: "read-only", servo.RAM: "ram", servo.EEPROM: "eeprom"}

func rowOf(m servoModel, name string, raw int64) registerRow {
	r := m.Register(name)
	return registerRow{Name: name, Address: int(r.Addr), Raw: raw, Value: number(r.SI(raw)), Unit: r.Unit, Meaning: meaning(m, r, raw),
		Default: r.Default, Min: r.Min, Max: r.Max, Access: accessNames[r.Access]}
}

// meaning is a raw value as a person reads it: with its unit, a rate in bits a second, alarms by their names.
func meaning(m servoModel, r *servo.Register, raw int64) string {
	switch r.Name {
	case "baud_rate":
		if b, ok := m.(interface{ Rate(code byte) int }); ok && b.Rate(byte(raw)) > 0 {
			return strconv.Itoa(b.Rate(byte(raw))) + " Bd"
		}
	case "hardware_error", "shutdown", "unload_condition":
		switch m := m.(type) {
		case *dynamixel.Model:
			return m.Alarms(byte(raw)).String()
		case *feetech.Model:
			return feetech.Alarms(byte(raw)).String()
		}
	case "errors":
		if text := motorErrors(m, raw); text != "" {
			return text
		}
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

// registers is one run of the command: a servo that was found and what is wanted of it.
type registers struct {
	spot
	bus  string // in errors and in what is to be typed next
	note func(format string, args ...any)
}

func newRegisters(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "registers",
		Short: "read, write, save and compare the registers of one servo, by name and with units",
		Long: "The registers of one servo of any brand.\n" + targetHelp + "\nThe servo is looked for at every usual rate and in every protocol; " +
			"--baud and --protocol make it quick.",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Help()
			}
			return misused(cmd, args, fmt.Errorf("unknown command %q for %q", args[0], cmd.CommandPath()))
		},
	}
	c.AddCommand(newRegistersRead(a), newRegistersWrite(a), newRegistersDump(a), newRegistersDiff(a), newRegistersRestore(a))
	return c
}

// registersCommand is a sub-command on one servo; run gets the servo and what follows the port.
func registersCommand(a *app, c *cobra.Command, run func(ctx context.Context, s *registers, args []string) error) *cobra.Command {
	var f lineFlags
	id := c.Flags().Int("id", -1, "the servo's id")
	c.MarkFlagRequired("id")
	f.add(c)
	switch c.Name() {
	case "read":
		c.ValidArgsFunction = completeRegisters(false)
	case "write":
		c.ValidArgsFunction = completeRegisters(true)
	default: // a file may follow
		c.ValidArgsFunction = func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveDefault
			}
			return completeLines(cmd, args, begun)
		}
	}
	c.RunE = func(cmd *cobra.Command, args []string) error {
		a.started = true
		if *id < 0 || *id > 253 {
			return &hal.Error{Kind: hal.Invalid, Op: "--id", Err: fmt.Errorf("got %d, want 0..253", *id)}
		}
		b, err := f.open(cmd, args[0])
		if err != nil {
			return err
		}
		defer b.line.Close()
		if err := b.unecho(a.note); err != nil {
			return err
		}
		b.searching(*id, a.note)
		s, err := meetRegisters(cmd.Context(), &b.finder, *id)
		if err != nil {
			return err
		}
		s.note = a.note
		return run(cmd.Context(), s, args[1:])
	}
	return c
}

// meetRegisters finds the servo with id. The first place where it answers is taken: who has one id at two rates says
// which by --baud.
func meetRegisters(ctx context.Context, f *finder, id int) (*registers, error) {
	spots, err := f.find(ctx, id, false)
	if err != nil {
		return nil, err
	}
	if len(spots) == 0 {
		return nil, &hal.Error{Kind: hal.Absent, Bus: f.port, ID: id, Op: "registers",
			Err: fmt.Errorf("no servo answers at %s Bd, protocol %s", strings.Join(decimals(f.bauds), ", "),
				strings.Join(protocolWords(f.protocols), " or ")), Try: f.scan()}
	}
	if spots[0].model == nil {
		return nil, spots[0].err
	}
	return &registers{spot: spots[0], bus: f.port, note: func(string, ...any) {}}, nil
}

func newRegistersRead(a *app) *cobra.Command {
	return registersCommand(a, &cobra.Command{
		Use:     "read PORT --id N [NAME...]",
		Short:   "the values of the named registers, or of all",
		Example: "  halyard registers read /dev/ttyUSB0 --id 1 present_voltage present_position\n  halyard registers read so101:arm --id 3",
		Args:    cobra.MinimumNArgs(1),
	}, func(ctx context.Context, s *registers, names []string) error {
		rows, err := s.rows(ctx, names)
		return errors.Join(show(a, rows), err)
	})
}

// rows reads the named registers, or all.
func (s *registers) rows(ctx context.Context, names []string) ([]registerRow, error) {
	for _, name := range names {
		if err := s.known(name); err != nil {
			return nil, err
		}
	}
	values := map[string]int64{}
	var err error
	if len(names) == 0 {
		if values, err = readAll(ctx, s, s.model, s.id); err != nil {
			return nil, err
		}
		names = ordered(s.model, values)
	}
	rows := []registerRow{}
	for _, name := range names {
		v, done := values[name]
		if !done {
			if v, err = readOne(s, s.id, name); err != nil {
				return rows, err
			}
		}
		rows = append(rows, rowOf(s.model, name, v))
	}
	return rows, nil
}

// known refuses a name that the servo's model does not have, with the one that was meant.
func (s *registers) known(name string) error {
	if s.model.Register(name) != nil {
		return nil
	}
	return s.invalid("a %s has no register %q%s", s.model.Units().Name, name, meant(name, registerNames(s.model)))
}

func (s *registers) invalid(format string, args ...any) error {
	return &hal.Error{Kind: hal.Invalid, Bus: s.bus, ID: s.id, Op: "registers", Err: fmt.Errorf(format, args...),
		Try: fmt.Sprintf("halyard registers read %s --id %d", s.bus, s.id)}
}

func newRegistersDump(a *app) *cobra.Command {
	return registersCommand(a, &cobra.Command{
		Use:     "dump PORT --id N [FILE]",
		Short:   "all registers as a file that diff and restore read",
		Long:    "Writes all registers to FILE as JSON, never over a file that is there. Without FILE they go to stdout.",
		Example: "  halyard registers dump /dev/ttyUSB0 --id 1 elbow.json",
		Args:    cobra.RangeArgs(1, 2),
	}, func(ctx context.Context, s *registers, args []string) error {
		values, err := readAll(ctx, s, s.model, s.id)
		if err != nil {
			return err
		}
		f := registerFile{Model: s.model.Units().Name, Type: typeOf(s.protocol), ID: s.id, Baud: s.baud, Registers: values}
		if len(args) == 0 {
			return f.encode(a.out)
		}
		if err := f.save(args[0]); err != nil {
			return err
		}
		a.note("%s id %d: %d registers saved in %s. Next: halyard registers diff %s --id %d %s",
			f.Model, f.ID, len(values), args[0], s.bus, s.id, args[0])
		return nil
	})
}

// fileOrID tells an id of a neighbour on the line from the name of a file: a file that is there comes first.
func fileOrID(text string) (id int, isID bool) {
	if _, err := os.Stat(text); err == nil {
		return 0, false
	}
	id, err := strconv.Atoi(text)
	return id, err == nil
}

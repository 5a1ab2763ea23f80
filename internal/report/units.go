package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Units are the units of angles and lengths that people read and type.
type Units string

// The units. Programs get radians and metres.
const (
	SI      Units = "rad" // rad, m
	Degrees Units = "deg" // deg, mm
)

// scales has each unit that a person may type or read, as a multiple of the SI unit.
var scales = map[string]struct {
	si    string
	times float64
}{
	"rad": {"rad", 1}, "deg": {"rad", math.Pi / 180}, "°": {"rad", math.Pi / 180}, "turn": {"rad", 2 * math.Pi},
	"m": {"m", 1}, "cm": {"m", 0.01}, "mm": {"m", 0.001},
}

// Of is the unit in which u shows values of an SI unit, and its size in the SI unit. Other units stay as they are.
func (u Units) Of(si string) (unit string, size float64) {
	base, per := si, ""
	if b, ok := strings.CutSuffix(si, "/s"); ok {
		base, per = b, "/s"
	}
	to := map[string]string{"rad": "deg", "m": "mm"}[base]
	if u != Degrees || to == "" {
		return si, 1
	}
	return to + per, scales[to].times
}

// ParseValue reads a number with a unit for a value in an SI unit (rad, m, rad/s, m/s); without a unit it is in that
// of u.
func (u Units) ParseValue(text, si string) (float64, error) {
	number := strings.TrimRight(text, "abcdefghijklmnopqrstuvwxyz°/")
	unit := strings.TrimSpace(text[len(number):])
	v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	shown, size := u.Of(si)
	if unit != "" {
		base, per := strings.CutSuffix(si, "/s")
		s, known := scales[strings.TrimSuffix(unit, "/s")]
		if !known || s.si != base || strings.HasSuffix(unit, "/s") && !per {
			err = fmt.Errorf("unit %q", unit)
		}
		size = s.times
	}
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		example := map[string]string{"rad": "30deg or 0.5rad", "m": "40mm or 0.04m", "rad/s": "20deg/s",
			"m/s": "50mm/s"}
		return 0, fmt.Errorf("got %q, want a number in %s, such as %s", text, shown, example[si])
	}
	return v * size, nil
}

// Value is a number with its SI unit: a cell that a table shows in the user's units.
type Value struct {
	Number
	Unit string
	Bare bool // its unit is in another column
}

func (v Value) String() string { return v.in(SI) }

func (v Value) in(u Units) string {
	unit, size := u.Of(v.Unit)
	text := Number(float64(v.Number) / size).String()
	if v.Bare || math.IsNaN(float64(v.Number)) {
		return text
	}
	return text + " " + unit
}

// Unit is the SI unit of a row's values: a cell that a table shows in the user's units.
type Unit string

func (u Unit) in(units Units) string {
	text, _ := units.Of(string(u))
	return text
}

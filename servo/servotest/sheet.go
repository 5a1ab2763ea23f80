package servotest

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/halyard-robotics/halyard/servo"
)

// Compare compares a control table with a data sheet, a register a line:
//
//	address size name access default [least..most [count unit]]
//
// access is r, ram or eeprom. count is the value of one count in the register's SI unit, 1 for a plain number, within 2
// in 1000, since sheets round. "-" is a value not in the sheet, # begins a comment. It returns one error for each
// register that differs, is missing, or is only in the table.
func Compare(table []servo.Register, sheet string) (faults []error) {
	fail := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	listed := map[string]bool{}
	for line := range strings.Lines(sheet) {
		line, _, _ = strings.Cut(line, "#")
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		for len(words) < 8 {
			words = append(words, "-")
		}
		name := words[2]
		r := servo.Named(table, name)
		if r == nil || listed[name] {
			fail("%s: not in the table, or twice on the sheet", name)
			continue
		}
		listed[name] = true
		access := [...]string{servo.ReadOnly: "r", servo.RAM: "ram", servo.EEPROM: "eeprom"}[r.Access]
		count := cmp.Or(r.Scale, 1)
		for _, x := range [...]struct{ what, got, want string }{
			{"address", strconv.Itoa(int(r.Addr)), words[0]}, {"size", strconv.Itoa(int(r.Size)), words[1]},
			{"access", access, words[3]},
			{"default", strconv.FormatInt(r.Default, 10), words[4]},
			{"range", fmt.Sprintf("%d..%d", r.Min, r.Max), words[5]},
			{"unit", r.Unit, words[7]},
		} {
			if x.want != "-" && x.got != x.want {
				fail("%s: %s: got %s, want %s", name, x.what, x.got, x.want)
			}
		}
		if words[6] == "-" {
			continue
		}
		if want, err := strconv.ParseFloat(words[6], 64); err != nil || !(math.Abs(count-want) <= 2e-3*math.Abs(want)) {
			fail("%s: a count: got %g, want %s", name, count, words[6])
		}
	}
	for i := range table {
		if !listed[table[i].Name] {
			fail("%s at %d: not on the sheet", table[i].Name, table[i].Addr)
		}
	}
	return faults
}

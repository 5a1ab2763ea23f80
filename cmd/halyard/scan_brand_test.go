package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo/dynamixel"
	"github.com/halyard-robotics/halyard/sim/actuator"
	"github.com/halyard-robotics/halyard/sim/emulator"
)

// brandBus is a bus in memory with servos of a model at ids.
func brandBus(t *testing.T, kind, model string, baud int, ids ...int) *emulator.Bus {
	t.Helper()
	spec, _ := actuator.Lookup(model)
	var servos []*emulator.Servo
	for _, id := range ids {
		servos = append(servos, busTypes[kind].emulate(lookupServo(model), id, actuator.NewServo(spec), emulator.Truth{}))
	}
	return emulator.NewBus(emulator.BusConfig{Name: "test", Baud: baud}, servos...)
}

func TestScanOfBrands(t *testing.T) {
	for _, c := range []struct {
		kind, model string
		baud        int
		protocols   []int
		want        string
	}{
		// Asked as a Dynamixel it answers, and says then what it is.
		{"feetech", "sts3215", 500000, []int{2, 1}, "3 sts3215 500000; 7 sts3215 500000; "},
		{"feetech", "scs0009", 1000000, []int{asFeetech}, "3 scs0009 1000000; 7 scs0009 1000000; "},
		{"hiwonder", "lx-16a", 115200, []int{asHiwonder}, "3 lx-16a 115200; 7 lx-16a 115200; "},
		{"kondo", "krs-2552", 1250000, []int{asKondo}, "3  1250000!; 7  1250000!; "},
	} {
		s := surveyOf(brandBus(t, c.kind, c.model, c.baud, 3, 7).Line())
		s.protocols, s.bauds = c.protocols, []int{1000000, 1250000, 500000, 115200}
		rows, err := s.run(t.Context())
		if got := brief(rows); err != nil || got != c.want {
			t.Errorf("%s: got %q, %v; want %q", c.model, got, err, c.want)
		}
		for _, r := range rows {
			if r.Type != c.kind || r.Protocol != 0 {
				t.Errorf("%s: got type %q, protocol %d", c.model, r.Type, r.Protocol)
			}
		}
	}
}

func TestSetupOfBrands(t *testing.T) {
	for _, c := range []struct {
		name, kind, model string
		baud              int
		protocol          int
		change            func(s *setup)
		want              string // id@baud of all, or a part of the error
	}{
		{"id", "feetech", "sts3215", 1000000, asFeetech, func(s *setup) { s.newID = 9 }, "9@1000000"},
		{"id and rate", "feetech", "sts3250", 1000000, asFeetech, func(s *setup) { s.newID, s.newBaud = 9, 500000 }, "9@500000"},
		{"id", "hiwonder", "lx-16a", 115200, asHiwonder, func(s *setup) { s.newID = 9 }, "9@115200"},
		{"id", "kondo", "krs-2552", 1250000, asKondo, func(s *setup) { s.newID = 9 }, "9@1250000"},
		{"absent", "feetech", "sts3215", 1000000, asFeetech, func(s *setup) { s.id, s.newID = 4, 9 }, "no servo answers"},
		{"the same", "kondo", "krs-2552", 1250000, asKondo, func(s *setup) { s.newID = 40 }, "want 0..31"},
		{"a rate it has not", "hiwonder", "lx-16a", 115200, asHiwonder, func(s *setup) { s.newBaud = 1000000 }, "cannot be told"},
		{"no such register", "feetech", "sts3215", 1000000, asFeetech, func(s *setup) {
			s.newID, s.writes = 9, []dynamixel.Setting{{Register: "nonsense", Value: 1}}
		}, "not a register"},
	} {
		bus := brandBus(t, c.kind, c.model, c.baud, 3)
		s := &setup{line: bus.Line(), port: "PORT", id: 3, newID: -1, bauds: []int{115200, 1000000, 1250000}, protocols: []int{c.protocol}, note: func(string, ...any) {}}
		c.change(s)
		done, err := s.runBrand(t.Context())
		one := bus.Servos()[0]
		id, _ := one.Register("id")
		got := fmt.Sprint(id, "@", c.baud)
		if code, ok := one.Register("baud_rate"); ok && c.kind == "feetech" {
			got = fmt.Sprint(id, "@", map[int64]int{0: 1000000, 1: 500000}[code])
		}
		if got = strings.ReplaceAll(got, " ", ""); err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, c.want) || err == nil && (done == nil || !done.Done || len(done.Backup) == 0) {
			t.Errorf("%s %s: got %q, %+v; want %q", c.model, c.name, got, done, c.want)
		}
		// Whatever happened, the EEPROM is locked again.
		if v, ok := one.Register("lock"); ok && v != 1 {
			t.Errorf("%s %s: the lock is open", c.model, c.name)
		}
	}
	// A taken id is refused.
	bus := brandBus(t, "feetech", "sts3215", 1000000, 3, 9)
	s := &setup{line: bus.Line(), id: 3, newID: 9, bauds: []int{1000000}, protocols: []int{asFeetech}, note: func(string, ...any) {}}
	if _, err := s.runBrand(t.Context()); hal.KindOf(err) != hal.Unsafe {
		t.Errorf("taken: got %v", err)
	}
}

package main

import (
	"context"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/drivers/camera"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/sim/emulator/uart"
)

// Every device that a config may name is on trial, on every bus that it can hang on: a new one comes by itself, or is missed
// here.
func TestFaultRows(t *testing.T) {
	rows := faultRows()
	has := func(what string, is func(r *faultRow) bool) {
		t.Helper()
		if !slices.ContainsFunc(rows, is) {
			t.Errorf("%s: no row in faultRows", what)
		}
	}
	for kind := range busTypes {
		has(kind, func(r *faultRow) bool { return r.bus == kind && r.lineType == kind && r.baud > 0 })
	}
	for device := range outputKinds() {
		has(device, func(r *faultRow) bool { return r.device == device && strings.Contains(r.board, device) })
	}
	for device, kind := range sensorKinds() {
		for _, bus := range kind.buses {
			has(device+" on "+bus, func(r *faultRow) bool { return r.device == device && r.bus == bus && (r.tag != 0) == kind.reads })
		}
	}
	for _, e := range camera.Encodings() {
		has("a camera of "+e.Word, func(r *faultRow) bool { return r.bus == videoBus && strings.Contains(r.cameras, "format: "+e.Word) })
	}
	// All that a config may hang on one line of a chip.
	for _, of := range []reflect.Type{reflect.TypeFor[configs.Hardware](), reflect.TypeFor[configs.Joint]()} {
		for _, field := range reflect.VisibleFields(of) {
			if word, _, _ := strings.Cut(field.Tag.Get("yaml"), ","); strings.HasSuffix(field.Type.String(), "configs.Wire") {
				has(word, func(r *faultRow) bool {
					return r.device == word && r.try != nil && strings.Contains(r.wires+r.board, word+": {")
				})
			}
		}
	}
	for device := range baseKinds() {
		has(device, func(r *faultRow) bool { return r.device == device && strings.Contains(r.base, device) })
	}
	for kind, models := range exemplars() {
		for _, model := range models {
			if b, ok := busTypes[kind]; !ok || b.lookup(model) == nil {
				t.Errorf("%s: %s is no servo of it", kind, model)
			}
		}
	}
}

// Every device against every fault: a third of the cells with one seed, or, with eight seeds, all of them:
//
//	HALYARD_LONG=1 go test -run TestFaultMatrix -timeout 30m -v ./cmd/halyard
func TestFaultMatrix(t *testing.T) {
	seeds, every := 8, 1
	if os.Getenv("HALYARD_LONG") == "" {
		seeds, every = 1, 3
	}
	for i, r := range faultRows() {
		for k, w := range faultWords() {
			if (i+k)%every != 0 {
				continue
			}
			t.Run(r.device+"/"+r.bus+"/"+w.name, func(t *testing.T) {
				c, err := runCell(t.Context(), r, &w, seeds)
				if err != nil || c.failed {
					t.Errorf("%s, %v", c.Outcome, err)
				}
				t.Logf("%s: %v ms old, told after %v ms, back after %v ms", c.Outcome, c.Oldest, c.Told, c.Back)
			})
		}
	}
}

// What the matrix has found stays mended, with the dice that found it: a servo back from noise that was never told a goal
// again, a tripped watchdog that nobody saw, a scanner that waited for the rest of a request.
func TestFaultFinds(t *testing.T) {
	rows, words := faultRows(), faultWords()
	for _, c := range []struct {
		device, bus, fault string
		seed               int64
	}{{"vesc-4", "vesc", "garbage", 2}, {"xl430-w250", "dynamixel2", "doubled", 12}, {"rplidar", serialBus, "short", 1}} {
		r := rows[slices.IndexFunc(rows, func(r *faultRow) bool { return r.device == c.device && r.bus == c.bus })]
		w := words[slices.IndexFunc(words, func(w faultWord) bool { return w.name == c.fault })]
		if got := tryCell(r, &w, c.seed); got.failed {
			t.Errorf("%s, %s, seed %d: %s", c.device, c.fault, c.seed, got.Outcome)
		}
	}
}

// The same seed tells the same, however the machine is busy: a line is lost and opened again in the same cycles.
func TestFaultsRepeat(t *testing.T) {
	words := faultWords()
	for i, r := range faultRows() {
		if i%5 != 0 && r.device != "p2os" && r.bus != videoBus {
			continue
		}
		for k := range words {
			if w := &words[k]; w.dead && w.plant(r) != nil {
				if one, two := fmt.Sprint(tryCell(r, w, 2)), fmt.Sprint(tryCell(r, w, 2)); one != two {
					t.Errorf("%s, %s: got %s, then %s", r.device, w.name, one, two)
				}
			}
		}
	}
}

// The judges see what they are there for: a cell with each kind of wrong is red.
func TestFaultJudges(t *testing.T) {
	rows := faultRows()
	row := func(device, bus string) *faultRow {
		return rows[slices.IndexFunc(rows, func(r *faultRow) bool { return r.device == device && r.bus == bus })]
	}
	nothing := func(*testRig, bool) error { return nil }
	for _, c := range []struct {
		name string
		row  *faultRow
		word faultWord
		want string
	}{
		{"a value that is not true", row("bno055", i2cBus), faultWord{i2c: func(s *testRig, wholly bool) error {
			s.row.values["device"] = []float64{2}
			return nil
		}}, "wrong: device"},
		{"another tag", row("pn532", serialBus), faultWord{serial: func(s *testRig, wholly bool) error {
			for _, f := range s.sys.emulation.fields {
				f.held = []uint32{7}
			}
			return nil
		}}, "wrong: device"},
		{"a servo that lags", row("sts3215", "feetech"), faultWord{serial: func(s *testRig, wholly bool) error {
			s.row.off = 1e-6
			return nil
		}}, "wrong: "},
		{"values that come though nothing can", row("sts3215", "feetech"), faultWord{serial: nothing, dead: true}, "lies: one"},
		{"silence, which is told", row("ax-12a", "dynamixel1"), faultWord{name: "deaf", serial: func(s *testRig, wholly bool) error {
			if wholly {
				s.tap().Fault(uart.Fault{Kind: uart.NoReply})
			}
			return nil
		}}, ""},
		{"a picture of another time", row("v4l2, grey", videoBus), faultWord{video: func(s *testRig, wholly bool) error {
			s.eye.blinker.period /= 2
			return nil
		}}, "wrong: eye"},
		{"a button that nobody hears", row("estop", gpioBus), faultWord{dead: true, gpio: nothing}, "not stopped"},
		{"a gate that nobody hears", row("gate", gpioBus), faultWord{dead: true, gpio: nothing}, "lies: pulse"},
		{"a light that is away unnoticed", row("lights", gpioBus), faultWord{gpio: nothing}, "no event"},
		{"it never ends", row("ina219", i2cBus), faultWord{i2c: func(s *testRig, wholly bool) error {
			s.row.address, s.row.on = 0x40, "main" // the neighbour's board
			return s.darken(true)
		}}, "harmed: pulse"},
	} {
		got := tryCell(c.row, &c.word, 1)
		if got.failed != (c.want != "") || !strings.HasPrefix(got.Outcome, c.want) {
			t.Errorf("%s: got %q, want %q", c.name, got.Outcome, c.want)
		}
	}
}

// What a shell sees: JSON lines of the documented form, and which devices and faults there are.
func TestFaultsCommand(t *testing.T) {
	code, out, text := runApp(t, "faults", "ina219", "--fault", "power", "--seeds", "1", "-o", "jsonl")
	if want := `{"device":"ina219","bus":"i2c","fault":"power","outcome":"told","oldest_ms":`; code != 0 || !strings.HasPrefix(out, want) {
		t.Errorf("exit %d: %s\n%s", code, out, text)
	}
	code, out, _ = runApp(t, "faults", "kernel-pwm", "--fault", "lost")
	if code != 0 || !strings.Contains(out, "kernel-pwm  -    lost   n/a") {
		t.Errorf("exit %d:\n%s", code, out)
	}
	for _, args := range [][]string{{"faults", "warp-drive"}, {"faults", "--fault", "gremlins"}, {"faults", "--seeds", "0"}} {
		if code, _, text := runApp(t, args...); code != 2 || !strings.Contains(text, "want") {
			t.Errorf("%v: exit %d: %s", args, code, text)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := runCell(ctx, faultRows()[0], &faultWords()[0], 1); err == nil || hal.KindOf(err) != hal.Unexpected {
		t.Errorf("interrupted: got %v", err)
	}
}

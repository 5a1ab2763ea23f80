package main

import (
	"context"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard/cmd/halyard-lab/internal/lab"
	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/drivers/camera"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/hal/haltest"
	"github.com/halyard-robotics/halyard/internal/catalog"
	"github.com/halyard-robotics/halyard/internal/plan"
	"github.com/halyard-robotics/halyard/sim/emulator/wire"
)

// Every device that a config can name has a row, on every bus that it can be connected to.
func TestFaultRows(t *testing.T) {
	rows := lab.FaultRows()
	has := func(what string, is func(r *lab.FaultRow) bool) {
		t.Helper()
		if !slices.ContainsFunc(rows, is) {
			t.Errorf("%s: no row in faultRows", what)
		}
	}
	for _, kind := range catalog.BuiltinBuses().Names() {
		has(kind, func(r *lab.FaultRow) bool { return r.Bus == kind && r.LineType == kind && r.Baud > 0 })
	}
	for device := range catalog.OutputKinds() {
		has(device, func(r *lab.FaultRow) bool { return r.Device == device && strings.Contains(r.Board, device) })
	}
	for device, kind := range catalog.SensorKinds() {
		for _, bus := range kind.Buses {
			has(device+" on "+bus, func(r *lab.FaultRow) bool {
				return r.Device == device && r.Bus == bus && (r.Tag != 0) == kind.Reads
			})
		}
	}
	for _, e := range camera.Encodings() {
		has("a camera of "+e.Word, func(r *lab.FaultRow) bool {
			return r.Bus == lab.VideoBus && strings.Contains(r.Cameras, "format: "+e.Word)
		})
	}
	// Everything that a config can connect to one line of a chip.
	for _, of := range []reflect.Type{reflect.TypeFor[configs.Hardware](), reflect.TypeFor[configs.Joint]()} {
		for _, field := range reflect.VisibleFields(of) {
			if word, _, _ := strings.Cut(field.Tag.Get("yaml"), ","); strings.HasSuffix(field.Type.String(),
				"configs.Wire") {
				has(word, func(r *lab.FaultRow) bool {
					return r.Device == word && r.Try != nil && strings.Contains(r.Wires+r.Board, word+": {")
				})
			}
		}
	}
	for device := range plan.BaseKinds() {
		has(device, func(r *lab.FaultRow) bool { return r.Device == device && strings.Contains(r.Base, device) })
	}
	for _, b := range catalog.BuiltinBuses() {
		kind := b.Type
		for _, model := range b.Samples {
			if b.Lookup(model) == nil {
				t.Errorf("%s: %s is no servo of it", kind, model)
			}
		}
		if len(b.Samples) == 0 {
			t.Errorf("%s: no servo stands for it", kind)
		}
	}
}

// Every device against every fault: a third of the cells with one seed, or, with eight seeds, all of them:
//
//	HALYARD_LONG=1 go test -run TestFaultMatrix -timeout 30m -v ./cmd/halyard
func TestFaultMatrix(t *testing.T) {
	t.Parallel()
	seeds, every := 8, 1
	if os.Getenv("HALYARD_LONG") == "" {
		seeds, every = 1, haltest.Sample(9, 3)
	}
	for i, r := range lab.FaultRows() {
		for k, w := range lab.FaultWords() {
			if (i+k)%every != 0 {
				continue
			}
			t.Run(r.Device+"/"+r.Bus+"/"+w.Name, func(t *testing.T) {
				c, err := lab.RunCell(t.Context(), r, &w, seeds)
				if err != nil || c.Failed {
					t.Errorf("%s, %v", c.Outcome, err)
				}
				t.Logf("%s: %v ms old, told after %v ms, back after %v ms", c.Outcome, c.MaxAge, c.Detect, c.Recover)
			})
		}
	}
}

// Faults that the matrix has found stay mended, tested with the seeds that found them: a servo that got no goal again
// after noise, an undetected watchdog trip, a scanner that waited for the rest of a request. A pulse that comes back
// after a fault is on its way to its goal at a bounded speed, which is no wrong pulse.
func TestFaultFinds(t *testing.T) {
	rows, words := lab.FaultRows(), lab.FaultWords()
	for _, c := range []struct {
		device, bus, fault string
		seed               int64
	}{{"vesc-4", "vesc", "garbage", 2}, {"xl430-w250", "dynamixel2", "duplicated", 12},
		{"rplidar", catalog.SerialBus, "truncated", 1}, {"pca9685", catalog.I2CBus, "delayed", 1}} {
		r := rows[slices.IndexFunc(rows, func(r *lab.FaultRow) bool { return r.Device == c.device && r.Bus == c.bus })]
		w := words[slices.IndexFunc(words, func(w lab.FaultWord) bool { return w.Name == c.fault })]
		if got := lab.TryCell(r, &w, c.seed); got.Failed {
			t.Errorf("%s, %s, seed %d: %s", c.device, c.fault, c.seed, got.Outcome)
		}
	}
}

// The same seed tells the same, however the machine is busy: a line is lost and opened again in the same cycles.
func TestFaultsRepeat(t *testing.T) {
	t.Parallel()
	words := lab.FaultWords()
	for i, r := range lab.FaultRows() {
		if i%haltest.Sample(15, 5) != 0 && r.Device != "p2os" && r.Bus != lab.VideoBus {
			continue
		}
		for k := range words {
			if w := &words[k]; w.Dead && w.Plant(r) != nil {
				if one, two := fmt.Sprint(lab.TryCell(r, w, 2)), fmt.Sprint(lab.TryCell(r, w, 2)); one != two {
					t.Errorf("%s, %s: got %s, then %s", r.Device, w.Name, one, two)
				}
			}
		}
	}
}

// The judges see what they are there for: a cell with each kind of wrong is red.
func TestFaultJudges(t *testing.T) {
	rows := lab.FaultRows()
	row := func(device, bus string) *lab.FaultRow {
		return rows[slices.IndexFunc(rows, func(r *lab.FaultRow) bool { return r.Device == device && r.Bus == bus })]
	}
	nothing := func(*lab.TestRig, bool) error { return nil }
	for _, c := range []struct {
		name string
		row  *lab.FaultRow
		word lab.FaultWord
		want string
	}{
		{"a value that is not true", row("bno055", catalog.I2CBus),
			lab.FaultWord{I2c: func(s *lab.TestRig, wholly bool) error {
				s.Row.Values["device"] = []float64{2}
				return nil
			}}, "wrong: device"},
		{"another tag", row("pn532", catalog.SerialBus), lab.FaultWord{Serial: func(s *lab.TestRig, wholly bool) error {
			for _, f := range s.Sys.Emulation.Fields {
				f.Held = []uint32{7}
			}
			return nil
		}}, "wrong: device"},
		{"a servo that lags", row("sts3215", "feetech"), lab.FaultWord{Serial: func(s *lab.TestRig, wholly bool) error {
			s.Row.Off = 1e-6
			return nil
		}}, "wrong: "},
		{"values that come though nothing can", row("sts3215", "feetech"), lab.FaultWord{Serial: nothing, Dead: true},
			"lies: one"},
		{"silence, which is told", row("ax-12a", "dynamixel1"),
			lab.FaultWord{Name: "deaf", Serial: func(s *lab.TestRig, wholly bool) error {
				if wholly {
					s.Tap().Fault(wire.Fault{Kind: wire.OpenWire})
				}
				return nil
			}}, ""},
		{"a picture of another time", row("v4l2-grey", lab.VideoBus),
			lab.FaultWord{Video: func(s *lab.TestRig, wholly bool) error {
				s.Eye.Blinker.Period /= 2
				return nil
			}}, "wrong: eye"},
		{"a button without effect", row("estop", catalog.GPIOBus), lab.FaultWord{Dead: true, Gpio: nothing},
			"not stopped"},
		{"a gate without effect", row("output_enable", catalog.GPIOBus), lab.FaultWord{Dead: true, Gpio: nothing},
			"lies: pulse"},
		{"a light that is away unnoticed", row("lights", catalog.GPIOBus), lab.FaultWord{Gpio: nothing}, "no event"},
		{"it never ends", row("ina219", catalog.I2CBus), lab.FaultWord{I2c: func(s *lab.TestRig, wholly bool) error {
			s.Row.Address, s.Row.On = 0x40, "main" // the neighbour's board
			return s.Darken(true)
		}}, "harmed: pulse"},
	} {
		got := lab.TryCell(c.row, &c.word, 1)
		if got.Failed != (c.want != "") || !strings.HasPrefix(got.Outcome, c.want) {
			t.Errorf("%s: got %q, want %q", c.name, got.Outcome, c.want)
		}
	}
}

// What a shell sees: JSON lines of the documented form, and which devices and faults there are.
func TestFaultsCommand(t *testing.T) {
	code, out, text := runApp(t, "faults", "ina219", "--fault", "power_loss", "--seeds", "1", "-o", "jsonl")
	if want := `{"device":"ina219","bus":"i2c","fault":"power_loss","outcome":"detected","max_age_ms":`; code != 0 ||
		!strings.HasPrefix(out, want) {
		t.Errorf("exit %d: %s\n%s", code, out, text)
	}
	code, out, _ = runApp(t, "faults", "kernel-pwm", "--fault", "dropped")
	if code != 0 || !strings.Contains(out, "kernel-pwm  -    dropped  n/a") {
		t.Errorf("exit %d:\n%s", code, out)
	}
	for _, args := range [][]string{{"faults", "warp-drive"}, {"faults", "--fault", "gremlins"},
		{"faults", "--seeds", "0"}} {
		if code, _, text := runApp(t, args...); code != 2 || !strings.Contains(text, "want") {
			t.Errorf("%v: exit %d: %s", args, code, text)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := lab.RunCell(ctx, lab.FaultRows()[0], &lab.FaultWords()[0], 1); err == nil ||
		hal.KindOf(err) != hal.Unexpected {
		t.Errorf("interrupted: got %v", err)
	}
}

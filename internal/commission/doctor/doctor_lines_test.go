package doctor_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/drivers/gpio"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/assembly"
	"github.com/halyard-robotics/halyard/internal/commission/doctor"
	"github.com/halyard-robotics/halyard/internal/rigtest"
	"github.com/halyard-robotics/halyard/sim/emulator/wire"
)

// Each planted fault of lines is named by its cause, with its fix, and nothing else is.
func TestDoctorLines(t *testing.T) {
	with := strings.Replace(doctor.FeelerRig, "      estop:", "      monitors:\n        far: {bus: io, device: "+
		"hc-sr04, lines: [23, ECHO]}\n        warm: {bus: io, device: pir, lines: [22]}\n      estop:", 1)
	fault := func(f wire.Fault) func(*assembly.Emulation) {
		return func(e *assembly.Emulation) { e.Gpios["io"].Fault(f) }
	}
	hold := func(line string) func(*assembly.Emulation) {
		return func(e *assembly.Emulation) {
			io := e.Gpios["io"]
			if err := gpio.NewSwitch(gpio.Pins{Open: io.Host().Open, Lines: []string{line},
				User: "gpioset"}).Open(); err != nil {
				t.Error(err)
			}
		}
	}
	for _, c := range []struct {
		name   string
		pairs  []string
		tamper func(*assembly.Emulation)
		want   []string // check, state, and what it says
		kind   hal.Kind
	}{
		{"none", nil, nil, nil, hal.Unexpected},
		{"no gate", []string{", output_enable: {bus: io, line: 4}", ""}, nil,
			[]string{"output_enable warn goes on pulsing when the program dies"}, hal.Unexpected},
		{"chip gone", nil, fault(wire.Fault{Kind: wire.Unplugged}), []string{"device fail no such file"}, hal.Absent},
		{"bumper's line held", nil, hold("17"), []string{`line fail line 17 is held by "gpioset"`}, hal.Busy},
		{"gate's line held", nil, hold("4"), []string{`line fail line 4 is held by "gpioset"`}, hal.Busy},
		{"button's line held", nil, hold("BUTTON"), []string{`line fail line BUTTON is held by "gpioset"`}, hal.Busy},
		{"button's wire cut", nil, func(e *assembly.Emulation) {
			e.Gpios["io"].Fault(wire.Fault{Kind: wire.OpenWire, Target: e.Gpios["io"].At["BUTTON"]})
		}, []string{"estop fail its circuit is open"}, hal.Unsafe},
		{"sonar without power", nil, func(e *assembly.Emulation) {
			e.Gpios["io"].Fault(wire.Fault{Kind: wire.OpenWire, Target: e.Gpios["io"].At["ECHO"]})
		},
			[]string{"device fail no answer to a trigger"}, hal.Timeout},
		{"echo shorted", nil, func(e *assembly.Emulation) {
			e.Gpios["io"].Fault(wire.Fault{Kind: wire.StuckHigh, Target: e.Gpios["io"].At["ECHO"]})
		}, []string{"device fail stays high"}, hal.Timeout},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, err := doctor.NewExamination(rigtest.PlanOf(t, rigtest.RigOf(t, with, doctor.Feeler(), c.pairs...),
				configs.Options{}),
				"emulated", nil)
			if err != nil {
				t.Fatal(err)
			}
			d.Tamper = c.tamper
			if err := d.Run(context.Background()); err != nil {
				t.Fatal(err)
			}
			var wrong []doctor.Finding
			for _, f := range d.Found {
				if f.State != doctor.StateOK {
					wrong = append(wrong, f)
				}
			}
			if len(wrong) != len(c.want) {
				t.Fatalf("got %+v, want %q", wrong, c.want)
			}
			for i, want := range c.want {
				words := strings.SplitN(want, " ", 3)
				if f := wrong[i]; f.Check != words[0] || f.State != words[1] || !strings.Contains(f.Found, words[2]) ||
					f.Fix == "" {
					t.Errorf("got %+v, want %q with a fix", f, want)
				}
			}
			if err := d.Verdict(false); c.kind != hal.Unexpected && hal.KindOf(err) != c.kind ||
				c.kind == hal.Unexpected && err != nil {
				t.Errorf("verdict: got %v, want kind %v", err, c.kind)
			}
		})
	}
}

// Who may not open a chip is told what to type.
func TestLineFix(t *testing.T) {
	denied := &hal.Error{Kind: hal.Busy, Err: errors.New("permission denied"),
		Try: "sudo usermod -aG gpio $USER, then log in again"}
	for says, err := range map[string]error{"usermod -aG gpio": denied, "gpioinfo": &hal.Error{Kind: hal.Busy},
		"ls /dev/gpiochip*": &hal.Error{Kind: hal.Absent}, "its wires": &hal.Error{Kind: hal.Timeout}} {
		if got := doctor.LineFix(err); !strings.Contains(got, says) {
			t.Errorf("%v: got %q, want %q", err, got, says)
		}
	}
}

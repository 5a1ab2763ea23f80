package assembly_test

import (
	"log/slog"
	"os"
	"testing"

	"github.com/halyard-robotics/halyard/calibration"
	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/assembly"
	"github.com/halyard-robotics/halyard/internal/rigtest"
	"github.com/halyard-robotics/halyard/servo"
)

// filed is a line in memory with a descriptor, as a port has one.
type filed struct{ servo.Line }

func (filed) File() (*os.File, error) { return os.Open(os.DevNull) }

// remembered is a driver with the chains that it made.
type remembered struct {
	servo.Driver
	made *[]servo.LineChain
}

func (r remembered) Chain(cfg servo.ChainConfig) servo.LineChain {
	c := r.Driver.Chain(cfg)
	*r.made = append(*r.made, c)
	return c
}

// TestChainIsTheDrivers: the chain of a real line that a system asks for all that a chain can do is the one that the
// driver made, not another one around it: a supervisor that got no telegram left torque on. What the rig asks of a bus
// it finds on it too, also on one of emulated devices.
func TestChainIsTheDrivers(t *testing.T) {
	p := rigtest.PlanOf(t, "so101", configs.Options{Body: "emulated"})
	lines, err := assembly.Build(p, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer lines.Close()
	for _, kind := range []configs.BodyKind{configs.Real, configs.Emulated} {
		var made []servo.LineChain
		p := rigtest.PlanOf(t, "so101", configs.Options{Body: "emulated"})
		for i := range p.Catalog.Buses {
			b := &p.Catalog.Buses[i]
			b.Driver = remembered{b.Driver, &made}
		}
		if kind == configs.Real {
			p.Replay = true // its line is the one given here
			for k := range p.Agents[0].Joints {
				j := &p.Agents[0].Joints[k]
				j.Body = kind
				u := j.Servo.Units()
				j.Calibration = calibration.Nominal(p.Agents[0].Robot.Joints[k].Name, calibration.Servo{Model: u.Name,
					ID: j.Hardware.ID}, calibration.Model{TicksPerTurn: u.TicksPerTurn, CentreTicks: u.CentreTicks,
					MaxTicks: u.MaxTicks, TorqueConstant: u.TorqueConstant})
			}
			p.Tap = func(string, configs.BodyKind, servo.Opener) servo.Opener {
				return func() (servo.Line, error) {
					l, err := lines.Lines[0].Emu.Open()
					return filed{l}, err
				}
			}
		}
		sys, err := assembly.Build(p, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		defer sys.Close()
		if len(made) != 1 || sys.Lines[0].Chain != made[0] {
			t.Errorf("%s: got chain %T, want the driver's %T itself", kind, sys.Lines[0].Chain, made[0])
		}
		buses := sys.Buses()
		for _, b := range buses {
			if _, ok := b.(hal.TorqueCutter); !ok {
				t.Errorf("%s: a stop cannot cut the torque of %T", kind, b)
			}
			if _, ok := b.(interface{ ClearAlarms() []error }); !ok {
				t.Errorf("%s: a reset cannot clear the alarms of %T", kind, b)
			}
		}
		if kind != configs.Real {
			continue
		}
		if buses[0] != hal.Bus(made[0]) {
			t.Errorf("the rig: got %T, want the driver's chain", buses[0])
		}
		held, without, err := sys.Supervised()
		if err != nil || len(held) != 1 || len(held[0].Bytes) == 0 || len(without) > 0 {
			t.Errorf("supervised: got %d lines, without %v, %v", len(held), without, err)
		}
		for _, h := range held {
			h.File.Close()
		}
	}
}

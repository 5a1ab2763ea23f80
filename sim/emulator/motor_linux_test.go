package emulator_test

import (
	"context"
	"path/filepath"
	"sync"
	"testing"

	emuodrive "github.com/halyard-robotics/halyard/internal/emulator/odrive"
	emuvesc "github.com/halyard-robotics/halyard/internal/emulator/vesc"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/odrive"
	"github.com/halyard-robotics/halyard/servo/vesc"
	"github.com/halyard-robotics/halyard/sim/emulator"
)

// A VESC with another behind it, and an ODrive with both its axes, are driven over a pseudo terminal, on the wall's
// clock, as over a port.
func TestMotorsOnAPTY(t *testing.T) {
	v, o := vesc.ModelByName("vesc-6"), odrive.ModelByName("odrive-v3")
	for _, c := range []struct {
		name   string
		servos []*emulator.Servo
		open   func(line servo.Line) servo.Chain
		goal   float64
	}{
		{"vesc", []*emulator.Servo{emuvesc.New(v, 4, motorActuator(t, "vesc-6"), emulator.GroundTruth{}),
			emuvesc.New(v, 9, motorActuator(t, "vesc-6"), emulator.GroundTruth{})},
			func(line servo.Line) servo.Chain {
				return vesc.NewChain(servo.ChainConfig{Line: line, Latency: ptyTimeout,
					Servos: []servo.ServoConfig{{ID: 4, Model: v}, {ID: 9, Model: v}}})
			}, 8700},
		{"odrive", []*emulator.Servo{emuodrive.New(o, 0, motorActuator(t, "odrive-v3"), emulator.GroundTruth{}),
			emuodrive.New(o, 1, motorActuator(t, "odrive-v3"), emulator.GroundTruth{})},
			func(line servo.Line) servo.Chain {
				return odrive.NewSerialChain(servo.ChainConfig{Line: line, Latency: ptyTimeout,
					Servos: []servo.ServoConfig{{ID: 0, Model: o}, {ID: 1, Model: o}}})
			}, 500},
	} {
		t.Run(c.name, func(t *testing.T) {
			var mu sync.Mutex // held around the physics, too
			bus := emulator.NewBus(emulator.BusConfig{Name: c.name, Baud: 115200, Mutex: &mu}, c.servos...)
			ctx, cancel := context.WithCancel(t.Context())
			link := filepath.Join(t.TempDir(), "line")
			_, wait, err := bus.ServePTY(ctx, link)
			if err != nil {
				cancel()
				t.Skipf("no pseudo terminals here: %v", err)
			}
			defer func() {
				cancel()
				if err := wait(); err != nil {
					t.Error(err)
				}
			}()
			chain := c.open(openTTY(t, link, 115200))
			if err := chain.Open(); err != nil {
				t.Fatal(err)
			}
			onPTY(t, chain, c.servos, &mu, c.goal, 40)
			haltsOnPTY(t, chain, c.servos, &mu)
		})
	}
}

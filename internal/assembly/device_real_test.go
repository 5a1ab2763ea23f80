package assembly_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/calibration"
	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/drivers/imu"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/assembly"
	"github.com/halyard-robotics/halyard/internal/commission/doctor"
	"github.com/halyard-robotics/halyard/internal/plan"
	"github.com/halyard-robotics/halyard/internal/rigtest"
	"github.com/halyard-robotics/halyard/sim/emulator/chip"
)

// buildOnPTY builds p, whose devices answer from goroutines of this process: on a busy machine one may answer too late,
// so it tries again.
func buildOnPTY(p *plan.Plan) (sys *assembly.System, err error) {
	for range 20 {
		if sys, err = assembly.Build(p, slog.New(slog.DiscardHandler)); err == nil {
			break
		}
	}
	return sys, err
}

// The real drivers in its own goroutine, on serial ports of the operating system: what is commanded becomes pulses,
// what the chip feels becomes values, and an emergency stop ends the pulses and says which joints acknowledged.
func TestRealDevicesOnPTYs(t *testing.T) {
	maestro, bno := chip.NewMaestro(6, 12, false), chip.NewBNO055(imu.BNO055Address)
	board, sensor := rigtest.Plug(t, maestro), rigtest.Plug(t, bno)
	path := rigtest.RigOf(t, doctor.NodderRig, doctor.Nodder, "body: emulated", "body: real",
		"{type: i2c, port: /dev/i2c-nobody}", "{type: serial, port: "+sensor.Path+"}",
		"{type: dynamixel2, port: /dev/serial/by-id/nobody}", "{type: serial, port: "+board.Path+"}",
		"{bus: line, id: 1, model: xl430-w250}", "{bus: line, device: maestro, channel: 0, calibration: pan.yaml}",
		"{bus: main, device: pca9685, channel: 3, frequency: 200}",
		"{bus: line, device: maestro, channel: 3, calibration: tilt.yaml}",
		"rate: 100", "rate: 100, calibration: imu.yaml")
	for name, channel := range map[string]int{"pan": 0, "tilt": 3} {
		c := calibration.NominalServo(name, calibration.Channel{Model: "maestro", Channel: channel}, -1, 1)
		c.Method, c.Date = calibration.ByManual, time.Unix(1_700_000_000, 0)
		if err := os.WriteFile(filepath.Join(filepath.Dir(path), name+".yaml"), c.Encode(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const lies = "sensor: imu\nmodel: bno055\nmethod: manual\ndate: 2026-11-21T14:03:00Z\naxes: [y, -x, z]\n"
	if err := os.WriteFile(filepath.Join(filepath.Dir(path), "imu.yaml"), []byte(lies), 0o600); err != nil {
		t.Fatal(err)
	}
	sys, err := buildOnPTY(rigtest.PlanOf(t, path, configs.Options{}))
	if err != nil {
		t.Fatal(err)
	}
	if err := sys.Rig.Arm(); err != nil { // a real body starts disarmed
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ran := make(chan error, 1)
	go func() { ran <- sys.Rig.Run(ctx) }()
	agent := sys.Rig.Agents()[0]
	inputs := []float64{math.NaN(), math.NaN(), math.NaN(), math.NaN()}
	inputs[agent.Layout().Actuators[1].Goal[hal.PositionMode]] = 0.5
	if err := agent.Override(inputs); err != nil {
		t.Fatal(err)
	}
	board.Until(t, "tilt at 0.5 rad", func() bool {
		if err := agent.Override(inputs); err != nil { // a busy machine may let its deadline pass before
			t.Error(err)
		}
		return maestro.Pulse(3) == 1750*time.Microsecond && maestro.Pulse(0) == 0
	})
	v := agent.Measured(nil)[rigtest.SensorOf(t, agent.Layout(), "imu").First:]
	if q := v[:4]; math.Abs(q[0]-math.Sqrt2/2) > 0.01 || math.Abs(math.Abs(q[3])-math.Sqrt2/2) > 0.01 ||
		math.Abs(v[9]-9.81) > 0.02 {
		t.Errorf("imu, mounted a quarter turn off: got %v", v[:10])
	}
	var late error
	for range 5 { // likewise
		late = nil
		for _, stop := range sys.Rig.EmergencyStop("test") {
			late = errors.Join(late, stop.Err)
		}
		if late == nil {
			break
		}
	}
	if late != nil {
		t.Errorf("emergency stop: %v", late)
	}
	board.Lock()
	if w := maestro.Pulse(3); w != 0 {
		t.Errorf("stopped: got pulses of %v", w)
	}
	board.Unlock()
	cancel()
	if err := errors.Join(<-ran, sys.Close()); err != nil && !strings.Contains(err.Error(), "i/o timeout") { // as below
		t.Error(err)
	}
}

// The program's end ends the pulses of real thrusters; before it they stood in neutral until their ESCs were armed.
func TestRealThrustersOnAPTY(t *testing.T) {
	maestro, bno := chip.NewMaestro(12, 12, false), chip.NewBNO055(imu.BNO055Address)
	board, sensor := rigtest.Plug(t, maestro), rigtest.Plug(t, bno)
	pairs := []string{"body: emulated", "body: real", "{type: i2c, port: /dev/i2c-nobody}", "{type: serial, port: " +
		sensor.Path + "}",
		"/dev/serial/by-id/nobody", board.Path, "rate: 100", "rate: 100, calibration: imu.yaml", ", frequency: 200", "",
		"        pressure: {bus: main, device: ms5837-30ba}\n", "",
		"        battery: {bus: main, device: ina219, address: 0x41, below: 13}\n", ""}
	names := []string{"flh", "frh", "blh", "brh", "flv", "frv", "blv", "brv"}
	for i, name := range names {
		pairs = append(pairs, fmt.Sprintf("%s: {bus: main, device: pca9685, channel: %d", name, i),
			fmt.Sprintf("%s: {bus: thrusters, device: maestro, channel: %d, calibration: %s.yaml", name, i, name))
	}
	path := rigtest.RigOf(t, rigtest.RovRig, "", pairs...)
	for i, name := range names {
		c := calibration.NominalThruster(name, calibration.Channel{Model: "maestro", Channel: i}, nil)
		c.Mode, c.Method, c.Date, c.Arming = hal.DutyMode, calibration.ByManual, time.Unix(1_700_000_000, 0),
			300*time.Millisecond
		if err := os.WriteFile(filepath.Join(filepath.Dir(path), name+".yaml"), c.Encode(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const lies = "sensor: imu\nmodel: bno055\nmethod: manual\ndate: 2026-11-21T14:03:00Z\naxes: [x, y, z]\n"
	if err := os.WriteFile(filepath.Join(filepath.Dir(path), "imu.yaml"), []byte(lies), 0o600); err != nil {
		t.Fatal(err)
	}
	sys, err := buildOnPTY(rigtest.PlanOf(t, path, configs.Options{}))
	if err != nil {
		t.Fatal(err)
	}
	if err := sys.Rig.Arm(); err != nil { // a real body starts disarmed
		t.Fatal(err)
	}
	agent := sys.Rig.Agents()[0]
	inputs := make([]float64, len(agent.Layout().Inputs))
	inputs[0] = 0.5
	if err := agent.Override(inputs); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ran := make(chan error, 1)
	go func() { ran <- sys.Rig.Run(ctx) }()
	neutral := false
	board.Until(t, "duty 0.5 on channel 0", func() bool {
		if err := agent.Override(inputs); err != nil { // a busy machine may let its deadline pass before
			t.Error(err)
		}
		neutral = neutral || maestro.Pulse(0) == 1500*time.Microsecond
		return maestro.Pulse(0) == 1714*time.Microsecond && maestro.Pulse(7) == 1500*time.Microsecond
	})
	if !neutral {
		t.Error("channel 0 had no neutral before")
	}
	// without commands the guard's deadline sets the outputs to neutral
	board.Until(t, "neutral after silence", func() bool { return maestro.Pulse(0) == 1500*time.Microsecond })
	cancel()
	// A busy machine may let the answer to the last order come too late, which is told; the pulses have ended.
	if err := errors.Join(<-ran, sys.Close()); err != nil && !strings.Contains(err.Error(), "i/o timeout") {
		t.Error(err)
	}
	for i := range names {
		if w := maestro.Pulse(i); w != 0 {
			t.Errorf("after the end channel %d has pulses of %v", i, w)
		}
	}
}

package main

import (
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/drivers/imu"
	"github.com/halyard-robotics/halyard/drivers/pwm"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/assembly"
	"github.com/halyard-robotics/halyard/internal/commission/doctor"
	"github.com/halyard-robotics/halyard/internal/plan"
	"github.com/halyard-robotics/halyard/sim/emulator/chip"
	"github.com/halyard-robotics/halyard/sim/emulator/wire"
)

// stepped is a rig in lock-step under one lease, and the names of the events that it saw.
type stepped struct {
	t      *testing.T
	sys    *assembly.System
	agent  *hal.Agent
	lease  *hal.Lease
	party  *hal.Session
	inputs []float64
	events []string
}

// step builds a plan and takes the lease of its first agent.
func step(t *testing.T, p *plan.Plan) *stepped {
	t.Helper()
	sys, err := assembly.Build(p, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := sys.Close(); err != nil {
			t.Error(err)
		}
	})
	s := &stepped{t: t, sys: sys, agent: sys.Rig.Agents()[0]}
	s.party = sys.Rig.NewSession("test", s)
	if s.lease, err = s.party.Acquire(s.agent); err != nil {
		t.Fatal(err)
	}
	for range s.agent.Layout().Inputs {
		s.inputs = append(s.inputs, math.NaN())
	}
	return s
}

// Cycle implements hal.Observer.
func (s *stepped) Cycle(c *hal.Cycle) {
	for _, id := range c.Events {
		s.events = append(s.events, s.sys.Rig.Events().Name(id))
	}
}

// Run lets d pass and returns all that was measured, bit for bit.
func (s *stepped) Run(d time.Duration) (bits []uint64) {
	s.t.Helper()
	var measured []float64
	for range d / s.sys.Rig.Period() {
		s.party.Renew(s.lease) // the commander of an autopilot lives
		if err := s.party.Step(s.lease, s.inputs); err != nil {
			s.t.Fatal(err)
		}
		measured = s.agent.Measured(measured)
		for _, v := range measured {
			bits = append(bits, math.Float64bits(v))
		}
	}
	return bits
}

// device is the status of a joint or sensor.
func (s *stepped) device(name string) hal.Status {
	s.t.Helper()
	l := s.agent.Layout()
	i := l.Actuator(name)
	for k := range l.Sensors {
		if l.Sensors[k].Name == name {
			i = len(l.Actuators) + k
		}
	}
	return s.agent.Status(nil)[i]
}

// saw reports whether an event has been raised since the last call.
func (s *stepped) saw(event string) bool {
	seen := slices.Contains(s.events, event)
	s.events = nil
	return seen
}

// An emulated rig in lock-step does the same twice, bit for bit.
func TestDevicesRepeat(t *testing.T) {
	for _, device := range []string{"bno055", "mpu-9250"} {
		path := rigOf(t, doctor.NodderRig, doctor.Nodder, "bno055", device)
		run := func() []uint64 {
			s := step(t, planOf(t, path, configs.Options{}))
			s.inputs[s.agent.Layout().Actuators[1].Goal[hal.PositionMode]] = -0.4
			return s.Run(3 * time.Second)
		}
		if !slices.Equal(run(), run()) {
			t.Errorf("%s: two runs differ", device)
		}
	}
}

// A simulated robot may have an emulated sensor, as a part.
func TestSensorPart(t *testing.T) {
	path := rigOf(t, doctor.NodderRig, doctor.Nodder, "body: emulated", "body: sim\n    parts: {imu: emulated}")
	s := step(t, planOf(t, path, configs.Options{}))
	s.Run(time.Second)
	if d := s.device("imu"); s.agent.BodyKind() != hal.Emulated || d.Err != nil || d.Time < 980*time.Millisecond {
		t.Errorf("got %v, %+v", s.agent.BodyKind(), d)
	}
	v := s.agent.Measured(nil)[sensorOf(t, s.agent.Layout(), "imu").First:]
	if math.Abs(v[9]-9.81) > 0.02 {
		t.Errorf("gravity by the chip: got %v, want 9.81", v[9])
	}
}

// An IMU that is unplugged is an event and a status, and recovered when it is back.
func TestSensorUnplugged(t *testing.T) {
	s := step(t, planOf(t, rigOf(t, doctor.NodderRig, doctor.Nodder), configs.Options{}))
	s.Run(time.Second)
	bus := s.sys.Emulation.Buses["main"]
	bus.Fault(wire.Fault{Kind: wire.PowerLoss, Target: imu.BNO055Address})
	s.Run(200 * time.Millisecond)
	if d := s.device("imu"); hal.KindOf(d.Err) == hal.Unexpected || s.device("tilt").Err != nil {
		t.Errorf("unplugged: got %v; tilt %v", d.Err, s.device("tilt").Err)
	}
	if !s.saw("/nodder/imu/Fault") {
		t.Error("no event")
	}
	bus.ClearFaults()
	s.Run(2 * time.Second)
	if d := s.device("imu"); d.Err != nil {
		t.Errorf("plugged in: got %v", d.Err)
	}
}

// A board that is lost is reported at its joints, in an emergency stop too, and nowhere else.
func TestBoardLost(t *testing.T) {
	s := step(t, planOf(t, rigOf(t, doctor.NodderRig, doctor.Nodder), configs.Options{}))
	for i := range s.agent.Layout().Actuators {
		s.inputs[s.agent.Layout().Actuators[i].Goal[hal.PositionMode]] = 0.2
	}
	s.Run(time.Second)
	bus := s.sys.Emulation.Buses["main"]
	bus.Fault(wire.Fault{Kind: wire.PowerLoss, Target: pwm.PCA9685Address})
	s.Run(500 * time.Millisecond)
	if s.device("tilt").Err == nil || s.device("imu").Err != nil || s.device("pan").Err != nil ||
		!s.saw("/nodder/tilt/Fault") {
		t.Errorf("lost: got tilt %v, imu %v, pan %v", s.device("tilt").Err, s.device("imu").Err, s.device("pan").Err)
	}
	for _, stop := range s.sys.Rig.EmergencyStop("test") {
		if (stop.Err != nil) != (stop.Joint == "tilt") {
			t.Errorf("emergency stop: %s: %v", stop.Joint, stop.Err)
		}
	}
	bus.ClearFaults()
	s.Run(time.Second)
	for _, stop := range s.sys.Rig.EmergencyStop("again") {
		if stop.Err != nil {
			t.Errorf("emergency stop: %s: %v", stop.Joint, stop.Err)
		}
	}
}

// A monitor rings once when its bound is passed, and is a value.
func TestAlarm(t *testing.T) {
	path := rigOf(t, doctor.NodderRig, doctor.Nodder, "servers: []", `      monitors:
        leak: {bus: main, device: ads1115, input: 2, scale: 2, above: 3}
servers: []`)
	s := step(t, planOf(t, path, configs.Options{}))
	var dry *chip.ADS1115
	for _, p := range s.sys.Plan.Sensors {
		if p.Name == "leak" {
			dry = s.sys.Emulation.Chips[p].(*chip.ADS1115)
		}
	}
	rings := func(volts float64) bool {
		dry.Volts[2] = volts
		s.Run(200 * time.Millisecond)
		return s.saw("/nodder/leak/Alarm")
	}
	for i, c := range []struct {
		volts float64
		want  bool
	}{{1.4, false}, {1.6, true}, {1.49, false}, {1.6, false}, {1.4, false}, {1.6, true}} {
		if got := rings(c.volts); got != c.want {
			t.Errorf("step %d, %g V: rings %v, want %v", i, c.volts, got, c.want)
		}
	}
	s.sys.Emulation.Buses["main"].Fault(wire.Fault{Kind: wire.PowerLoss, Target: 0x48})
	s.Run(200 * time.Millisecond)
	if !s.saw("/nodder/leak/Fault") {
		t.Error("a monitor that is lost: no event")
	}
	if s.saw("/nodder/leak/Recovered") {
		t.Error("a monitor that is lost is said to be back")
	}
	s.sys.Emulation.Buses["main"].ClearFaults()
	s.Run(time.Second)
	if !s.saw("/nodder/leak/Recovered") {
		t.Error("a monitor that is back: no event")
	}
}

// The doctor looks at devices too.
func TestDoctorOfDevices(t *testing.T) {
	path := rigOf(t, doctor.NodderRig, doctor.Nodder)
	code, out, text := runApp(t, "doctor", path, "--body", "emulated", "-o", "jsonl")
	if code != 0 || !strings.Contains(out, `"found":"answers at 0x40"`) ||
		!strings.Contains(out, `"found":"bno055 measures [1 0 0 0 `) {
		t.Errorf("exit %d: %s\n%s", code, text, out)
	}
	// What a BNO055 found of itself is in its calibration, is given back to it, and is told.
	found := strings.Repeat("0102", 11)
	file := filepath.Join(t.TempDir(), "imu.yaml")
	text = "sensor: imu\nmodel: bno055\nmethod: manual\ndate: \"2026-11-21T14:03:00Z\"\naxes: [x, y, z]\nchip: \"" +
		found + "\"\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	restored := rigOf(t, strings.Replace(doctor.NodderRig, "device: bno055", "device: bno055, calibration: "+file, 1),
		doctor.Nodder)
	if code, out, text := runApp(t, "doctor", restored, "--body", "emulated", "-o", "jsonl"); code != 0 ||
		!strings.Contains(out, "; chip: "+found) {
		t.Errorf("exit %d: %s\n%s", code, text, out)
	}
	code, out, _ = runApp(t, "doctor", path, "--body", "real", "-o", "jsonl")
	if code != 3 || strings.Count(out, `"found":"/dev/i2c-nobody is not there`) != 1 ||
		strings.Count(out, `"check":"device"`) != 0 || strings.Count(out, `"check":"calibration","state":"fail"`) != 3 {
		t.Errorf("exit %d:\n%s", code, out)
	}
}

package assembly_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/drivers/imu"
	"github.com/halyard-robotics/halyard/drivers/pwm"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/commission/doctor"
	"github.com/halyard-robotics/halyard/internal/rigtest"
	"github.com/halyard-robotics/halyard/sim/emulator/chip"
	"github.com/halyard-robotics/halyard/sim/emulator/wire"
)

// An emulated rig in lock-step does the same twice, bit for bit.
func TestDevicesRepeat(t *testing.T) {
	for _, device := range []string{"bno055", "mpu-9250"} {
		path := rigtest.RigOf(t, doctor.NodderRig, doctor.Nodder, "bno055", device)
		run := func() []uint64 {
			s := rigtest.Step(t, rigtest.PlanOf(t, path, configs.Options{}))
			s.Inputs[s.Agent.Layout().Actuators[1].Goal[hal.PositionMode]] = -0.4
			return s.Run(3 * time.Second)
		}
		if !slices.Equal(run(), run()) {
			t.Errorf("%s: two runs differ", device)
		}
	}
}

// A simulated robot may have an emulated sensor, as a part.
func TestSensorPart(t *testing.T) {
	path := rigtest.RigOf(t, doctor.NodderRig, doctor.Nodder, "body: emulated", "body: sim\n    parts: {imu: emulated}")
	s := rigtest.Step(t, rigtest.PlanOf(t, path, configs.Options{}))
	s.Run(time.Second)
	if d := s.Device("imu"); s.Agent.BodyKind() != hal.Emulated || d.Err != nil || d.Time < 980*time.Millisecond {
		t.Errorf("got %v, %+v", s.Agent.BodyKind(), d)
	}
	v := s.Agent.Measured(nil)[rigtest.SensorOf(t, s.Agent.Layout(), "imu").First:]
	if math.Abs(v[9]-9.81) > 0.02 {
		t.Errorf("gravity by the chip: got %v, want 9.81", v[9])
	}
}

// An IMU that is unplugged is an event and a status, and recovered when it is back.
func TestSensorUnplugged(t *testing.T) {
	s := rigtest.Step(t, rigtest.PlanOf(t, rigtest.RigOf(t, doctor.NodderRig, doctor.Nodder), configs.Options{}))
	s.Run(time.Second)
	bus := s.Sys.Emulation.Buses["main"]
	bus.Fault(wire.Fault{Kind: wire.PowerLoss, Target: imu.BNO055Address})
	s.Run(200 * time.Millisecond)
	if d := s.Device("imu"); hal.KindOf(d.Err) == hal.Unexpected || s.Device("tilt").Err != nil {
		t.Errorf("unplugged: got %v; tilt %v", d.Err, s.Device("tilt").Err)
	}
	if !s.Saw("/nodder/imu/Fault") {
		t.Error("no event")
	}
	bus.ClearFaults()
	s.Run(2 * time.Second)
	if d := s.Device("imu"); d.Err != nil {
		t.Errorf("plugged in: got %v", d.Err)
	}
}

// A board that is lost is reported at its joints, in an emergency stop too, and nowhere else.
func TestBoardLost(t *testing.T) {
	s := rigtest.Step(t, rigtest.PlanOf(t, rigtest.RigOf(t, doctor.NodderRig, doctor.Nodder), configs.Options{}))
	for i := range s.Agent.Layout().Actuators {
		s.Inputs[s.Agent.Layout().Actuators[i].Goal[hal.PositionMode]] = 0.2
	}
	s.Run(time.Second)
	bus := s.Sys.Emulation.Buses["main"]
	bus.Fault(wire.Fault{Kind: wire.PowerLoss, Target: pwm.PCA9685Address})
	s.Run(500 * time.Millisecond)
	if s.Device("tilt").Err == nil || s.Device("imu").Err != nil || s.Device("pan").Err != nil ||
		!s.Saw("/nodder/tilt/Fault") {
		t.Errorf("lost: got tilt %v, imu %v, pan %v", s.Device("tilt").Err, s.Device("imu").Err, s.Device("pan").Err)
	}
	for _, stop := range s.Sys.Rig.EmergencyStop("test") {
		if (stop.Err != nil) != (stop.Joint == "tilt") {
			t.Errorf("emergency stop: %s: %v", stop.Joint, stop.Err)
		}
	}
	bus.ClearFaults()
	s.Run(time.Second)
	for _, stop := range s.Sys.Rig.EmergencyStop("again") {
		if stop.Err != nil {
			t.Errorf("emergency stop: %s: %v", stop.Joint, stop.Err)
		}
	}
}

// A monitor rings once when its bound is passed, and is a value.
func TestAlarm(t *testing.T) {
	path := rigtest.RigOf(t, doctor.NodderRig, doctor.Nodder, "servers: []", `      monitors:
        leak: {bus: main, device: ads1115, input: 2, scale: 2, above: 3}
servers: []`)
	s := rigtest.Step(t, rigtest.PlanOf(t, path, configs.Options{}))
	var dry *chip.ADS1115
	for _, p := range s.Sys.Plan.Sensors {
		if p.Name == "leak" {
			dry = s.Sys.Emulation.Chips[p].(*chip.ADS1115)
		}
	}
	rings := func(volts float64) bool {
		dry.Volts[2] = volts
		s.Run(200 * time.Millisecond)
		return s.Saw("/nodder/leak/Alarm")
	}
	for i, c := range []struct {
		volts float64
		want  bool
	}{{1.4, false}, {1.6, true}, {1.49, false}, {1.6, false}, {1.4, false}, {1.6, true}} {
		if got := rings(c.volts); got != c.want {
			t.Errorf("step %d, %g V: rings %v, want %v", i, c.volts, got, c.want)
		}
	}
	s.Sys.Emulation.Buses["main"].Fault(wire.Fault{Kind: wire.PowerLoss, Target: 0x48})
	s.Run(200 * time.Millisecond)
	if !s.Saw("/nodder/leak/Fault") {
		t.Error("a monitor that is lost: no event")
	}
	if s.Saw("/nodder/leak/Recovered") {
		t.Error("a monitor that is lost is said to be back")
	}
	s.Sys.Emulation.Buses["main"].ClearFaults()
	s.Run(time.Second)
	if !s.Saw("/nodder/leak/Recovered") {
		t.Error("a monitor that is back: no event")
	}
}

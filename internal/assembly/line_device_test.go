package assembly_test

import (
	"errors"
	"math"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/hal/haltest"
	"github.com/halyard-robotics/halyard/internal/builtin"
	"github.com/halyard-robotics/halyard/internal/commission/doctor"
	"github.com/halyard-robotics/halyard/internal/control"
	"github.com/halyard-robotics/halyard/internal/plan"
	"github.com/halyard-robotics/halyard/internal/rigtest"
	"github.com/halyard-robotics/halyard/sim/emulator/wire"
)

func TestFeelerConforms(t *testing.T) {
	path := rigtest.RigOf(t, doctor.FeelerRig, doctor.Feeler())
	haltest.Run(t, func(t *testing.T) haltest.Subject {
		return rigtest.Subject(t, rigtest.PlanOf(t, path, configs.Options{}))
	})
}

// The gate is closed until there are pulses, at an emergency stop, and at the end; the emulated board has no pulses
// behind it.
func TestGate(t *testing.T) {
	s := rigtest.Step(t, rigtest.PlanOf(t, rigtest.RigOf(t, doctor.FeelerRig, doctor.Feeler()), configs.Options{}))
	io := s.Sys.Emulation.Gpios["io"]
	servo := s.Sys.Scene.Body("feeler").Joint(1).Servo
	s.Run(100 * time.Millisecond)
	if !io.Level(4) {
		t.Error("nothing commanded: got the gate open")
	}
	s.Inputs[s.Agent.Layout().Actuators[1].Goal[hal.PositionMode]] = 0.3
	s.Run(2 * time.Second)
	if io.Level(4) || math.Abs(servo.Position-0.3) > 0.03 {
		t.Errorf("commanded: got gate closed %v, tilt at %.3f; want it open and at 0.3", io.Level(4), servo.Position)
	}
	// The bus hangs: the gate alone ends the pulses.
	s.Sys.Emulation.Buses["main"].Fault(wire.Fault{Kind: wire.Dropped})
	stops := s.Sys.Rig.EmergencyStop("test")
	if stops[1].Err == nil {
		t.Error("a board that does not hear was believed to have stopped")
	}
	s.Run(50 * time.Millisecond)
	if !io.Level(4) || servo.Enable {
		t.Errorf("stopped: got gate closed %v, servo driven %v", io.Level(4), servo.Enable)
	}
}

// The circuit of a stop button stops the rig in the next cycle: pressed, cut, unplugged; it cannot be cleared while
// that lasts.
func TestStopButton(t *testing.T) {
	for name, fault := range map[string]wire.Fault{
		"cut":       {Kind: wire.OpenWire, Target: 18},
		"shorted":   {Kind: wire.StuckHigh, Target: 18},
		"unplugged": {Kind: wire.Unplugged},
	} {
		t.Run(name, func(t *testing.T) {
			s := rigtest.Step(t, rigtest.PlanOf(t, rigtest.RigOf(t, doctor.FeelerRig, doctor.Feeler()),
				configs.Options{}))
			servo := s.Sys.Scene.Body("feeler").Joint(1).Servo
			s.Inputs[s.Agent.Layout().Actuators[1].Goal[hal.PositionMode]] = 0.3
			s.Run(500 * time.Millisecond)
			if state, _, _ := s.Agent.Guard(); state != hal.Armed || !servo.Enable {
				t.Fatalf("all well: got %v, driven %v", state, servo.Enable)
			}
			if got := s.Sys.Emulation.Gpios["io"].Held(18); got != "halyard estop" {
				t.Errorf("line of the button: held by %q", got)
			}
			io := s.Sys.Emulation.Gpios["io"]
			io.Fault(fault)
			s.Run(20 * time.Millisecond)
			if state, _, _ := s.Agent.Guard(); state != hal.Stopped || servo.Enable ||
				!s.Saw("/Control/EmergencyStop") {
				t.Errorf("two cycles later: got %v, driven %v", state, servo.Enable)
			}
			if err := s.Sys.Rig.Recover(); hal.KindOf(err) != hal.Unsafe {
				t.Errorf("cleared: got %v", err)
			}
			if ans := (&control.Control{Rig: s.Sys.Rig}).Execute(control.OrderReset); ans.Kind != hal.Unsafe ||
				!strings.Contains(ans.Error, "its cause lasts") {
				t.Errorf("reset by hand: got %+v, want it refused", ans)
			}
			io.ClearFaults()
			s.Run(time.Second) // a chip that was unplugged is opened again
			if state, _, _ := s.Agent.Guard(); state != hal.Stopped || servo.Enable {
				t.Errorf("whole again: got %v, driven %v; want it latched", state, servo.Enable)
			}
			if err := errors.Join(s.Sys.Rig.Recover(), s.Agent.Arm()); err != nil {
				t.Error(err)
			}
			s.Run(500 * time.Millisecond)
			if !servo.Enable || io.Level(4) {
				t.Errorf("armed again: driven %v, gate closed %v", servo.Enable, io.Level(4))
			}
		})
	}
}

// A config with faults of lines reports each with its path.
func TestLineFaults(t *testing.T) {
	rig := rigtest.RigOf(t, doctor.FeelerRig, doctor.Feeler(),
		"lines: [17], debounce: 20ms", "lines: [17, 18], address: 3",
		"      estop: {bus: io, line: BUTTON}\n", `        imu: {bus: io, device: encoder, lines: [1, 2]}
      monitors:
        left: {bus: io, device: encoder, lines: [4, 20]}
        wheel: {bus: io, device: encoder, lines: [21, 21]}
        far: {bus: io, device: hc-sr04, lines: [22]}
        near: {bus: io, device: hc-sr04, lines: [24, 25], bias: up}
        volts: {bus: main, device: ina219, lines: [23]}
        odd: {bus: main, device: pir, lines: [23]}
      estop: {bus: main, line: 20}
`,
		"tilt: {bus: main, device: pca9685, channel: 3, frequency: 200}",
		"tilt: {bus: main, device: pca9685, channel: 3, output_enable: {bus: io, line: 6}}",
		"headlight: {bus: io, line: 5}", "headlight: {bus: io, line: 20}")
	c, err := configs.Load(rig, configs.Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = plan.Resolve(c, builtin.Catalog())
	got := strings.ReplaceAll(err.Error(), rig+":", "")
	const want = `13:87: agents[0].hardware.joints.tilt.output_enable.line: got 6, want 4 of io, the one output_enable line of the board
15:67: agents[0].hardware.sensors.bump.address: got 3, want none, for bumper is on lines
16:9: agents[0].hardware.sensors.imu: got imu, want a sensor of the robot: bump, head; monitors watch what no sensor of the robot is
18:50: agents[0].hardware.monitors.left.lines[0]: got 4, want a line of its own on chip io; agents[0].hardware.joints.pan.output_enable.line has it too
19:55: agents[0].hardware.monitors.wheel.lines[1]: got 21, want a line of its own on chip io; agents[0].hardware.monitors.wheel.lines[0] has it too
20:41: agents[0].hardware.monitors.far.lines: got 1, want 2: trigger, echo
21:65: agents[0].hardware.monitors.near.bias: got up, want nothing, for hc-sr04 drives its line both ways
22:44: agents[0].hardware.monitors.volts.lines: got 23, want none, for ina219 is on no GPIO chip
23:20: agents[0].hardware.monitors.odd.bus: got main, which is i2c, want a bus of type gpio, for pir
24:20: agents[0].hardware.estop.bus: got main, which is i2c, want a bus of type gpio, for estop
25:43: agents[0].hardware.lights.headlight.line: got 20, want a line of its own on chip io; agents[0].hardware.monitors.left.lines[1] has it too`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for line, says := range map[string]string{
		"-1": "got -1, want the offset of a line, or its name", "017": "want the offset", "1.5": "want the offset",
		"''": "want the offset", "70000": "want the offset", "[1]": "want the offset",
	} {
		_, err := configs.Load(rigtest.RigOf(t, doctor.FeelerRig, doctor.Feeler(), "line: BUTTON", "line: "+line),
			configs.Options{})
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("line: %s: got %v, want %q", line, err, says)
		}
	}
	_, err = configs.Load(rigtest.RigOf(t, doctor.FeelerRig, doctor.Feeler(), "estop: {bus: io,", "estop: {bus: oi,",
		"body: emulated", "body: real", "port: gpiochip-nobody", "frequency: 10000"), configs.Options{})
	if err == nil || !strings.Contains(err.Error(), `hardware.estop.bus: got "oi"`) ||
		!strings.Contains(err.Error(), "buses.io.port: got nothing, want a port") {
		t.Errorf("no such chip: got %v", err)
	}
}

// The emulated button is pressed by its value; a light must not be called as it is.
func TestPressButton(t *testing.T) {
	s := rigtest.Step(t, rigtest.PlanOf(t, rigtest.RigOf(t, doctor.FeelerRig, doctor.Feeler()), configs.Options{}))
	s.Run(100 * time.Millisecond)
	values := s.Sys.Rig.Values()
	id := values.Find(regexp.MustCompile("/feeler/estop"))[0]
	for _, pressed := range []bool{true, false} {
		if err := values.Set(id, hal.Value{Kind: hal.BoolValue, Bool: pressed}); err != nil {
			t.Fatal(err)
		}
		soon := 30 * time.Millisecond
		if !pressed {
			soon += 100 * time.Millisecond // so long a press is shown, however short it was
		}
		s.Run(soon)
		v, err := values.Get(id)
		if state, _, _ := s.Agent.Guard(); state != hal.Stopped || v.Bool != pressed || err != nil {
			t.Errorf("pressed %v: got %v, value %v, %v", pressed, state, v.Bool, err)
		}
	}
	c, err := configs.Load(rigtest.RigOf(t, doctor.FeelerRig, doctor.Feeler(), "headlight:", "estop:"),
		configs.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := plan.Resolve(c, builtin.Catalog()); err == nil ||
		!strings.Contains(err.Error(), "hardware.lights.estop: got estop, want a name of its own") {
		t.Errorf("a light called estop: got %v", err)
	}
}

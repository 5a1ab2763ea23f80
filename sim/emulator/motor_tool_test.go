package emulator_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard/hal"
	emucybergear "github.com/halyard-robotics/halyard/internal/emulator/cybergear"
	emuodrive "github.com/halyard-robotics/halyard/internal/emulator/odrive"
	emuvesc "github.com/halyard-robotics/halyard/internal/emulator/vesc"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/cybergear"
	"github.com/halyard-robotics/halyard/servo/odrive"
	"github.com/halyard-robotics/halyard/servo/vesc"
	"github.com/halyard-robotics/halyard/sim/actuator"
	"github.com/halyard-robotics/halyard/sim/emulator"
	"github.com/halyard-robotics/halyard/sim/emulator/wire"
)

// Every parameter of a motor's table can be read, and written where it may be; its id is set for good.
func TestCyberGearTools(t *testing.T) {
	spec, _ := actuator.Lookup("cybergear")
	one := emucybergear.New(cybergear.ModelByName("cybergear"), 3, actuator.NewServo(spec), emulator.GroundTruth{})
	bus := emulator.NewBus(emulator.BusConfig{Name: "can", Baud: cybergear.Bitrate}, one)
	c := cybergear.Driver().Tool(bus.Line(), servo.ToolConfig{Bus: "can"})
	if err := c.Ping(3); err != nil {
		t.Fatal(err)
	}
	if err := c.Ping(4); hal.KindOf(err) != hal.Timeout {
		t.Errorf("no motor: got %v", err)
	}
	for _, r := range cybergear.Parameters() {
		if r.Name == "id" || r.Name == "torque_enable" {
			continue
		}
		v, err := c.Read(3, r.Name)
		if err != nil || r.Access == servo.RAM && v != r.Default {
			t.Errorf("%s: got %d, %v; want %d", r.Name, v, err, r.Default)
		}
		if r.Access != servo.RAM || r.Name == "goal_position" { // which are ticks in here
			continue
		}
		for _, want := range []int64{r.Min, r.Max / 2, r.Default} {
			if err := c.Write(3, r.Name, want); err != nil && want <= r.Max {
				t.Errorf("%s = %d: %v", r.Name, want, err)
			}
		}
	}
	if err := c.Write(3, "torque_enable", 0); err != nil {
		t.Error(err)
	}
	if err := c.SetID(3, 9); err != nil {
		t.Error(err)
	}
	if err := c.Ping(9); err != nil || c.Ping(3) == nil {
		t.Errorf("new id: got %v", err)
	}
	// The id is kept at power-off; values set by single frames are not.
	limit := servo.Named(cybergear.Parameters(), "max_velocity")
	if err := c.Write(9, limit.Name, 5000); err != nil {
		t.Error(err)
	}
	bus.Fault(wire.Fault{Kind: wire.PowerLoss, Target: 9, P: 1})
	bus.ClearFaults()
	if v, err := c.Read(9, limit.Name); err != nil || v != limit.Default {
		t.Errorf("after the power: got %d, %v", v, err)
	}
}

// Every property of the table can be read of both firmwares, and those that are kept are written, saved and kept.
func TestODriveTools(t *testing.T) {
	for _, name := range []string{"odrive-v3", "odrive-s1", "odrive-pro"} {
		spec, _ := actuator.Lookup(name)
		m := odrive.ModelByName(name)
		one := emuodrive.New(m, 0, actuator.NewServo(spec), emulator.GroundTruth{})
		bus := emulator.NewBus(emulator.BusConfig{Name: "drive", Baud: odrive.Baud}, one)
		c := odrive.Driver().Tool(bus.Line(), servo.ToolConfig{})
		if _, err := c.Identify(1); hal.KindOf(err) != hal.Timeout {
			t.Errorf("%s: another axis: got %v", name, err)
		}
		if got, err := c.Identify(0); got.Model != m || err != nil {
			t.Fatalf("%s: got %v, %v", name, got, err)
		}
		for _, r := range odrive.Parameters() {
			v, err := c.Read(0, r.Name)
			if err != nil {
				t.Errorf("%s: %s: got %v", name, r.Name, err)
			}
			if r.Access != servo.EEPROM {
				continue
			}
			for _, want := range []int64{r.Min, (r.Min + r.Max) / 2, v} {
				if err := c.Write(0, r.Name, want); err != nil {
					t.Errorf("%s: %s = %d: %v", name, r.Name, want, err)
				}
			}
		}
		node, gain := servo.Named(odrive.Parameters(), "can_node_id"),
			servo.Named(odrive.Parameters(), "position_p_gain")
		if err := c.Write(0, node.Name, 5); err != nil {
			t.Error(err)
		}
		if _, err := c.Save(); err != nil {
			t.Error(err)
		}
		if err := c.Write(0, gain.Name, 3_000_000); err != nil {
			t.Error(err)
		}
		bus.Fault(wire.Fault{Kind: wire.PowerLoss, Target: 0, P: 1})
		bus.ClearFaults()
		if v, err := c.Read(0, node.Name); v != 5 || err != nil {
			t.Errorf("%s: saved: got %d, %v", name, v, err)
		}
		if v, err := c.Read(0, gain.Name); v != gain.Default || err != nil {
			t.Errorf("%s: not saved: got %d, %v", name, v, err)
		}
		// With torque on no stored value is written; torque itself can be switched off.
		one.Preset("torque_enable", 1)
		if err := c.Write(0, node.Name, 7); hal.KindOf(err) != hal.Unsafe {
			t.Errorf("%s: under torque: got %v", name, err)
		}
		if err := c.Write(0, "torque_enable", 0); err != nil {
			t.Error(err)
		}
		if on, _ := one.Register("torque_enable"); on != 0 {
			t.Errorf("%s: it still has its torque", name)
		}
	}
}

// With torque on at the other axis a save would fail: no value is written.
func TestODriveToolsRest(t *testing.T) {
	spec, _ := actuator.Lookup("odrive-v3")
	m := odrive.ModelByName("odrive-v3")
	var list []*emulator.Servo
	for id := range 2 {
		list = append(list, emuodrive.New(m, id, actuator.NewServo(spec), emulator.GroundTruth{}))
	}
	bus := emulator.NewBus(emulator.BusConfig{Name: "drive", Baud: odrive.Baud}, list...)
	c := odrive.Driver().Tool(bus.Line(), servo.ToolConfig{})
	if _, err := c.Identify(0); err != nil {
		t.Fatal(err)
	}
	list[1].Preset("torque_enable", 1)
	if err := c.Write(0, "can_node_id", 5); hal.KindOf(err) != hal.Unsafe || !strings.Contains(err.Error(), "axis 1") {
		t.Errorf("got %v", err)
	}
}

// Over CAN values with a frame can be read, and the watchdog written if its endpoints are known.
func TestODriveCANTools(t *testing.T) {
	for _, name := range []string{"odrive-v3", "odrive-s1"} {
		spec, _ := actuator.Lookup(name)
		m := odrive.ModelByName(name)
		one := emuodrive.NewCAN(m, 3, actuator.NewServo(spec), emulator.GroundTruth{})
		bus := emulator.NewBus(emulator.BusConfig{Name: "can", Baud: odrive.Bitrate}, one)
		c := odrive.CANDriver().Tool(bus.Line(), servo.ToolConfig{})
		if got, err := c.Identify(3); err != nil || got.Model.Units().Name != name {
			t.Fatalf("%s: got %v, %v", name, got, err)
		}
		if _, err := c.Identify(4); hal.KindOf(err) != hal.Timeout {
			t.Errorf("%s: no axis: got %v", name, err)
		}
		c.Identify(3)
		read := 0
		for _, r := range odrive.CANParameters() {
			if _, err := c.Read(3, r.Name); err == nil {
				read++
			} else if !errors.Is(err, servo.ErrNoRegister) {
				t.Errorf("%s: %s: %v", name, r.Name, err)
			}
		}
		if want := map[string]int{"odrive-v3": 7, "odrive-s1": 9}[name]; read != want {
			t.Errorf("%s: got %d registers, want %d", name, read, want)
		}
		timeout, on := servo.Named(odrive.Parameters(), "watchdog_timeout"),
			servo.Named(odrive.Parameters(), "torque_enable")
		if err := c.Write(3, timeout.Name, 700); !errors.Is(err, servo.ErrNoRegister) {
			t.Errorf("%s: no endpoint: got %v", name, err)
		}
		c = odrive.CANDriver().Tool(bus.Line(), servo.ToolConfig{Settings: map[int]map[string]int{
			3: {"watchdog_endpoint": emuodrive.WatchdogEndpoint, "enable_endpoint": emuodrive.EnableEndpoint}}})
		if err := c.Write(3, timeout.Name, 700); (err == nil) != (name == "odrive-s1") {
			t.Errorf("%s: watchdog: got %v", name, err)
		}
		one.Preset("torque_enable", 1)
		if err := c.Write(3, on.Name, 0); err != nil {
			t.Errorf("%s: got %v", name, err)
		}
		if v, _ := one.Register("torque_enable"); v != 0 {
			t.Errorf("%s: it still has its torque", name)
		}
	}
}

// A VESC reports all values, also one behind another.
func TestVESCTools(t *testing.T) {
	spec, _ := actuator.Lookup("vesc-6")
	var list []*emulator.Servo
	for _, id := range []int{4, 9} {
		list = append(list, emuvesc.New(vesc.ModelByName("vesc-6"), id, actuator.NewServo(spec),
			emulator.GroundTruth{}))
	}
	bus := emulator.NewBus(emulator.BusConfig{Name: "line", Baud: vesc.Baud}, list...)
	c := vesc.Driver().Tool(bus.Line(), servo.ToolConfig{})
	for _, id := range []int{4, 9} {
		for _, r := range vesc.Parameters() {
			v, err := c.Read(id, r.Name)
			want := map[string]float64{"id": float64(id), "pole_pairs": 7, "timeout": 1, "firmware": 605,
				"present_voltage": spec.NominalVolts}[r.Name]
			if err != nil || want != 0 && r.SI(v) != want {
				t.Errorf("%d: %s: got %g, %v; want %g", id, r.Name, r.SI(v), err, want)
			}
		}
	}
}

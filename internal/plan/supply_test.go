package plan_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard"
	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/internal/builtin"
	"github.com/halyard-robotics/halyard/internal/plan"
)

// mixed is an arm as Koch's: one bus, XL430 at 12 V, and an XL330 behind a converter to 5 V.
const mixed = `name: mixed
clock: {mode: lockstep, period: 10ms}
buses:
  arm: {type: dynamixel2, port: /dev/ttyACM0, baud: 1000000, supply: {volts: 11.9, ohms: 0}}
agents:
  - name: arm
    model: arm.yaml
    body: emulated
    hardware:
      joints:
        lift: {bus: arm, id: 1, model: xl430-w250}
        grip: {bus: arm, id: 2, model: xl330-m288, supply: {volts: 5, ohms: 0}}
`

const mixedRobot = `name: arm
supply: {volts: 12}
joints:
  - {name: lift, servo: xl430-w250, limits_deg: [-90, 90], range_deg: [-150, 150]}
  - {name: grip, servo: xl330-m288, limits_deg: [-90, 90], range_deg: [-150, 150]}
`

// Each servo measures the voltage of its own supply, in physics and by its register.
func TestSupplies(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "mixed.yaml")
	for name, text := range map[string]string{"mixed.yaml": mixed, "arm.yaml": mixedRobot,
		"rails.yaml": strings.Replace(strings.Replace(mixedRobot, "joints:",
			"supplies: {converter: {volts: 5.5}}\njoints:", 1), "xl330-m288,", "xl330-m288, supply: converter,", 1)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name string
		set  []halyard.Setting
		want [2]float64
	}{
		{"simulated", []halyard.Setting{halyard.Set("agents[0].body", "sim")}, [2]float64{11.9, 5}},
		{"emulated", nil, [2]float64{11.9, 5}},
		{"the robot file's own", []halyard.Setting{halyard.Set("agents[0].model", "rails.yaml"),
			halyard.Set("agents[0].hardware.joints.grip.supply", "null")},
			[2]float64{11.9, 11.9}}, // the bus's wins over the robot's
		{"no other", []halyard.Setting{halyard.Set("agents[0].model", "rails.yaml"),
			halyard.Set("agents[0].hardware.joints.grip.supply", "null"), halyard.Set("buses.arm.supply", "null")},
			[2]float64{12, 5.5}},
	} {
		cfg, err := halyard.Load(file, c.set...)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		sys, err := halyard.Open(cfg)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		for range 400 { // health is read in turn
			if err := sys.Step(); err != nil {
				t.Fatal(err)
			}
		}
		arm := sys.Agent("arm")
		if lift, grip := arm.State("lift").Voltage, arm.State("grip").Voltage; lift < c.want[0]-0.11 ||
			lift > c.want[0]+0.11 || grip < c.want[1]-0.11 || grip > c.want[1]+0.11 {
			t.Errorf("%s: got %.2f and %.2f V, want %v", c.name, lift, grip, c.want)
		}
		if err := sys.Close(); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// A servo out of its voltage is named.
func TestServoOutOfItsVoltage(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"mixed.yaml": mixed, "arm.yaml": mixedRobot} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for set, want := range map[string]string{
		"agents[0].hardware.joints.grip.supply=null": "agents[0].hardware.joints.grip.supply: got 11.9 V, " +
			"want 3.5..7 V, of a xl330-m288",
		"buses.arm.supply.volts=24": "agents[0].hardware.joints.lift.supply: got 24 V, want " +
			"6..14 V, of a xl430-w250",
		"agents[0].hardware.joints.grip.supply.volts=5":    "",
		"agents[0].hardware.joints.grip.supply.volts=3.45": "got 3.45 V",
	} {
		c, err := configs.Load(filepath.Join(dir, "mixed.yaml"), configs.Options{Set: []string{set}})
		if err != nil {
			t.Fatalf("%s: %v", set, err)
		}
		if _, err := plan.Resolve(c, builtin.Catalog()); err != nil {
			t.Fatalf("%s: %v", set, err)
		}
		var notes []string
		for _, n := range c.Notes {
			notes = append(notes, n.String())
		}
		if got := strings.Join(notes, "\n"); !strings.Contains(got, want) || (want == "") != (got == "") {
			t.Errorf("%s: got %q, want %q", set, got, want)
		}
	}
}

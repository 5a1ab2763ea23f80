package plan_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal/haltest"
	"github.com/halyard-robotics/halyard/internal/assembly"
	"github.com/halyard-robotics/halyard/internal/builtin"
	"github.com/halyard-robotics/halyard/internal/catalog"
	"github.com/halyard-robotics/halyard/internal/commission/doctor"
	"github.com/halyard-robotics/halyard/internal/plan"
	"github.com/halyard-robotics/halyard/internal/rigtest"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/cybergear"
	"github.com/halyard-robotics/halyard/servo/odrive"
	"github.com/halyard-robotics/halyard/servo/vesc"
)

// motorConfig is brandConfig for motors, at ids, with more keys for each joint.
func motorConfig(t testing.TB, bus, model string, baud int, volts float64, keys string, ids ...int) string {
	t.Helper()
	dir := t.TempDir()
	robot := fmt.Sprintf("name: motors\ntitle: some joints\nsupply: {volts: %g, ohms: 0.02}\njoints:\n", volts)
	config := fmt.Sprintf("name: motors\nclock: {period: 20ms}\nbuses:\n  line: {type: %s, port: %s, baud: "+
		"%d}\nagents:\n"+
		"  - name: motors\n    model: robot.yaml\n    hardware:\n      joints:\n", bus, doctor.PortFor(bus), baud)
	for i, id := range ids {
		joint := string(rune('a' + i))
		robot += fmt.Sprintf("  - {name: %s, path: /%s, servo: %s, limits_deg: [-80, 80], default_deg: 0,\n"+
			"     load: {inertia_kgm2: 0.002, mass_kg: 0.01, length_m: 0.05, source: a test}}\n", joint, joint, model)
		config += fmt.Sprintf("        %s: {bus: line, id: %d, model: %s%s}\n", joint, id, model, keys)
	}
	for name, text := range map[string]string{"robot.yaml": robot, "motors.yaml": config} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "motors.yaml")
}

const endpoints = ", registers: {watchdog_endpoint: 200, enable_endpoint: 201}"

// motorCases are a bus of every type and make.
func motorCases() []struct {
	bus, model string
	baud       int
	volts      float64
	keys       string
	ids        []int
} {
	return []struct {
		bus, model string
		baud       int
		volts      float64
		keys       string
		ids        []int
	}{
		{"vesc", "vesc-6", 1000000, 48, "", []int{1, 2, 3}},
		{"odrive", "odrive-v3", 460800, 24, "", []int{0, 1}},
		{"odrive-can", "odrive-s1", 1000000, 48, endpoints, []int{1, 2, 3}},
		{"odrive-can", "odrive-v3", 500000, 24, "", []int{1, 2}},
		{"cybergear", "cybergear", 1000000, 24, "", []int{1, 2, 3}},
	}
}

// Robots of motor controllers pass the suite of all bodies, emulated.
func TestMotorsConform(t *testing.T) {
	for _, c := range motorCases() {
		t.Run(c.bus+"/"+c.model, func(t *testing.T) {
			config := motorConfig(t, c.bus, c.model, c.baud, c.volts, c.keys, c.ids...)
			haltest.Run(t, func(t *testing.T) haltest.Subject {
				return rigtest.Subject(t, rigtest.PlanOf(t, config, configs.Options{Body: "emulated"}))
			})
		})
	}
}

// Every model that a chain drives can be emulated and simulated, under the name that a config says.
func TestEveryMotorIsWhole(t *testing.T) {
	var names []string
	for _, m := range vesc.Models() {
		names = append(names, "vesc "+m.Name)
	}
	for _, m := range odrive.Models() {
		names = append(names, "odrive "+m.Name, "odrive-can "+m.Name)
	}
	for _, m := range cybergear.Models() {
		names = append(names, "cybergear "+m.Name)
	}
	for _, name := range names {
		bus, model, _ := strings.Cut(name, " ")
		m := catalog.BuiltinBuses().Of(bus).Lookup(model)
		if m == nil || m.Units().Name != model || catalog.BuiltinBuses().Model(model) == nil {
			t.Errorf("%s: not found", name)
		}
		line := doctor.TrialLine{Kind: catalog.BuiltinBuses().Of(bus), Baud: 1000000, Servos: []servo.Model{m}}
		if _, err := line.Cycle(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestDoctorOfMotors(t *testing.T) {
	for i, c := range motorCases() {
		for _, x := range []struct{ fault, want string }{{"", ""},
			{fmt.Sprintf("off servo %d", c.ids[1]), "fail servo"}, {"off bus", "fail power"}} {
			p := rigtest.PlanOf(t, motorConfig(t, c.bus, c.model, c.baud, c.volts, c.keys, c.ids...),
				configs.Options{Body: "emulated"})
			var faults []string
			if x.fault != "" {
				faults = []string{x.fault}
			}
			d, err := doctor.NewExamination(p, "emulated", faults)
			if err != nil {
				t.Fatal(err)
			}
			if err := d.Run(t.Context()); err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range d.Found {
				if f.State != doctor.StateOK && f.Check != "watchdog" {
					got = append(got, f.State+" "+f.Check+": "+f.Found)
				}
			}
			if x.want == "" && len(got) > 0 || x.want != "" && (len(got) == 0 || !strings.HasPrefix(got[0], x.want)) {
				t.Errorf("%s %s: got %q, want %q", c.model, x.fault, got, x.want)
			}
			// Whether an ODrive on CAN stops by itself is known where its endpoints are.
			unknown := slices.ContainsFunc(d.Found, func(f doctor.Finding) bool {
				return f.Check == "watchdog" && f.State == doctor.StateWarn
			})
			if want := i == 3 && x.fault != "off bus"; unknown != want {
				t.Errorf("%s %s: watchdog unknown %v, want %v", c.model, x.fault, unknown, want)
			}
		}
	}
	// Too low a supply is named.
	p := rigtest.PlanOf(t, motorConfig(t, "vesc", "vesc-6", 1000000, 7, "", 1, 2), configs.Options{Body: "emulated"})
	d, err := doctor.NewExamination(p, "emulated", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Run(t.Context()); err != nil || !slices.ContainsFunc(d.Found, func(f doctor.Finding) bool {
		return f.State == doctor.StateFail && f.Check == "alarm" &&
			strings.Contains(f.Found, "FAULT_CODE_UNDER_VOLTAGE") && strings.Contains(f.Fix, "supply")
	}) {
		t.Errorf("7 V: got %+v, %v", d.Found, err)
	}
}

// A CAN interface that is not there is named, with the command that brings it up.
func TestDoctorOfACANInterface(t *testing.T) {
	text := motorConfig(t, "cybergear", "cybergear", 1000000, 24, "", 1)
	p := rigtest.PlanOf(t, text, configs.Options{Set: []string{"buses.line.port=nocan7"}})
	d, err := doctor.NewExamination(p, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	f := d.Found[0]
	if f.Check != "port" || f.State != doctor.StateFail || !strings.Contains(f.Found, "no interface nocan7") ||
		!strings.Contains(f.Fix, "ip link set nocan7 up type can bitrate 1000000") {
		t.Errorf("got %+v", f)
	}
}

func TestMotorsAreResolved(t *testing.T) {
	for _, c := range []struct{ bus, model, set, want string }{
		{"odrive", "odrive-s1", "agents[0].hardware.joints.a.registers.watchdog_endpoint=200",
			"a register of odrive-s1"},
		{"odrive-can", "odrive-s1", "agents[0].hardware.joints.a.registers.watchdog_endpoint=70000", "0..65535"},
		{"odrive-can", "odrive-v3", "agents[0].hardware.joints.a.registers.watchdog_endpoint=200",
			"a register of odrive-v3"},
		{"vesc", "cybergear", "name=x", "a servo that speaks vesc"},
		{"cybergear", "cybergear", "agents[0].hardware.joints.a.registers.can_timeout=200000", "0..100000"},
	} {
		k, err := configs.Load(motorConfig(t, c.bus, c.model, 1000000, 24, "", 1),
			configs.Options{Set: []string{c.set}})
		if err == nil {
			_, err = plan.Resolve(k, builtin.Catalog())
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.set, err, c.want)
		}
	}
}

// A CAN bus is listed, with the reason why it is no terminal; it runs in memory all the same.
func TestCANIsNoTerminal(t *testing.T) {
	p := rigtest.PlanOf(t, motorConfig(t, "cybergear", "cybergear", 1000000, 24, "", 1),
		configs.Options{Body: "emulated"})
	w, err := assembly.EmulateAll(p)
	if err != nil {
		t.Fatal(err)
	}
	if lines := w.Terminals(); len(lines) != 0 ||
		!strings.Contains(assembly.Unserved(catalog.BuiltinBuses(), "cybergear"), "CAN cannot be a terminal") ||
		assembly.Unserved(catalog.BuiltinBuses(), "vesc") == assembly.Unserved(catalog.BuiltinBuses(), "odrive-can") {
		t.Errorf("got %d terminals, %q", len(lines), assembly.Unserved(catalog.BuiltinBuses(), "cybergear"))
	}
}

package plan_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal/haltest"
	"github.com/halyard-robotics/halyard/internal/builtin"
	"github.com/halyard-robotics/halyard/internal/catalog"
	"github.com/halyard-robotics/halyard/internal/commission/doctor"
	"github.com/halyard-robotics/halyard/internal/plan"
	"github.com/halyard-robotics/halyard/internal/rigtest"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/feetech"
	"github.com/halyard-robotics/halyard/servo/hiwonder"
	"github.com/halyard-robotics/halyard/servo/kondo"
)

// brandConfig writes a robot of three light joints with servos of a model on one line, and its config.
func brandConfig(t testing.TB, bus, model string, baud int, volts float64) string {
	t.Helper()
	path, err := doctor.WriteTrio(t.TempDir(), bus, model, baud, volts)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// Robots of every vendor pass the suite of all bodies, on emulated servos: drivers.Body over the vendor's chain.
func TestBrandsConform(t *testing.T) {
	for _, c := range []struct {
		bus, model string
		baud       int
		volts      float64
		echo       bool
	}{
		{"feetech", "sts3215", 1000000, 7.4, false}, {"feetech", "sts3250", 1000000, 12, false},
		{"feetech", "hls3915", 1000000, 12, false}, {"feetech", "hls3930", 1000000, 12, false},
		{"feetech", "sts3032", 1000000, 6, true}, {"feetech", "scs0009", 1000000, 6, false},
		{"feetech", "scs15", 1000000, 7.4, false}, {"hiwonder", "lx-16a", 115200, 7.4, false},
		{"kondo", "krs-2552", 1250000, 11.1, true}, {"dynamixel2", "ym070-210-r051", 4000000, 24, false},
		{"dynamixel2", "ym080-230-a099", 4000000, 24, false},
	} {
		t.Run(c.model, func(t *testing.T) {
			config := brandConfig(t, c.bus, c.model, c.baud, c.volts)
			haltest.Run(t, func(t *testing.T) haltest.Subject {
				p := rigtest.PlanOf(t, config, configs.Options{Body: "emulated",
					Set: []string{fmt.Sprintf("buses.line.timing.echo=%v", c.echo)}})
				return rigtest.Subject(t, p)
			})
		})
	}
}

// Every model that a chain drives can be emulated and simulated, under the name that a config says.
func TestEveryModelIsWhole(t *testing.T) {
	var names []string
	for _, m := range feetech.Models() {
		names = append(names, "feetech "+m.Name)
	}
	for _, m := range hiwonder.Models() {
		names = append(names, "hiwonder "+m.Name)
	}
	for _, m := range kondo.Models() {
		names = append(names, "kondo "+m.Name)
	}
	for _, name := range names {
		bus, model, _ := strings.Cut(name, " ")
		m := catalog.BuiltinBuses().Of(bus).Lookup(model)
		if m == nil || m.Units().Name != model || catalog.BuiltinBuses().Model(model) == nil {
			t.Errorf("%s: not found", name)
		}
		line := doctor.TrialLine{Kind: catalog.BuiltinBuses().Of(bus), Baud: 1000000, Servos: []servo.Model{m}}
		if bus == "hiwonder" {
			line.Baud = hiwonder.Baud
		} else if bus == "kondo" {
			line.Baud = 1250000
		}
		if _, err := line.Cycle(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestBrandsAreResolved(t *testing.T) {
	config := brandConfig(t, "feetech", "sts3215", 1000000, 7.4)
	for _, c := range []struct{ set, want string }{
		{"buses.line.type=canbus", "one of cybergear, dynamixel1, dynamixel2, feetech, hiwonder, kondo, odrive, " +
			"odrive-can, vesc"},
		{"buses.line.type=hiwonder", "a servo that speaks hiwonder"},
		{"agents[0].hardware.joints.a.model=ax-12a", "a servo that speaks feetech"},
		{"agents[0].hardware.joints.a.registers.id=4", "a setting in RAM"},
		{"agents[0].hardware.joints.a.registers.punch=4000", "0..1000"},
	} {
		k, err := configs.Load(config, configs.Options{Set: []string{c.set}})
		if err == nil {
			_, err = plan.Resolve(k, builtin.Catalog())
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.set, err, c.want)
		}
	}
	// What is set at the start: of Feetech also what the EEPROM keeps, in its copy in RAM.
	rigtest.PlanOf(t, config, configs.Options{
		Set: []string{"agents[0].hardware.joints.a.registers.position_p_gain=16"}})
}

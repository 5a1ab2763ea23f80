package plan_test

import (
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/internal/builtin"
	"github.com/halyard-robotics/halyard/internal/plan"
)

// A base's sensors are part of the base, for any body of the other parts, unless parts overrides them.
func TestBaseCarriesItsSensors(t *testing.T) {
	for parts, want := range map[string]string{
		"{base: emulated}":          "f1 f2 r8 odometry battery",
		"{base: real}":              "f1 f2 r8 odometry battery",
		"{base: emulated, f1: sim}": "f2 r8 odometry battery",
	} {
		text := "name: a\nbuses: {base: {type: serial, port: /dev/ttyUSB0}}\nagents:\n  - {name: a, model: " +
			"usarsim-p2at, body: sim, parts: " + parts +
			", hardware: {base: {bus: base, device: p2os, robot: p2at}}}\n"
		c, err := configs.Parse([]byte(text), "a.yaml", configs.Options{})
		if err != nil {
			t.Fatal(err)
		}
		p, err := plan.Resolve(c, builtin.Catalog())
		if err != nil {
			t.Fatal(err)
		}
		have := map[string]bool{}
		for _, u := range p.Agents[0].Base.Serves {
			have[u.Sensor] = true
		}
		for _, name := range strings.Fields("f1 f2 r8 odometry battery") {
			if have[name] != strings.Contains(" "+want+" ", " "+name+" ") {
				t.Errorf("%s: of the base: %s %v, want %s", parts, name, have[name], want)
			}
		}
	}
}

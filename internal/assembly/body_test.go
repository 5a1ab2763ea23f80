package assembly_test

import (
	"testing"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal/haltest"
	"github.com/halyard-robotics/halyard/internal/rigtest"
)

// Every embedded config passes the suite of all bodies: simulated, emulated, mixed and shadowed.
func TestBodiesConform(t *testing.T) {
	for _, c := range []struct {
		name, config string
		options      configs.Options
		falls        bool
	}{
		{"a-series sim", "a-series", configs.Options{Body: "sim"}, false},
		{"a-series emulated", "a-series", configs.Options{Body: "emulated"}, false},
		{"a-series mixed", "a-series", configs.Options{Set: []string{"agents[0].parts.left_elbow=emulated"}}, false},
		{"a-series shadowed", "a-series", configs.Options{Body: "emulated", Set: []string{"agents[0].shadow=true"}},
			false},
		{"a-series emulated, adapters that echo", "a-series", configs.Options{Body: "emulated", Set: []string{
			"buses.upper.timing.echo=true", "buses.left_leg.timing.echo=true"}}, false},
		{"xm430-arm sim", "xm430-arm", configs.Options{Body: "sim"}, true},
		{"xm430-arm emulated", "xm430-arm", configs.Options{Body: "emulated"}, true},
		{"pendulum sim", "pendulum", configs.Options{Body: "sim"}, true},
		{"pendulum emulated", "pendulum", configs.Options{Body: "emulated"}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			haltest.Run(t, func(t *testing.T) haltest.Subject {
				s := rigtest.Subject(t, rigtest.PlanOf(t, c.config, c.options))
				s.Falls = c.falls
				return s
			})
		})
	}
}

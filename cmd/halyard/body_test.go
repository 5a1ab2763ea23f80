package main

import (
	"log/slog"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal/haltest"
	"github.com/halyard-robotics/halyard/internal/assembly"
	"github.com/halyard-robotics/halyard/internal/builtin"
	"github.com/halyard-robotics/halyard/internal/plan"
)

// planOf loads and resolves an embedded config.
func planOf(t testing.TB, name string, o configs.Options) *plan.Plan {
	t.Helper()
	c, err := configs.Load(name, o)
	if err != nil {
		t.Fatal(err)
	}
	p, err := plan.Resolve(c, builtin.Catalog())
	if err != nil {
		t.Fatal(err)
	}
	return p
}

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
				s := subject(t, planOf(t, c.config, c.options))
				s.Falls = c.falls
				return s
			})
		})
	}
}

// subject builds p but for the rig's agents, and hands the first body out.
func subject(t *testing.T, p *plan.Plan) haltest.Subject {
	t.Helper()
	sys, err := assembly.Build(p, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { sys.Close() })
	s := haltest.Subject{Body: sys.Bodies[0], World: haltest.Worlds(sys.Worlds), Period: 10 * time.Millisecond}
	for _, l := range sys.Lines {
		s.Buses = append(s.Buses, l.Chain)
	}
	for _, r := range sys.Runners {
		s.Buses = append(s.Buses, r)
	}
	return s
}

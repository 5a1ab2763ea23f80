package halyard_test

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard"
	"github.com/halyard-robotics/halyard/hal"
)

const swingup = "internal/policy/testdata/swingup/swingup.yaml"

// watcher calls f in each cycle.
type watcher struct{ f func(*hal.Cycle) }

func (w watcher) Cycle(c *hal.Cycle) { w.f(c) }

// served runs the config for so many cycles, and returns the angle of each.
func served(t *testing.T, cycles int, set ...halyard.Setting) (angles []float64) {
	t.Helper()
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	cfg, err := halyard.Load(swingup, set...)
	if err != nil {
		t.Fatal(err)
	}
	sys, err := halyard.Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer sys.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	agent := sys.Rig().Agent("pendulum")
	session := sys.Rig().NewSession("watcher", watcher{func(*hal.Cycle) {
		m := agent.Measured(nil)
		if angles = append(angles, m[agent.Layout().Actuators[0].Position]); len(angles) == cycles {
			cancel()
		}
	}})
	if err := sys.Run(ctx); err != nil {
		t.Fatal(err)
	}
	session.Close()
	return angles
}

// The policy that our own learning tool found swings the pendulum up and holds it there.
func TestPolicySwingsUp(t *testing.T) {
	angles := served(t, 400, halyard.Set("policies.swingup.use", "true"))
	for i, a := range angles[300:] {
		if math.Cos(a) > -0.9 {
			t.Fatalf("cycle %d: got %.2f rad, want near π", 300+i, a)
		}
	}
}

// A policy never arms, and one that is not in use does nothing.
func TestPolicyNeverArms(t *testing.T) {
	for _, set := range [][]halyard.Setting{
		{halyard.Set("policies.swingup.use", "true"), halyard.Set("agents[0].guard.armed", "false")}, nil} {
		set = append(set, halyard.Set("clock.mode", "realtime"), halyard.Set("clock.period", "2ms"))
		angles := served(t, 60, set...)
		for i, a := range angles {
			if math.Abs(a) > 0.5 {
				t.Fatalf("cycle %d: got %.2f rad, want a pendulum that hangs", i, a)
			}
		}
	}
}

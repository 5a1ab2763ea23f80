package configs

import (
	"testing"
	"time"
)

// TestSafety07ArmingDefaults: the defaults of arming and of the command deadline, by body and protocol.
func TestSafety07ArmingDefaults(t *testing.T) {
	for _, c := range []struct {
		name, body string
		set        []string
		arming     string
		armed      bool
		timeout    time.Duration
	}{
		{"so101", "sim", nil, "client", true, 0},
		{"so101", "emulated", nil, "client", true, 500 * time.Millisecond},
		{"so101", "real", nil, "operator", false, 500 * time.Millisecond},
		{"so101", "real", []string{"agents[0].guard.armed=true"}, "operator", true, 500 * time.Millisecond},
		{"so101", "real", []string{"agents[0].guard.arming=client"}, "client", true, 500 * time.Millisecond},
		{"so101", "emulated", []string{"agents[0].guard.arming=operator"}, "operator", false, 500 * time.Millisecond},
		{"xl430-pendulum", "emulated", nil, "client", true, 2 * time.Second},
		{"xl430-pendulum", "emulated", []string{"agents[0].guard.command_timeout=300ms"}, "client", true,
			300 * time.Millisecond},
	} {
		config, err := Load(c.name, Options{Body: c.body, Set: c.set})
		if err != nil {
			t.Fatal(err)
		}
		if g := config.Agents[0].Guard; g.Arming != c.arming || g.Armed != c.armed || g.CommandTimeout != c.timeout {
			t.Errorf("%s %s %v: got %s, armed %v, %v; want %s, %v, %v", c.name, c.body, c.set, g.Arming, g.Armed,
				g.CommandTimeout, c.arming, c.armed, c.timeout)
		}
	}
}

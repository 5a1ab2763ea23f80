package configs

import (
	"strings"
	"testing"
	"time"
)

// Defaults that depend on other keys.
func TestComplete(t *testing.T) {
	for _, tc := range []struct {
		set     string
		mode    ClockMode
		substep time.Duration
		guard   time.Duration // of agent a
		client  time.Duration
	}{
		{"world.seed=1", Lockstep, time.Millisecond, 0, 0},
		{"clock.mode=realtime", Realtime, time.Millisecond, 0, 2 * time.Second},
		{"agents[0].body=emulated", Lockstep, time.Millisecond, 500 * time.Millisecond, 0},
		{"agents[0].body=real", Realtime, time.Millisecond, 500 * time.Millisecond, 2 * time.Second},
		{"agents[0].parts.elbow=real", Realtime, time.Millisecond, 500 * time.Millisecond, 2 * time.Second},
		{"agents[0].guard.command_timeout=1s", Lockstep, time.Millisecond, time.Second, 0},
		{"agents[0]={name: a, model: m, body: emulated, hardware: {}, guard: {command_timeout: none}}", Lockstep,
			time.Millisecond, 0, 0},
		{"servers[0].client_timeout=3s", Lockstep, time.Millisecond, 0, 3 * time.Second},
		{"clock={mode: realtime, period: 100us}", Realtime, 100 * time.Microsecond, 0, 2 * time.Second},
		{"clock.period=2500us", Lockstep, 625 * time.Microsecond, 0, 0},
		{"clock.period=999983us", Lockstep, 999983 * time.Nanosecond, 0, 0}, // a prime
		{"world.substep=5ms", Lockstep, 5 * time.Millisecond, 0, 0},
	} {
		c := parsed(t, rig, set(tc.set))
		if c.Clock.Mode != tc.mode || c.World.Substep != tc.substep ||
			c.Agents[0].Guard.CommandTimeout != tc.guard || c.Servers[0].ClientTimeout != tc.client {
			t.Errorf("%s: got %s, substep %v, command %v, client %v; want %+v", tc.set, c.Clock.Mode, c.World.Substep,
				c.Agents[0].Guard.CommandTimeout, c.Servers[0].ClientTimeout, tc)
		}
	}
}

// Every period that is allowed has a substep that parts it, between a half and a whole millisecond if it is longer.
func TestSubstep(t *testing.T) {
	for period := 100 * time.Microsecond; period <= time.Second; period += 37 * time.Microsecond {
		got := substep(period)
		if period%got != 0 || got > time.Millisecond || period > time.Millisecond && got < 500*time.Microsecond {
			t.Fatalf("%v: got %v", period, got)
		}
	}
}

// For a robot with body sim the entries under hardware need only the right form.
func TestSimNeedsNoDevice(t *testing.T) {
	c := parsed(t, with(", port: /dev/ttyUSB0", ""), Options{})
	if c.Buses["left"].Port != "" || c.Buses["left"].Baud != 1000000 ||
		c.Buses["left"].Timing.ServoDelay != 58*time.Microsecond {
		t.Errorf("got %+v", c.Buses["left"])
	}
	if c.Agents[1].Hardware != nil {
		t.Error("checking has made a hardware section")
	}
}

// A value in a config counts even if it equals the default: no value means "not set".
func TestGiven(t *testing.T) {
	c := parsed(t, rig, set("buses.left.baud=1000000", "buses.laser={type: serial, baud: 115200}",
		"buses.plain.type=serial", "world.substep=1ms"))
	for name, want := range map[string]struct {
		baud  int
		given bool
	}{"left": {1000000, true}, "right": {1000000, false}, "laser": {115200, true}, "plain": {115200, false}} {
		if b := c.Buses[name]; b.Baud != want.baud || (b.GivenBaud != nil) != want.given {
			t.Errorf("%s: got %d, given %t, want %+v", name, b.Baud, b.GivenBaud != nil, want)
		}
	}
	if c.World.GivenSubstep == nil || c.World.Substep != time.Millisecond {
		t.Errorf("substep: got %v, want it given", c.World.Substep)
	}
	for value, want := range map[string]string{
		"buses.chip={type: i2c, baud: 1000000}":                                         "buses.chip.baud: got 1000000, want no baud of type i2c",
		"buses.left.frequency=400000":                                                   "buses.left.frequency: got 400000, want it only of type i2c or spi",
		"agents[0].hardware.joints.fin={bus: left, device: maestro, channel: 0, id: 0}": "joints.fin.id: got id, want no such key with device",
		"servers[0].width=0":                                                            "servers[0].width: got 0, want 1..4096",
	} {
		if _, err := Parse([]byte(rig), "f.yaml", set(value)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", value, err, want)
		}
	}
	c = parsed(t, rig, set("agents[0].hardware.joints.elbow.id=0")) // an id as any other
	if id := c.Agents[0].Hardware.Joints["elbow"].ID; id != 0 {
		t.Errorf("id: got %d", id)
	}
	if _, err := Parse([]byte(rig), "f.yaml", set("agents[0].hardware.joints.elbow.id=0",
		"agents[0].hardware.joints.wrist={bus: left, id: 0, model: ax-12a}")); err == nil ||
		!strings.Contains(err.Error(), "an id of its own") {
		t.Errorf("id 0 twice: got %v", err)
	}
}

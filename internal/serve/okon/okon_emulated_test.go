package okon_test

import (
	"bytes"
	"math"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/plan"
	"github.com/halyard-robotics/halyard/protocols/okon"
	"github.com/halyard-robotics/halyard/sim/emulator/chip"
)

// ledger is a log that may be read while it is written.
type ledger struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *ledger) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

// take returns what has been written since the last call.
func (l *ledger) take() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer l.text.Reset()
	return l.text.String()
}

// eventful sees the names of the rig's events.
type eventful struct {
	rig  *hal.Rig
	mu   sync.Mutex
	seen []string
}

// Cycle implements hal.Observer.
func (e *eventful) Cycle(c *hal.Cycle) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, id := range c.Events {
		e.seen = append(e.seen, e.rig.Events().Name(id))
	}
}

func (e *eventful) saw(name string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	defer func() { e.seen = nil }()
	return slices.Contains(e.seen, name)
}

// TestOkonRestartEmulated: RST_SIM on emulated devices puts the simulated vehicle into a start zone, as it does without
// them, and leaves every device as it is: ESCs stay armed, the thrusters go on, and what the chips feel is the new
// place. The same twice, bit for bit.
func TestOkonRestartEmulated(t *testing.T) {
	var bits [2][]uint64
	for i := range bits {
		d := newDock(t, configs.Options{Body: "emulated",
			Set: []string{"agents[0].guard.command_timeout=none", "clock.timing=ideal"}})
		d.must(d.client.SetMode("stable"))
		d.must(d.client.SetStable(okon.Stable{Depth: 1.5}))
		d.must(d.client.Arm())
		d.Run(8 * time.Second)
		if off := math.Abs(d.depth() - 1.5); off > 0.05 {
			t.Fatalf("before: got a depth of %.3f m, want 1.5", d.depth())
		}
		d.must(d.client.SetOrientation(okon.Orientation{Pos: okon.Vector{X: -0.1, Y: -1.5, Z: 6}}))
		d.Run(40 * time.Millisecond)
		points, err := d.client.Checkpoints()
		d.must(err)
		if !points[0].Reached {
			t.Errorf("before: got %+v, want chk1 reached", points)
		}
		d.must(d.client.Reset())
		d.Run(40 * time.Millisecond)
		if p := d.vehicle.Pose().Position; math.Abs(p[0]) > 0.1 || math.Abs(p[2]+0.4) > 0.1 {
			t.Errorf("put back: got %v, want a start", p)
		}
		points, err = d.client.Checkpoints()
		d.must(err)
		if points[0].Reached {
			t.Errorf("put back: got %+v, want no checkpoint", points)
		}
		d.Run(200 * time.Millisecond)
		s, err := d.client.Sensors()
		d.must(err)
		if got := float64(s.Baro.Pressure) / plan.PascalPerMetre; math.Abs(got-d.depth()) > 0.05 ||
			math.Abs(halfTurn(float64(s.Rot.Y)-d.heading())) > 2 {
			t.Errorf("measured: got %.3f m, %.1f degrees; it is at %.3f m, %.1f degrees", got, s.Rot.Y, d.depth(),
				d.heading())
		}
		// It never was disarmed: nothing has to arm again, which would take 3 s.
		m, err := d.client.Motors()
		d.must(err)
		if m.FLV >= 0 {
			t.Errorf("put back above its depth: got %+v, want it to dive", m)
		}
		for range 50 {
			d.gate.pass(100 * time.Millisecond)
			for _, x := range d.sys.Rig.Agents()[0].Measured(nil) {
				bits[i] = append(bits[i], math.Float64bits(x))
			}
		}
		if off := math.Abs(d.depth() - 1.5); off > 0.05 {
			t.Errorf("afterwards: got a depth of %.3f m, want 1.5", d.depth())
		}
	}
	if !slices.Equal(bits[0], bits[1]) {
		t.Error("two runs differ")
	}
}

// TestOkonAlarms: water in the hull and a low battery are events of the rig, lines in the log and, of the leak, a
// value; the protocol has no packet for them, and its clients go on.
func TestOkonAlarms(t *testing.T) {
	log := &ledger{}
	d := dockOf(t, configs.Options{Body: "emulated", Set: []string{"agents[0].hardware.sensors.battery.below=12"}}, log)
	events := &eventful{rig: d.sys.Rig}
	party := d.sys.Rig.NewSession("events", events)
	defer party.Close()
	d.Run(time.Second)
	if text := log.take(); strings.Contains(text, "alarm") || events.saw("/okon/battery/Alarm") {
		t.Errorf("dry and full: got %s", text)
	}
	for _, p := range d.sys.Plan.Sensors {
		switch c := d.sys.Emulation.Chips[p].(type) {
		case *chip.ADS1115:
			d.sys.Rig.BetweenCycles(func() { c.Volts[0] = 3.1 })
		}
	}
	d.Run(200 * time.Millisecond)
	text := log.take()
	if !events.saw("/okon/leak/Alarm") || !strings.Contains(text, "level=ERROR msg=alarm agent=okon device=leak") {
		t.Errorf("leak: got %s", text)
	}
	var leak float64
	for _, id := range d.sys.Rig.Values().Find(regexp.MustCompile("/okon/leak")) {
		v, err := d.sys.Rig.Values().Get(id)
		d.must(err)
		leak = v.Double
	}
	if math.Abs(leak-3.1) > 0.01 {
		t.Errorf("leak: got %g V as a value, want 3.1", leak)
	}
	_, err := d.client.Sensors()
	d.must(err)
	if e := d.client.Events(); len(e) != 0 {
		t.Errorf("leak: its client got %v", e)
	}
	// The battery has 16 V.
	low := &ledger{}
	d = dockOf(t, configs.Options{Body: "emulated", Set: []string{"agents[0].hardware.sensors.battery.below=16.5"}},
		low)
	d.Run(time.Second)
	if text := low.take(); strings.Count(text, "level=ERROR msg=alarm agent=okon device=battery value=16") != 1 {
		t.Errorf("battery: got %s", text)
	}
}

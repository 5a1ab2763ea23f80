package assembly_test

import (
	"errors"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/halyard-robotics/halyard/drivers"
	"github.com/halyard-robotics/halyard/drivers/gpio"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/assembly"
	"github.com/halyard-robotics/halyard/internal/catalog"
	pins "github.com/halyard-robotics/halyard/sim/emulator/gpio"
	"github.com/halyard-robotics/halyard/sim/emulator/wire"
)

// dozing is a line node that waits by the wall's clock, and that hangs in the kernel until it is let go.
type dozing struct {
	gpio.Node
	hang chan struct{} // nil: it does not
}

func (d *dozing) Lines(fd int32) gpio.Node { return &dozing{d.Node.Lines(fd), d.hang} }

func (d *dozing) Read(p []byte, wait time.Duration) (int, error) {
	if wait > 0 {
		time.Sleep(wait)
	}
	select {
	case <-d.hang:
		time.Sleep(time.Hour)
	default:
	}
	return d.Node.Read(p, 0)
}

// sleeper is the clock of a synctest bubble.
type sleeper struct{ start time.Time }

func (c sleeper) Now() time.Duration { return time.Since(c.start) }

func (c sleeper) SleepUntil(t time.Duration) { time.Sleep(t - c.Now()) }

// A reader in its own goroutine: an open circuit stops within its wait, a dead reader within its patience, a lost chip
// at once.
func TestStopReader(t *testing.T) {
	button := &pins.Switch{Line: 0, Closed: true}
	for name, c := range map[string]struct {
		spoil func(chip *pins.Chip, hang chan struct{})
		says  string
		kind  hal.Kind
	}{
		"cut": {func(chip *pins.Chip, _ chan struct{}) { chip.Fault(wire.Fault{Kind: wire.OpenWire, Target: 0}) },
			"its circuit is open", hal.Unsafe},
		"unplugged": {func(chip *pins.Chip, _ chan struct{}) { chip.Fault(wire.Fault{Kind: wire.Unplugged}) },
			"no such", hal.Absent},
		"dead": {func(_ *pins.Chip, hang chan struct{}) { close(hang) }, "no report of its reader for 100ms",
			hal.Timeout},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				chip := pins.New(pins.Config{Lines: []string{"BUTTON"}})
				chip.Attach(button)
				host, hang := chip.Host(), make(chan struct{})
				open := func() (gpio.Node, error) {
					n, err := host.Open()
					return &dozing{n, hang}, err
				}
				p := &catalog.WirePlan{Name: "estop", Bus: "io", Line: "0", Low: true}
				reader := drivers.NewPoller(gpio.NewEStopInput(p.Pins(catalog.Connection{Name: "io", Lines: open}),
					assembly.StopWait),
					drivers.PollerConfig{Values: 1, Period: time.Millisecond, Clock: sleeper{time.Now()}})
				if err := reader.Open(); err != nil {
					t.Fatal(err)
				}
				heed := assembly.StopInput(reader, "arm", p, assembly.StopTimeout)
				if err := heed(); err == nil {
					t.Error("nothing heard yet: got no stop")
				}
				time.Sleep(assembly.StopWait + 2*time.Millisecond)
				for range 100 {
					if err := heed(); err != nil {
						t.Fatalf("all well: got %v", err)
					}
					time.Sleep(7 * time.Millisecond)
				}
				if n := testing.AllocsPerRun(10, func() { heed() }); n > 0 {
					t.Errorf("asking costs %g allocations, want none", n)
				}
				c.spoil(chip, hang)
				time.Sleep(assembly.StopTimeout + assembly.StopWait + 2*time.Millisecond)
				if err := heed(); err == nil || !strings.Contains(err.Error(), c.says) || hal.KindOf(err) != c.kind {
					t.Errorf("got %v, want %q", err, c.says)
				}
				time.Sleep(2 * time.Hour) // a reader that hangs comes back in the end, and is closed then
				if err := reader.Close(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// An opening that is over before the rig looks again stops it all the same.
func TestStopBlink(t *testing.T) {
	chip := pins.New(pins.Config{Lines: []string{"BUTTON"}})
	chip.Attach(&pins.Switch{Line: 0, Closed: true})
	p := &catalog.WirePlan{Name: "estop", Bus: "io", Line: "0", Low: true}
	clock := &hands{}
	circuit := &assembly.Latched{Sensor: gpio.NewEStopInput(
		p.Pins(catalog.Connection{Name: "io", Lines: chip.Host().Open}), 0), Clock: clock, Least: assembly.StopTimeout}
	if err := circuit.Open(); err != nil {
		t.Fatal(err)
	}
	reads := func(want float64, when string) {
		t.Helper()
		var whole [1]float64
		if err := circuit.Read(whole[:]); err != nil || whole[0] != want {
			t.Errorf("%s: got %v, %v; want %v", when, whole, err, want)
		}
	}
	reads(1, "whole")
	chip.Fault(wire.Fault{Kind: wire.OpenWire, Target: 0})
	clock.now += time.Millisecond
	reads(0, "open")
	chip.ClearFaults()
	clock.now += time.Millisecond
	reads(0, "whole again, before the rig has looked")
	clock.now += 98 * time.Millisecond
	reads(0, "within the patience")
	clock.now += time.Millisecond
	reads(1, "after it")
	if err := circuit.Close(); err != nil {
		t.Error(err)
	}
}

// hands is a clock that the test advances.
type hands struct{ now time.Duration }

func (h *hands) Now() time.Duration { return h.now }

func (h *hands) SleepUntil(t time.Duration) { h.now = max(h.now, t) }

// A gate that boards share is open while one has pulses and none was halted.
func TestGateShared(t *testing.T) {
	chip := pins.New(pins.Config{Lines: []string{"OE"}})
	chip.Resistor(0, true)
	out := gpio.NewSwitch(gpio.Pins{Open: chip.Host().Open, Lines: []string{"OE"}, ActiveLow: true})
	g := &assembly.Cutoff{Out: out, Wants: make([]assembly.Want, 2)}
	left, right := g.Of(0), g.Of(1)
	if left(true) == nil {
		t.Error("not open yet: got no error")
	}
	g.Wants[0] = assembly.Nothing
	if err := out.Open(); err != nil {
		t.Fatal(err)
	}
	for i, c := range []struct {
		board  func(bool) error
		open   bool
		closed bool
	}{{left, true, false}, {right, true, false}, {right, false, true}, {left, true, true}, {right, true, false},
		{left, false, true}, {right, true, true}, {left, true, false}} {
		if err := c.board(c.open); err != nil || chip.Level(0) != c.closed {
			t.Errorf("step %d: got closed %v, %v; want %v", i, chip.Level(0), err, c.closed)
		}
	}
	chip.Fault(wire.Fault{Kind: wire.Unplugged})
	if err := left(false); hal.KindOf(err) != hal.Absent || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a gate that cannot be closed: got %v", err)
	}
	if err := out.Close(); err != nil {
		t.Error(err)
	}
}

package gpio_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	driver "github.com/halyard-robotics/halyard/drivers/gpio"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/wire/gpiochip"
	"github.com/halyard-robotics/halyard/sim/emulator/gpio"
	"github.com/halyard-robotics/halyard/sim/emulator/wire"
)

const (
	ms     = time.Millisecond
	period = 10 * ms
)

// board is a chip with eight lines, a host and the parts under test.
type board struct {
	t    *testing.T
	chip *gpio.Chip
	host *gpio.Host
}

func newBoard(t *testing.T, parts ...gpio.Part) *board {
	c := gpio.New(gpio.Config{Name: "gpiochip0", Label: "emulated",
		Lines: []string{"", "", "GPIO2", "", "", "BTN", "", "BTN"}, Seed: 1})
	c.Attach(parts...)
	return &board{t, c, c.Host()}
}

func (b *board) pins(lines ...string) driver.Pins {
	return driver.Pins{Bus: "io", Open: b.host.Open, Lines: lines, ActiveLow: true, Bias: driver.Up,
		User: "halyard test"}
}

func (b *board) pass(d time.Duration) {
	b.t.Helper()
	for range d / period {
		b.must(b.chip.Advance(period))
	}
	b.must(b.chip.Advance(d % period))
}

func (b *board) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

// sensor is a device of the driver.
type sensor interface {
	Open() error
	Read([]float64) error
	Close() error
}

// open opens a device, and closes it at the end.
func (b *board) open(s sensor) {
	b.t.Helper()
	b.must(s.Open())
	b.t.Cleanup(func() { s.Close() })
}

// read is a device's first value.
func (b *board) read(s sensor) float64 {
	b.t.Helper()
	v := []float64{math.NaN()}
	b.must(s.Read(v))
	return v[0]
}

func (b *board) want(s sensor, want float64, what string) {
	b.t.Helper()
	if got := b.read(s); got != want {
		b.t.Errorf("%s: got %g, want %g", what, got, want)
	}
}

// A touch is seen at once and once, however its contact bounces, and its end when the switch has been quiet.
func TestBumper(t *testing.T) {
	for _, bounces := range []bool{false, true} {
		sw := &gpio.Switch{Line: 3}
		b := newBoard(t, sw)
		if bounces {
			b.chip.Fault(wire.Fault{Kind: wire.Duplicated, Target: 3})
		}
		s := driver.NewBumper(b.pins("3"), driver.BumperConfig{Debounce: 20 * ms})
		b.open(s)
		b.want(s, 0, "at rest")
		sw.Closed = true
		b.pass(ms)
		b.want(s, 1, "touched a millisecond ago")
		for range 20 {
			b.pass(ms)
			b.want(s, 1, "held")
		}
		sw.Closed = false
		for range 19 {
			b.pass(ms)
			b.want(s, 1, "released less than 20 ms ago")
		}
		b.pass(8 * ms)
		b.want(s, 0, "released")
		// A tap between two reads is reported once.
		sw.Closed = true
		b.pass(10 * ms)
		sw.Closed = false
		b.pass(100 * ms)
		b.want(s, 1, "a tap that is over")
		b.want(s, 0, "reported")
	}
}

// A bumper's cut wire: normally open it is blind, normally closed it reads touched.
func TestBumperCut(t *testing.T) {
	for _, closed := range []bool{false, true} {
		sw := &gpio.Switch{Line: 0, Closed: closed}
		b := newBoard(t, sw)
		p := b.pins("0")
		p.ActiveLow = !closed
		s := driver.NewBumper(p, driver.BumperConfig{})
		b.open(s)
		b.want(s, 0, "whole")
		b.chip.Fault(wire.Fault{Kind: wire.OpenWire, Target: 0})
		want := 0.0
		if closed {
			want = 1
		}
		b.want(s, want, "cut")
	}
}

// The circuit of an emergency stop is open when its button is pressed, however shortly, when its wire is cut, when it
// is shorted to the supply, when edges were lost and when the chip is gone.
func TestCircuit(t *testing.T) {
	for _, toSupply := range []bool{false, true} {
		button := &gpio.Switch{Line: 5, Closed: true, ToSupply: toSupply}
		b := newBoard(t, button)
		p := b.pins("5")
		p.ActiveLow = !toSupply
		p.Bias = driver.NoBias // it knows better
		s := driver.NewEStopInput(p, 0)
		b.open(s)
		b.want(s, 1, "whole")
		button.Closed = false
		b.pass(ms)
		b.want(s, 0, "pressed")
		button.Closed = true
		b.pass(ms)
		b.want(s, 1, "released")
		button.Closed = false
		b.pass(ms)
		button.Closed = true
		b.pass(ms)
		b.want(s, 0, "pressed and released between reads")
		b.want(s, 1, "whole again")
		broken := wire.StuckHigh
		if toSupply {
			broken = wire.StuckLow
		}
		for _, k := range []wire.Kind{wire.OpenWire, broken} {
			b.chip.Fault(wire.Fault{Kind: k, Target: 5})
			b.want(s, 0, k.String())
			b.chip.ClearFaults()
			b.want(s, 1, "mended")
		}
		b.chip.Fault(wire.Fault{Kind: wire.Unplugged})
		if err := s.Read(make([]float64, 1)); hal.KindOf(err) != hal.Absent {
			t.Errorf("unplugged: got %v, want that it is absent", err)
		}
		b.chip.ClearFaults()
		if err := s.Read(make([]float64, 1)); hal.KindOf(err) != hal.Absent {
			t.Errorf("plugged in again: got %v, want an error until it is opened again", err)
		}
		b.must(s.Open())
		b.want(s, 1, "opened again")
	}
}

// An encoder counts every step in both directions, at any speed within the kernel's queue, and reports its rate; an
// overrun of the queue is an error.
func TestEncoder(t *testing.T) {
	wheel := &gpio.Encoder{A: 0, B: 1}
	b := newBoard(t, wheel)
	s := driver.NewEncoder(b.pins("0", "1"))
	b.open(s)
	v := make([]float64, 2)
	for _, c := range []struct {
		to   int64
		rate float64
	}{{7, 700}, {107, 10_000}, {107, 100}, {7, -10_000}, {-900, -90_700}, {-900, -100}, {0, 90_000}} {
		wheel.Count = c.to
		b.pass(period)
		b.must(s.Read(v))
		// Lines with the low level active turn as those with the high one: both are turned over.
		if v[0] != float64(c.to) || math.Abs(v[1]-c.rate) > math.Abs(c.rate)/5 {
			t.Errorf("to %d: got %g at %.0f steps/s, want it at %.0f", c.to, v[0], v[1], c.rate)
		}
	}
	wheel.Count = 5000
	b.pass(period)
	if err := s.Read(v); err == nil || !strings.Contains(err.Error(), "3976 edges were missed") || s.Errors() != 3976 {
		t.Errorf("5000 steps between two looks: got %v", err)
	}
	b.must(s.Read(v))
	before := v[0]
	wheel.Count += 50
	b.pass(period)
	if b.must(s.Read(v)); v[0] != before+50 {
		t.Errorf("after it: got %g, want 50 more than %g", v[0], before)
	}
	b.chip.Fault(wire.Fault{Kind: wire.Dropped, Target: 0, P: 0.5})
	wheel.Count += 50
	b.pass(period)
	if err := s.Read(v); err == nil {
		t.Error("edges of one line lost: got no error")
	}
}

// The sonar measures to a millimetre over its range, reports its greatest range without an echo, takes 60 ms a reading,
// and detects a missing wire.
func TestSonar(t *testing.T) {
	part := &gpio.Sonar{Trigger: 0, Echo: 2, Celsius: 20}
	b := newBoard(t, part)
	p := b.pins("0", "GPIO2")
	s := driver.NewHCSR04(p, driver.HCSR04Config{Celsius: 20})
	b.open(s)
	for _, c := range []struct{ distance, want float64 }{{1, 1}, {0.02, 0.02}, {3.999, 3.999}, {4.5, 4},
		{math.NaN(), 4}, {0.5, 0.5}} {
		part.Distance = c.distance
		before := b.host.Now()
		if got := b.read(s); math.Abs(got-c.want) > 1e-6 {
			t.Errorf("%g m: got %g, want %g", c.distance, got, c.want)
		}
		// A look begins 60 ms after the one before, and ends when its echo does.
		if took := b.host.Now() - before; took > 100*ms {
			t.Errorf("%g m: took %v", c.distance, took)
		}
	}
	// A spike on the echo line, or something that touches it, is no distance; an echo behind the spike is.
	part.Distance = 0.001
	if err := s.Read(make([]float64, 1)); hal.KindOf(err) != hal.BusFault || !strings.Contains(err.Error(), "echo") {
		t.Errorf("1 mm: got %v", err)
	}
	part.Distance, part.Glitch = 1, 5*time.Microsecond
	if got := b.read(s); math.Abs(got-1) > 1e-6 {
		t.Errorf("behind a spike: got %g", got)
	}
	part.Glitch = 0
	part.Distance, part.Silence = 9, 200*ms
	for range 2 { // a clone that holds its line for long
		b.want(s, 4, "nothing echoes")
	}
	part.Distance = 1
	if got := b.read(s); math.Abs(got-1) > 1e-6 {
		t.Errorf("after it: got %g", got)
	}
	for kind, text := range map[wire.Kind]string{wire.StuckHigh: "stays high", wire.OpenWire: "no answer",
		wire.StuckLow: "no answer"} {
		b.chip.Fault(wire.Fault{Kind: kind, Target: 2})
		if err := s.Read(make([]float64, 1)); err == nil || !strings.Contains(err.Error(), text) ||
			hal.KindOf(err) != hal.Timeout {
			t.Errorf("%v: got %v, want %q", kind, err, text)
		}
		b.chip.ClearFaults()
	}
	b.must(s.Close())
	if b.chip.Level(0) || b.chip.Held(0) != "" {
		t.Error("closed, and its trigger is not at rest")
	}
}

// Sonars that share a turn sound 60 ms after each other, one that is not wired no longer than the others' turns.
func TestSonarTurns(t *testing.T) {
	b := newBoard(t, &gpio.Sonar{Trigger: 0, Echo: 1, Distance: 1}, &gpio.Sonar{Trigger: 2, Echo: 3, Distance: 2})
	turn := &driver.Turn{}
	var sonars []*driver.HCSR04
	for _, lines := range [][]string{{"0", "1"}, {"2", "3"}, {"4", "6"}} {
		s := driver.NewHCSR04(b.pins(lines...), driver.HCSR04Config{Turn: turn})
		b.open(s)
		sonars = append(sonars, s)
	}
	v := []float64{0}
	for look := range 4 {
		before := b.host.Now()
		for i, want := range []float64{1, 2} {
			if b.must(sonars[i].Read(v)); math.Abs(v[0]-want) > 0.1 {
				t.Errorf("sonar %d: got %g, want %g", i, v[0], want)
			}
		}
		if err := sonars[2].Read(v); hal.KindOf(err) != hal.Timeout {
			t.Errorf("not wired: got %v", err)
		}
		if took := b.host.Now() - before; look > 0 && (took < 170*ms || took > 190*ms) {
			t.Errorf("a look of all three: took %v, want three turns", took)
		}
	}
}

// Sound is faster where it is warm.
func TestSonarWarm(t *testing.T) {
	part := &gpio.Sonar{Trigger: 0, Echo: 2, Celsius: 35, Distance: 2}
	b := newBoard(t, part)
	for celsius, want := range map[float64]float64{35: 2, 0: 2 * 331.3 / 352.51} {
		s := driver.NewHCSR04(b.pins("0", "2"), driver.HCSR04Config{Celsius: celsius})
		b.must(s.Open())
		if got := b.read(s); math.Abs(got-want) > 1e-5 {
			t.Errorf("taken for %g °C: got %g m, want %g", celsius, got, want)
		}
		b.must(s.Close())
	}
}

// A PIR reports no motion while it warms up, holds a detection, and is debounced by the kernel.
func TestPIR(t *testing.T) {
	part := &gpio.PIR{Line: 2}
	b := newBoard(t, part)
	p := b.pins("GPIO2")
	p.ActiveLow, p.Bias = false, driver.NoBias
	s := driver.NewPIR(p, driver.PIRConfig{WarmUp: time.Second, Debounce: 50 * ms})
	b.open(s)
	if err := s.Read(make([]float64, 1)); hal.KindOf(err) != hal.Timeout {
		t.Errorf("cold: got %v", err)
	}
	b.pass(time.Second)
	b.want(s, 0, "no motion")
	part.Moves = true
	b.pass(30 * ms)
	b.want(s, 0, "not settled")
	b.pass(50 * ms)
	b.want(s, 1, "motion")
	part.Moves = false
	b.pass(2400 * ms)
	b.want(s, 1, "held")
	b.pass(200 * ms)
	b.want(s, 0, "its hold is over")
	part.Moves = true
	b.pass(500 * ms)
	b.want(s, 0, "locked out")
	b.pass(3 * time.Second)
	b.want(s, 1, "again")
}

// An output is off from Open on, is switched off before it is released, and works again when its chip is back.
func TestSwitch(t *testing.T) {
	b := newBoard(t)
	b.chip.Resistor(4, true) // holds an OE pin high: off
	if !b.chip.Level(4) {
		t.Fatal("not driven: got low, want the resistor's level")
	}
	s := driver.NewSwitch(b.pins("4"))
	b.must(s.Open())
	levels := []bool{b.chip.Level(4)}
	for _, on := range []bool{true, false, true} {
		b.must(s.Switch(on))
		levels = append(levels, b.chip.Level(4))
	}
	if !slices.Equal(levels, []bool{true, false, true, false}) || !s.Lit() {
		t.Errorf("got levels %v", levels)
	}
	// Only a read reports its loss; opened again it is off, and an open one does not change.
	b.want(s, 1, "on")
	b.must(s.Open())
	b.want(s, 1, "opened twice")
	b.chip.Fault(wire.Fault{Kind: wire.Unplugged})
	if err := s.Read(nil); hal.KindOf(err) != hal.Absent || s.Lit() {
		t.Errorf("unplugged: got %v, lit %v", err, s.Lit())
	}
	if err := s.Switch(true); hal.KindOf(err) != hal.Absent || !b.chip.Level(4) {
		t.Errorf("unplugged: got %v at %v, want that it is absent, and off", err, b.chip.Level(4))
	}
	b.chip.ClearFaults()
	b.want(s, 0, "back")
	b.must(s.Switch(true))
	if b.chip.Level(4) {
		t.Error("plugged in again: got it off")
	}
	b.must(s.Close())
	b.must(s.Close())
	if !b.chip.Level(4) || b.chip.Held(4) != "" || s.Switch(true) == nil {
		t.Error("closed: want it off, given back, and no more to be switched")
	}
}

// A program that dies only closes its files: a chip releases its outputs, and the resistor decides; a chip with Keeps
// leaves them on.
func TestDeath(t *testing.T) {
	for _, keeps := range []bool{false, true} {
		c := gpio.New(gpio.Config{Name: "gpiochip0", Lines: make([]string, 2), Keeps: keeps})
		c.Resistor(1, true)
		var last driver.Node
		open := func() (driver.Node, error) {
			n, err := c.Host().Open()
			return &spied{n, &last}, err
		}
		s := driver.NewSwitch(driver.Pins{Open: open, Lines: []string{"1"}, ActiveLow: true})
		if err := errors.Join(s.Open(), s.Switch(true)); err != nil || c.Level(1) {
			t.Fatal(err)
		}
		if err := last.Close(); err != nil || c.Level(1) == keeps {
			t.Errorf("keeps %v: got %v, %v", keeps, c.Level(1), err)
		}
	}
}

// spied is a node that gives access to the line node that it made.
type spied struct {
	driver.Node
	last *driver.Node
}

func (s *spied) Lines(fd int32) driver.Node {
	*s.last = s.Node.Lines(fd)
	return *s.last
}

// The error of a line names its cause: in use (by which consumer), missing, or an unknown or ambiguous name.
func TestRefused(t *testing.T) {
	b := newBoard(t)
	b.open(driver.NewEncoder(b.pins("1", "2")))
	for _, c := range []struct {
		line, text string
		kind       hal.Kind
	}{
		{"2", `line 2 is held by "halyard test"`, hal.Busy},
		{"GPIO2", `line 2 is held by "halyard test"`, hal.Busy},
		{"8", "got offset 8 of gpiochip0 (emulated), want 0..7", hal.Invalid},
		{"GPIO3", `line "GPIO3": got none of that name on gpiochip0 (emulated)`, hal.Invalid},
		{"BTN", `line "BTN": got offsets 5 and 7 of gpiochip0, want the name of one line`, hal.Invalid},
	} {
		err := driver.NewSwitch(b.pins(c.line)).Open()
		if err == nil || !strings.Contains(err.Error(), c.text) || hal.KindOf(err) != c.kind {
			t.Errorf("line %s: got %v, want %q", c.line, err, c.text)
		}
	}
	info, lines, err := driver.Survey("io", b.host.Open)
	if err != nil || info.Label != "emulated" || len(lines) != 8 || lines[2].Consumer != "halyard test" ||
		lines[2].Flags&gpiochip.Used == 0 || lines[5].Name != "BTN" {
		t.Errorf("survey: got %+v %+v, %v", info, lines, err)
	}
	b.chip.Fault(wire.Fault{Kind: wire.Unplugged})
	if _, _, err := driver.Survey("io", b.host.Open); hal.KindOf(err) != hal.Absent || !errors.Is(err, syscall.ENOENT) {
		t.Errorf("no chip: got %v", err)
	}
}

// Reading does not allocate, for any input.
func TestReadAllocates(t *testing.T) {
	sw, wheel := &gpio.Switch{Line: 3}, &gpio.Encoder{A: 0, B: 1}
	b := newBoard(t, sw, wheel)
	v := make([]float64, 2)
	for _, s := range []sensor{driver.NewBumper(b.pins("3"), driver.BumperConfig{}),
		driver.NewEncoder(b.pins("0", "1")), driver.NewEStopInput(b.pins("5"), 0)} {
		b.open(s)
		turn := func() {
			sw.Closed, wheel.Count = !sw.Closed, wheel.Count+20
			b.pass(period)
			b.must(s.Read(v))
		}
		turn() // the emulator's queues come to their size
		if n := testing.AllocsPerRun(100, turn); n > 0 {
			t.Errorf("%T: got %g allocations a cycle, want none", s, n)
		}
	}
}

// BenchmarkEdges is what the driver takes for an edge: kernel's bytes to a count. Bound: its 48 bytes are copied once
// by the kernel, some 10 ns.
func BenchmarkEdges(b *testing.B) {
	const edges = 1000
	wheel := &gpio.Encoder{A: 0, B: 1}
	c := gpio.New(gpio.Config{Lines: make([]string, 2)})
	c.Attach(wheel)
	s := driver.NewEncoder(driver.Pins{Open: c.Host().Open, Lines: []string{"0", "1"}})
	if err := s.Open(); err != nil {
		b.Fatal(err)
	}
	v := make([]float64, 2)
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		wheel.Count += edges
		if err := c.Advance(period); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		if err := s.Read(v); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/edges, "ns/edge")
}

// A request is granted with all of its lines or with none: an invalid setting of one leaves the others free.
func TestRefusedRequestHoldsNothing(t *testing.T) {
	b := newBoard(t)
	node, err := b.host.Open()
	b.must(err)
	none := gpiochip.Flags(0) // neither input nor output
	arg, err := (&gpiochip.Request{Offsets: []uint32{1, 2}, Consumer: "bad", Flags: gpiochip.Input,
		Attributes: []gpiochip.Attribute{{Flags: &none, Mask: 2}}}).AppendTo(nil)
	b.must(err)
	if err := node.Ioctl(gpiochip.GetLine, arg); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("line without a direction: got %v, want %v", err, syscall.EINVAL)
	}
	if got := b.chip.Held(1); got != "" {
		t.Errorf("line 1: got held by %q after a refused request, want free", got)
	}
}

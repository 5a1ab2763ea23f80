package gpio

import (
	"time"

	"github.com/halyard-robotics/halyard/internal/wire/gpiochip"
)

// EStopInput is the circuit of an emergency-stop button, normally closed: one value, 1 while it has been whole since
// the last reading, else 0. It is a drivers.Sensor.
//
// The button's contact pulls the line to its active level against the chip's resistor, so that a cut wire, an unplugged
// button and a pressed one all read 0. Nothing is debounced: the latch of the stop makes that needless.
type EStopInput struct {
	lines
	wait time.Duration
	take func(*gpiochip.Event)
	open bool // by an edge
}

// NewEStopInput returns the circuit at one line, whose Read waits at most wait for an edge. The pull resistor has the
// opposite of the active level, regardless of p: otherwise a cut wire would look like a closed circuit. It does no I/O.
func NewEStopInput(p Pins, wait time.Duration) *EStopInput {
	if p.Bias = Down; p.ActiveLow {
		p.Bias = Up
	}
	c := &EStopInput{lines: lines{pins: &p, op: "emergency stop"}, wait: wait}
	c.take = func(e *gpiochip.Event) { c.open = c.open || !e.Rising }
	return c
}

// Open asks for the line.
func (c *EStopInput) Open() error { return c.lines.open(c.lines.pins.input(), 0) }

// Read reports whether the circuit is whole: by its level, and by the edges, which report an opening that has ended.
func (c *EStopInput) Read(values []float64) error {
	c.open = false
	bits, lost, err := c.lines.sample(c.wait, c.take)
	if err != nil {
		return err
	}
	return setBool(values, bits == 1 && !c.open && lost == 0)
}

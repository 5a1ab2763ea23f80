package gpio

import (
	"time"

	"github.com/halyard-robotics/halyard/internal/wire/gpiochip"
)

// BumperConfig describes a bumper's switch.
type BumperConfig struct {
	// Debounce is the time without edges after which a switch counts as released, 5..20 ms for most; 0 = 10 ms.
	Debounce time.Duration
	// Wait is how long a Read waits for an edge: so long a reading may be old, and so soon an edge is seen. 0 = not at
	// all.
	Wait time.Duration
}

// Bumper is a switch that something pushes: one value, 1 while it is touched, else 0. It is a drivers.Sensor.
//
// A touch is believed at its first edge, for safety; its end when the switch has been quiet. The kernel can debounce
// too, but keeps the first edge back as long as the last. A touch that ends before the next reading is reported once.
type Bumper struct {
	lines
	config BumperConfig
	take   func(*gpiochip.Event)
	filter debounce
}

// NewBumper returns the bumper at one line. It does no I/O. Of a normally open switch to ground the low level is the
// active one, of a normally closed one the high level, with a resistor Up of both: a cut wire of the latter reads
// touched.
func NewBumper(p Pins, c BumperConfig) *Bumper {
	if c.Debounce <= 0 {
		c.Debounce = 10 * time.Millisecond
	}
	b := &Bumper{lines: lines{pins: &p, op: "bumper"}, config: c}
	b.filter.quiet = c.Debounce
	b.take = func(e *gpiochip.Event) { b.filter.edge(e.Rising, e.At) }
	return b
}

// Open asks for the line.
func (b *Bumper) Open() error {
	b.filter = debounce{quiet: b.config.Debounce}
	return b.lines.open(b.lines.pins.input(), 0)
}

// Read reports whether it is touched. Edges that the kernel dropped do no harm: the level decides.
func (b *Bumper) Read(values []float64) error {
	b.filter.tapped = false
	bits, lost, err := b.lines.sample(b.config.Wait, b.take)
	if err != nil {
		return err
	}
	b.filter.tapped = b.filter.tapped || lost > 0 // edges are touches, whichever they were
	now := b.lines.node.Now()
	b.filter.level(bits == 1, now)
	return setBool(values, b.filter.touched(now))
}

// setBool stores a truth value as 1 or 0.
func setBool(values []float64, so bool) error {
	if len(values) > 0 {
		values[0] = 0
		if so {
			values[0] = 1
		}
	}
	return nil
}

// debounce makes one touch of a contact that bounces.
type debounce struct {
	quiet  time.Duration
	active bool          // as last received
	since  time.Duration // time of the last edge
	on     bool          // believed
	tapped bool          // it was active since the last look
}

// edge takes a change.
func (d *debounce) edge(active bool, at time.Duration) {
	d.active, d.since = active, at
	if active {
		d.on, d.tapped = true, true
	}
}

// level takes the contact as it is now, including edges that are pending or were dropped.
func (d *debounce) level(active bool, now time.Duration) {
	if active != d.active {
		d.edge(active, now)
	}
}

// touched is the debounced state now.
func (d *debounce) touched(now time.Duration) bool {
	if d.on && !d.active && now-d.since >= d.quiet {
		d.on = false
	}
	return d.on || d.tapped
}

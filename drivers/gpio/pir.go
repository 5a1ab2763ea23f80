package gpio

import (
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/wire/gpiochip"
)

// PIRConfig describes a motion sensor.
type PIRConfig struct {
	// WarmUp is the time after the first Open in which its output is invalid, 30..60 s for an HC-SR501; 0 = it is warm.
	WarmUp time.Duration
	// Debounce is done by the kernel; 0 = none. The sensor holds its output for 2.5 s or longer, as set by its
	// potentiometer.
	Debounce time.Duration
	Wait     time.Duration // as of a bumper
}

// PIR is an HC-SR501 passive infrared sensor: one value, 1 while it reports that something warm moves, else 0. It is a
// drivers.Sensor. Its output stays high for the time set by its potentiometer, 2.5..300 s, and low for 2.5 s after it.
type PIR struct {
	lines
	config PIRConfig
	take   func(*gpiochip.Event)
	moved  bool
	warm   time.Duration // when it is; < 0 = not known yet
	cold   error         // one, so that a fault that lasts is one
}

// NewPIR returns the sensor at one line. It does no I/O.
func NewPIR(p Pins, c PIRConfig) *PIR {
	s := &PIR{lines: lines{pins: &p, op: "pir"}, config: c, warm: -1}
	s.take = func(e *gpiochip.Event) { s.moved = s.moved || e.Rising }
	s.cold = s.lines.faultf(hal.Timeout, "it warms up: for %v from its start its output means nothing", c.WarmUp)
	return s
}

// Open asks for the line. The sensor's own supply is not the chip's: it stays warm when the chip was away.
func (s *PIR) Open() error {
	var debounced []gpiochip.Attribute
	if s.config.Debounce > 0 {
		debounced = []gpiochip.Attribute{{Debounce: s.config.Debounce, Mask: 1}}
	}
	if err := s.lines.open(s.lines.pins.input(), 0, debounced...); err != nil {
		return err
	}
	if s.warm < 0 {
		s.warm = s.lines.node.Now() + s.config.WarmUp
	}
	return nil
}

// Read reports whether something moves, or has since the last reading.
func (s *PIR) Read(values []float64) error {
	s.moved = false
	bits, _, err := s.lines.sample(s.config.Wait, s.take)
	if err != nil {
		return err
	}
	if s.lines.node.Now() < s.warm {
		return s.cold
	}
	return setBool(values, bits == 1 || s.moved)
}

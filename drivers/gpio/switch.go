package gpio

import (
	"errors"
	"os"
	"sync"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/wire/gpiochip"
)

// Switch is an output line: a headlight, a relay, the OE pin of a PWM board. It is off from Open on. Any goroutine may
// call it. A call takes some µs for a chip in the processor, some 100 µs for one on I2C or USB.
//
// Close switches it off and releases the line. When the program dies, most chips release the line, others keep its
// level. An external resistor must pull it to the safe level.
type Switch struct {
	mu    sync.Mutex
	lines lines
	open  bool // from Open to Close, also while the chip is away
	on    bool // as it was made to be last
}

// NewSwitch returns the switch at one line, whose active level is on. It does no I/O.
func NewSwitch(p Pins) *Switch { return &Switch{lines: lines{pins: &p, op: "output"}} }

// Open requests the line, switched off. If it is open already its state does not change.
func (s *Switch) Open() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lines.node != nil {
		if _, err := s.lines.values(); err == nil {
			return nil
		}
	}
	s.open, s.on = true, false
	return s.request()
}

// Read reads the line: 1 while it is on. So a Switch is a drivers.Sensor, for callers that must notice the loss of its
// chip without switching it.
func (s *Switch) Read(values []float64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open && s.lines.node == nil { // it was lost when it was switched
		if err := s.request(); err != nil {
			return err
		}
	}
	bits, err := s.lines.values()
	if hal.KindOf(err) == hal.Absent {
		s.on = false
	}
	if err != nil {
		return err
	}
	return setBool(values, bits == 1)
}

func (s *Switch) request() error {
	flags, off := gpiochip.Output, uint64(0)
	if s.lines.pins.ActiveLow {
		flags |= gpiochip.ActiveLow
	}
	return s.lines.open(flags, 0, gpiochip.Attribute{Values: &off, Mask: 1})
}

// Switch sets it. Where the chip was lost it is asked for the line again, once.
func (s *Switch) Switch(on bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.open {
		return s.lines.fault(os.ErrClosed)
	}
	err := s.put(on)
	if hal.KindOf(err) == hal.Absent {
		s.lines.Close() // the chip is lost: a second error adds nothing
		s.on = false    // it has released the line
		if err = s.request(); err == nil {
			err = s.put(on)
		}
	}
	if err == nil {
		s.on = on
	}
	return err
}

func (s *Switch) put(on bool) error {
	bits := uint64(0)
	if on {
		bits = 1
	}
	return s.lines.set(bits, 1)
}

// Lit reports the last commanded state. A loss of the chip since then is noticed at the next command or read.
func (s *Switch) Lit() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.on
}

// unlessGone forgets an error of a chip that is gone: its lines are free.
func unlessGone(err error) error {
	if hal.KindOf(err) == hal.Absent {
		return nil
	}
	return err
}

// Close switches it off and gives the line back.
func (s *Switch) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open, s.on = false, false
	if s.lines.node == nil {
		return nil
	}
	return errors.Join(unlessGone(s.put(false)), s.lines.Close())
}

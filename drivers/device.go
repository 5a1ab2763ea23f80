package drivers

import (
	"errors"
	"time"

	"github.com/halyard-robotics/halyard/hal"
)

// Sensor is one device that measures: what an IMU, a pressure sensor, a laser or an ADC has in common. One goroutine at
// a time calls it; every call is bounded in time and may wait, by the clock that the device was made with.
type Sensor interface {
	// Open finds the device, refuses any other in its place, and sets it up. It may be called again without a Close:
	// the device was unplugged, or lost its power and its settings.
	Open() error
	// Read takes one measurement: SI units, in the order of its hal.Sensor's kind. What there is no room for is left
	// out, what was not measured is NaN. After an error values mean nothing. An error of kind hal.Absent reports that the
	// device is gone or has forgotten its settings.
	Read(values []float64) error
	Close() error
}

// Lagging is a Sensor whose values are older than the end of their read: by what they take on a slow wire, say.
type Lagging interface {
	// Lag is how much older they are, of the read before.
	Lag() time.Duration
}

// Reader is a Sensor that reads tags: its one value is how many are in reach.
type Reader interface {
	Sensor
	// Listen lets f be notified of each tag, by its number, each time that it is read, in the goroutine that reads. There is one
	// listener; nil ends it. It may be called from any goroutine.
	Listen(f func(tag int))
}

// Output is one device with channels that pulse widths command: servos, ESCs, thrusters. One goroutine at a
// time calls it; every call is bounded in time.
type Output interface {
	// Open finds the device and sets it up; no channel has pulses then. It may be called again without a Close.
	Open() error
	// Write sets each channel's pulses; 0: none. An error of kind hal.Absent is as with a Sensor.
	Write(pulses []time.Duration) error
	// Off ends the pulses of all channels and returns one error a channel that did not acknowledge, nil for the rest.
	// It does so for a device that was never opened, too.
	Off() []error
	Close() error
}

// What both runners have in common: retries of a device, and how often a lost one is looked for.
const (
	// tolerated is how many times in a row a device may fail before it is opened again.
	tolerated = 3
	// retryEvery is the pause between two attempts to open a lost device. With it a device is back well within a second, one that needs 0.7 s to boot too.
	retryEvery = 100 * time.Millisecond
	// staleAfter is when values count as a fault, on top of three periods: the device hangs without an error.
	staleAfter = 500 * time.Millisecond
)

var (
	errStale = errors.New("no answer for long; the bus may hang")
)

// link counts a device's failures and decides when it must be opened again.
type link struct {
	open   bool
	failed int // in a row
}

// attempt runs use on an open device, opening it first where it must be.
func (l *link) attempt(open, use func() error) error {
	if !l.open {
		if err := open(); err != nil {
			return err
		}
		l.open, l.failed = true, 0
	}
	err := use()
	if err == nil {
		l.failed = 0
		return nil
	}
	if l.failed++; l.failed >= tolerated || hal.KindOf(err) == hal.Absent {
		l.open = false
	}
	return err
}

package drivers

import (
	"errors"
	"time"

	"github.com/halyard-robotics/halyard/hal"
)

// Sensor is one device that measures: the common interface of an IMU, a pressure sensor, a laser or an ADC. One
// goroutine at a time calls it. Every call is bounded in time and may wait, by the device's clock.
type Sensor interface {
	// Open finds the device, refuses any other in its place, and sets it up. It may be called again without a Close:
	// the device was unplugged, or lost its power and its settings.
	Open() error
	// Read takes one measurement: SI units, in the order of its hal.Sensor's kind. Values beyond len(values) are left
	// out, missing values are NaN. After an error values are undefined. An error of kind hal.Absent reports that the
	// device is lost or has lost its settings.
	Read(values []float64) error
	Close() error
}

// Lagging is a Sensor whose values are older than the end of their read, for example by the time on a slow line.
type Lagging interface {
	// Lag is the age of the values at the end of the last read.
	Lag() time.Duration
}

// Noted is a device that works, but is not quite what its config says: a clone, old firmware, another encoding.
type Noted interface {
	// Note is what a user must know of it, "" = nothing. It is called after Open or Read, in their goroutine.
	Note() string
}

// NoteOf is the note of a device, "" of one without.
func NoteOf(device any) string {
	if n, ok := device.(Noted); ok {
		return n.Note()
	}
	return ""
}

// Patient is a Sensor whose first reading after Open takes longer than others: its motor spins up.
type Patient interface{ Patience() time.Duration }

// Measure opens s and takes one reading, as patiently as a Poller does: a reading that fails is tried again, and a lost
// device is opened again. It leaves s open.
func Measure(s Sensor, values []float64) error {
	l := link{}
	use := func() error { return s.Read(values) }
	if err := s.Open(); err != nil {
		if k := hal.KindOf(err); k != hal.Absent && k != hal.Timeout && k != hal.BusFault {
			return err
		}
		if err := s.Open(); err != nil {
			return err
		}
	}
	l.open = true
	var err error
	for range tolerated {
		if err = l.attempt(s.Open, use); err == nil {
			return nil
		}
	}
	return err
}

// Reader is a Sensor that reads tags: its one value is how many are in reach.
type Reader interface {
	Sensor
	// Listen lets f be notified of each tag, by its number, each time that it is read, in the goroutine that reads.
	// There is one listener; nil ends it. It may be called from any goroutine.
	Listen(f func(tag int))
}

// Output is one device with channels that pulse widths command: servos, ESCs, thrusters. One goroutine at a
// time calls it; every call is bounded in time.
type Output interface {
	// Open finds the device and sets it up; no channel has pulses then. It may be called again without a Close.
	Open() error
	// Write sets each channel's pulse width; 0: no pulses. An error of kind hal.Absent is as with a Sensor.
	Write(pulses []time.Duration) error
	// Off ends the pulses of all channels. It returns one error for each channel that did not acknowledge, nil for the
	// others. It also works for a device that was never opened.
	Off() []error
	Close() error
}

// Common constants of Poller and OutputWriter: retries of a device, and the interval of attempts to open a lost one.
const (
	// tolerated is how many times in a row a device may fail before it is opened again.
	tolerated = 3
	// retryEvery is the pause between two attempts to open a lost device. With it a device is back well within a
	// second, one that needs 0.7 s to boot too.
	retryEvery = 100 * time.Millisecond
	// staleAfter is when values count as a fault, on top of three periods: the device hangs without an error.
	staleAfter = 500 * time.Millisecond
)

var errStale = errors.New("no answer for long; the bus may hang")

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

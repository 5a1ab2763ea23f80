package lidar

import (
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
)

// ScanGeometry is where a scanner's rays look: ray i at First + i·Step, rad to the left of straight ahead.
type ScanGeometry struct {
	First, Step float64 // rad
	Count       int     // rays
}

const degree = math.Pi / 180

// link is a scanner's line with the operations common to all scanners.
type link struct {
	port   servo.PointToPoint
	raw    [4096]byte
	heard  []byte        // the first bytes since the line was opened
	spinUp time.Duration // within which the first scan after Open begins
	fresh  bool          // no scan came since
}

// maxHeard is how many bytes show whose they are: two capsules and more.
const maxHeard = 400

func newLink(bus, device string, open servo.Opener, spinUp time.Duration) link {
	return link{port: servo.PointToPoint{Bus: bus, Device: device, Opener: open}, heard: make([]byte, 0, maxHeard),
		spinUp: spinUp}
}

// open opens the line.
func (l *link) open() error {
	l.heard, l.fresh = l.heard[:0], false
	return l.port.Open()
}

// Patience is how long the first scan after Open may take.
func (l *link) Patience() time.Duration { return 2 * l.spinUp }

// unanswered is the error of a scanner that answers nothing: err, or the bytes of another device.
func (l *link) unanswered(what string, err error) error {
	if len(l.heard) > 0 && errors.Is(err, servo.ErrNoReply) {
		err = servo.Foreign(l.heard)
	}
	return l.faultf(hal.Absent, "%s: %w", what, err)
}

// fault names the scanner in err.
func (l *link) fault(kind hal.Kind, err error) error { return l.port.Fault(kind, err) }

func (l *link) faultf(kind hal.Kind, format string, args ...any) error {
	return l.fault(kind, fmt.Errorf(format, args...))
}

// write sends b.
func (l *link) write(b []byte) error {
	if l.port.Line == nil {
		return l.fault(hal.BusFault, os.ErrClosed)
	}
	if _, err := l.port.Line.Write(b); err != nil {
		return l.fault(hal.BusFault, err)
	}
	return nil
}

// read returns the bytes received before the deadline, of the line's clock; servo.ErrNoReply if there are none. Later
// bytes do not count: a line may never be idle.
func (l *link) read(deadline time.Duration) ([]byte, error) {
	if l.port.Line == nil {
		return nil, os.ErrClosed
	}
	left := deadline - l.port.Line.Now()
	if left < 0 {
		return nil, servo.ErrNoReply
	}
	return l.within(left)
}

// within returns the bytes received within a time.
func (l *link) within(wait time.Duration) ([]byte, error) {
	n, err := l.port.Line.Read(l.raw[:], wait)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return nil, servo.ErrNoReply
	}
	l.heard = append(l.heard, l.raw[:min(n, cap(l.heard)-len(l.heard))]...)
	return l.raw[:n], err
}

// wire is the time of n bytes; 0 on a wire without a rate.
func (l *link) wire(n int) time.Duration { return servo.WireTime(n, 10, l.port.Line.Baud()) }

// tuned reports whether the line has a baud rate: USB and TCP have none.
func (l *link) tuned() bool { return l.port.Line.Baud() > 0 }

// rates returns the rates at which a scanner may reply, each once; for a line without a rate only the first.
func (l *link) rates(all ...int) (rates []int) {
	for _, rate := range all {
		if !slices.Contains(rates, rate) && (len(rates) == 0 || l.tuned()) {
			rates = append(rates, rate)
		}
	}
	return rates
}

// tune sets the line's rate, if it has one.
func (l *link) tune(rate int) error {
	if !l.tuned() {
		return nil
	}
	if err := l.port.Line.SetBaud(rate); err != nil {
		return l.fault(hal.BusFault, err)
	}
	return nil
}

// skim handles the bytes that have already arrived, of past scans of unknown age. An error of kind hal.Absent ends it.
func (l *link) skim(take func([]byte) (bool, error)) error {
	if l.port.Line == nil {
		return l.fault(hal.Absent, servo.ErrDisconnected)
	}
	for range maxSkims {
		piece, err := l.within(0)
		if errors.Is(err, servo.ErrNoReply) {
			return nil
		}
		if err == nil {
			_, err = take(piece)
		} else {
			err = l.fault(hal.BusFault, err)
		}
		if hal.KindOf(err) == hal.Absent {
			return err
		}
	}
	return nil
}

// maxSkims bounds the bytes of past scans that skim handles, in pieces: more than a second of any scanner.
const maxSkims = 256

// await handles received bytes until a scan is whole, an error or the deadline. A scanner that sends nothing for the
// time silence is not measuring: the error is of kind hal.Absent, and the caller must open it again.
//
// The first scan after Open may begin as late as its motor needs to spin up, and takes as long.
func (l *link) await(silence, whole time.Duration, take func([]byte) (bool, error)) error {
	if l.fresh {
		silence, whole = max(silence, l.spinUp), max(whole, l.spinUp)
	}
	deadline := l.port.Line.Now() + whole
	for replied := false; ; replied = true {
		until := deadline
		if !replied {
			until = l.port.Line.Now() + silence
		}
		piece, err := l.read(until)
		if !replied {
			deadline = l.port.Line.Now() + whole
		}
		if errors.Is(err, servo.ErrNoReply) && !replied {
			return l.faultf(hal.Absent, "scan: nothing comes for %v: %w", silence, err)
		}
		if err != nil {
			return l.fault(hal.BusFault, fmt.Errorf("scan: %w", err))
		}
		if done, err := take(piece); done || err != nil {
			l.fresh = l.fresh && !done
			return err
		}
	}
}

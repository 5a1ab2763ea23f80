package servo

import (
	"errors"

	"github.com/halyard-robotics/halyard/hal"
)

// PointToPoint is a line with one device, which opens it and opens it again. One goroutine owns it.
type PointToPoint struct {
	Bus, Device string // in errors
	Opener      Opener
	Line        Line // nil while closed
}

// Open opens the line. One that is open is closed first: the device was lost, so the error of closing does not matter.
func (l *PointToPoint) Open() error {
	l.Close()
	line, err := l.Opener()
	if err != nil {
		return err
	}
	l.Line = line
	return nil
}

// Close closes the line. Closing twice has no effect.
func (l *PointToPoint) Close() error {
	if l.Line == nil {
		return nil
	}
	err := l.Line.Close()
	l.Line = nil
	return err
}

// Fault is err for the user, with the bus and the device. A lost line is of kind hal.Absent; a missing reply of kind
// hal.Timeout in place of hal.BusFault.
func (l *PointToPoint) Fault(kind hal.Kind, err error) error {
	e := &hal.Error{Kind: kind, Bus: l.Bus, Op: l.Device, Err: err, Try: "halyard doctor"}
	switch {
	case errors.Is(err, ErrDisconnected):
		e.Kind, e.Try = hal.Absent, "halyard ports"
	case errors.Is(err, ErrNoReply) && kind == hal.BusFault:
		e.Kind = hal.Timeout
	}
	return e
}

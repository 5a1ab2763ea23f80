//go:build !linux

package can

import (
	"errors"
	"time"

	"github.com/halyard-robotics/halyard/hal"
)

var errSystem = errors.New("CAN interfaces: want Linux")

// Line is a CAN interface, only on Linux.
type Line struct{}

// Open answers that this system is not supported.
func Open(name string, bitrate int, filters ...Filter) (*Line, error) {
	return nil, fault(hal.Absent, name, "open", errSystem, "")
}

// Find answers that this system is not supported.
func Find(name string, bitrate int) (*Link, error) {
	return nil, fault(hal.Absent, name, "find", errSystem, "")
}

// There is never a Line on this system; these are here so that callers compile.

func (*Line) Read([]byte, time.Duration) (int, error) { return 0, errSystem }
func (*Line) Write([]byte) (int, error)               { return 0, errSystem }
func (*Line) Discard() error                          { return errSystem }
func (*Line) Now() time.Duration                      { return time.Since(epoch) }
func (*Line) Baud() int                               { return 0 }
func (*Line) SetBaud(int) error                       { return errSystem }
func (*Line) Close() error                            { return errSystem }

//go:build !linux

package serial

import (
	"errors"
	"time"

	"github.com/halyard-robotics/halyard/hal"
)

var errSystem = errors.New("serial ports: want Linux")

// Line is a serial port, only on Linux.
type Line struct{}

// Open answers that this system is not supported.
func Open(path string, baud int, opener string) (*Line, error) {
	return nil, fault(hal.Absent, path, "open", errSystem)
}

func openAt(path, _ string, baud int, opener string) (*Line, error) { return Open(path, baud, opener) }

func openFault(path, _ string, err error) error { return fault(hal.Absent, path, "open", err) }

// List answers that this system is not supported.
func List(root string) ([]Port, error) { return nil, errSystem }

// stableName is path itself.
func stableName(root, path string) string { return path }

// There is never a Line on this system; these are here so that callers compile.

func (*Line) Read([]byte, time.Duration) (int, error)      { return 0, errSystem }
func (*Line) Write([]byte) (int, error)                    { return 0, errSystem }
func (*Line) Discard() error                               { return errSystem }
func (*Line) Now() time.Duration                           { return time.Since(epoch) }
func (*Line) Baud() int                                    { return 0 }
func (*Line) Rate() int                                    { return 0 }
func (*Line) SetBaud(int) error                            { return errSystem }
func (*Line) SetEven(bool) error                           { return errSystem }
func (*Line) SetDTR(bool) error                            { return errSystem }
func (*Line) Close() error                                 { return errSystem }
func (*Line) LatencyTimer() (d time.Duration, note string) { return 0, errSystem.Error() }

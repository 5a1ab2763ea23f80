package camera

import (
	"time"
)

// Node is an open video device: the kernel's, or an emulated one. One goroutine at a time uses it. Its errors are the
// system's: syscall.EINVAL, EBUSY, ENODEV.
type Node interface {
	// Ioctl passes an argument in the form of ABI's Append, and takes it back in place. It does not wait for frames.
	Ioctl(number uint32, argument []byte) error
	// Map maps the memory of a buffer. Unmap releases it.
	Map(offset uint32, length int) ([]byte, error)
	Unmap(memory []byte) error
	// Wait blocks until there is a frame to take, for so long of the wall's time at most: os.ErrDeadlineExceeded then.
	Wait(timeout time.Duration) error
	// Now is the clock that frames are stamped by: CLOCK_MONOTONIC, or an emulated device's own.
	Now() time.Duration
	Close() error
}

// Opener opens a camera's device by its stable name, again after it was lost. Its error is of kind hal.Absent or
// hal.Busy while it is not to be had.
type Opener func() (Node, error)

// Reopener returns the Opener of the video device at path, which is followed again each time; see OpenNode.
func Reopener(path string) Opener { return func() (Node, error) { return OpenNode(path) } }

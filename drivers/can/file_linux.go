package can

import (
	"os"

	"golang.org/x/sys/unix"

	"github.com/halyard-robotics/halyard/servo"
)

func (l *Line) File() (*os.File, error) {
	fd, err := unix.FcntlInt(uintptr(l.fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("dup", err)
	}
	return os.NewFile(uintptr(fd), l.name), nil
}

// Piece is the size of a write: a socket takes one frame at a time.
func (l *Line) Piece() int { return servo.CANSize }

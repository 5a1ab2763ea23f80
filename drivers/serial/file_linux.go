package serial

import (
	"os"

	"golang.org/x/sys/unix"
)

// File returns a duplicate of the port's descriptor, which the caller closes: for a process that supervises this one.
func (l *Line) File() (*os.File, error) {
	fd, err := unix.FcntlInt(uintptr(l.ctl.fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("dup", err)
	}
	return os.NewFile(uintptr(fd), l.path), nil
}

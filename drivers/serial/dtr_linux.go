package serial

import (
	"errors"

	"golang.org/x/sys/unix"
)

// SetDTR raises or lowers the modem line DTR, which some devices use to switch a motor (RPLIDAR A1). On a pty, which has no
// DTR, it has no effect.
func (l *Line) SetDTR(on bool) error {
	if err := l.unusable(); err != nil {
		return err
	}
	request := uint(unix.TIOCMBIC)
	if on {
		request = unix.TIOCMBIS
	}
	err := unix.IoctlSetPointerInt(l.ctl.fd, request, unix.TIOCM_DTR)
	if err != nil && !errors.Is(err, unix.ENOTTY) && !errors.Is(err, unix.EINVAL) {
		return l.failed("dtr", err)
	}
	return nil
}

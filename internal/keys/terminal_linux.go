package keys

import (
	"golang.org/x/sys/unix"
)

// singleKeys lets a terminal hand on each key at once and silently. Signals by key and the form of the output stay.
func singleKeys(fd int) (undo func(), err error) {
	was, err := unix.IoctlGetTermios(fd, unix.TCGETS)
	if err != nil {
		return nil, err
	}
	now := *was
	now.Lflag &^= unix.ICANON | unix.ECHO
	now.Cc[unix.VMIN], now.Cc[unix.VTIME] = 1, 0
	if err := unix.IoctlSetTermios(fd, unix.TCSETS, &now); err != nil {
		return nil, err
	}
	return func() { unix.IoctlSetTermios(fd, unix.TCSETS, was) }, nil
}

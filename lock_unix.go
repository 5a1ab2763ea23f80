//go:build unix

package halyard

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/halyard-robotics/halyard/hal"
)

// lockFolder claims a folder until the file that it returns is closed, or this process ends: an error of kind hal.Busy
// where another process has claimed it.
func lockFolder(flag, dir string) (*os.File, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, &hal.Error{Kind: hal.Busy, Op: flag, Err: err}
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		if errors.Is(err, unix.EWOULDBLOCK) {
			err = fmt.Errorf("folder %q: got one that another halyard uses, want another", dir)
		}
		return nil, errors.Join(&hal.Error{Kind: hal.Busy, Op: flag, Err: err, Try: flag + " OTHER"}, f.Close())
	}
	return f, nil
}

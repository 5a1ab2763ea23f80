//go:build linux && (amd64 || arm64 || arm || 386 || riscv64 || loong64)

package camera

import (
	"errors"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/halyard-robotics/halyard/hal"
)

// OpenNode opens the video device at path, best a link below /dev/v4l/by-id. Its errors: hal.Absent if absent,
// hal.Busy where access is denied. That another program has it streaming is found later, by S_FMT.
func OpenNode(path string) (Node, error) {
	device, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, openFault(path, path, err)
	}
	fd, err := unix.Open(device, unix.O_RDWR|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, openFault(path, device, err)
	}
	return &file{fd: fd}, nil
}

// file is a device file.
type file struct {
	fd int
}

func (f *file) Ioctl(number uint32, argument []byte) error {
	for {
		_, _, err := unix.Syscall(unix.SYS_IOCTL, uintptr(f.fd), uintptr(number),
			uintptr(unsafe.Pointer(unsafe.SliceData(argument))))
		if err == 0 {
			return nil
		}
		if err != unix.EINTR {
			return err
		}
	}
}

func (f *file) Map(offset uint32, length int) ([]byte, error) {
	return unix.Mmap(f.fd, int64(offset), length, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
}

func (f *file) Unmap(memory []byte) error { return unix.Munmap(memory) }

// Wait is Node's. A loss of the device that only poll reports is ENODEV.
func (f *file) Wait(timeout time.Duration) error {
	deadline := time.Now().Add(timeout)
	for {
		left := max(0, time.Until(deadline))
		fds := [1]unix.PollFd{{Fd: int32(f.fd), Events: unix.POLLIN}}
		n, err := unix.Poll(fds[:], int((left+time.Millisecond-1)/time.Millisecond))
		switch {
		case err == unix.EINTR:
		case err != nil:
			return err
		case n == 0:
			return os.ErrDeadlineExceeded
		case fds[0].Revents&unix.POLLIN == 0: // POLLERR, POLLHUP
			return unix.ENODEV
		default:
			return nil
		}
	}
}

// Now is CLOCK_MONOTONIC.
func (f *file) Now() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &t); err != nil {
		return 0
	}
	return time.Duration(t.Nano())
}

func (f *file) Close() error { return unix.Close(f.fd) }

// openFault is the error of a device that could not be opened, with a remedy.
func openFault(path, device string, err error) error {
	e := &hal.Error{Kind: hal.Absent, Bus: path, Op: "open", Err: err, Try: "ls -l " + stableNames}
	switch {
	case errors.Is(err, fs.ErrPermission):
		e.Kind, e.Err, e.Try = hal.Busy, errors.New("permission denied"), "ls -l "+device
		if group := groupOf(device); group != "" {
			e.Err = errors.New("permission denied: you are not in group " + group)
			e.Try = "sudo usermod -aG " + group + " $USER, then log in again"
		}
	case errors.Is(err, syscall.EBUSY):
		e.Kind, e.Err, e.Try = hal.Busy, errors.New("another program has it"), "fuser -v "+device
	case errors.Is(err, fs.ErrNotExist):
		e.Err = errors.New("no such device" + others(stableNames))
	}
	return e
}

// stableNames is where udev links cameras by names that outlive a replugging.
const stableNames = "/dev/v4l/by-id"

// others names the cameras that there are, in the words of an error; "" if absent. A camera's first node has
// its pictures.
func others(dir string) string {
	list, err := filepath.Glob(filepath.Join(dir, "*-index0"))
	if err != nil || len(list) == 0 {
		return ""
	}
	return "; there are " + strings.Join(list[:min(len(list), 8)], ", ")
}

// groupOf is the name of the group of a file; "" where it is root's or not known.
func groupOf(device string) string {
	info, err := os.Stat(device)
	if err != nil {
		return ""
	}
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok || s.Gid == 0 {
		return ""
	}
	g, err := user.LookupGroupId(strconv.FormatUint(uint64(s.Gid), 10))
	if err != nil {
		return ""
	}
	return g.Name
}

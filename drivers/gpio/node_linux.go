package gpio

import (
	"os"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// kernelNode is a node of the kernel's.
type kernelNode struct{ fd int }

// openNode opens a character device.
func openNode(path string) (Node, error) {
	fd, err := unix.Open(path, unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	return &kernelNode{fd}, nil
}

func (n *kernelNode) Ioctl(request uint32, arg []byte) error {
	if n.fd < 0 {
		return os.ErrClosed
	}
	for {
		_, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(n.fd), uintptr(request),
			uintptr(unsafe.Pointer(unsafe.SliceData(arg))))
		switch e {
		case 0:
			return nil
		case unix.EINTR:
			continue
		case unix.ENOTTY:
			return invalid("not a GPIO chip, or a kernel before Linux 5.10")
		}
		return e
	}
}

// Lines is the node of descriptor fd, which the kernel has made with close-on-exec set.
func (n *kernelNode) Lines(fd int32) Node { return &kernelNode{int(fd)} }

// Read waits in the kernel; the goroutine's thread sleeps with it.
func (n *kernelNode) Read(p []byte, wait time.Duration) (int, error) {
	if n.fd < 0 {
		return 0, os.ErrClosed
	}
	until := n.Now() + wait
	for {
		left := unix.NsecToTimespec(int64(max(0, until-n.Now())))
		poll := [1]unix.PollFd{{Fd: int32(n.fd), Events: unix.POLLIN}}
		ready, err := unix.Ppoll(poll[:], &left, nil)
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return 0, err
		case ready == 0:
			return 0, os.ErrDeadlineExceeded
		case poll[0].Revents&unix.POLLIN == 0: // only POLLHUP or POLLERR: the chip is gone
			return 0, syscall.ENODEV
		}
		got, err := unix.Read(n.fd, p)
		if err == unix.EINTR || err == unix.EAGAIN {
			continue
		}
		return max(0, got), err
	}
}

// Now is CLOCK_MONOTONIC, by which the kernel stamps edges.
func (n *kernelNode) Now() time.Duration {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) != nil {
		return 0 // it cannot fail with this clock
	}
	return time.Duration(t.Nano())
}

func (n *kernelNode) SleepUntil(t time.Duration) {
	target := unix.NsecToTimespec(int64(t))
	for n.Now() < t {
		// An interrupted sleep is slept on to the same target.
		unix.ClockNanosleep(unix.CLOCK_MONOTONIC, unix.TIMER_ABSTIME, &target, nil)
	}
}

func (n *kernelNode) Close() error {
	if n.fd < 0 {
		return nil
	}
	err := unix.Close(n.fd)
	n.fd = -1
	return err
}

// groupOf is the number of the group that owns a file; 0 where it is root's, or not known.
func groupOf(path string) uint32 {
	var s unix.Stat_t
	if unix.Stat(path, &s) != nil {
		return 0
	}
	return s.Gid
}

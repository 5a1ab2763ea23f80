package serial

import (
	"errors"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// control is a line's own descriptor of the port, open without blocking.
type control struct {
	fd   int
	poll *[1]unix.PollFd // on the heap once, not at every wait
	ts   *unix.Timespec
}

// errHeld reports that another process has the port open.
var errHeld = errors.New("held")

// openControl opens device for this process only: errHeld if another process has it.
func openControl(device string) (control, error) {
	fd, err := unix.Open(device, unix.O_RDWR|unix.O_NOCTTY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err == unix.EBUSY {
		err = errHeld
	}
	if err != nil {
		return control{fd: -1}, err
	}
	c := control{fd, &[1]unix.PollFd{{Fd: int32(fd)}}, &unix.Timespec{}}
	if err := c.claim(device); err != nil {
		c.close()
		return control{fd: -1}, err
	}
	return c, nil
}

// claim locks the open port for this process, or returns errHeld.
func (c control) claim(device string) error {
	// ENOTTY if it is not a terminal, before it is locked.
	if _, err := unix.IoctlGetTermios(c.fd, unix.TCGETS); err != nil {
		return err
	}
	if err := unix.Flock(c.fd, unix.LOCK_EX|unix.LOCK_NB); err == unix.EWOULDBLOCK {
		return errHeld
	} else if err != nil {
		return err
	}
	// Root passes TIOCEXCL. The flag outlives a process that died, on a pty, so it counts only with a live holder;
	// the descriptor of this very call is one of them.
	if on, err := unix.IoctlGetInt(c.fd, unix.TIOCGEXCL); err == nil && on != 0 {
		if held, _ := holders("/proc", device); len(held) > 1 || len(held) == 1 && held[0].files > 1 {
			return errHeld
		}
	}
	return nil
}

// exclusive turns TIOCEXCL on or off: while it is on, only root and this process can open the port.
func (c control) exclusive(on bool) {
	request := uint(unix.TIOCNXCL)
	if on {
		request = unix.TIOCEXCL
	}
	unix.IoctlSetInt(c.fd, request, 0) // a terminal cannot refuse it
}

// rate is the output rate that the kernel has set, bits a second.
func (c control) rate() (int, error) {
	t, err := unix.IoctlGetTermios(c.fd, unix.TCGETS2)
	if err != nil {
		return 0, err
	}
	return int(t.Ospeed), nil
}

// plain clears parity, the second stop bit and flow control.
func (c control) plain() error {
	t, err := unix.IoctlGetTermios(c.fd, unix.TCGETS)
	if err != nil {
		return err
	}
	t.Cflag &^= unix.PARENB | unix.CSTOPB | unix.CRTSCTS
	t.Iflag &^= unix.IXON | unix.IXOFF | unix.INLCR | unix.IGNCR | unix.ICRNL
	return unix.IoctlSetTermios(c.fd, unix.TCSETS, t)
}

// discard drops bytes that the kernel has received and that were not read.
func (c control) discard() error { return unix.IoctlSetInt(c.fd, unix.TCFLSH, unix.TCIFLUSH) }

// wait waits for events and returns those that occurred, 0 after timeout; a timeout of 0 or less only polls.
func (c control) wait(events int16, timeout time.Duration) (int16, error) {
	deadline := time.Now().Add(timeout)
	for {
		c.poll[0].Events, c.poll[0].Revents = events, 0
		*c.ts = unix.NsecToTimespec(int64(max(0, time.Until(deadline))))
		n, err := unix.Ppoll(c.poll[:], c.ts, nil)
		switch {
		case err == unix.EINTR:
			continue // the runtime's own signals
		case err != nil:
			return 0, err
		case n == 0:
			return 0, nil
		}
		return c.poll[0].Revents, nil
	}
}

// close releases everything; a second call has no effect.
func (c *control) close() error {
	if c.fd < 0 {
		return nil
	}
	c.exclusive(false)
	err := unix.Close(c.fd) // releases the flock too
	c.fd = -1
	return err
}

// serialStruct is the kernel's struct serial_struct (linux/serial.h).
type serialStruct struct {
	kind, line    int32
	port          uint32
	irq, flags    int32
	fifo, divisor int32
	base          int32
	closeDelay    uint16
	ioKind, _     byte
	hub6          int32
	closingWait   [2]uint16
	ioMemory      uintptr
	shift         uint16
	portHigh      uint32
	ioMap         uintptr
}

const asyncLowLatency = 1 << 13 // ASYNC_LOW_LATENCY (linux/tty_flags.h), one of those that need no root

// lowLatency sets ASYNC_LOW_LATENCY, which makes ftdi_sio use a latency timer of 1 ms.
func (c control) lowLatency() error {
	var s serialStruct
	if err := c.serial(unix.TIOCGSERIAL, &s); err != nil {
		return err
	}
	s.flags |= asyncLowLatency
	return c.serial(unix.TIOCSSERIAL, &s)
}

// serial does an ioctl that takes a serial_struct.
func (c control) serial(request uintptr, s *serialStruct) error {
	if _, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(c.fd), request, uintptr(unsafe.Pointer(s))); e != 0 {
		return e
	}
	return nil
}

package can

import (
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
)

// busOffClass is the bit of an error frame's class that reports that the controller is off the bus (linux/can/error.h);
// wanted are all classes that are handed up.
const (
	busOffClass = 0x40
	wanted      = unix.CAN_ERR_MASK
)

// Line is one open raw socket. One goroutine owns it.
type Line struct {
	name    string
	bitrate int
	fd      int
	poll    [1]unix.PollFd
	wait    unix.Timespec
	write   func(fd int, p []byte) (int, error) // unix.Write
	lost    error                               // why it is gone
	frame   servo.CANFrame
	dropped uint64
}

// Open opens the interface called name, which must be up at bitrate; with filters, only frames of those ids are
// received. Its errors: hal.Absent: no such interface, or it is down or bus-off. hal.Invalid: it has another rate. Each
// error has a command to try.
func Open(name string, bitrate int, filters ...Filter) (*Line, error) {
	if bitrate < 1 || bitrate > maxBitrate {
		return nil, fault(hal.Invalid, name, "open", fmt.Errorf("bitrate: got %d, want 1..%d", bitrate, maxBitrate), "")
	}
	link, err := Find(name, bitrate)
	if err != nil {
		return nil, err
	}
	if err := link.Check(bitrate); err != nil {
		return nil, err
	}
	fd, err := socket(name, filters)
	if err != nil {
		kind, try := hal.Unexpected, ""
		if errors.Is(err, unix.EAFNOSUPPORT) || errors.Is(err, unix.EPROTONOSUPPORT) {
			kind, try, err = hal.Absent, "sudo modprobe can_raw", errNoCAN
		}
		return nil, fault(kind, name, "open", err, try)
	}
	return newLine(name, bitrate, fd), nil
}

// socket opens a raw socket bound to the interface, which also gets the controller's error frames.
func socket(name string, filters []Filter) (int, error) {
	fd, err := unix.Socket(unix.AF_CAN, unix.SOCK_RAW|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, unix.CAN_RAW)
	if err != nil {
		return -1, err
	}
	close := func(err error) (int, error) { return -1, errors.Join(err, unix.Close(fd)) }
	if err := unix.SetsockoptInt(fd, unix.SOL_CAN_RAW, unix.CAN_RAW_ERR_FILTER, wanted); err != nil {
		return close(err)
	}
	if len(filters) > 0 {
		list := make([]unix.CanFilter, len(filters))
		for i, f := range filters {
			list[i] = unix.CanFilter{Id: f.ID, Mask: f.Mask}
		}
		if err := unix.SetsockoptCanRawFilter(fd, unix.SOL_CAN_RAW, unix.CAN_RAW_FILTER, list); err != nil {
			return close(err)
		}
	}
	at, err := net.InterfaceByName(name)
	if err != nil {
		return close(err)
	}
	if err := unix.Bind(fd, &unix.SockaddrCAN{Ifindex: at.Index}); err != nil {
		return close(err)
	}
	return fd, nil
}

// newLine makes a line of a socket that keeps the bounds of frames.
func newLine(name string, bitrate, fd int) *Line {
	return &Line{name: name, bitrate: bitrate, fd: fd, poll: [1]unix.PollFd{{Fd: int32(fd)}}, write: unix.Write}
}

// maxFrame is the most bits that a frame takes, stuffing and the gap included.
const maxFrame = 160

// Write is servo.Port's: whole frames. An interface queues ten frames by default (txqueuelen). A frame that finds the
// queue full waits for at most the bus time of all of p. Then it is dropped with all after it, and counted: no node
// acknowledges.
func (l *Line) Write(p []byte) (int, error) {
	if l.lost != nil {
		return 0, l.lost
	}
	frame := time.Duration(maxFrame) * time.Second / time.Duration(l.bitrate)
	budget := time.Duration(len(p)/servo.CANSize+1) * frame
	for at := 0; at+servo.CANSize <= len(p); {
		_, err := l.write(l.fd, p[at:at+servo.CANSize])
		switch {
		case err == unix.EINTR:
			continue
		case (err == unix.ENOBUFS || err == unix.EAGAIN) && budget > 0:
			budget -= frame
			l.pause(frame)
			continue
		case err == unix.ENOBUFS || err == unix.EAGAIN:
			// All that follows as well: torque must not go on where the goal before it found no room.
			l.dropped += uint64(len(p)-at) / servo.CANSize
			return len(p), nil
		case err != nil:
			return at, l.failed("write", err)
		}
		at += servo.CANSize
	}
	return len(p), nil
}

// pause waits for d: there is no event for room in the queue of an interface.
func (l *Line) pause(d time.Duration) {
	l.wait = unix.NsecToTimespec(int64(d))
	unix.Ppoll(nil, &l.wait, nil) // ending early does no harm
}

// Read is servo.Port's: as many whole frames as have come and find room in p.
func (l *Line) Read(p []byte, timeout time.Duration) (int, error) {
	if l.lost != nil {
		return 0, l.lost
	}
	deadline := time.Now().Add(timeout)
	for {
		n, err := l.receive(p)
		if n > 0 || err != nil {
			return n, err
		}
		if err := l.await(time.Until(deadline)); err != nil {
			return 0, err
		}
	}
}

// receive reads the available frames.
func (l *Line) receive(p []byte) (n int, err error) {
	for len(p)-n >= servo.CANSize {
		k, err := unix.Read(l.fd, p[n:n+servo.CANSize])
		switch {
		case err == unix.EINTR:
			continue
		case err == unix.EAGAIN:
			return n, nil
		case err != nil:
			return n, l.failed("read", err)
		case k == 0:
			return n, l.failed("read", unix.ENODEV)
		case k != servo.CANSize: // no frame of classic CAN
			continue
		}
		if servo.ParseCAN(p[n:n+k], &l.frame) == nil && l.frame.Error && l.frame.ID&busOffClass != 0 {
			return n, l.failed("read", errBusOff)
		}
		n += k
	}
	return n, nil
}

var errBusOff = errors.New("bus-off: the controller has seen too many errors")

// await waits for a frame to read: os.ErrDeadlineExceeded on a timeout.
func (l *Line) await(timeout time.Duration) error {
	l.wait = unix.NsecToTimespec(int64(max(timeout, 0)))
	l.poll[0].Events, l.poll[0].Revents = unix.POLLIN, 0
	n, err := unix.Ppoll(l.poll[:], &l.wait, nil)
	switch {
	case err == unix.EINTR:
		return nil
	case err != nil:
		return l.failed("wait", err)
	case n == 0:
		return os.ErrDeadlineExceeded
	case l.poll[0].Revents&unix.POLLIN == 0: // only an error or a hang-up: reading reports which
		if _, err := l.receive(nil); err != nil {
			return err
		}
		return l.failed("wait", unix.ENODEV)
	}
	return nil
}

// Discard is servo.Port's.
func (l *Line) Discard() error {
	var room [16 * servo.CANSize]byte
	for {
		n, err := l.Read(room[:], 0)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return nil
		}
		if err != nil || n == 0 {
			return err
		}
	}
}

// Now is the monotonic time since the process began; it continues over a reopening.
func (l *Line) Now() time.Duration { return time.Since(epoch) }

// Baud is the bus's rate, bit/s.
func (l *Line) Baud() int { return l.bitrate }

// Dropped is how many frames found no room in the controller's queue.
func (l *Line) Dropped() uint64 { return l.dropped }

// SetBaud refuses another rate: that of an interface is set by root.
func (l *Line) SetBaud(bitrate int) error {
	if bitrate == l.bitrate {
		return nil
	}
	return fault(hal.Invalid, l.name, "bitrate", fmt.Errorf("got %d, want %d: the interface's own", bitrate, l.bitrate),
		"sudo ip link set "+l.name+" down; "+setUp(l.name, bitrate))
}

func (l *Line) File() (*os.File, error) {
	fd, err := unix.FcntlInt(uintptr(l.fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("dup", err)
	}
	return os.NewFile(uintptr(fd), l.name), nil
}

// Piece is the size of a write: a socket takes one frame at a time.
func (l *Line) Piece() int { return servo.CANSize }

// Close closes the socket. A second Close has no effect.
func (l *Line) Close() error {
	if l.fd < 0 {
		return nil
	}
	err := unix.Close(l.fd)
	l.fd, l.lost = -1, fault(hal.Unexpected, l.name, "use", os.ErrClosed, "")
	return err
}

// failed classifies an error of an open socket: a lost bus is servo.ErrDisconnected.
func (l *Line) failed(op string, err error) error {
	switch {
	case errors.Is(err, unix.ENETDOWN), errors.Is(err, unix.ENODEV), errors.Is(err, unix.ENXIO),
		errors.Is(err, errBusOff):
		l.lost = fault(hal.Absent, l.name, op, fmt.Errorf("%w: %w", servo.ErrDisconnected, err),
			setUp(l.name, l.bitrate))
		return l.lost
	}
	return fault(hal.BusFault, l.name, op, err, "")
}

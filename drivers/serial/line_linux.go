package serial

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"

	bugst "go.bug.st/serial"
	"golang.org/x/sys/unix"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
)

const (
	// rateTolerance is the greatest relative difference of the kernel's rate from the requested one. An FT232H divides
	// 12 MHz by eighths, so 4.5 Mbaud becomes 4.571 (1.6 %), which servos accept; beyond 2 % 8N1 loses bits.
	rateTolerance = 0.02
	// writeSlack is the time that a write may take in addition to its wire time before the adapter counts as hung.
	writeSlack = 50 * time.Millisecond
)

// Line is one open port. One goroutine owns it.
type Line struct {
	path    string // as given by the caller, for errors
	device  string // the device node behind it
	opener  string
	baud    int  // requested
	rate    int  // set by the kernel
	even    bool // parity
	ctl     control
	port    port  // nil once closed
	lost    error // why the adapter is gone
	latency time.Duration
	note    string
}

// Open opens path at baud with opener (Bugst if empty) for this process only. It blocks briefly.
// Its errors: hal.Absent: no such device. hal.Busy: another process has it open (named if known), or access is denied.
// hal.Invalid: not a serial port, or an unsupported rate.
func Open(path string, baud int, opener string) (*Line, error) {
	if err := (&Line{path: path, opener: cmp.Or(opener, Bugst)}).check(baud); err != nil {
		return nil, err
	}
	device, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, openFault(path, path, err)
	}
	return openAt(path, device, baud, opener)
}

// openAt is Open of the device node that path resolves to. /proc lists open files by that node, and sysfs has a folder
// for it.
func openAt(path, device string, baud int, opener string) (_ *Line, err error) {
	l := &Line{path: path, device: device, opener: cmp.Or(opener, Bugst)}
	if err := l.check(baud); err != nil {
		return nil, err
	}
	if l.ctl, err = openControl(device); err != nil {
		return nil, openFault(path, device, err)
	}
	l.latency, l.note = setLatency("/", device, writeExisting, l.ctl.lowLatency)
	if err := l.tune(baud); err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

// check refuses settings that cannot work on any port.
func (l *Line) check(baud int) error {
	refuse := func(format string, args ...any) error {
		return fault(hal.Invalid, l.path, "open", fmt.Errorf(format, args...))
	}
	switch {
	case l.opener != Bugst && l.opener != Tarm:
		return refuse("serial_backend: got %q, want %s or %s", l.opener, Bugst, Tarm)
	case baud < 1 || baud > MaxBaud:
		return refuse("baud: got %d, want 1..%d", baud, MaxBaud)
	case l.opener == Tarm && baud > TarmBaud:
		return refuse("baud: got %d, want at most %d with serial_backend %s; %s takes any", baud, TarmBaud, Tarm, Bugst)
	case l.opener == Tarm && !slices.Contains(tarmRates[:], baud):
		return refuse("baud: got %d, want one of %d with serial_backend %s", baud, tarmRates, Tarm)
	}
	return nil
}

// tune opens the library's port at baud, or changes its rate, and reads back the kernel's actual rate.
func (l *Line) tune(baud int) error {
	// The library opens the port once more, so TIOCEXCL is set after that. The flock stays.
	l.ctl.exclusive(false)
	if err := l.reopen(baud); err != nil {
		return openFault(l.path, l.device, err)
	}
	l.ctl.exclusive(true)
	// The driver returns the rate of its divider; only this shows a chip that does not support the rate.
	rate, err := l.ctl.rate()
	if err != nil {
		return openFault(l.path, l.device, err)
	}
	if math.Abs(float64(rate-baud)) > rateTolerance*float64(baud) {
		return fault(hal.Invalid, l.path, "open", fmt.Errorf("baud: adapter set %d, want %d within %g %%",
			rate, baud, rateTolerance*100))
	}
	l.baud, l.rate = baud, rate
	return nil
}

// SetEven switches the even parity bit on or off, from now on and at every later rate. With serial_backend tarm, which
// does not support parity, it is an error of kind hal.Invalid.
func (l *Line) SetEven(even bool) error {
	if even && l.opener == Tarm {
		return fault(hal.Invalid, l.path, "parity", fmt.Errorf("got even, want none with serial_backend %s; %s has it",
			Tarm, Bugst))
	}
	if l.even == even {
		return nil
	}
	l.even = even
	return l.SetBaud(l.baud)
}

// SetBaud changes the rate of the line. After an error the rate is not known until a SetBaud succeeds.
func (l *Line) SetBaud(baud int) error {
	if err := l.unusable(); err != nil {
		return err
	}
	if err := l.check(baud); err != nil {
		return err
	}
	return l.tune(baud)
}

// SetDTR raises or lowers the modem line DTR, which some devices use to switch a motor (RPLIDAR A1). On a pty, which
// has no DTR, it has no effect.
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

// Read is servo.Port's. Like go.bug.st/serial it allocates only on errors.
func (l *Line) Read(p []byte, timeout time.Duration) (int, error) {
	if err := l.unusable(); err != nil {
		return 0, err
	}
	deadline := time.Now().Add(timeout)
	for {
		events, err := l.ctl.wait(unix.POLLIN, time.Until(deadline))
		if err != nil {
			return 0, l.failed("read", err)
		}
		if events == 0 {
			return 0, os.ErrDeadlineExceeded
		}
		// Bytes are available, so the library's own timeout, a tenth of a second, does not apply.
		n, err := l.port.Read(p)
		if n > 0 {
			return n, nil
		}
		if err == nil && events&(unix.POLLHUP|unix.POLLERR) != 0 {
			err = io.EOF // no bytes left, and none will follow
		}
		if err != nil {
			return 0, l.failed("read", err)
		}
	}
}

// Write is servo.Port's. It uses the line's own descriptor, since the libraries' writes wait without bound. If the
// adapter does not accept the bytes within their wire time and 50 ms, the error is os.ErrDeadlineExceeded.
func (l *Line) Write(p []byte) (int, error) {
	if err := l.unusable(); err != nil {
		return 0, err
	}
	wire := time.Duration(len(p)) * 10 * time.Second / time.Duration(l.rate)
	deadline := time.Now().Add(wire + writeSlack)
	sent := 0
	for sent < len(p) {
		n, err := unix.Write(l.ctl.fd, p[sent:])
		sent += max(n, 0)
		switch {
		case err == unix.EINTR || err == nil:
			continue
		case err != unix.EAGAIN:
			return sent, l.failed("write", err)
		}
		events, err := l.ctl.wait(unix.POLLOUT, time.Until(deadline))
		if err != nil {
			return sent, l.failed("write", err)
		}
		if events == 0 {
			return sent, fault(hal.BusFault, l.path, "write",
				fmt.Errorf("adapter took %d of %d bytes: %w", sent, len(p), os.ErrDeadlineExceeded))
		}
	}
	return sent, nil
}

// Discard is servo.Port's.
func (l *Line) Discard() error {
	if err := l.unusable(); err != nil {
		return err
	}
	if err := l.ctl.discard(); err != nil {
		return l.failed("discard", err)
	}
	return nil
}

// Now is the monotonic time since the process began; it continues over a reopening.
func (l *Line) Now() time.Duration { return time.Since(epoch) }

// Baud is the requested rate, bit/s; Rate is the kernel's actual one.
func (l *Line) Baud() int { return l.baud }

// Rate is the line's actual rate, bit/s, as reported by the kernel.
func (l *Line) Rate() int { return l.rate }

// LatencyTimer is the time for which the adapter holds received bytes back before it sends less than a full USB packet.
// If it is not 1 ms, as a servo bus needs, or not known, note gives the reason. 0: no such timer, or not reported.
func (l *Line) LatencyTimer() (d time.Duration, note string) { return l.latency, l.note }

// File returns a duplicate of the port's descriptor, which the caller closes: for a process that supervises this one.
func (l *Line) File() (*os.File, error) {
	fd, err := unix.FcntlInt(uintptr(l.ctl.fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("dup", err)
	}
	return os.NewFile(uintptr(fd), l.path), nil
}

// Close closes the port. A second Close has no effect.
func (l *Line) Close() error {
	var err error
	if l.port != nil {
		err = l.port.Close()
		l.port = nil
	}
	return errors.Join(err, l.ctl.close())
}

// unusable returns the error of a closed or lost line. A lost adapter stays lost: it comes back as another device.
func (l *Line) unusable() error {
	if l.port == nil {
		return fault(hal.Unexpected, l.path, "use", os.ErrClosed)
	}
	return l.lost
}

// failed classifies an error of an open port: if the adapter has been disconnected it is servo.ErrDisconnected.
func (l *Line) failed(op string, err error) error {
	var p *bugst.PortError
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, unix.EIO), errors.Is(err, unix.ENXIO), errors.Is(err, unix.ENODEV),
		errors.As(err, &p) && p.Code() == bugst.PortClosed:
		l.lost = fault(hal.Absent, l.path, op, fmt.Errorf("%w: %w", servo.ErrDisconnected, err))
		return l.lost
	}
	return fault(hal.BusFault, l.path, op, err)
}

package pty

import (
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// PTY is the device's end of a pseudo terminal. Read and Write follow os.File; Interrupt wakes a Read of another
// goroutine, everything else belongs to one.
type PTY struct {
	Path   string // path for a client, "/dev/pts/3"
	master *os.File
	slave  *os.File // held open, so that clients may come and go without the line hanging up
}

// Open makes a pseudo terminal whose line is set to baud, bits a second, until a client sets it. The caller closes it.
func Open(baud int) (*PTY, error) {
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("pty: open /dev/ptmx: %w", err)
	}
	p := &PTY{master: os.NewFile(uintptr(fd), "/dev/ptmx")}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		p.Path = fmt.Sprintf("/dev/pts/%d", n)
		p.slave, err = os.OpenFile(p.Path, os.O_RDWR|unix.O_NOCTTY, 0)
	}
	if err == nil {
		err = makeRaw(int(p.slave.Fd()), baud)
	}
	if err != nil {
		p.Close()
		return nil, fmt.Errorf("pty: %w", err)
	}
	return p, nil
}

// makeRaw switches off everything that a terminal does to bytes, as cfmakeraw(3), and sets the rate.
func makeRaw(fd, baud int) error {
	t, err := unix.IoctlGetTermios(fd, unix.TCGETS2)
	if err != nil {
		return err
	}
	t.Iflag, t.Oflag, t.Lflag = 0, 0, 0
	t.Cflag = unix.CS8 | unix.CREAD | unix.CLOCAL | unix.BOTHER
	t.Ispeed, t.Ospeed = uint32(baud), uint32(baud)
	t.Cc[unix.VMIN], t.Cc[unix.VTIME] = 1, 0
	return unix.IoctlSetTermios(fd, unix.TCSETS2, t)
}

// Baud is the rate set by the client, bit/s; 0 if unknown. A client's own settings of the line (echo, canonical mode)
// are not changed: they have the same effect as on an adapter.
func (p *PTY) Baud() int {
	t, err := unix.IoctlGetTermios(int(p.slave.Fd()), unix.TCGETS2)
	if err != nil {
		return 0
	}
	return int(t.Ospeed)
}

// fine is how long before a deadline the kernel itself is asked to wait: the runtime's poller wakes up to a millisecond
// late.
const fine = 2 * time.Millisecond

// Read waits for bytes from the client until deadline (os.ErrDeadlineExceeded), which it keeps to 0.1 ms.
func (p *PTY) Read(b []byte, deadline time.Time) (int, error) {
	if coarse := deadline.Add(-fine); time.Until(coarse) > 0 {
		if err := p.master.SetReadDeadline(coarse); err != nil {
			return 0, err
		}
		if n, err := p.master.Read(b); !errors.Is(err, os.ErrDeadlineExceeded) || time.Until(deadline) > 2*fine {
			return n, err // bytes, a fault, or interrupted
		}
	}
	raw, err := p.master.SyscallConn()
	if err != nil {
		return 0, err
	}
	n := 0
	failed := raw.Control(func(fd uintptr) {
		for {
			if n, err = unix.Read(int(fd), b); err != unix.EAGAIN && err != unix.EINTR {
				return
			}
			left := time.Until(deadline)
			if left <= 0 {
				n, err = 0, os.ErrDeadlineExceeded
				return
			}
			wait := unix.NsecToTimespec(int64(left))
			unix.Ppoll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, &wait, nil)
		}
	})
	return max(n, 0), errors.Join(failed, err)
}

// Interrupt makes a Read that is waiting return at once. One that begins later has its own deadline.
func (p *PTY) Interrupt() { p.master.SetReadDeadline(time.Unix(1, 0)) }

// Write passes b to the client and never waits. Bytes without room, for a client that does not read, are lost, as in an
// adapter's full buffer; n is the number of accepted bytes.
func (p *PTY) Write(b []byte) (n int, err error) {
	raw, err := p.master.SyscallConn()
	if err != nil {
		return 0, err
	}
	// Past the poller: a deadline could run out before the first try on a busy machine, and an answer be lost.
	failed := raw.Write(func(fd uintptr) bool {
		n, err = unix.Write(int(fd), b)
		return true
	})
	if err == unix.EAGAIN {
		err = nil // its buffer is full
	}
	return max(n, 0), errors.Join(failed, err)
}

// Release allows the line to be opened again after the death of a client that had claimed it (TIOCEXCL outlives its
// owner on a pty). It does nothing while any visible process has the line open.
func (p *PTY) Release() {
	fd := int(p.slave.Fd())
	if exclusive, err := unix.IoctlGetInt(fd, unix.TIOCGEXCL); err == nil && exclusive != 0 && openers(p.Path) < 2 {
		unix.IoctlSetInt(fd, unix.TIOCNXCL, 0)
	}
}

// openers counts the descriptors of all visible processes that lead to path, our own one included.
func openers(path string) int {
	const proc = "/proc"
	n := 0
	processes, _ := os.ReadDir(proc) // unreadable entries are of other users, who cannot open our line either
	for _, e := range processes {
		if c := e.Name()[0]; c < '0' || c > '9' {
			continue
		}
		dir := proc + "/" + e.Name() + "/fd"
		files, _ := os.ReadDir(dir)
		for _, f := range files {
			if to, _ := os.Readlink(dir + "/" + f.Name()); to == path {
				n++
			}
		}
	}
	return n
}

// Unplug ends the line like pulling an adapter out: a client that has it open reads an error, and Path cannot be
// opened. The kernel does not reuse its number until Close, so a client that tries Path again cannot open another
// terminal.
func (p *PTY) Unplug() error { return p.master.Close() }

// Close ends the line, if Unplug has not, and releases its number.
func (p *PTY) Close() error {
	if p.slave != nil {
		p.slave.Close()
	}
	return p.master.Close()
}

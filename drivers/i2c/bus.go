package i2c

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	conn "periph.io/x/conn/v3/i2c"
	"periph.io/x/conn/v3/physic"
	"periph.io/x/host/v3/sysfs"

	"github.com/halyard-robotics/halyard/hal"
)

// Bus is one of the kernel's I2C buses. Any number of goroutines may share it; a transaction is whole. A bus that was
// lost (an adapter on USB that was unplugged) is opened again by the next transaction.
type Bus struct {
	path string
	open func(number int) (conn.BusCloser, error)

	mu     sync.Mutex
	now    conn.BusCloser // nil while lost
	closed bool
}

// Open opens the bus at path: /dev/i2c-1, or a stable link to one. Its errors: hal.Invalid for an invalid path,
// hal.Absent if absent, hal.Busy if access is denied. The device tree sets its clock rate.
func Open(path string) (*Bus, error) {
	return openWith(path, func(n int) (conn.BusCloser, error) { return sysfs.NewI2C(n) })
}

func openWith(path string, open func(int) (conn.BusCloser, error)) (*Bus, error) {
	b := &Bus{path: path, open: open}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b, b.attach()
}

// attach resolves the path again and opens the bus: a replugged adapter has another number.
func (b *Bus) attach() error {
	fault := func(kind hal.Kind, err error) error {
		return &hal.Error{Kind: kind, Bus: b.path, Op: "open", Err: err, Try: "halyard ports"}
	}
	device, err := filepath.EvalSymlinks(b.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fault(hal.Absent, errors.New("no such bus; is I2C switched on in the device tree?"))
	case err != nil:
		return fault(hal.Busy, err)
	}
	digits, ok := strings.CutPrefix(filepath.Base(device), "i2c-")
	number, err := strconv.Atoi(digits)
	if !ok || err != nil {
		return fault(hal.Invalid, fmt.Errorf("got %q, want a path such as /dev/i2c-1", device))
	}
	if b.now, err = b.open(number); err != nil {
		b.now = nil
		// periph's errors do not unwrap to the system's: the file itself reports whether it may be opened.
		if f, e := os.OpenFile(device, os.O_RDWR, 0); errors.Is(e, fs.ErrPermission) {
			return fault(hal.Busy, errors.New("access denied; are you in the group i2c?"))
		} else if e == nil {
			f.Close()
		}
		return fault(hal.Absent, err)
	}
	return nil
}

// String is the bus's path.
func (b *Bus) String() string { return b.path }

// Tx is periph's: w is written, then r is read. It blocks for the transaction and, on a bus that hangs, for as long as
// the kernel's adapter has a timeout, a second usually.
func (b *Bus) Tx(addr uint16, w, r []byte) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.closed:
		return os.ErrClosed
	case b.now == nil:
		if err := b.attach(); err != nil {
			return err
		}
	}
	err := b.now.Tx(addr, w, r)
	switch {
	case err == nil:
	case isErrno(err, syscall.ENODEV, syscall.EBADF, syscall.ESHUTDOWN): // the adapter is lost
		b.now.Close()
		b.now = nil
	case isErrno(err, syscall.EOPNOTSUPP, syscall.ENOTSUP):
		err = ErrSMBusOnly
	case isErrno(err, syscall.ETIMEDOUT):
		err = fmt.Errorf("%w: %w", ErrHeldLow, err)
	}
	return err
}

// Errors of the whole bus, independent of the address: an unsupported adapter, and a blocked bus.
var (
	ErrSMBusOnly = errors.New("the adapter has SMBus commands only, want plain I2C transfers (I2C_RDWR)")
	ErrHeldLow   = errors.New("the bus does not become free")
)

// isErrno reports whether err is one of the system's. periph returns only the system's text.
func isErrno(err error, list ...syscall.Errno) bool {
	return slices.ContainsFunc(list, func(e syscall.Errno) bool {
		return errors.Is(err, e) || strings.HasSuffix(err.Error(), e.Error())
	})
}

// SetSpeed is refused: the device tree sets a kernel bus's speed.
func (b *Bus) SetSpeed(physic.Frequency) error {
	return &hal.Error{Kind: hal.Invalid, Bus: b.path, Op: "speed", Err: errors.New("the device tree sets it")}
}

// Close closes the bus; later transactions return os.ErrClosed.
func (b *Bus) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	if b.now == nil {
		return nil
	}
	err := b.now.Close()
	b.now = nil
	return err
}

// clock is the wall clock, with ordinary sleeps: chips need waits of milliseconds, and longer ones do no harm.
type clock struct{ start time.Time }

// Clock returns the clock for the waits of chips on real buses. It may wake late; it never spins.
func Clock() hal.Clock { return clock{time.Now()} }

func (c clock) Now() time.Duration         { return time.Since(c.start) }
func (c clock) SleepUntil(t time.Duration) { time.Sleep(t - c.Now()) }

// Sleep blocks for d on the clock c.
func Sleep(c hal.Clock, d time.Duration) { c.SleepUntil(c.Now() + d) }

package spi

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	conn "periph.io/x/conn/v3/i2c"
	"periph.io/x/conn/v3/physic"
	"periph.io/x/conn/v3/spi"
	"periph.io/x/host/v3/sysfs"

	"github.com/halyard-robotics/halyard/hal"
)

// Limits and default of the clock, Hz. The fastest chips support 10 MHz; an MPU 1 MHz.
const (
	MinClock     = 10_000
	DefaultClock = 1_000_000
	MaxClock     = 10_000_000
)

// maxTransfer is the longest transaction, bytes: a register and the 64 that a chip's driver asks for at once.
const maxTransfer = 1 + 64

// Wire is one select of an SPI bus: Tx sends w and receives r, of the same length. It is the core of periph's spi.Conn.
type Wire interface{ Tx(w, r []byte) error }

// Port is one chip on an SPI bus with the interface of an I2C bus with only this chip: periph's i2c.Bus, with an unused
// address. One goroutine at a time uses it; a transaction does not allocate.
type Port struct {
	path string
	open func() (Wire, func() error, error)

	mu     sync.Mutex
	wire   Wire         // nil while lost
	shut   func() error // gives wire back
	closed bool
	out    [maxTransfer]byte
	in     [maxTransfer]byte
}

var _ conn.Bus = (*Port)(nil)

// NewPort is the chip on wire; name is the port's, for errors.
func NewPort(name string, wire Wire) *Port {
	return &Port{path: name, wire: wire, shut: func() error { return nil }}
}

// Open opens the device node of one select, /dev/spidev0.1 (bus 0, select 1), at hertz. Its errors: hal.Invalid for an
// invalid path or rate, hal.Absent if absent, hal.Busy if access is denied.
func Open(path string, hertz int) (*Port, error) {
	p := &Port{path: path}
	fault := func(kind hal.Kind, err error) error {
		return &hal.Error{Kind: kind, Bus: path, Op: "open", Err: err, Try: "halyard ports"}
	}
	if hertz < MinClock || hertz > MaxClock {
		return nil, fault(hal.Invalid, fmt.Errorf("clock: got %d, want %d..%d Hz", hertz, MinClock, MaxClock))
	}
	p.open = func() (Wire, func() error, error) {
		device, err := filepath.EvalSymlinks(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil, fault(hal.Absent, errors.New("no such port; is SPI switched on in the device tree?"))
		} else if err != nil {
			return nil, nil, fault(hal.Busy, err)
		}
		bus, selected, ok := Parse(device)
		if !ok {
			return nil, nil, fault(hal.Invalid, fmt.Errorf("got %q, want a path such as /dev/spidev0.0", device))
		}
		// periph's errors do not unwrap to the system's: the file itself reports whether it may be opened.
		f, err := os.OpenFile(device, os.O_RDWR, 0)
		if errors.Is(err, fs.ErrPermission) {
			return nil, nil, fault(hal.Busy, errors.New("access denied; are you in the group spi?"))
		} else if err == nil {
			f.Close()
		}
		port, err := sysfs.NewSPI(bus, selected)
		if err != nil {
			return nil, nil, fault(hal.Absent, err)
		}
		c, err := port.Connect(physic.Frequency(hertz)*physic.Hertz, spi.Mode3, 8)
		if err != nil {
			return nil, nil, errors.Join(fault(hal.Absent, err), port.Close())
		}
		return c, port.Close, nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p, p.attach()
}

// Parse takes a node's path apart: /dev/spidev0.1 is bus 0, select 1.
func Parse(path string) (bus, selected int, ok bool) {
	name := filepath.Base(path)
	if _, err := fmt.Sscanf(name, "spidev%d.%d", &bus, &selected); err != nil || bus < 0 || selected < 0 {
		return 0, 0, false
	}
	return bus, selected, name == fmt.Sprintf("spidev%d.%d", bus, selected)
}

// attach opens the wire. Under the lock.
func (p *Port) attach() (err error) {
	p.wire, p.shut, err = p.open()
	return err
}

// String is the port's path.
func (p *Port) String() string { return p.path }

// Tx is periph's: w[0] is a register; the bytes after it are written from there on, or else r is read from there on. It
// blocks for the transaction.
func (p *Port) Tx(_ uint16, w, r []byte) error {
	n := max(len(w), 1+len(r))
	switch {
	case len(w) == 0 || (len(w) > 1) == (len(r) > 0):
		return fmt.Errorf("%s: got %d bytes to write and %d to read, want a register, and data or room for it", p.path,
			len(w), len(r))
	case n > maxTransfer:
		return fmt.Errorf("%s: got %d bytes, want at most %d", p.path, n, maxTransfer)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return os.ErrClosed
	}
	if p.wire == nil {
		if err := p.attach(); err != nil {
			return err
		}
	}
	clear(p.out[:n])
	copy(p.out[:], w)
	if p.out[0] &= 0x7F; len(r) > 0 {
		p.out[0] |= 0x80
	}
	if err := p.wire.Tx(p.out[:n], p.in[:n]); err != nil {
		if p.open != nil { // the driver may have lost it: the next transaction opens it again
			err = errors.Join(err, p.shut())
			p.wire = nil
		}
		return err
	}
	copy(r, p.in[1:n])
	return nil
}

// SetSpeed is refused: Open sets it.
func (p *Port) SetSpeed(physic.Frequency) error {
	return &hal.Error{Kind: hal.Invalid, Bus: p.path, Op: "speed", Err: errors.New("it is set when the port is opened")}
}

// OnSPI reports to a chip's driver that it is connected to SPI; see i2c.OnSPI.
func (p *Port) OnSPI() bool { return true }

// Close closes the port; later transactions return os.ErrClosed.
func (p *Port) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	if p.wire == nil {
		return nil
	}
	p.wire = nil
	return p.shut()
}

package i2c

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"

	conn "periph.io/x/conn/v3/i2c"

	"github.com/halyard-robotics/halyard/hal"
)

// maxRead is the longest read of a chip that a driver here does at once, bytes.
const maxRead = 64

// Chip is one device of a bus, written and read by register number. One goroutine at a time uses it; the bus
// may be shared. It allocates only errors.
type Chip struct {
	bus  conn.Bus
	addr uint16
	id   int    // for errors
	name string // likewise
	w    [maxRead + 1]byte
	r    [maxRead]byte
}

// NewChip returns the chip called name ("ms5837", for errors) at addr, a 7-bit address. It does no I/O.
func NewChip(bus conn.Bus, addr uint16, name string) *Chip {
	c := &Chip{bus: bus, addr: addr, id: int(addr), name: fmt.Sprintf("%s at 0x%02X", name, addr)}
	if OnSPI(bus) {
		c.id, c.name = 0, name
	}
	return c
}

// OnSPI reports whether bus is a port of SPI with one chip (drivers/spi): it has no address, and does not acknowledge.
func OnSPI(bus conn.Bus) bool {
	s, ok := bus.(interface{ OnSPI() bool })
	return ok && s.OnSPI()
}

// File returns a descriptor whose writes go to the chip, for a process that supervises this one; nil if the bus has
// none. The caller closes it.
func (c *Chip) File() (*os.File, error) {
	b, ok := c.bus.(interface {
		File(addr uint16) (*os.File, error)
	})
	if !ok {
		return nil, nil
	}
	return b.File(c.addr)
}

// Read reads n bytes, at most 64, from register on: one transaction, with a repeated start between its halves. The
// slice belongs to the chip and is valid until the next call.
func (c *Chip) Read(register byte, n int) ([]byte, error) {
	c.w[0] = register
	if err := c.bus.Tx(c.addr, c.w[:1], c.r[:n]); err != nil {
		return nil, c.Faultf(hal.BusFault, "read 0x%02X: %w", register, err)
	}
	return c.r[:n], nil
}

// Write sets the registers from register on, 64 at most, in one transaction. Without data it is a bare command byte.
func (c *Chip) Write(register byte, data ...byte) error {
	p := append(append(c.w[:0], register), data...)
	if err := c.bus.Tx(c.addr, p, nil); err != nil {
		return c.Faultf(hal.BusFault, "write 0x%02X: %w", register, err)
	}
	return nil
}

// ReadWord reads a register of 16 bits, the high byte first.
func (c *Chip) ReadWord(register byte) (uint16, error) {
	p, err := c.Read(register, 2)
	if err != nil {
		return 0, err
	}
	return binary.BigEndian.Uint16(p), nil
}

// WriteWord sets a register of 16 bits, the high byte first.
func (c *Chip) WriteWord(register byte, word uint16) error {
	return c.Write(register, byte(word>>8), byte(word))
}

// Expect reads register and returns its value, which must be one of values: a driver distinguishes its chip from
// another at the same address. No reply, or another chip, is hal.Absent.
func (c *Chip) Expect(register byte, values ...byte) (byte, error) {
	p, err := c.Read(register, 1)
	if err != nil {
		return 0, c.Absent(err)
	}
	if slices.Contains(values, p[0]) {
		return p[0], nil
	}
	return p[0], c.Faultf(hal.Absent, "identity: got 0x%02X, want one of % X", p[0], values)
}

// Fault is err as a user sees it, with the bus, the address and the chip's name.
func (c *Chip) Fault(kind hal.Kind, err error) error {
	e := &hal.Error{Kind: kind, Bus: c.bus.String(), ID: c.id, Op: c.name, Err: err}
	if kind != hal.Invalid { // no command corrects a value of the config
		e.Try = "halyard doctor"
	}
	return e
}

// Faultf is Fault of a formatted error.
func (c *Chip) Faultf(kind hal.Kind, format string, args ...any) error {
	return c.Fault(kind, fmt.Errorf(format, args...))
}

// Absent is an error of Read or Write as one of kind hal.Absent: the chip did not reply to its first request.
func (c *Chip) Absent(err error) error { return c.Fault(hal.Absent, errors.Unwrap(err)) }

package chip

import (
	"time"

	"github.com/halyard-robotics/halyard/sim/emulator/wire"
)

// upper is a chip with registers above 0x7F: on SPI, where bit 7 is the direction, their numbers are sent without it.
type upper interface{ Upper() bool }

// SPI is a program's end of an SPI bus in memory, with the first device of a Bus at its select: the wire of a spi.Port,
// and with its Host the clock of its waits. One goroutine at a time uses it.
//
// If the device would not acknowledge on I2C, it does not reply here: the line stays high.
type SPI struct {
	*Host
	w [1]byte
}

// SPI returns a handle for one program. Such a bus has one device.
func (b *Bus) SPI() *SPI { return &SPI{Host: b.Host()} }

// Tx is one transaction, 8 bits a byte and one before and after it for the select: it sends w and receives r at the
// same time. It returns at once and advances the handle's time.
func (s *SPI) Tx(w, r []byte) error {
	h := s.Host
	h.Now()
	b := h.bus
	b.Lock()
	defer b.Unlock()
	b.power(h.own)
	begin := h.own
	took := time.Duration(int64(8*len(w)+2) * int64(time.Second) / b.hertz)
	h.own += took
	b.busy += took
	b.total += took
	for i := range r {
		r[i] = 0xFF
	}
	if len(w) == 0 || len(b.devices) == 0 {
		return nil
	}
	d := b.devices[0]
	if b.dark[d] || b.Occurs(wire.Dropped, int(d.Address()), begin) != nil {
		return nil
	}
	register := w[0] & 0x7F
	if u, ok := d.(upper); ok && u.Upper() {
		register |= 0x80
	}
	if w[0]&0x80 == 0 {
		data := append([]byte{register}, w[1:]...)
		_ = d.Transfer(data, nil, begin) // SPI has no acknowledge: the host does not see an error
		return nil
	}
	s.w[0] = register
	in := r[min(1, len(r)):]
	if d.Transfer(s.w[:], in, begin) != nil {
		for i := range in {
			in[i] = 0xFF
		}
	}
	b.corrupt(d.Address(), in, begin)
	return nil
}

package can

import "github.com/halyard-robotics/halyard/servo"

// The parts of a frame that are never stuffed: delimiters, acknowledgement and end, and the gap before the next.
const (
	tail = 1 + 1 + 1 + 7
	gap  = 3
)

// disturbed is the number of bits of an error after the bit of its detection: flag, flags of the others, delimiter and
// gap.
const disturbed = 6 + 6 + 8 + gap

// bitCounter counts a frame's bits with the stuff bits, and computes its checksum.
type bitCounter struct {
	n, run int
	last   uint32
	crc    uint32
}

// put counts the n low bits of v, the highest first.
func (c *bitCounter) put(v uint32, n int) {
	for n--; n >= 0; n-- {
		bit := v >> n & 1
		c.count(bit)
		next := bit ^ c.crc>>14&1
		if c.crc = c.crc << 1 & 0x7FFF; next == 1 {
			c.crc ^= 0x4599
		}
	}
}

// count counts one bit; after five alike one of the other sort follows, which counts for the next five.
func (c *bitCounter) count(bit uint32) {
	if c.n++; c.n > 1 && bit == c.last {
		c.run++
	} else {
		c.run = 1
	}
	if c.last = bit; c.run == 5 {
		c.n++
		c.last, c.run = 1-bit, 1
	}
}

// Bits is how many bits f takes on a bus, from its start to where the next may start.
func Bits(f *servo.CANFrame) int {
	var c bitCounter
	remote := uint32(0)
	if f.Remote {
		remote = 1
	}
	c.put(0, 1)
	if f.Extended {
		c.put(f.ID>>18, 11)
		c.put(3, 2)
		c.put(f.ID&(1<<18-1), 18)
		c.put(remote<<2, 3)
	} else {
		c.put(f.ID, 11)
		c.put(remote<<2, 3)
	}
	c.put(uint32(f.Len), 4)
	if !f.Remote {
		for _, b := range f.Data[:min(f.Len, 8)] {
			c.put(uint32(b), 8)
		}
	}
	// The checksum itself is stuffed, and changes no more.
	for crc, i := c.crc, 14; i >= 0; i-- {
		c.count(crc >> i & 1)
	}
	return c.n + tail + gap
}

// rank decides the arbitration: the lower wins. An extended frame loses to a standard one with the same first bits, a
// remote frame to the data frame of the same id.
func rank(f *servo.CANFrame) uint64 {
	remote := uint64(0)
	if f.Remote {
		remote = 1
	}
	if f.Extended {
		return uint64(f.ID>>18)<<21 | 3<<19 | uint64(f.ID&(1<<18-1))<<1 | remote
	}
	return uint64(f.ID)<<21 | remote<<20
}

package osp

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
)

// coder appends to b when encoding, or reads from the front of b when decoding. Its methods take a pointer to a field
// and write or fill it, so that one list of calls describes a datagram in both directions.
//
// Decoding does not fail at once: a missing field stays zero and short is set.
type coder struct {
	b      []byte
	encode bool
	short  bool // decoding: b ended too early
}

// next returns the next n bytes, or nil if there are fewer. Then the rest counts as used, so that no later field is
// read from the middle of an earlier one.
func (c *coder) next(n int) []byte {
	if n < 0 || n > len(c.b) {
		c.short, c.b = true, nil
		return nil
	}
	p := c.b[:n]
	c.b = c.b[n:]
	return p
}

func (c *coder) byte(v *byte) {
	if c.encode {
		c.b = append(c.b, *v)
	} else if p := c.next(1); p != nil {
		*v = p[0]
	}
}

// word is 4 bytes, little-endian.
func (c *coder) word(v uint32) uint32 {
	if c.encode {
		c.b = binary.LittleEndian.AppendUint32(c.b, v)
	} else if p := c.next(4); p != nil {
		v = binary.LittleEndian.Uint32(p)
	}
	return v
}

func (c *coder) int(fields ...*int32) {
	for _, v := range fields {
		*v = int32(c.word(uint32(*v)))
	}
}

// float is the bits of an IEEE 754 single.
func (c *coder) float(v *float32) { *v = math.Float32frombits(c.word(math.Float32bits(*v))) }

// count is the length of a list: n when encoding, else the number read, which may be wrong: ints and floats check it.
func (c *coder) count(n int) int { return int(int32(c.word(uint32(n)))) }

// holds reports whether b has n items of 4 bytes. It must be checked before an allocation: the sender may announce any
// count.
func (c *coder) holds(n int) bool {
	if n < 0 || n > len(c.b)/4 {
		c.short = true
		return false
	}
	return true
}

// ints and floats are n values, without their number. Encoding writes all of list.
func (c *coder) ints(list *[]int32, n int)     { values(c, list, n, func(v *int32) { c.int(v) }) }
func (c *coder) floats(list *[]float32, n int) { values(c, list, n, c.float) }

func values[T any](c *coder, list *[]T, n int, each func(v *T)) {
	if !c.encode {
		if !c.holds(n) {
			return
		}
		*list = slices.Grow(*list, n)[:len(*list)+n]
	}
	for i := range *list {
		each(&(*list)[i])
	}
}

// content is bytes with a NUL behind them. Decoding makes v a view of b.
func (c *coder) content(v *[]byte) {
	if c.encode {
		p := *v
		if end := bytes.IndexByte(p, 0); end >= 0 {
			p = p[:end] // the reader would end there, and read the rest as the next field
		}
		c.b = append(append(c.b, p...), 0)
		return
	}
	end := bytes.IndexByte(c.b, 0)
	if end < 0 {
		c.short = true
		return
	}
	*v = c.next(end + 1)[:end]
}

// text is content as a string of its own.
func (c *coder) text(v *string) {
	p := []byte(*v)
	if c.content(&p); !c.encode {
		*v = string(p)
	}
}

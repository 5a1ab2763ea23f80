package player

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
)

// ErrFormat reports a payload that does not have the form of its message.
var ErrFormat = errors.New("malformed payload")

// maxCount bounds the elements of an array of bytes or numbers.
const maxCount = 1 << 20

// payload is what follows a header. update passes each field once, to encode and to decode.
type payload interface{ update(c *coder) }

// coder passes the fields of one payload, in XDR.
type coder struct {
	decoding bool
	buf      []byte // encoded so far; what is left to decode
	err      error
}

// appendPayload appends p to dst; nil is no payload.
func appendPayload(dst []byte, p payload) []byte {
	c := coder{buf: dst}
	if p != nil {
		p.update(&c)
	}
	return c.buf
}

// decodePayload reads all of b into p.
func decodePayload(b []byte, p payload) error {
	c := coder{decoding: true, buf: b}
	p.update(&c)
	if c.err == nil && len(c.buf) > 0 {
		c.err = fmt.Errorf("%d bytes too many: %w", len(c.buf), ErrFormat)
	}
	return c.err
}

// decode reads all of b as a payload of type T.
func decode[T any, P interface {
	*T
	payload
}](b []byte) (p T, err error) {
	err = decodePayload(b, P(&p))
	return p, err
}

func (c *coder) fail(format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf(format+": %w", append(args, ErrFormat)...)
	}
}

// take returns the next n bytes, or nil.
func (c *coder) take(n int) []byte {
	if c.err != nil || n < 0 || len(c.buf) < n {
		c.fail("got %d bytes, want %d", len(c.buf), n)
		return nil
	}
	b := c.buf[:n]
	c.buf = c.buf[n:]
	return b
}

func (c *coder) word(v uint32) uint32 {
	if !c.decoding {
		c.buf = binary.BigEndian.AppendUint32(c.buf, v)
		return v
	}
	if b := c.take(4); b != nil {
		return binary.BigEndian.Uint32(b)
	}
	return 0
}

// words passes integers, which have 32 bits on the wire.
func words[T uint8 | uint16 | uint32 | int32](c *coder, fields ...*T) {
	for _, v := range fields {
		*v = T(c.word(uint32(*v)))
	}
}

// parts passes structures.
func (c *coder) parts(parts ...payload) {
	for _, p := range parts {
		p.update(c)
	}
}

// float passes numbers that have 32 bits on the wire.
func (c *coder) float(fields ...*float64) {
	for _, v := range fields {
		*v = float64(math.Float32frombits(c.word(math.Float32bits(float32(*v)))))
	}
}

// double passes numbers that have 64 bits on the wire.
func (c *coder) double(fields ...*float64) {
	for _, v := range fields {
		if !c.decoding {
			c.buf = binary.BigEndian.AppendUint64(c.buf, math.Float64bits(*v))
		} else if b := c.take(8); b != nil {
			*v = math.Float64frombits(binary.BigEndian.Uint64(b))
		}
	}
}

// count passes the length of an array, twice.
func (c *coder) count(n int, element int) int {
	first, second := c.word(uint32(n)), c.word(uint32(n))
	if !c.decoding {
		return n
	}
	switch {
	case c.err != nil:
		return 0
	case first != second || first > maxCount || int(first) > len(c.buf)/element:
		c.fail("array: got %d and %d elements of %d bytes in %d", first, second, element, len(c.buf))
		return 0
	}
	return int(first)
}

// array passes elements that have at least size bytes each.
func array[T any](c *coder, s *[]T, size int, each func(v *T, c *coder)) {
	n := c.count(len(*s), size)
	if c.decoding {
		*s = make([]T, n)
	}
	for i := range *s {
		each(&(*s)[i], c)
	}
}

// bytes passes an array of bytes.
func (c *coder) bytes(s *[]byte) {
	n := c.count(len(*s), 1)
	if !c.decoding {
		c.buf = append(c.buf, *s...)
		c.buf = append(c.buf, make([]byte, -n&3)...)
		return
	}
	if b := c.take(n + -n&3); b != nil {
		*s = append((*s)[:0], b[:n]...)
	}
}

// text passes a text as bytes with a NUL.
func (c *coder) text(s *string) {
	b := append([]byte(*s), 0)
	c.bytes(&b)
	if c.decoding {
		*s, _, _ = strings.Cut(string(b), "\x00")
	}
}

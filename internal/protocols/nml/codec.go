package nml

import (
	"errors"
	"fmt"
)

// Encoding is how a message is written on the wire.
type Encoding uint8

// The encodings. Every rcslib program supports Packed; Disp keeps six decimals of a number.
const (
	Packed Encoding = iota
	XDR
	Disp
)

var encodingNames = [...]string{"packed", "xdr", "disp"}

func (e Encoding) String() string {
	if int(e) < len(encodingNames) {
		return encodingNames[e]
	}
	return fmt.Sprintf("encoding(%d)", uint8(e))
}

// Faults of a message.
var (
	ErrTruncated = errors.New("message ends before its fields")
	ErrFormat    = errors.New("malformed field")
	ErrCount     = errors.New("array length out of range")
	ErrType      = errors.New("unknown message type")
	ErrSize      = errors.New("message too large")
)

// Message is one NML message.
type Message interface {
	// MessageType is its NML type, above 0.
	MessageType() int32
	// Update passes each field to c in the order of declaration. It must not depend on whether c encodes or decodes.
	Update(c *Codec)
}

// Vocabulary returns a new message of an NML type, or nil.
type Vocabulary func(messageType int32) Message

type mode uint8

const (
	encoding mode = iota
	decoding
	measuring
)

// Codec passes the fields of one message. Its methods take pointers: they read the field to encode, set it to decode.
type Codec struct {
	mode     mode
	encoding Encoding
	little   bool // byte order of numbers
	wide     bool // longs have 8 bytes: packedl64
	buf      []byte
	at       int // next byte to decode
	offset   int // of the next field in the C++ object
	align    int // of the C++ object
	err      error
}

// Append appends m to dst. It fails where an array of m is too long for its declaration.
func Append(dst []byte, e Encoding, m Message) ([]byte, error) {
	c := Codec{encoding: e, little: e == Packed, buf: dst}
	if e == Packed {
		c.buf = append(c.buf, 'L')
	}
	id, size := m.MessageType(), Size(m)
	c.Long(&id)
	c.Long(&size)
	m.Update(&c)
	if c.err != nil {
		return dst, fmt.Errorf("encode message %d: %w", id, c.err)
	}
	return c.buf, nil
}

// Size is the size of m's object in a 64-bit C++ program, bytes: header words send it, and clients compare it with
// their buffer.
func Size(m Message) int32 {
	c := Codec{mode: measuring, align: 8}
	var header int32
	c.Long(&header)
	c.Long(&header)
	m.Update(&c)
	c.lay(0, c.align)
	return int32(c.offset)
}

// Header returns the type and the size word of a message.
func Header(b []byte, e Encoding) (messageType, size int32, err error) {
	c, err := decoder(b, e)
	if err != nil {
		return 0, 0, err
	}
	c.Long(&messageType)
	c.Long(&size)
	return messageType, size, c.err
}

// Decode reads b into m, whose type must be that of b. Bytes after the last field are ignored: a later version of a
// message may have more. On an error m is partly set.
func Decode(b []byte, e Encoding, m Message) error {
	c, err := decoder(b, e)
	if err != nil {
		return err
	}
	var id, size int32
	c.Long(&id)
	c.Long(&size)
	if c.err == nil && id != m.MessageType() {
		return fmt.Errorf("decode message: type: got %d, want %d: %w", id, m.MessageType(), ErrType)
	}
	m.Update(&c)
	if c.err != nil {
		return fmt.Errorf("decode message %d: %w", id, c.err)
	}
	return nil
}

// DecodeAny reads a message of any type in v.
func DecodeAny(b []byte, e Encoding, v Vocabulary) (Message, error) {
	id, _, err := Header(b, e)
	if err != nil {
		return nil, fmt.Errorf("decode message: %w", err)
	}
	m := v(id)
	if m == nil {
		return nil, fmt.Errorf("decode message: type %d: %w", id, ErrType)
	}
	return m, Decode(b, e, m)
}

// Detect returns the encoding that b begins with; the type of an XDR message is below 1<<24.
func Detect(b []byte) (Encoding, bool) {
	if len(b) == 0 {
		return 0, false
	}
	switch first := b[0]; {
	case first == 'L' || first == 'B' || first == 'l' || first == 'b':
		return Packed, true
	case first == 0:
		return XDR, true
	case first == '+' || first == '-' || first == ' ' || first >= '0' && first <= '9':
		return Disp, true
	}
	return 0, false
}

func decoder(b []byte, e Encoding) (Codec, error) {
	c := Codec{mode: decoding, encoding: e, buf: b}
	if e != Packed {
		return c, nil
	}
	if len(b) == 0 {
		return c, ErrTruncated
	}
	switch b[0] {
	case 'L', 'l':
		c.little = true
	case 'B', 'b':
	default:
		return c, fmt.Errorf("byte order: got %#02x, want L or B: %w", b[0], ErrFormat)
	}
	c.wide = b[0] == 'l' || b[0] == 'b'
	c.at = 1
	return c, nil
}

// Decoding reports whether fields are set.
func (c *Codec) Decoding() bool { return c.mode == decoding }

// Fail makes the message invalid. The first error is kept.
func (c *Codec) Fail(err error) {
	if c.err == nil {
		c.err = err
	}
}

// Nested begins a structure of the C++ message, whose members contain a double or a long; it aligns Size.
func (c *Codec) Nested() {
	if c.mode == measuring {
		c.lay(0, 8)
	}
}

// Parts passes structures of the C++ message.
func (c *Codec) Parts(parts ...interface{ Update(*Codec) }) {
	for _, p := range parts {
		p.Update(c)
	}
}

// lay adds a field of size bytes to the C++ object.
func (c *Codec) lay(size, align int) {
	c.offset = (c.offset+align-1)/align*align + size
	c.align = max(c.align, align)
}

// take returns the next n bytes, or nil at the end.
func (c *Codec) take(n int) []byte {
	if n < 0 || len(c.buf)-c.at < n {
		c.Fail(ErrTruncated)
		return nil
	}
	b := c.buf[c.at : c.at+n]
	c.at += n
	return b
}

// Array passes an array of variable length, at most limit elements. each passes one element: a method expression,
// (*Waypoint).Update. A decoded array reuses the memory of *s.
func Array[T any](c *Codec, s *[]T, limit int, each func(v *T, c *Codec)) {
	n := int32(len(*s))
	c.Int(&n)
	if c.mode == measuring {
		var zero T
		element := Codec{mode: measuring}
		each(&zero, &element)
		element.lay(0, max(1, element.align))
		c.lay(0, max(1, element.align))
		c.lay(limit*element.offset, 1)
		return
	}
	if !c.length(n, limit) {
		return
	}
	if c.mode == decoding {
		if *s = (*s)[:0]; cap(*s) < int(n) {
			*s = make([]T, 0, n)
		}
		*s = (*s)[:n]
	}
	for i := range *s {
		if each(&(*s)[i], c); c.err != nil {
			return
		}
	}
}

// length checks the length of an array. Every element has at least one byte, so that a short message allocates little.
func (c *Codec) length(n int32, limit int) bool {
	switch {
	case c.err != nil:
	case n < 0 || int(n) > limit:
		c.Fail(fmt.Errorf("got %d, want 0..%d: %w", n, limit, ErrCount))
	case c.mode == decoding && int(n) > len(c.buf)-c.at:
		c.Fail(ErrTruncated)
	}
	return c.err == nil
}

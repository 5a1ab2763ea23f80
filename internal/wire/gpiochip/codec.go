package gpiochip

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"time"
)

// ChipInfo describes a chip.
type ChipInfo struct {
	Name  string // of its node: gpiochip0
	Label string // of its driver, and the same on every start of the machine: pinctrl-bcm2711
	Lines uint32 // how many it has
}

// LineInfo describes a line of a chip.
type LineInfo struct {
	Offset   uint32 // of the line in its chip, from 0
	Name     string // "" if the board's maker gave none
	Consumer string // the program that uses it, "" if unknown
	Flags    Flags
}

// Attribute holds settings for some lines of a request.
type Attribute struct {
	Flags    *Flags        // in place of the request's
	Values   *uint64       // bits of outputs
	Debounce time.Duration // by the kernel, in whole µs, where neither of the others is set
	Mask     uint64        // the lines, by their place in the request
}

// Request asks a chip for lines.
type Request struct {
	Offsets    []uint32
	Consumer   string
	Flags      Flags
	Attributes []Attribute
	Buffer     uint32 // edges to keep; 0 = 16 a line
}

// Event is one edge.
type Event struct {
	At      time.Duration // of the interrupt
	Line    uint32        // its offset
	Rising  bool          // to activity
	Seq     uint32        // counts the request's edges, also those that the kernel dropped
	LineSeq uint32        // counts the line's
}

var Order = binary.NativeEndian

// fixed is the text up to its final zero, which has its place even where it is missing.
func fixed(b []byte) string {
	text, _, _ := bytes.Cut(b[:len(b)-1], []byte{0})
	return string(text)
}

// put stores text with its final zero, cut where it is too long.
func put(b []byte, text string) {
	clear(b)
	copy(b[:len(b)-1], text)
}

// size checks the length of a structure: the request's number determines it, so another length is a fault of ours or of
// an emulator.
func size(what string, b []byte, want int) error {
	if len(b) != want {
		return fmt.Errorf("gpio: %s: got %d bytes, want %d", what, len(b), want)
	}
	return nil
}

// AppendTo appends the structure of the chip's answer.
func (c *ChipInfo) AppendTo(b []byte) []byte {
	at := len(b)
	b = append(b, make([]byte, chipInfoSize)...)
	put(b[at:][:nameSize], c.Name)
	put(b[at+atLabel:][:nameSize], c.Label)
	Order.PutUint32(b[at+AtLines:], c.Lines)
	return b
}

// Parse takes the structure apart.
func (c *ChipInfo) Parse(b []byte) error {
	if err := size("chip info", b, chipInfoSize); err != nil {
		return err
	}
	*c = ChipInfo{fixed(b[:nameSize]), fixed(b[atLabel:][:nameSize]), Order.Uint32(b[AtLines:])}
	return nil
}

// AppendTo appends the structure of a question, which has only the offset, or of the answer.
func (l *LineInfo) AppendTo(b []byte) []byte {
	at := len(b)
	b = append(b, make([]byte, lineInfoSize)...)
	put(b[at:][:nameSize], l.Name)
	put(b[at+atConsumer:][:nameSize], l.Consumer)
	Order.PutUint32(b[at+atOffset:], l.Offset)
	Order.PutUint64(b[at+atInfoFlags:], uint64(l.Flags))
	return b
}

// Parse takes the structure apart; the attributes are ignored.
func (l *LineInfo) Parse(b []byte) error {
	if err := size("line info", b, lineInfoSize); err != nil {
		return err
	}
	if n := Order.Uint32(b[atInfoAttrs:]); n > maxAttributes {
		return fmt.Errorf("gpio: line info: got %d attributes, want 0..%d", n, maxAttributes)
	}
	*l = LineInfo{Order.Uint32(b[atOffset:]), fixed(b[:nameSize]), fixed(b[atConsumer:][:nameSize]),
		Flags(Order.Uint64(b[atInfoFlags:]))}
	return nil
}

// AppendTo appends the structure. The kernel, and an emulator, writes the line node's descriptor into its last four
// bytes.
func (r *Request) AppendTo(b []byte) ([]byte, error) {
	if n := len(r.Offsets); n < 1 || n > MaxLines || len(r.Attributes) > maxAttributes {
		return b, fmt.Errorf("gpio: request: got %d lines and %d attributes, want 1..%d and 0..%d", n,
			len(r.Attributes), MaxLines, maxAttributes)
	}
	at := len(b)
	b = append(b, make([]byte, requestSize)...)
	q := b[at:]
	for i, offset := range r.Offsets {
		Order.PutUint32(q[4*i:], offset)
	}
	put(q[atReqConsumer:][:nameSize], r.Consumer)
	Order.PutUint64(q[atReqFlags:], uint64(r.Flags))
	Order.PutUint32(q[atReqAttrs:], uint32(len(r.Attributes)))
	for i := range r.Attributes {
		r.Attributes[i].put(q[atReqAttr+i*attrSize:][:attrSize])
	}
	Order.PutUint32(q[atReqLines:], uint32(len(r.Offsets)))
	Order.PutUint32(q[atReqBuffer:], r.Buffer)
	return b, nil
}

func (a *Attribute) put(b []byte) {
	id, value := uint32(attrDebounce), uint64(0)
	switch {
	case a.Flags != nil:
		id, value = attrFlags, uint64(*a.Flags)
	case a.Values != nil:
		id, value = attrValues, *a.Values
	default:
		// A u32 in a union of u64: its place depends on the byte order.
		Order.PutUint32(b[atAttrValue:], uint32(a.Debounce/time.Microsecond))
	}
	Order.PutUint32(b, id)
	if id != attrDebounce {
		Order.PutUint64(b[atAttrValue:], value)
	}
	Order.PutUint64(b[atAttrMask:], a.Mask)
}

// Parse decodes the structure; it returns an error for values that the kernel would refuse.
func (r *Request) Parse(b []byte) error {
	if err := size("request", b, requestSize); err != nil {
		return err
	}
	lines, attrs := Order.Uint32(b[atReqLines:]), Order.Uint32(b[atReqAttrs:])
	if lines < 1 || lines > MaxLines || attrs > maxAttributes {
		return fmt.Errorf("gpio: request: got %d lines and %d attributes, want 1..%d and 0..%d", lines, attrs, MaxLines,
			maxAttributes)
	}
	*r = Request{Consumer: fixed(b[atReqConsumer:][:nameSize]), Flags: Flags(Order.Uint64(b[atReqFlags:])),
		Buffer: Order.Uint32(b[atReqBuffer:])}
	for i := range lines {
		r.Offsets = append(r.Offsets, Order.Uint32(b[4*i:]))
	}
	for i := range attrs {
		q := b[atReqAttr+i*attrSize:][:attrSize]
		value := Order.Uint64(q[atAttrValue:])
		a := Attribute{Mask: Order.Uint64(q[atAttrMask:])}
		switch id := Order.Uint32(q); id {
		case attrFlags:
			flags := Flags(value)
			a.Flags = &flags
		case attrValues:
			a.Values = &value
		case attrDebounce:
			a.Debounce = time.Duration(Order.Uint32(q[atAttrValue:])) * time.Microsecond
		default:
			return fmt.Errorf("gpio: request: attribute: got id %d, want 1..3", id)
		}
		r.Attributes = append(r.Attributes, a)
	}
	return nil
}

// AppendTo appends the event as the kernel writes it.
func (e *Event) AppendTo(b []byte) []byte {
	at, id := len(b), uint32(edgeFalling)
	if e.Rising {
		id = edgeRising
	}
	b = append(b, make([]byte, EventSize)...)
	Order.PutUint64(b[at:], uint64(e.At))
	for i, v := range [...]uint32{id, e.Line, e.Seq, e.LineSeq} {
		Order.PutUint32(b[at+atEventID+4*i:], v)
	}
	return b
}

// Parse takes one event apart.
func (e *Event) Parse(b []byte) error {
	if err := size("event", b, EventSize); err != nil {
		return err
	}
	id := Order.Uint32(b[atEventID:])
	if id != edgeRising && id != edgeFalling {
		return fmt.Errorf("gpio: event: edge: got %d, want 1 or 2", id)
	}
	at := time.Duration(Order.Uint64(b))
	if at < 0 {
		return fmt.Errorf("gpio: event: time: got %d ns, want less than 2^63", uint64(at))
	}
	*e = Event{at, Order.Uint32(b[atEventLine:]), id == edgeRising, Order.Uint32(b[atEventSeq:]),
		Order.Uint32(b[atLineSeq:])}
	return nil
}

// PutValues stores bits and mask, and ParseValues takes them out.
func PutValues(b []byte, bits, mask uint64) {
	Order.PutUint64(b, bits)
	Order.PutUint64(b[atMask:], mask)
}

// ParseValues takes bits and mask of valuesSize bytes.
func ParseValues(b []byte) (bits, mask uint64) { return Order.Uint64(b), Order.Uint64(b[atMask:]) }

// PutLines writes the descriptor of a line node into a request, and linesOf takes it out.
func PutLines(request []byte, fd int32) { Order.PutUint32(request[atReqFD:], uint32(fd)) }

func LinesOf(request []byte) int32 { return int32(Order.Uint32(request[atReqFD:])) }

package v4l2

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/bits"
	"time"
)

// ABI is the size of the kernel's long, bytes: 8, or 4 on 32-bit ARM and x86, where a buffer's time is two longs too
// (the kernel still accepts that form in addition to the wider one). All supported machines are little-endian.
type ABI int

// Native is the ABI of this program.
const Native ABI = bits.UintSize / 8

// Number is an ioctl's number: direction, size of the argument, letter 'V', number.
func (a ABI) Number(op Op) uint32 {
	row := Ops()[op]
	return row.direction | uint32(a.Size(row.Argument()))<<16 | 'V'<<8 | row.number
}

// Find is the ioctl of a number.
func (a ABI) Find(number uint32) (Op, bool) {
	for op, row := range Ops() {
		if row.number == number&0xFF && a.Number(Op(op)) == number {
			return Op(op), true
		}
	}
	return 0, false
}

// Size is how many bytes x takes.
func (a ABI) Size(x Argument) int {
	w := wire{long: int(a)}
	x.fields(&w)
	return w.at
}

// Append appends x as the kernel has it.
func (a ABI) Append(dst []byte, x Argument) []byte {
	from := len(dst)
	dst = append(dst, make([]byte, a.Size(x))...)
	w := wire{long: int(a), b: dst[from:], put: true}
	x.fields(&w)
	return dst
}

// Parse takes x out of b, which is of its size.
func (a ABI) Parse(b []byte, x Argument) error {
	if n := a.Size(x); len(b) != n {
		return fmt.Errorf("%T: got %d bytes, want %d", x, len(b), n)
	}
	w := wire{long: int(a), b: b}
	x.fields(&w)
	return nil
}

// Argument is a structure of the kernel's. Each lists its fields once, in their order: that serves both directions.
type Argument interface{ fields(w *wire) }

// wire goes along the bytes of a structure; without bytes it counts them.
type wire struct {
	long int
	b    []byte
	at   int
	put  bool
}

// u32 are fields of four bytes.
func (w *wire) u32(list ...*uint32) {
	for _, v := range list {
		switch {
		case w.b == nil:
		case w.put:
			binary.LittleEndian.PutUint32(w.b[w.at:], *v)
		default:
			*v = binary.LittleEndian.Uint32(w.b[w.at:])
		}
		w.at += 4
	}
}

// word is a field as wide as a long.
func (w *wire) word(v *uint64) {
	switch {
	case w.b == nil:
	case w.long == 4 && w.put:
		binary.LittleEndian.PutUint32(w.b[w.at:], uint32(*v))
	case w.long == 4:
		*v = uint64(int64(int32(binary.LittleEndian.Uint32(w.b[w.at:]))))
	case w.put:
		binary.LittleEndian.PutUint64(w.b[w.at:], *v)
	default:
		*v = binary.LittleEndian.Uint64(w.b[w.at:])
	}
	w.at += w.long
}

// text is n bytes that end at the first zero.
func (w *wire) text(v *string, n int) {
	switch {
	case w.b == nil:
	case w.put:
		copy(w.b[w.at:w.at+n-1], *v)
	default:
		p, _, _ := bytes.Cut(w.b[w.at:w.at+n], []byte{0})
		*v = string(p)
	}
	w.at += n
}

// skip skips unused bytes, and align the gap before a long.
func (w *wire) skip(n int) { w.at += n }
func (w *wire) align()     { w.at += -w.at & (w.long - 1) }

// Capability is struct v4l2_capability.
type Capability struct {
	Driver, Card, Bus                 string
	Version, Capabilities, DeviceCaps uint32
}

func (c *Capability) fields(w *wire) {
	w.text(&c.Driver, 16)
	w.text(&c.Card, 32)
	w.text(&c.Bus, 32)
	w.u32(&c.Version, &c.Capabilities, &c.DeviceCaps)
	w.skip(12)
}

// Caps are the capabilities of the node itself.
func (c *Capability) Caps() uint32 {
	if c.Capabilities&HasDeviceCaps != 0 {
		return c.DeviceCaps
	}
	return c.Capabilities
}

// FormatInfo is struct v4l2_fmtdesc.
type FormatInfo struct {
	Index, Kind, Flags uint32
	Description        string
	Pixel              Pixel
}

func (f *FormatInfo) fields(w *wire) {
	w.u32(&f.Index, &f.Kind, &f.Flags)
	w.text(&f.Description, 32)
	w.u32((*uint32)(&f.Pixel))
	w.skip(16)
}

// FrameSize is struct v4l2_frmsizeenum. Of SizeDiscrete the first two of Sizes count, width and height; else they are
// least, greatest and step of the width, then of the height.
type FrameSize struct {
	Index uint32
	Pixel Pixel
	Kind  uint32
	Sizes [6]uint32
}

func (f *FrameSize) fields(w *wire) {
	w.u32(&f.Index, (*uint32)(&f.Pixel), &f.Kind)
	for i := range f.Sizes {
		w.u32(&f.Sizes[i])
	}
	w.skip(8)
}

// Format is struct v4l2_format with a v4l2_pix_format, in a union that other formats make 200 bytes, with pointers.
type Format struct {
	Kind                                        uint32
	Width, Height                               uint32
	Pixel                                       Pixel
	Field, Stride, Size, Colourspace, Priv      uint32
	Flags, Encoding, Quantisation, TransferFunc uint32
}

func (f *Format) fields(w *wire) {
	w.u32(&f.Kind)
	w.align()
	w.u32(&f.Width, &f.Height, (*uint32)(&f.Pixel), &f.Field, &f.Stride, &f.Size, &f.Colourspace, &f.Priv,
		&f.Flags, &f.Encoding, &f.Quantisation, &f.TransferFunc)
	w.skip(200 - 48)
}

// Rate is struct v4l2_streamparm with a v4l2_captureparm: a frame takes Numerator/Denominator s.
type Rate struct {
	Kind, Capability, Mode, Numerator, Denominator uint32
}

func (r *Rate) fields(w *wire) {
	w.u32(&r.Kind, &r.Capability, &r.Mode, &r.Numerator, &r.Denominator)
	w.skip(200 - 16)
}

// Buffers is struct v4l2_requestbuffers.
type Buffers struct{ Count, Kind, Memory, Capabilities uint32 }

func (b *Buffers) fields(w *wire) {
	w.u32(&b.Count, &b.Kind, &b.Memory, &b.Capabilities)
	w.skip(4)
}

// Buffer is struct v4l2_buffer: of one frame, or of the memory that it is put into.
type Buffer struct {
	Index, Kind, Used, Flags, Field uint32
	Seconds, Micros                 uint64 // when the frame was taken
	Sequence, Memory                uint32
	Offset                          uint32 // for mmap
	Length                          uint32
}

func (b *Buffer) fields(w *wire) {
	w.u32(&b.Index, &b.Kind, &b.Used, &b.Flags, &b.Field)
	w.align()
	w.word(&b.Seconds)
	w.word(&b.Micros)
	w.skip(16) // a timecode
	w.u32(&b.Sequence, &b.Memory, &b.Offset)
	w.skip(w.long - 4) // a union with pointers
	w.u32(&b.Length)
	w.skip(8)
	w.align()
}

// Time is when the frame was taken, by the clock of its flags.
func (b *Buffer) Time() time.Duration {
	return time.Duration(b.Seconds)*time.Second + time.Duration(b.Micros)*time.Microsecond
}

// SetTime sets it.
func (b *Buffer) SetTime(t time.Duration) {
	b.Seconds, b.Micros = uint64(t/time.Second), uint64(t%time.Second/time.Microsecond)
}

// Number is an int.
type Number struct{ Value uint32 }

func (n *Number) fields(w *wire) { w.u32(&n.Value) }

package v4l2

import "fmt"

// Op is one of the ioctls of V4L2 that are used here (linux/videodev2.h).
type Op uint8

// The ioctls, each with its argument.
const (
	QueryCap   Op = iota // Capability: driver, device and capabilities
	EnumFmt              // FormatInfo: pixel format number Index
	GetFmt               // Format: as it is
	SetFmt               // Format: asked for; the driver answers with the nearest that it can
	ReqBufs              // Buffers: that many, please; 0 gives them back
	QueryBuf             // Buffer: where number Index is to be mapped
	QueueBuf             // Buffer: the driver may fill it
	DequeueBuf           // Buffer: the oldest that is full
	StreamOn             // Number: the kind of stream
	StreamOff            // Number; gives all buffers back
	SetParm              // Rate
	EnumSizes            // FrameSize number Index of a pixel format
	NumOps
)

// Directions of an argument as the number of an ioctl has them: seen from the program (asm-generic/ioctl.h).
const (
	writes = 1 << 30
	reads  = 2 << 30
)

// row is one ioctl of the table.
type row struct {
	name      string
	direction uint32
	number    uint32
	Argument  func() Argument // a new one
}

func Ops() [NumOps]row {
	return [NumOps]row{
		QueryCap:   {"QUERYCAP", reads, 0, argument[Capability]},
		EnumFmt:    {"ENUM_FMT", reads | writes, 2, argument[FormatInfo]},
		GetFmt:     {"G_FMT", reads | writes, 4, argument[Format]},
		SetFmt:     {"S_FMT", reads | writes, 5, argument[Format]},
		ReqBufs:    {"REQBUFS", reads | writes, 8, argument[Buffers]},
		QueryBuf:   {"QUERYBUF", reads | writes, 9, argument[Buffer]},
		QueueBuf:   {"QBUF", reads | writes, 15, argument[Buffer]},
		DequeueBuf: {"DQBUF", reads | writes, 17, argument[Buffer]},
		StreamOn:   {"STREAMON", writes, 18, argument[Number]},
		StreamOff:  {"STREAMOFF", writes, 19, argument[Number]},
		SetParm:    {"S_PARM", reads | writes, 22, argument[Rate]},
		EnumSizes:  {"ENUM_FRAMESIZES", reads | writes, 74, argument[FrameSize]},
	}
}

func argument[T any, P interface {
	*T
	Argument
}]() Argument {
	return P(new(T))
}

func (o Op) String() string {
	if o < NumOps {
		return Ops()[o].name
	}
	return fmt.Sprintf("op(%d)", uint8(o))
}

// Values of the structures' fields (linux/videodev2.h).
const (
	Capture     = 1 // the kind of stream and of buffer: video capture, single-planar
	MappedMem   = 1 // the kind of memory: the driver's, mapped
	Progressive = 1 // the field of a frame: all lines
	AnyField    = 0

	CanCapture    = 0x00000001 // capabilities
	CanPlanes     = 0x00001000 // only in planes: the raw end of a system on a chip
	CanMeta       = 0x00800000 // metadata, no pictures: the second node of a USB camera
	CanStream     = 0x04000000
	HasDeviceCaps = 0x80000000 // DeviceCaps is of this node; Capabilities are of the whole device

	SizeDiscrete = 1 // kinds of frame size
	SizeStepwise = 3

	FrameDamaged = 0x00000040 // flags of a buffer
	StampMask    = 0x0000E000
	Monotonic    = 0x00002000 // its time is of CLOCK_MONOTONIC

	FullRange      = 1 // quantisation: 0..255
	LimitedRange   = 2 // luma 16..235, chroma 16..240
	ColourspaceJPG = 7
)

// Pixel is a pixel format: four letters.
type Pixel uint32

// The pixel formats that are decoded.
const (
	MJPG Pixel = 'M' | 'J'<<8 | 'P'<<16 | 'G'<<24 // each frame a JPEG, often without its Huffman tables
	JPEG Pixel = 'J' | 'P'<<8 | 'E'<<16 | 'G'<<24
	YUYV Pixel = 'Y' | 'U'<<8 | 'Y'<<16 | 'V'<<24 // Y0 U Y1 V: two pixels in four bytes
	RGB3 Pixel = 'R' | 'G'<<8 | 'B'<<16 | '3'<<24
	GREY Pixel = 'G' | 'R'<<8 | 'E'<<16 | 'Y'<<24
)

func (p Pixel) String() string {
	b := [4]byte{byte(p), byte(p >> 8), byte(p >> 16), byte(p >> 24)}
	for i, c := range b {
		if c < ' ' || c > '~' {
			b[i] = '?'
		}
	}
	return string(b[:])
}

// bytes is how many bytes n pixels of p take; 0 of compressed formats.
func (p Pixel) Bytes(n int) int {
	switch p {
	case YUYV:
		return 2 * n
	case RGB3:
		return 3 * n
	case GREY:
		return n
	}
	return 0
}

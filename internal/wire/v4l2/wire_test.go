package v4l2

import (
	"bytes"
	"encoding/binary"
	"reflect"
	"testing"
	"time"
)

// The numbers and sizes as the kernel's headers make them on 64-bit and on 32-bit machines (x86-64: gcc's word; ARM:
// the same structures with longs of four bytes).
func TestNumbers(t *testing.T) {
	for _, c := range []struct {
		op            Op
		long8, long4  uint32
		size8, size4  int
		name, meaning string
	}{
		{QueryCap, 0x80685600, 0x80685600, 104, 104, "QUERYCAP", "v4l2_capability"},
		{EnumFmt, 0xC0405602, 0xC0405602, 64, 64, "ENUM_FMT", "v4l2_fmtdesc"},
		{GetFmt, 0xC0D05604, 0xC0CC5604, 208, 204, "G_FMT", "v4l2_format"},
		{SetFmt, 0xC0D05605, 0xC0CC5605, 208, 204, "S_FMT", "v4l2_format"},
		{ReqBufs, 0xC0145608, 0xC0145608, 20, 20, "REQBUFS", "v4l2_requestbuffers"},
		{QueryBuf, 0xC0585609, 0xC0445609, 88, 68, "QUERYBUF", "v4l2_buffer"},
		{QueueBuf, 0xC058560F, 0xC044560F, 88, 68, "QBUF", "v4l2_buffer"},
		{DequeueBuf, 0xC0585611, 0xC0445611, 88, 68, "DQBUF", "v4l2_buffer"},
		{StreamOn, 0x40045612, 0x40045612, 4, 4, "STREAMON", "int"},
		{StreamOff, 0x40045613, 0x40045613, 4, 4, "STREAMOFF", "int"},
		{SetParm, 0xC0CC5616, 0xC0CC5616, 204, 204, "S_PARM", "v4l2_streamparm"},
		{EnumSizes, 0xC02C564A, 0xC02C564A, 44, 44, "ENUM_FRAMESIZES", "v4l2_frmsizeenum"},
	} {
		arg := Ops()[c.op].Argument()
		if got := [2]uint32{ABI(8).Number(c.op), ABI(4).Number(c.op)}; got != [2]uint32{c.long8, c.long4} {
			t.Errorf("%v: got numbers %08X, want %08X %08X", c.op, got, c.long8, c.long4)
		}
		if got := [2]int{ABI(8).Size(arg), ABI(4).Size(arg)}; got != [2]int{c.size8, c.size4} {
			t.Errorf("%s: got sizes %d, want %d %d", c.meaning, got, c.size8, c.size4)
		}
		if c.op.String() != c.name {
			t.Errorf("got name %q, want %q", c.op, c.name)
		}
		for _, a := range []ABI{8, 4} {
			if op, ok := a.Find(a.Number(c.op)); !ok || op != c.op {
				t.Errorf("%v: found %v, %v by its number", c.op, op, ok)
			}
		}
	}
	if _, ok := Native.Find(0xC0D05699); ok {
		t.Error("a number of no ioctl was found")
	}
}

// structures are values with the offsets where the kernel looks for their fields: 64-bit, 32-bit.
var structures = []struct {
	value Argument
	at    [2]map[int]uint32
}{
	{&Capability{Driver: "uvcvideo", Card: "HD Webcam", Bus: "usb-1", Version: 7, Capabilities: HasDeviceCaps | 5,
		DeviceCaps: 1},
		same(map[int]uint32{0: 'u' | 'v'<<8 | 'c'<<16 | 'v'<<24, 16: 'H' | 'D'<<8 | ' '<<16 | 'W'<<24,
			48: 'u' | 's'<<8 | 'b'<<16 | '-'<<24, 80: 7, 84: HasDeviceCaps | 5, 88: 1})},
	{&FormatInfo{Index: 1, Kind: Capture, Flags: 1, Description: "Motion-JPEG", Pixel: MJPG},
		same(map[int]uint32{0: 1, 4: 1, 8: 1, 44: uint32(MJPG)})},
	{&FrameSize{Index: 2, Pixel: YUYV, Kind: SizeStepwise, Sizes: [6]uint32{16, 640, 2, 8, 480, 4}},
		same(map[int]uint32{0: 2, 4: uint32(YUYV), 8: 3, 12: 16, 16: 640, 20: 2, 24: 8, 28: 480, 32: 4})},
	{&Format{Kind: Capture, Width: 640, Height: 480, Pixel: YUYV, Field: 1, Stride: 1280, Size: 614400, Colourspace: 8,
		Priv: 9, Flags: 10, Encoding: 11, Quantisation: 2, TransferFunc: 13},
		[2]map[int]uint32{{0: 1, 8: 640, 12: 480, 16: uint32(YUYV), 20: 1, 24: 1280, 28: 614400, 32: 8, 44: 11, 48: 2},
			{0: 1, 4: 640, 8: 480, 12: uint32(YUYV), 16: 1, 20: 1280, 24: 614400, 28: 8, 40: 11, 44: 2}}},
	{&Rate{Kind: Capture, Capability: 0x1000, Mode: 3, Numerator: 1, Denominator: 30},
		same(map[int]uint32{0: 1, 4: 0x1000, 8: 3, 12: 1, 16: 30})},
	{&Buffers{Count: 4, Kind: Capture, Memory: MappedMem, Capabilities: 5},
		same(map[int]uint32{0: 4, 4: 1, 8: 1, 12: 5})},
	{&Buffer{Index: 3, Kind: Capture, Used: 1000, Flags: Monotonic, Field: 1, Seconds: 77, Micros: 88, Sequence: 9,
		Memory: MappedMem, Offset: 8192, Length: 4096},
		[2]map[int]uint32{{0: 3, 8: 1000, 12: Monotonic, 24: 77, 32: 88, 56: 9, 60: 1, 64: 8192, 72: 4096},
			{0: 3, 8: 1000, 12: Monotonic, 20: 77, 24: 88, 44: 9, 48: 1, 52: 8192, 56: 4096}}},
	{&Number{Capture}, same(map[int]uint32{0: 1})},
}

func same(m map[int]uint32) [2]map[int]uint32 { return [2]map[int]uint32{m, m} }

func TestStructures(t *testing.T) {
	for _, c := range structures {
		for k, a := range []ABI{8, 4} {
			b := a.Append(nil, c.value)
			for at, want := range c.at[k] {
				if got := binary.LittleEndian.Uint32(b[at:]); got != want {
					t.Errorf("%T, long of %d: at %d: got %#x, want %#x", c.value, a, at, got, want)
				}
			}
			// Into one that was used: no stale field.
			back := reflect.New(reflect.TypeOf(c.value).Elem()).Interface().(Argument)
			for i := range 2 {
				if err := a.Parse(b, back); err != nil || !reflect.DeepEqual(back, c.value) {
					t.Errorf("%T, long of %d, time %d: got %+v, %v, want %+v", c.value, a, i, back, err, c.value)
				}
			}
			if a.Parse(b[1:], back) == nil {
				t.Errorf("%T: too short: got no error", c.value)
			}
		}
	}
}

func TestBufferTime(t *testing.T) {
	var b Buffer
	b.SetTime(3*time.Second + 250*time.Millisecond)
	if b.Seconds != 3 || b.Micros != 250000 || b.Time() != 3250*time.Millisecond {
		t.Errorf("got %d s %d us, %v", b.Seconds, b.Micros, b.Time())
	}
	c := Capability{Capabilities: 5}
	if c.Caps() != 5 || (&Capability{Capabilities: HasDeviceCaps | 5, DeviceCaps: 1}).Caps() != 1 {
		t.Error("the node's own capabilities count where there are some")
	}
}

// Any bytes from the kernel are parsed and encoded again without a panic, and unchanged.
func FuzzStructures(f *testing.F) {
	for _, c := range structures {
		f.Add(Native.Append(nil, c.value))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, c := range structures {
			for _, a := range []ABI{8, 4} {
				p := append(bytes.Clone(b), make([]byte, 256)...)[:a.Size(c.value)]
				x := reflect.New(reflect.TypeOf(c.value).Elem()).Interface().(Argument)
				y := reflect.New(reflect.TypeOf(c.value).Elem()).Interface().(Argument)
				if a.Parse(p, x) != nil || a.Parse(a.Append(nil, x), y) != nil {
					t.Fatalf("%T: refused", x)
				}
				// The last byte of a text is always its end.
				if _, text := x.(*Capability); !text && !reflect.DeepEqual(x, y) {
					if _, text := x.(*FormatInfo); !text {
						t.Fatalf("got %+v, want %+v", y, x)
					}
				}
			}
		}
	})
}

package camera

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/halyard-robotics/halyard/hal"
)

const (
	buffers      = 4       // that are asked for: one is decoded, one is being filled
	leastBuffers = 2       // that will do
	mostBuffers  = 32      // V4L2's own bound
	mostFrame    = 1 << 26 // bytes; three of 4096 squared fit
	mostFormats  = 64      // pixel formats of one device
	mostSizes    = 256     // sizes of one format
)

// stream is one session with a device. One goroutine uses it.
type stream struct {
	config  *Config
	node    Node
	shape   Shape
	period  time.Duration // of frames, as the driver says; 0 = it does not
	numbers [numOps]uint32
	scratch []byte
	memory  [][]byte // one a buffer
	running bool

	counted  bool // sequence is of a frame
	sequence uint32
	lost     uint64 // frames that their numbers say were made and never came
}

// openStream opens the device and agrees with it on what the config asks for. Nothing is captured yet.
func openStream(c *Config) (*stream, error) {
	node, err := c.Node()
	if err != nil {
		return nil, err
	}
	s := &stream{config: c, node: node}
	for op := range numOps {
		s.numbers[op] = c.ABI.Number(op)
	}
	if err := s.agree(); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

// do is one ioctl.
func (s *stream) do(op Op, x Argument) error {
	a := s.config.ABI
	s.scratch = a.Append(s.scratch[:0], x)
	if err := s.node.Ioctl(s.numbers[op], s.scratch); err != nil {
		return fmt.Errorf("%v: %w", op, err)
	}
	return a.Parse(s.scratch, x)
}

// fault names the camera in err; what the system says decides the kind.
func (s *stream) fault(kind hal.Kind, err error) error { return s.config.fault(kind, err) }

func (c *Config) fault(kind hal.Kind, err error) error {
	e := &hal.Error{Kind: kind, Bus: c.Port, Op: c.op(), Err: err, Try: "halyard doctor"}
	switch {
	case errors.Is(err, syscall.ENODEV), errors.Is(err, syscall.ENXIO), errors.Is(err, io.EOF):
		e.Kind, e.Err, e.Try = hal.Absent, errors.New("it is gone"), "ls -l /dev/v4l/by-id"
	case errors.Is(err, syscall.EBUSY):
		e.Kind, e.Err = hal.Busy, errors.New("another program has it")
		if c.Port != "" {
			e.Try = "fuser -v " + c.Port
		}
	}
	return e
}

func (c *Config) op() string { return "camera " + c.Name }

// agree asks for format, size and rate, and refuses what the device makes of them where that is another picture.
func (s *stream) agree() error {
	var have Capability
	if err := s.do(QueryCap, &have); err != nil {
		if errors.Is(err, syscall.ENOTTY) || errors.Is(err, syscall.EINVAL) {
			return s.fault(hal.Invalid, errors.New("got no video device, want one such as /dev/video0"))
		}
		return s.fault(hal.BusFault, err)
	}
	switch caps := have.Caps(); {
	case caps&CanCapture == 0 && caps&CanMeta != 0:
		return s.fault(hal.Invalid, fmt.Errorf("%s: this node has metadata; its pictures are at the one that ends in index0", have.Card))
	case caps&CanCapture == 0 && caps&CanPlanes != 0:
		return s.fault(hal.Invalid, fmt.Errorf("%s: sends its pictures in planes only, want whole ones, as USB cameras do", have.Card))
	case caps&CanCapture == 0 || caps&CanStream == 0:
		return s.fault(hal.Invalid, fmt.Errorf("%s: capabilities 0x%08X: want capture and streaming", have.Card, caps))
	}
	pixel, err := s.choose()
	if err != nil {
		return err
	}
	if err := s.offered(pixel); err != nil {
		return err
	}
	return s.set(pixel)
}

// choose finds the config's encoding among the device's pixel formats.
func (s *stream) choose() (Pixel, error) {
	var names []string
	var have []Pixel
	for i := range uint32(mostFormats) {
		f := FormatInfo{Index: i, Kind: Capture}
		if err := s.do(EnumFmt, &f); errors.Is(err, syscall.EINVAL) {
			break
		} else if err != nil {
			return 0, s.fault(hal.BusFault, err)
		}
		have, names = append(have, f.Pixel), append(names, f.Pixel.String())
	}
	for _, e := range Encodings() {
		if e.Word != s.config.Encoding {
			continue
		}
		for _, p := range e.Pixels {
			if slices.Contains(have, p) {
				return p, nil
			}
		}
	}
	return 0, s.fault(hal.Invalid, fmt.Errorf("format: got %s, want one that it offers: %s", s.config.Encoding, strings.Join(names, ", ")))
}

// offered looks whether the device offers the config's size. A driver that lists none is believed to have it; S_FMT tells.
func (s *stream) offered(pixel Pixel) error {
	w, h := uint32(s.config.Width), uint32(s.config.Height)
	var list []string
	for i := range uint32(mostSizes) {
		f := FrameSize{Index: i, Pixel: pixel}
		if err := s.do(EnumSizes, &f); errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTTY) {
			break
		} else if err != nil {
			return s.fault(hal.BusFault, err)
		}
		z := f.Sizes
		if f.Kind == SizeDiscrete {
			if z[0] == w && z[1] == h {
				return nil
			}
			list = append(list, fmt.Sprintf("%dx%d", z[0], z[1]))
			continue
		}
		// One range is all that such a device lists.
		if within(w, z[0], z[1], z[2]) && within(h, z[3], z[4], z[5]) {
			return nil
		}
		list = append(list, fmt.Sprintf("%dx%d to %dx%d in steps of %dx%d", z[0], z[3], z[1], z[4], z[2], z[5]))
		break
	}
	if len(list) == 0 {
		return nil
	}
	return s.fault(hal.Invalid, fmt.Errorf("size: got %dx%d, want one that it offers in %v: %s", w, h, pixel, strings.Join(list, ", ")))
}

func within(v, least, most, step uint32) bool {
	return v >= least && v <= most && (v-least)%max(1, step) == 0
}

// set asks for format and rate. V4L2 never refuses a format: it answers with the nearest, which is not what was asked for.
func (s *stream) set(pixel Pixel) error {
	c := s.config
	f := Format{Kind: Capture, Width: uint32(c.Width), Height: uint32(c.Height), Pixel: pixel, Field: Progressive}
	if err := s.do(SetFmt, &f); err != nil {
		return s.fault(hal.BusFault, err)
	}
	if f.Pixel != pixel || int(f.Width) != c.Width || int(f.Height) != c.Height {
		return s.fault(hal.Invalid, fmt.Errorf("format: got %dx%d %v from it, want %dx%d %v", f.Width, f.Height, f.Pixel, c.Width, c.Height, pixel))
	}
	if f.Field != Progressive && f.Field != AnyField {
		return s.fault(hal.Invalid, fmt.Errorf("format: got interlaced frames (field %d), want whole ones", f.Field))
	}
	s.shape = Shape{Pixel: pixel, Width: c.Width, Height: c.Height, Stride: int(min(f.Stride, 1<<20)),
		Full: f.Quantisation == FullRange || f.Quantisation != LimitedRange && f.Colourspace == ColourspaceJPG}
	if row := pixel.bytes(c.Width); s.shape.Stride == 0 {
		s.shape.Stride = row // some drivers say nothing
	}
	if err := s.shape.check(); err != nil {
		return s.fault(hal.Invalid, err)
	}
	// A camera that knows no rates runs at its own.
	r := Rate{Kind: Capture, Numerator: 1000, Denominator: uint32(math.Round(1000 * c.Rate))}
	switch err := s.do(SetParm, &r); {
	case err == nil && r.Numerator > 0 && r.Denominator > 0:
		s.period = time.Duration(float64(time.Second) * float64(r.Numerator) / float64(r.Denominator))
	case err != nil && !errors.Is(err, syscall.ENOTTY) && !errors.Is(err, syscall.EINVAL):
		return s.fault(hal.BusFault, err)
	}
	s.period = min(s.period, 10*time.Second)
	return nil
}

// start maps the buffers, hands them to the driver and lets frames come.
func (s *stream) start() error {
	want := Buffers{Count: buffers, Kind: Capture, Memory: MappedMem}
	if err := s.do(ReqBufs, &want); err != nil {
		return s.fault(hal.BusFault, err)
	}
	if want.Count < leastBuffers || want.Count > mostBuffers {
		return s.fault(hal.BusFault, fmt.Errorf("buffers: got %d, want %d..%d", want.Count, leastBuffers, mostBuffers))
	}
	for i := range want.Count {
		b := Buffer{Index: i, Kind: Capture, Memory: MappedMem}
		if err := s.do(QueryBuf, &b); err != nil {
			return s.fault(hal.BusFault, err)
		}
		if b.Length == 0 || b.Length > mostFrame {
			return s.fault(hal.BusFault, fmt.Errorf("buffer %d: got %d bytes, want 1..%d", i, b.Length, mostFrame))
		}
		m, err := s.node.Map(b.Offset, int(b.Length))
		if err != nil {
			return s.fault(hal.BusFault, fmt.Errorf("mmap: %w", err))
		}
		s.memory = append(s.memory, m)
		if err := s.give(i); err != nil {
			return err
		}
	}
	if err := s.do(StreamOn, &Number{Capture}); err != nil {
		return s.fault(hal.BusFault, err)
	}
	s.running = true
	return nil
}

// give hands buffer i back to the driver.
func (s *stream) give(i uint32) error {
	b := Buffer{Index: i, Kind: Capture, Memory: MappedMem}
	if err := s.do(QueueBuf, &b); err != nil {
		return s.fault(hal.BusFault, err)
	}
	return nil
}

// next waits for a frame, for patience at most, and takes the newest: those before it go back unseen. The frame is the
// buffer's number, which is to be given back. false: there is none yet.
func (s *stream) next(patience time.Duration) (newest Buffer, ok bool, err error) {
	if err := s.node.Wait(patience); errors.Is(err, os.ErrDeadlineExceeded) {
		return newest, false, nil
	} else if err != nil {
		return newest, false, s.fault(hal.BusFault, fmt.Errorf("poll: %w", err))
	}
	for range mostBuffers {
		b := Buffer{Kind: Capture, Memory: MappedMem}
		if err := s.do(DequeueBuf, &b); errors.Is(err, syscall.EAGAIN) {
			break
		} else if err != nil {
			return newest, false, s.fault(hal.BusFault, err)
		}
		if int(b.Index) >= len(s.memory) {
			return newest, false, s.fault(hal.BusFault, fmt.Errorf("DQBUF: got buffer %d, want below %d", b.Index, len(s.memory)))
		}
		if s.counted && b.Sequence-s.sequence < 1<<31 {
			s.lost += uint64(max(1, b.Sequence-s.sequence)) - 1
		}
		s.counted, s.sequence = true, b.Sequence
		if ok {
			if err := s.give(newest.Index); err != nil {
				return newest, false, err
			}
		}
		newest, ok = b, true
	}
	return newest, ok, nil
}

// frame is what a buffer holds.
func (s *stream) frame(b *Buffer) ([]byte, error) {
	m := s.memory[b.Index]
	switch {
	case b.Flags&FrameDamaged != 0:
		return nil, errors.New("the kernel says that it is damaged")
	case b.Used == 0 || int64(b.Used) > int64(len(m)):
		return nil, fmt.Errorf("got %d bytes in a buffer of %d", b.Used, len(m))
	}
	return m[:b.Used], nil
}

// close ends the session and gives all back, of a device that is gone too.
func (s *stream) close() error {
	var faults []error
	if s.running {
		faults = append(faults, s.do(StreamOff, &Number{Capture}))
	}
	for _, m := range s.memory {
		faults = append(faults, s.node.Unmap(m))
	}
	s.memory, s.running = nil, false
	// Of a device that was pulled out nothing of this can succeed.
	if err := errors.Join(faults...); err != nil && !errors.Is(err, syscall.ENODEV) {
		return errors.Join(s.fault(hal.BusFault, err), s.node.Close())
	}
	return s.node.Close()
}

package camera

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/wire/v4l2"
)

const (
	buffers    = 4       // that are asked for: one is decoded, one is being filled
	minBuffers = 2       // that will do
	maxBuffers = 32      // V4L2's own bound
	maxFrame   = 1 << 26 // bytes; three of 4096 squared fit
)

// stream is one session with a device. One goroutine uses it.
type stream struct {
	config  *Config
	node    Node
	shape   Shape
	period  time.Duration // of frames, as reported by the driver; 0 = not reported
	numbers [v4l2.NumOps]uint32
	scratch []byte
	memory  [][]byte // one a buffer
	running bool

	counted  bool // sequence is of a frame
	sequence uint32
	lost     uint64 // captured frames that were not received, by their sequence numbers
}

// openStream opens the device and sets the config's format, size and rate. It does not capture yet.
func openStream(c *Config) (*stream, error) {
	node, err := c.Node()
	if err != nil {
		return nil, err
	}
	s := &stream{config: c, node: node}
	for op := range v4l2.NumOps {
		s.numbers[op] = c.ABI.Number(op)
	}
	if err := s.agree(); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

// do is one ioctl.
func (s *stream) do(op v4l2.Op, x v4l2.Argument) error {
	a := s.config.ABI
	s.scratch = a.Append(s.scratch[:0], x)
	if err := s.node.Ioctl(s.numbers[op], s.scratch); err != nil {
		return fmt.Errorf("%v: %w", op, err)
	}
	return a.Parse(s.scratch, x)
}

// fault names the camera in err; a system error decides the kind.
func (s *stream) fault(kind hal.Kind, err error) error { return s.config.fault(kind, err) }

func (c *Config) fault(kind hal.Kind, err error) error {
	e := &hal.Error{Kind: kind, Bus: c.Port, Op: "camera " + c.Name, Err: err, Try: "halyard doctor"}
	switch {
	case errors.Is(err, syscall.ENODEV), errors.Is(err, syscall.ENXIO), errors.Is(err, io.EOF):
		e.Kind, e.Err, e.Try = hal.Absent, errors.New("it is gone"), "ls -l /dev/v4l/by-id"
	case errors.Is(err, syscall.EBUSY):
		e.Kind, e.Err, e.Try = hal.Busy, errors.New("another program has it"), "fuser -v "+cmp.Or(c.Port, "/dev/video*")
	}
	return e
}

// start maps the buffers, hands them to the driver and lets frames come.
func (s *stream) start() error {
	want := v4l2.Buffers{Count: buffers, Kind: v4l2.Capture, Memory: v4l2.MappedMem}
	if err := s.do(v4l2.ReqBufs, &want); err != nil {
		return s.fault(hal.BusFault, err)
	}
	if want.Count < minBuffers || want.Count > maxBuffers {
		return s.fault(hal.BusFault, fmt.Errorf("buffers: got %d, want %d..%d", want.Count, minBuffers, maxBuffers))
	}
	for i := range want.Count {
		b := v4l2.Buffer{Index: i, Kind: v4l2.Capture, Memory: v4l2.MappedMem}
		if err := s.do(v4l2.QueryBuf, &b); err != nil {
			return s.fault(hal.BusFault, err)
		}
		if b.Length == 0 || b.Length > maxFrame {
			return s.fault(hal.BusFault, fmt.Errorf("buffer %d: got %d bytes, want 1..%d", i, b.Length, maxFrame))
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
	if err := s.do(v4l2.StreamOn, &v4l2.Number{Value: v4l2.Capture}); err != nil {
		return s.fault(hal.BusFault, err)
	}
	s.running = true
	return nil
}

// give hands buffer i back to the driver.
func (s *stream) give(i uint32) error {
	b := v4l2.Buffer{Index: i, Kind: v4l2.Capture, Memory: v4l2.MappedMem}
	if err := s.do(v4l2.QueueBuf, &b); err != nil {
		return s.fault(hal.BusFault, err)
	}
	return nil
}

// next waits for a frame, for at most timeout, and takes the newest: older ones are returned to the driver unread. The
// frame is the number of a buffer, which the caller must give back. ok is false if there was no frame.
func (s *stream) next(timeout time.Duration) (newest v4l2.Buffer, ok bool, err error) {
	if err := s.node.Wait(timeout); errors.Is(err, os.ErrDeadlineExceeded) {
		return newest, false, nil
	} else if err != nil {
		return newest, false, s.fault(hal.BusFault, fmt.Errorf("poll: %w", err))
	}
	for range maxBuffers {
		b := v4l2.Buffer{Kind: v4l2.Capture, Memory: v4l2.MappedMem}
		if err := s.do(v4l2.DequeueBuf, &b); errors.Is(err, syscall.EAGAIN) {
			break
		} else if err != nil {
			return newest, false, s.fault(hal.BusFault, err)
		}
		if int(b.Index) >= len(s.memory) {
			return newest, false, s.fault(hal.BusFault,
				fmt.Errorf("DQBUF: got buffer %d, want below %d", b.Index, len(s.memory)))
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

// frame is the contents of a buffer.
func (s *stream) frame(b *v4l2.Buffer) ([]byte, error) {
	m := s.memory[b.Index]
	switch {
	case b.Flags&v4l2.FrameDamaged != 0:
		return nil, errors.New("the kernel marks the frame as damaged")
	case b.Used == 0 || int64(b.Used) > int64(len(m)):
		return nil, fmt.Errorf("got %d bytes in a buffer of %d", b.Used, len(m))
	}
	return m[:b.Used], nil
}

// close ends the session and gives all back, of a device that is gone too.
func (s *stream) close() error {
	var faults []error
	if s.running {
		faults = append(faults, s.do(v4l2.StreamOff, &v4l2.Number{Value: v4l2.Capture}))
	}
	for _, m := range s.memory {
		faults = append(faults, s.node.Unmap(m))
	}
	s.memory, s.running = nil, false
	// With a disconnected device all of this fails.
	if err := errors.Join(faults...); err != nil && !errors.Is(err, syscall.ENODEV) {
		return errors.Join(s.fault(hal.BusFault, err), s.node.Close())
	}
	return s.node.Close()
}

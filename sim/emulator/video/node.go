package video

import (
	"context"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/halyard-robotics/halyard/internal/wire/v4l2"
	"github.com/halyard-robotics/halyard/sim/emulator/wire"
)

// node is one opening of a device: a camera.Node.
type node struct {
	device *Camera
	plug   int
	closed bool

	memory    [][]byte // one a buffer; the device writes into those that are queued
	queued    []uint32
	full      []v4l2.Buffer // in the order in which they were filled
	sequence  uint32
	streaming bool
	stop      context.CancelFunc // the feeder's
	feeding   sync.WaitGroup
}

const (
	maxBuffers = 8    // buffers of one node
	pageSize   = 4096 // of mmap's offsets
)

// there returns the error of a closed or lost node. Under the lock.
func (n *node) there() error {
	switch {
	case n.closed:
		return syscall.EBADF
	case n.device.Gone(n.plug):
		return syscall.ENODEV
	}
	return nil
}

func (n *node) Ioctl(number uint32, argument []byte) error {
	v := n.device
	op, known := v.config.ABI.Find(number)
	if !known {
		return syscall.ENOTTY
	}
	v.Lock()
	err := n.there()
	var answer v4l2.Argument
	if err == nil {
		answer, err = n.execute(op, argument)
	}
	v.Unlock()
	if err != nil {
		return err
	}
	copy(argument, v.config.ABI.Append(nil, answer))
	if op == v4l2.StreamOff {
		n.feeding.Wait()
	}
	return nil
}

// execute executes an ioctl and returns its result. Under the lock.
func (n *node) execute(op v4l2.Op, p []byte) (v4l2.Argument, error) {
	v, abi := n.device, n.device.config.ABI
	busy := func() bool { return v.at(wire.Busy) || v.owner != nil && v.owner != n }
	switch op {
	case v4l2.QueryCap:
		caps := uint32(v4l2.CanCapture | v4l2.CanStream)
		return &v4l2.Capability{Driver: "emulated", Card: v.config.Name, Bus: "memory", Version: 6 << 16,
			Capabilities: caps | v4l2.HasDeviceCaps | v4l2.CanMeta, DeviceCaps: caps}, nil
	case v4l2.EnumFmt:
		var x v4l2.FormatInfo
		if err := abi.Parse(p, &x); err != nil || x.Kind != v4l2.Capture || int(x.Index) >= len(v.config.Pixels) {
			return nil, syscall.EINVAL
		}
		x.Pixel = v.config.Pixels[x.Index]
		x.Description = x.Pixel.String()
		return &x, nil
	case v4l2.EnumSizes:
		var x v4l2.FrameSize
		if err := abi.Parse(p, &x); err != nil || !slices.Contains(v.config.Pixels, x.Pixel) ||
			int(x.Index) >= len(v.config.Sizes) {
			return nil, syscall.EINVAL
		}
		size := v.config.Sizes[x.Index]
		x.Kind, x.Sizes = v4l2.SizeDiscrete, [6]uint32{uint32(size[0]), uint32(size[1])}
		return &x, nil
	case v4l2.GetFmt:
		return &v.format, nil
	case v4l2.SetFmt:
		var x v4l2.Format
		if err := abi.Parse(p, &x); err != nil || x.Kind != v4l2.Capture {
			return nil, syscall.EINVAL
		}
		if busy() || n.memory != nil {
			return nil, syscall.EBUSY
		}
		v.format = v.nearest(x)
		return &v.format, nil
	case v4l2.SetParm:
		var x v4l2.Rate
		if err := abi.Parse(p, &x); err != nil || x.Kind != v4l2.Capture {
			return nil, syscall.EINVAL
		}
		if busy() || n.streaming {
			return nil, syscall.EBUSY
		}
		if x.Numerator > 0 && x.Denominator > 0 && x.Denominator/x.Numerator <= 120 {
			v.rate = x
		}
		return &v.rate, nil
	case v4l2.ReqBufs:
		var x v4l2.Buffers
		if err := abi.Parse(p, &x); err != nil || x.Kind != v4l2.Capture || x.Memory != v4l2.MappedMem {
			return nil, syscall.EINVAL
		}
		if busy() {
			return nil, syscall.EBUSY
		}
		return n.allot(x), nil
	case v4l2.StreamOn, v4l2.StreamOff:
		var x v4l2.Number
		if err := abi.Parse(p, &x); err != nil || x.Value != v4l2.Capture || op == v4l2.StreamOn && n.memory == nil {
			return nil, syscall.EINVAL
		}
		n.stream(op == v4l2.StreamOn)
		return &x, nil
	}
	var x v4l2.Buffer
	if err := abi.Parse(p, &x); err != nil || x.Kind != v4l2.Capture || x.Memory != v4l2.MappedMem {
		return nil, syscall.EINVAL
	}
	return n.buffer(op, x)
}

// buffer executes an ioctl on one buffer. Under the lock.
func (n *node) buffer(op v4l2.Op, x v4l2.Buffer) (v4l2.Argument, error) {
	if op == v4l2.DequeueBuf {
		switch {
		case !n.streaming:
			return nil, syscall.EINVAL
		case len(n.full) == 0:
			return nil, syscall.EAGAIN
		}
		x = n.full[0]
		n.full = n.full[:copy(n.full, n.full[1:])]
		return &x, nil
	}
	if int(x.Index) >= len(n.memory) {
		return nil, syscall.EINVAL
	}
	x.Length, x.Offset = uint32(len(n.memory[x.Index])), x.Index*pageSize
	if op == v4l2.QueueBuf {
		if slices.Contains(n.queued, x.Index) {
			return nil, syscall.EINVAL
		}
		n.queued = append(n.queued, x.Index)
		n.device.wake()
	}
	return &x, nil
}

// allot makes buffers for frames of the format. Under the lock.
func (n *node) allot(x v4l2.Buffers) v4l2.Argument {
	v := n.device
	x.Count = min(x.Count, maxBuffers)
	n.memory, n.queued, n.full = nil, nil, nil
	v.owner = nil
	for range x.Count {
		n.memory = append(n.memory, make([]byte, v.format.Size))
		v.owner = n
	}
	return &x
}

// stream starts and stops the feeder. Under the lock.
func (n *node) stream(on bool) {
	if on == n.streaming {
		return
	}
	if n.streaming = on; on {
		ctx, cancel := context.WithCancel(context.Background())
		n.stop, n.sequence = cancel, 0
		n.feeding.Add(1)
		n.device.feeders++
		go n.feed(ctx)
		return
	}
	n.stop()
	n.queued, n.full = n.queued[:0], n.full[:0]
}

func (n *node) Map(offset uint32, length int) ([]byte, error) {
	n.device.Lock()
	defer n.device.Unlock()
	i := int(offset / pageSize)
	if offset%pageSize != 0 || i >= len(n.memory) || length != len(n.memory[i]) {
		return nil, syscall.EINVAL
	}
	return n.memory[i], nil
}

func (n *node) Unmap([]byte) error { return nil }

// Wait is camera.Node's. It also ends at every step of the device's clock, so a caller that waits in virtual time must
// check that clock.
func (n *node) Wait(timeout time.Duration) error {
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	v := n.device
	v.Lock()
	defer v.Unlock()
	v.met = true
	for tick := v.ticks; ; {
		if err := n.there(); err != nil || len(n.full) > 0 {
			return err
		}
		if v.ticks != tick {
			return os.ErrDeadlineExceeded
		}
		changed := v.wait()
		v.idle++
		v.rest.Broadcast()
		v.Unlock()
		select {
		case <-changed:
			v.Lock()
		case <-timer.C:
			v.Lock()
			if v.changed == changed { // else it counts as awake already
				v.idle--
			}
			return os.ErrDeadlineExceeded
		}
	}
}

// Now is the device's clock.
func (n *node) Now() time.Duration {
	n.device.Lock()
	defer n.device.Unlock()
	return n.device.Time()
}

func (n *node) Close() error {
	v := n.device
	v.Lock()
	if n.streaming {
		n.stream(false)
	}
	if v.owner == n {
		v.owner = nil
	}
	n.closed = true
	v.wake()
	v.Unlock()
	n.feeding.Wait()
	return nil
}

// nearest is the format that the device selects for a requested one. Under the lock.
func (v *Camera) nearest(x v4l2.Format) v4l2.Format {
	if !slices.Contains(v.config.Pixels, x.Pixel) {
		x.Pixel = v.config.Pixels[0]
	}
	best := [2]int{int(x.Width), int(x.Height)}
	if !slices.Contains(v.config.Sizes, best) {
		best = v.config.Sizes[0]
	}
	if v.at(wire.Wrong) {
		best = [2]int{best[0] / 4 * 2, best[1] / 2}
	}
	x.Width, x.Height, x.Field, x.Stride = uint32(best[0]), uint32(best[1]), v4l2.Progressive, 0
	switch pixels := x.Width * x.Height; x.Pixel {
	case v4l2.YUYV:
		x.Stride, x.Size = 2*x.Width, 2*pixels
	case v4l2.RGB3:
		x.Stride, x.Size = 3*x.Width, 3*pixels
	case v4l2.GREY:
		x.Stride, x.Size = x.Width, pixels
	default:
		x.Size = 2*pixels + 4096 // more than any JPEG of it
	}
	return x
}

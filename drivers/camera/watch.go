package camera

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/halyard-robotics/halyard/hal"
)

// plate is a picture with a count of its holders.
type plate struct {
	hal.Picture
	frame uint64 // the number of its frame
	holds int
}

// keep bounds the plates that lie ready; those beyond go to the garbage collector.
const keep = 4

// plate returns one to decode into, held once. Under the lock.
func (c *Camera) plate() *plate {
	if n := len(c.free); n > 0 {
		p := c.free[n-1]
		c.free = c.free[:n-1]
		p.holds = 1
		return p
	}
	w, h := c.config.Width, c.config.Height
	p := &plate{Picture: hal.Picture{Width: w, Height: h, RGB: make([]byte, 3*w*h)}, holds: 1}
	p.Free = func(*hal.Picture) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.drop(p)
	}
	return p
}

// publish makes p, of a frame with a number, the newest picture. Under the lock.
func (c *Camera) publish(p *plate, frame uint64, at time.Duration) {
	if c.newest != nil {
		c.drop(c.newest)
	}
	c.sequence++
	p.Sequence, p.Time, p.frame = c.sequence, at, frame
	c.newest, c.asked = p, false
	c.lost, c.refuse = nil, nil
	c.notify()
}

// drop releases one hold on a plate; without holds it can be used again. Under the lock.
func (c *Camera) drop(p *plate) {
	if p.holds--; p.holds == 0 && len(c.free) < keep {
		c.free = append(c.free, p)
	}
}

// viewer is one hal.ImageStream.
type viewer struct {
	camera *Camera
	closed bool
}

var _ hal.CameraSource = (*Camera)(nil)

// Watch opens a stream of pictures of the camera, which must be 0. The device may be missing at the moment: Next
// reports it.
func (c *Camera) Watch(camera int) (hal.ImageStream, error) {
	if camera != 0 {
		return nil, c.config.fault(hal.Invalid, fmt.Errorf("got camera %d, want 0", camera))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, c.gone()
	}
	// An error from before the first viewer does not count: the device may be back by now.
	if c.viewers++; c.viewers == 1 {
		c.refuse = nil
		c.frame++
	}
	select {
	case c.wake <- struct{}{}:
	default:
	}
	return &viewer{camera: c}, nil
}

func (c *Camera) gone() error { return c.config.fault(hal.Absent, errors.New("it is closed")) }

// Next is that of hal.ImageStream: the picture shows the newest frame at the time of the call, or a newer one. While
// the camera is lost it fails with the reason, at once but for the first time. With a context that is done it looks,
// and does not wait.
func (v *viewer) Next(ctx context.Context, after uint64) (*hal.Picture, error) {
	c := v.camera
	// A frame may arrive while the previous picture is being returned: the newest at the time of the call counts.
	for first, since := true, uint64(0); ; first = false {
		c.mu.Lock()
		if first {
			since = c.frame
		}
		changed := c.changed
		switch {
		case c.closed || v.closed:
			c.mu.Unlock()
			return nil, c.gone()
		case c.refuse != nil:
			err := c.refuse
			c.asked = true // until the next picture
			c.mu.Unlock()
			return nil, err
		case c.newest != nil && c.newest.frame >= since && c.newest.Sequence > after:
			p := c.newest
			p.holds++
			c.mu.Unlock()
			return &p.Picture, nil
		}
		c.asked = true
		c.mu.Unlock()
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		select {
		case <-changed:
		case <-ctx.Done():
		}
	}
}

// Close ends the watch and a Next that waits in it.
func (v *viewer) Close() {
	c := v.camera
	c.mu.Lock()
	defer c.mu.Unlock()
	if v.closed {
		return
	}
	v.closed = true
	if c.viewers--; c.viewers == 0 {
		c.asked = false
	}
	c.notify()
}

// Node is an open video device: the kernel's, or an emulated one. One goroutine at a time uses it. Its errors are the
// system's: syscall.EINVAL, EBUSY, ENODEV.
type Node interface {
	// Ioctl passes an argument in the form of ABI's Append, and takes it back in place. It does not wait for frames.
	Ioctl(number uint32, argument []byte) error
	// Map maps the memory of a buffer. Unmap releases it.
	Map(offset uint32, length int) ([]byte, error)
	Unmap(memory []byte) error
	// Wait blocks until there is a frame to take, for so long of the wall's time at most: os.ErrDeadlineExceeded then.
	Wait(timeout time.Duration) error
	// Now is the clock that frames are stamped by: CLOCK_MONOTONIC, or an emulated device's own.
	Now() time.Duration
	Close() error
}

// Opener opens a camera's device by its stable name, again after it was lost. Its error is of kind hal.Absent or
// hal.Busy while it is not to be had.
type Opener func() (Node, error)

// Reopener returns the Opener of the video device at path, which is followed again each time; see OpenNode.
func Reopener(path string) Opener { return func() (Node, error) { return OpenNode(path) } }

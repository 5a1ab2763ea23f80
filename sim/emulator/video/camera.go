package video

import (
	"cmp"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/halyard-robotics/halyard/drivers/camera"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/wire/v4l2"
	"github.com/halyard-robotics/halyard/sim/emulator/wire"
)

// Config describes a device.
type Config struct {
	Name   string // its card's
	Source hal.CameraSource
	Camera int // of the Source
	Sizes  [][2]int
	Pixels []v4l2.Pixel // that it offers: MJPG, YUYV, RGB3, GREY
	Rate   float64      // default frames a second, if the driver does not set another; 0 = 30
	Seed   int64        // of the faults' dice
	ABI    v4l2.ABI     // 0 = camera.Native
	// Bare frames lack their Huffman tables, as those of most USB cameras do.
	Bare bool
	// Steady makes Advance wait until the driver is idle, once a driver has waited for a frame. Events in virtual time
	// are then the same on every run. The Source must answer at once.
	Steady bool
}

// Camera is an emulated device. It is a hal.World; all methods may be called from any goroutine.
type Camera struct {
	config Config

	wire.Medium
	format  v4l2.Format
	rate    v4l2.Rate
	owner   *node         // the node with the buffers
	changed chan struct{} // closed when a node or a feeder may go on; nil while none waits
	opened  int
	frames  uint64

	// Which goroutines are idle: they have handled everything and wait for a change.
	rest    *sync.Cond
	ticks   uint64 // of the clock
	idle    int    // drivers that wait for a frame
	feeders int    // that there are
	fed     int    // of them, that wait to be due
	pauses  []pause
	called  bool // a pause is over, and its driver has not come yet
	met     bool // a driver has waited
}

// pause is a pending After.
type pause struct {
	until time.Duration
	over  chan time.Time
}

// New returns a device that is plugged in.
func New(c Config) (*Camera, error) {
	c.ABI = cmp.Or(c.ABI, v4l2.Native)
	c.Rate = cmp.Or(c.Rate, 30)
	if c.Source == nil || len(c.Sizes) == 0 || len(c.Pixels) == 0 {
		return nil, &hal.Error{Kind: hal.Invalid, Op: "video " + c.Name,
			Err: fmt.Errorf("got %d sizes and %d formats, want a source, a size and a format", len(c.Sizes),
				len(c.Pixels))}
	}
	v := &Camera{config: c}
	mu := new(sync.Mutex)
	v.Medium, v.rest = wire.NewMedium(c.Name, c.Seed, 0x71DE0, mu, v.notice), sync.NewCond(mu)
	v.reset()
	return v, nil
}

// reset sets the state of a device that has just been plugged in. Under the lock.
func (v *Camera) reset() {
	c := &v.config
	v.format = v4l2.Format{Kind: v4l2.Capture, Width: uint32(c.Sizes[0][0]), Height: uint32(c.Sizes[0][1]),
		Pixel: c.Pixels[0]}
	v.rate = v4l2.Rate{Kind: v4l2.Capture, Numerator: 1000, Denominator: uint32(1000 * c.Rate)}
}

// Advance lets dt pass.
func (v *Camera) Advance(dt time.Duration) error {
	v.Lock()
	defer v.Unlock()
	v.ticks++
	v.Step(dt)
	for len(v.pauses) > 0 && v.pauses[0].until <= v.Time() {
		v.pauses[0].over <- time.Time{} // there is room
		v.pauses, v.called = v.pauses[1:], true
	}
	if v.wake(); v.config.Steady && v.met {
		v.waitSettled()
	}
	return nil
}

// After is time.After by the device's clock; it is a camera.Config's. Pauses are taken to be of one length.
func (v *Camera) After(d time.Duration) <-chan time.Time {
	v.Lock()
	defer v.Unlock()
	over := make(chan time.Time, 1)
	v.pauses, v.called = append(v.pauses, pause{v.Time() + d, over}), false
	v.rest.Broadcast()
	return over
}

// WaitSettled waits until the driver is idle.
func (v *Camera) WaitSettled() {
	v.Lock()
	defer v.Unlock()
	v.waitSettled()
}

// waitSettled waits until the driver waits for a frame, or for a pause to be over, and the feeder for its time. Under
// the lock.
func (v *Camera) waitSettled() {
	for v.called || v.idle+len(v.pauses) == 0 || v.fed < v.feeders {
		v.rest.Wait()
	}
}

// wake wakes all waiting goroutines; without any it costs nothing. wait is the channel to wait for. Under the lock.
func (v *Camera) wake() {
	if v.idle, v.fed = 0, 0; v.changed != nil {
		close(v.changed)
		v.changed = nil
	}
}

func (v *Camera) wait() <-chan struct{} {
	if v.changed == nil {
		v.changed = make(chan struct{})
	}
	return v.changed
}

// Opened is how often the device has been opened, and Frames how many it has made.
func (v *Camera) Opened() int {
	v.Lock()
	defer v.Unlock()
	return v.opened
}

func (v *Camera) Frames() uint64 {
	v.Lock()
	defer v.Unlock()
	return v.frames
}

// Open opens the device as camera.OpenNode does; it is a camera.Opener.
func (v *Camera) Open() (camera.Node, error) {
	v.Lock()
	defer v.Unlock()
	v.called = false
	switch {
	case v.IsGone():
		return nil, &hal.Error{Kind: hal.Absent, Bus: v.config.Name, Op: "open", Err: errors.New("no such device"),
			Try: "halyard doctor"}
	case v.at(wire.Denied):
		return nil, &hal.Error{Kind: hal.Busy, Bus: v.config.Name, Op: "open",
			Err: errors.New("permission denied: you are not in group video"),
			Try: "sudo usermod -aG video $USER, then log in again"}
	}
	v.opened++
	plug, _ := v.Plugged()
	return &node{device: v, plug: plug}, nil
}

// ClearFaults ends all faults.
func (v *Camera) ClearFaults() {
	v.Medium.ClearFaults()
	v.Lock()
	defer v.Unlock()
	v.wake()
}

// notice clears the settings of an unplugged camera. Under the lock.
func (v *Camera) notice(time.Duration) {
	if v.IsGone() {
		v.owner = nil
		v.reset()
	}
	v.wake()
}

// at reports whether a fault is at work. Under the lock.
func (v *Camera) at(k wire.Kind) bool { return v.Find(k, wire.All, v.Time()) != nil }

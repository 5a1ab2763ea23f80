package video

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/halyard-robotics/halyard/drivers/camera"
	"github.com/halyard-robotics/halyard/hal"
)

// Config is what a device is.
type Config struct {
	Name   string // its card's
	Source hal.CameraSource
	Camera int // of the Source
	Sizes  [][2]int
	Pixels []camera.Pixel // that it offers: MJPG, YUYV, RGB3, GREY
	Rate   float64        // frames a second where nobody asks for another; 0 = 30
	Seed   int64          // of the faults' dice
	ABI    camera.ABI     // 0 = camera.Native
	// Bare frames lack their Huffman tables, as those of most USB cameras do.
	Bare bool
	// Steady lets Advance wait until the driver has come to rest, once one has waited for a frame: what happens in virtual
	// time is then the same on every run. The Source must answer at once.
	Steady bool
}

// Camera is an emulated device. It is a hal.World; all methods may be called from any goroutine.
type Camera struct {
	config Config

	mu      sync.Mutex
	clock   time.Duration
	format  camera.Format
	rate    camera.Rate
	owner   *node // whose buffers there are
	plug    int   // counts losses: what was opened before one is gone
	dice    *rand.Rand
	faults  []planted
	changed chan struct{} // closed when a node or a feeder may go on; nil while none waits
	opened  int
	frames  uint64

	// Who is at rest: has looked at all that there is, and waits for it to change.
	rest    *sync.Cond
	ticks   uint64 // of the clock
	idle    int    // drivers that wait for a frame
	feeders int    // that there are
	fed     int    // of them, that wait to be due
	pauses  []pause
	called  bool // a pause is over, and its driver has not come yet
	met     bool // a driver has waited
}

// pause is somebody who waits for a time.
type pause struct {
	until time.Duration
	over  chan time.Time
}

// New returns a device that is plugged in.
func New(c Config) (*Camera, error) {
	if c.ABI == 0 {
		c.ABI = camera.Native
	}
	if c.Rate == 0 {
		c.Rate = 30
	}
	if c.Source == nil || len(c.Sizes) == 0 || len(c.Pixels) == 0 {
		return nil, &hal.Error{Kind: hal.Invalid, Op: "video " + c.Name, Err: fmt.Errorf("got %d sizes and %d formats, want a source, a size and a format", len(c.Sizes), len(c.Pixels))}
	}
	v := &Camera{config: c, dice: rand.New(rand.NewPCG(uint64(c.Seed), 0x71DE0))}
	v.rest = sync.NewCond(&v.mu)
	v.reset()
	return v, nil
}

// reset makes it what it is when it has just been plugged in. Under the lock.
func (v *Camera) reset() {
	c := &v.config
	v.format = camera.Format{Kind: camera.Capture, Width: uint32(c.Sizes[0][0]), Height: uint32(c.Sizes[0][1]), Pixel: c.Pixels[0]}
	v.rate = camera.Rate{Kind: camera.Capture, Numerator: 1000, Denominator: uint32(1000 * c.Rate)}
}

// Advance lets dt pass.
func (v *Camera) Advance(dt time.Duration) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.clock += dt
	v.ticks++
	v.suffer()
	for len(v.pauses) > 0 && v.pauses[0].until <= v.clock {
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
	v.mu.Lock()
	defer v.mu.Unlock()
	over := make(chan time.Time, 1)
	v.pauses, v.called = append(v.pauses, pause{v.clock + d, over}), false
	v.rest.Broadcast()
	return over
}

// WaitSettled waits until a driver, who is watched, has come to rest.
func (v *Camera) WaitSettled() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.waitSettled()
}

// waitSettled waits until the driver waits for a frame, or for a pause to be over, and the feeder for its time. Under the lock.
func (v *Camera) waitSettled() {
	for v.called || v.idle+len(v.pauses) == 0 || v.fed < v.feeders {
		v.rest.Wait()
	}
}

// wake lets all who wait look again, and costs nothing where none does. wait is what is waited for. Under the lock.
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
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.opened
}

func (v *Camera) Frames() uint64 {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.frames
}

// Open opens the device as camera.OpenNode does; it is a camera.Opener.
func (v *Camera) Open() (camera.Node, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.called = false
	switch {
	case v.at(Unplug):
		return nil, &hal.Error{Kind: hal.Absent, Bus: v.config.Name, Op: "open", Err: errors.New("no such device"), Try: "halyard doctor"}
	case v.at(Denied):
		return nil, &hal.Error{Kind: hal.Busy, Bus: v.config.Name, Op: "open", Err: errors.New("permission denied: you are not in group video"),
			Try: "sudo usermod -aG video $USER, then log in again"}
	}
	v.opened++
	return &node{device: v, plug: v.plug}, nil
}

// FaultKind is what goes wrong with a camera.
type FaultKind uint8

// The kinds of fault.
const (
	Unplug    FaultKind = iota // it is gone
	Denied                     // it may not be opened
	Busy                       // another program streams from it
	Frozen                     // no frames come
	Truncated                  // the end of a frame is missing
	Damaged                    // a part of it is missing, and the kernel says so
	Garbage                    // a frame is random
	Lost                       // a frame is missing; its number tells
	Resized                    // frames come in another size than was agreed on
	Obstinate                  // S_FMT answers with another size than was asked for
	Late                       // a frame comes later than it was taken, by Delay
	NumFaults
)

func (k FaultKind) String() string {
	if k < NumFaults {
		return [NumFaults]string{"unplug", "denied", "busy", "frozen", "truncated", "damaged", "garbage", "lost", "resized",
			"obstinate", "late"}[k]
	}
	return fmt.Sprintf("fault(%d)", uint8(k))
}

// Fault is one thing that goes wrong for a while, in the device's time.
type Fault struct {
	Kind FaultKind
	P    float64       // how likely it strikes a frame; 0 = always
	For  time.Duration // from now on; 0 = for good
	// Delay is Late's.
	Delay time.Duration
}

type planted struct {
	Fault
	until time.Duration // 0 = for good
}

// Fault plants f, whose time begins now.
func (v *Camera) Fault(f Fault) {
	v.mu.Lock()
	defer v.mu.Unlock()
	p := planted{Fault: f}
	if f.For > 0 {
		p.until = v.clock + f.For
	}
	v.faults = append(v.faults, p)
	v.suffer()
	v.wake()
}

// ClearFaults ends all faults.
func (v *Camera) ClearFaults() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.faults = nil
	v.wake()
}

// suffer pulls the plug where a fault says so; without power it forgets what it was set to. Under the lock.
func (v *Camera) suffer() {
	if v.at(Unplug) {
		v.owner = nil
		v.plug++
		v.reset()
	}
}

// at reports whether a fault is at work, and strikes throws its dice. Under the lock.
func (v *Camera) at(kind FaultKind) bool { return v.find(kind) != nil }

func (v *Camera) faultOccurs(kind FaultKind) bool {
	p := v.find(kind)
	return p != nil && (p.P == 0 || v.dice.Float64() < p.P)
}

func (v *Camera) find(kind FaultKind) *planted {
	for i := range v.faults {
		if p := &v.faults[i]; p.Kind == kind && (p.until == 0 || v.clock < p.until) {
			return p
		}
	}
	return nil
}

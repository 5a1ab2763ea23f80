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
	Source hal.Watcher
	Camera int // of the Source
	Sizes  [][2]int
	Pixels []camera.Pixel // that it offers: MJPG, YUYV, RGB3, GREY
	Rate   float64        // frames a second where nobody asks for another; 0 = 30
	Seed   int64          // of the faults' dice
	ABI    camera.ABI     // 0 = camera.Native
	// Bare frames lack their Huffman tables, as those of most USB cameras do.
	Bare bool
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
	v.format = camera.Format{Kind: camera.Capture, Width: uint32(c.Sizes[0][0]), Height: uint32(c.Sizes[0][1]), Pixel: c.Pixels[0]}
	v.rate = camera.Rate{Kind: camera.Capture, Numerator: 1000, Denominator: uint32(1000 * c.Rate)}
	return v, nil
}

// Advance lets dt pass.
func (v *Camera) Advance(dt time.Duration) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.clock += dt
	v.suffer()
	v.wake()
	return nil
}

// wake lets all who wait look again, and costs nothing where none does. wait is what is waited for. Under the lock.
func (v *Camera) wake() {
	if v.changed != nil {
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
	NumFaults
)

func (k FaultKind) String() string {
	if k < NumFaults {
		return [NumFaults]string{"unplug", "denied", "busy", "frozen", "truncated", "damaged", "garbage", "lost", "resized",
			"obstinate"}[k]
	}
	return fmt.Sprintf("fault(%d)", uint8(k))
}

// Fault is one thing that goes wrong for a while, in the device's time.
type Fault struct {
	Kind FaultKind
	P    float64       // how likely it strikes a frame; 0 = always
	For  time.Duration // from now on; 0 = for good
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

// suffer pulls the plug where a fault says so. Under the lock.
func (v *Camera) suffer() {
	if v.owner != nil && v.at(Unplug) {
		v.owner = nil
	}
	if v.at(Unplug) {
		v.plug++
	}
}

// at tells whether a fault is at work, and strikes throws its dice. Under the lock.
func (v *Camera) at(kind FaultKind) bool { return v.find(kind) != nil }

func (v *Camera) strikes(kind FaultKind) bool {
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

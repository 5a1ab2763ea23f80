// Package can implements servo.Line on a CAN interface of Linux: a raw socket (AF_CAN) that carries whole frames of 16
// bytes, and the state of the interface as the kernel reports it.
//
//	ip link set can0 up type can bitrate 1000000 restart-ms 100
//
// configures one; this package only opens sockets, which needs no root. Several programs can use one interface. The
// controller reports errors as frames on the same socket:
//
//	bus-off         the line is lost, as if unplugged; opening it again works when the controller is back (restart-ms)
//	interface down  likewise, and so is an adapter that was pulled out
//	all others      go up as frames, which chains count
//
// A line carries whole frames: servo.AppendCAN and ParseCAN write and read them, and the chains
// of servo vendors on CAN take the line as it is. One goroutine owns it. Read waits as long as it is told; errors are of kind
// hal.Absent (servo.ErrDisconnected) when the line is lost, os.ErrDeadlineExceeded when nothing came. Linux only; elsewhere Open
// refuses. Sources: Documentation/networking/can.rst, linux/can.h, linux/can/netlink.h.
//
// A frame that no node acknowledges stays in the controller. While its queue is full, writes are dropped: no node is there to
// reply.
package can

import (
	"fmt"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
)

// Line is also what every system answers; see the package comment.
var _ servo.Line = (*Line)(nil)

// MaxBitrate is the fastest classic CAN, bit/s.
const MaxBitrate = 1_000_000

// epoch is the zero of every line's clock, so that the clock goes on when a lost one is opened again.
var epoch = time.Now()

// Filter lets frames through whose id is ID in the bits of Mask. Extended is a bit of both, for ids of 29 bits.
type Filter = servo.CANFilter

// Extended marks an extended id in a Filter.
const Extended = servo.ExtendedCAN

// Reopener returns the servo.Opener of an interface; see Open.
func Reopener(name string, bitrate int, filters ...Filter) servo.Opener {
	return func() (servo.Line, error) {
		l, err := Open(name, bitrate, filters...)
		if err != nil {
			return nil, err // not a *Line that is nil inside an interface
		}
		return l, nil
	}
}

// State is what a controller may do, by its error counters (linux/can/netlink.h).
type State uint32

// The states.
const (
	Active State = iota
	Warning
	Passive
	BusOff
	Stopped
	Sleeping
	Unknown // a virtual interface has no controller
)

func (s State) String() string {
	if names := [...]string{"error-active", "error-warning", "error-passive", "bus-off", "stopped", "sleeping"}; int(s) < len(names) {
		return names[s]
	}
	return "unknown"
}

// Link is what the kernel says of an interface.
type Link struct {
	Name    string        // "can0"
	Up      bool          // it carries frames
	State   State         // of its controller
	Bitrate int           // bit/s, 0 where it has none
	Restart time.Duration // after which it comes back from bus-off; 0 = not by itself
}

// setUp is the command that sets an interface up.
func setUp(name string, bitrate int) string {
	return fmt.Sprintf("sudo ip link set %s up type can bitrate %d restart-ms 100", name, bitrate)
}

// fault builds the error of an interface.
func fault(kind hal.Kind, name, op string, err error, try string) *hal.Error {
	return &hal.Error{Kind: kind, Bus: name, Op: op, Err: err, Try: try}
}

// Check describes what keeps an interface from carrying frames at bitrate, nil where nothing does.
func (l *Link) Check(bitrate int) error {
	again := "sudo ip link set " + l.Name + " down; " + setUp(l.Name, bitrate)
	switch {
	case !l.Up:
		return fault(hal.Absent, l.Name, "open", fmt.Errorf("interface %s is down", l.Name), setUp(l.Name, bitrate))
	case l.State == BusOff:
		return fault(hal.Absent, l.Name, "open", fmt.Errorf("interface %s is bus-off: too many errors", l.Name), again)
	case l.Bitrate != 0 && l.Bitrate != bitrate:
		return fault(hal.Invalid, l.Name, "open", fmt.Errorf("bitrate: got %d, want %d", l.Bitrate, bitrate), again)
	}
	return nil
}

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
//	all others      are passed on as frames, which chains count
//
// A line carries whole frames: servo.AppendCAN and ParseCAN write and read them, and the chains of servo vendors on CAN
// use the line directly. One goroutine owns it. Read waits for at most its timeout. Errors are of kind hal.Absent
// (servo.ErrDisconnected) when the line is lost, os.ErrDeadlineExceeded on a timeout. Linux only; elsewhere Open
// returns an error. Sources: Documentation/networking/can.rst, linux/can.h, linux/can/netlink.h.
//
// A frame that no node acknowledges stays in the controller. While its queue is full, writes are dropped: no node is
// there to reply.
package can

import (
	"fmt"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
)

// Line is also what every system answers; see the package comment.
var _ servo.Line = (*Line)(nil)

// maxBitrate is the fastest classic CAN, bit/s.
const maxBitrate = 1_000_000

// epoch is the zero of every line's clock, so that the clock continues when a lost line is opened again.
var epoch = time.Now()

// Filter passes frames with an id equal to ID in the bits of Mask. servo.ExtendedCAN is a bit of both, for ids of 29
// bits.
type Filter = servo.CANFilter

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

// State is the error state of a controller (linux/can/netlink.h).
type State uint32

// The states.
const (
	active State = iota
	warning
	passive
	BusOff
	stopped
	sleeping
	unknown // a virtual interface has no controller
)

func (s State) String() string {
	if names := [...]string{"error-active", "error-warning", "error-passive", "bus-off", "stopped",
		"sleeping"}; int(s) < len(names) {
		return names[s]
	}
	return "unknown"
}

// Link is the kernel's state of an interface.
type Link struct {
	Name    string        // "can0"
	Up      bool          // it carries frames
	State   State         // of its controller
	Bitrate int           // bit/s, 0 = not set
	Restart time.Duration // time until the automatic restart after bus-off; 0 = none
}

// setUp is the command that sets an interface up.
func setUp(name string, bitrate int) string {
	return fmt.Sprintf("sudo ip link set %s up type can bitrate %d restart-ms 100", name, bitrate)
}

// fault builds the error of an interface.
func fault(kind hal.Kind, name, op string, err error, try string) *hal.Error {
	return &hal.Error{Kind: kind, Bus: name, Op: op, Err: err, Try: try}
}

// Check returns the reason why an interface cannot carry frames at bitrate, nil if it can.
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

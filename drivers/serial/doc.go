// Package serial implements servo.Line on a serial adapter or a pty, and lists the adapters of this machine.
//
// Two libraries can open the port: go.bug.st/serial ("bugst", the default) at any rate to 4.5 Mbaud, and
// github.com/tarm/goserial ("tarm") to 115200 baud, which has no timing guarantees. Neither exports its descriptor, so
// a Line holds a second, non-blocking one for the functions they lack:
//
//	flock, TIOCEXCL      one owner; a second opening is refused, for root too
//	TCGETS2              the actual rate set by the kernel
//	TIOCSSERIAL          FTDI's latency timer without being root
//	ppoll                waits of less than a millisecond that end in os.ErrDeadlineExceeded, not in (0, nil)
//	write                bounded in time: an adapter whose firmware hangs must not hang the robot
//
// Open returns a Line for one owner: a servo chain, or a driver of drivers/base, lidar, rfid or pwm. Those also take
// the opener that Reopener makes of a path, to find the adapter again after it was unplugged. One goroutine owns a
// line. Write does not wait until the bytes are sent; Read waits for at most its timeout. Open's errors are of kind
// hal.Absent, hal.Busy or hal.Invalid. Later ones are servo.ErrDisconnected when the adapter is lost,
// os.ErrDeadlineExceeded on a timeout. Linux only; elsewhere Open and List return an error.
//
// Opening a port raises DTR and RTS, as the kernel does for every program. Modem lines are otherwise not changed: a pty
// has no modem lines, and an RS-485 transmitter may be connected to them.
package serial

import (
	"path/filepath"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
)

// The openers.
const (
	Bugst = "bugst" // go.bug.st/serial
	Tarm  = "tarm"  // github.com/tarm/goserial, TarmBaud at most
)

const (
	MaxBaud  = 4_500_000 // the fastest servo bus
	TarmBaud = 115_200   // above it goserial fails with cgo and is untested without
)

// tarmRates are goserial's rates with cgo and without. To any other it answers, without cgo, nil and no error.
var tarmRates = [...]int{2400, 4800, 9600, 19200, 38400, 57600, TarmBaud}

// Line is also what every system answers; see the package comment.
var _ servo.Line = (*Line)(nil)

// epoch is the zero of every line's clock, so that the clock continues when a lost adapter is opened again.
var epoch = time.Now()

// Reopener returns the servo.Opener of path; see Named.
func Reopener(path string, baud int, opener string) servo.Opener {
	return Named("/", path, func(name, node string) (servo.Line, error) {
		l, err := openAt(name, node, baud, opener)
		if err != nil {
			return nil, err // not a *Line that is nil inside an interface
		}
		return l, nil
	})
}

// Named returns an Opener of the adapter at path by its stable name, which it looks up now, while the adapter is
// connected. Each call resolves the name again and passes the device node to open: an unplugged adapter is found again
// under any new number of the kernel. root is as in List.
func Named(root, path string, open func(name, node string) (servo.Line, error)) servo.Opener {
	stable := stableName(root, path)
	at := filepath.Join(root, stable)
	if !filepath.IsAbs(stable) {
		at = stable // from the folder that the program runs in, as Open takes it
	}
	return func() (servo.Line, error) {
		node, err := filepath.EvalSymlinks(at)
		if err != nil {
			return nil, openFault(stable, stable, err)
		}
		return open(stable, node)
	}
}

// fault builds the error of a port; each kind has the command that helps.
func fault(kind hal.Kind, path, op string, err error) *hal.Error {
	e := &hal.Error{Kind: kind, Bus: path, Op: op, Err: err}
	if kind == hal.Absent || kind == hal.Busy {
		e.Try = "halyard ports"
	}
	return e
}

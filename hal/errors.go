package hal

import (
	"errors"
	"fmt"
	"strings"
)

// Kind is the category of an Error; callers decide by it and not by the text.
// Each kind is one exit code of the command.
type Kind uint8

// The kinds of error.
const (
	Unexpected   Kind = iota // 1: a fault of Halyard's own
	Invalid                  // 2: a bad command line, config or argument
	Absent                   // 3: a device or port is not there
	Busy                     // 4: a device or lease is in use, or access is denied
	BusFault                 // 5: a bus or a servo on it misbehaves
	Uncalibrated             // 6: a real joint has no calibration
	Unsafe                   // 7: refused for safety
	Differs                  // 8: a check found differences
	Timeout                  // 9: took too long
)

var kindNames = [...]string{
	"unexpected", "invalid", "absent", "busy", "bus fault",
	"not calibrated", "refused for safety", "differs", "timed out",
}

func (k Kind) String() string { return nameOf(k, "kind", kindNames[:]) }

// Error is a failure with its place, its cause and a command to try. Its text omits empty fields.
//
//	bus "upper": id 7: joint "left_elbow": read: no answer, want 14 bytes (try: halyard scan /dev/ttyUSB0)
type Error struct {
	Kind  Kind
	Bus   string // the bus's name in the config, or its path
	ID    int    // the device's address on its bus; below 1 means none (id 0 is named in Op)
	Joint string
	Op    string // the operation: "read", "open"
	Err   error  // the result: got, want
	Try   string // the next command to type
}

func (e *Error) Error() string {
	var b strings.Builder
	part := func(format string, args ...any) {
		if b.Len() > 0 {
			b.WriteString(": ")
		}
		fmt.Fprintf(&b, format, args...)
	}
	if e.Bus != "" {
		part("bus %q", e.Bus)
	}
	if e.ID > 0 {
		part("id %d", e.ID)
	}
	if e.Joint != "" {
		part("joint %q", e.Joint)
	}
	if e.Op != "" {
		part("%s", e.Op)
	}
	if e.Err != nil {
		part("%v", e.Err)
	} else {
		part("%v", e.Kind)
	}
	if e.Try != "" {
		fmt.Fprintf(&b, " (try: %s)", e.Try)
	}
	return b.String()
}

func (e *Error) Unwrap() error { return e.Err }

// KindOf returns the kind of the first Error in err's chain, or Unexpected.
func KindOf(err error) Kind {
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return Unexpected
}

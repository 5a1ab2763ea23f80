package servotest

import (
	"errors"
	"time"

	"github.com/halyard-robotics/halyard/servo"
)

// Record is a servo.Line that passes everything on to another and notes it as turns for a Playback.
type Record struct {
	servo.Line
	Turns []Turn
}

// Write notes and passes on.
func (r *Record) Write(p []byte) (int, error) {
	n, err := r.Line.Write(p)
	r.Turns = append(r.Turns, Turn{Write: append([]byte(nil), p[:n]...), Gone: errors.Is(err, servo.ErrGone)})
	return n, err
}

// Read passes on and notes. Bytes that come before the first Write belong to no turn and are not noted.
func (r *Record) Read(p []byte, timeout time.Duration) (int, error) {
	n, err := r.Line.Read(p, timeout)
	if len(r.Turns) > 0 {
		last := &r.Turns[len(r.Turns)-1]
		last.Read = append(last.Read, p[:n]...)
		last.Gone = last.Gone || errors.Is(err, servo.ErrGone)
	}
	return n, err
}

// String is the session's text so far.
func (r *Record) String() string { return Format(r.Turns) }

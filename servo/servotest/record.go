package servotest

import (
	"errors"
	"time"

	"github.com/halyard-robotics/halyard/servo"
)

// pause is the silence that separates unsolicited bytes from earlier ones: longer than any reply delay, shorter than
// any period of cyclic messages.
const pause = 5 * time.Millisecond

// Record is a servo.Line that passes everything on to another and notes it as turns for a Playback.
type Record struct {
	servo.Line
	Turns []Turn

	ended time.Duration // when the last word ended, either way, by the line's clock
}

// Write notes and passes on.
func (r *Record) Write(p []byte) (int, error) {
	n, err := r.Line.Write(p)
	r.ended = r.Line.Now() + servo.WireTime(n, 10, r.Line.Baud()) // a line does not wait until the bytes have left
	r.Turns = append(r.Turns, Turn{Write: append([]byte(nil), p[:n]...), Gone: errors.Is(err, servo.ErrDisconnected)})
	return n, err
}

// Read passes on and notes, silences of more than 5 ms too. Bytes that come before the first Write belong to no turn
// and are not noted.
func (r *Record) Read(p []byte, timeout time.Duration) (int, error) {
	n, err := r.Line.Read(p, timeout)
	if len(r.Turns) == 0 {
		return n, err
	}
	last := &r.Turns[len(r.Turns)-1]
	last.Gone = last.Gone || errors.Is(err, servo.ErrDisconnected)
	if n == 0 {
		return n, err
	}
	now := r.Line.Now()
	silence := now - r.ended - servo.WireTime(n, 10, r.Line.Baud())
	r.ended = now
	switch {
	case silence < pause:
	case len(last.Read) == 0:
		last.After = silence
	default:
		last.Then = append(last.Then, Word{After: silence})
	}
	into := &last.Read
	if k := len(last.Then); k > 0 {
		into = &last.Then[k-1].Read
	}
	*into = append(*into, p[:n]...)
	return n, err
}

// String is the session's text so far.
func (r *Record) String() string { return Format(r.Turns) }

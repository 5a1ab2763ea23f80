package odrive

import (
	"bytes"
	"errors"
	"time"

	"github.com/halyard-robotics/halyard/internal/wire/odrivewire"
	"github.com/halyard-robotics/halyard/servo"
)

// bitsPerByte on the wire: start, eight data, stop.
const bitsPerByte = 10

// replyDelay is the time of a controller before a reply: its communication runs at lower priority than motor control.
const replyDelay = 2 * time.Millisecond

// maxAnswer is the maximum length of a reply, bytes: two numbers, a checksum and the line's end.
const maxAnswer = 40

// link is one end of a serial line.
type link struct {
	*servo.Exchange
	lines  odrivewire.Lines
	missed bool // a reply missed its timeout: it may still arrive, and replies do not name their request
	none   bool // the last question was answered by that there is no such thing
}

func newLink(x *servo.Exchange) *link { return &link{Exchange: x} }

// drainReply lets an answer that is overdue come, and throws it away.
func (l *link) drainReply() error {
	if !l.missed {
		return nil
	}
	l.missed = false
	out := l.Out
	l.Out = out[len(out):] // staged lines are not sent now
	err := l.Await(maxAnswer, replyDelay)
	for err == nil {
		_, err = l.More()
	}
	l.Out = out
	if errors.Is(err, servo.ErrDisconnected) {
		return err
	}
	return nil
}

// numbers sends Out, whose last line is a request, and reads the numbers of the reply into dst.
func (l *link) numbers(dst []float64) error {
	if err := l.drainReply(); err != nil {
		return err
	}
	l.lines.Reset()
	l.none = false
	bad := l.lines.BadChecksum + l.lines.Garbage
	if err := l.Request(maxAnswer, replyDelay); err != nil {
		return err
	}
	for {
		piece, err := l.More()
		if errors.Is(err, servo.ErrNoReply) && !l.lines.Endless && l.lines.Whole() {
			l.lines.Endless = true // it will send no end of line
			if odrivewire.Numbers(l.lines.Line(), dst) {
				return nil
			}
			l.none = bytes.HasPrefix(l.lines.Line(), []byte("invalid"))
		}
		if err != nil {
			l.missed = !l.none
			if errors.Is(err, servo.ErrNoReply) && l.lines.BadChecksum+l.lines.Garbage > bad {
				err = servo.ErrCorrupt
			}
			return err
		}
		for len(piece) > 0 {
			piece = piece[l.lines.Feed(piece):]
			switch line := l.lines.Line(); {
			case line == nil:
			case odrivewire.Numbers(line, dst):
				return nil
			case bytes.HasPrefix(line, []byte("invalid")):
				l.none = true
				return servo.ErrNoReply
			default: // the echo of the question
				bad--
			}
		}
	}
}

// number asks for a property.
func (l *link) number(p odrivewire.Property, d odrivewire.Dialect, axis int) (float64, error) {
	var v [1]float64
	l.Out = odrivewire.AppendRead(l.Out, p, d, axis)
	err := l.numbers(v[:])
	return v[0], err
}

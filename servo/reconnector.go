package servo

import (
	"errors"
	"fmt"

	"github.com/halyard-robotics/halyard/hal"
)

// Cycles between two tries to get a lost line back, doubled each time. The last pause lets a robot of 50 Hz have its
// line back within a second of its plug.
const (
	FirstPause = 10
	lastPause  = 40
)

// Reconnector opens a lost line again. Opening may block, so it runs in a goroutine, at most one at a time, which Close
// waits for; the cycle checks for its result and never waits.
type Reconnector struct {
	Bus  string // in errors
	Open Opener // nil = never
	// Inline: Attend opens the line itself, for a line in memory, which opens at once. Virtual time does not wait for a
	// goroutine; so with the same seed the line is back in the same cycle on every machine.
	Inline bool

	done    chan opened // of the running attempt, nil without one
	pause   int
	wait    int // cycles until the next try
	cause   error
	closing bool
}

type opened struct {
	line Line
	err  error
}

// Lose stores the reason of the loss. The next Attend makes the first attempt.
func (r *Reconnector) Lose(cause error) { r.pause, r.wait, r.cause = FirstPause, 0, cause }

// Lost is the error of a chain without a line.
func (r *Reconnector) Lost() error {
	cause := r.cause
	if cause == nil {
		cause = errors.New("no line")
	}
	return &hal.Error{Kind: hal.Absent, Bus: r.Bus, Op: "line", Err: cause}
}

// Attend is called once a cycle while the line is lost: it starts a try to get it back when it is time, and returns the
// new line when there is one, else nil, a cycle after the try at the earliest. It never blocks.
func (r *Reconnector) Attend() Line {
	if r.Open == nil || r.closing {
		return nil
	}
	if r.done == nil {
		if r.wait--; r.wait <= 0 {
			// Room for one result: the goroutine ends even if the result is no longer needed.
			done, open := make(chan opened, 1), r.Open
			r.done = done
			try := func() {
				line, err := open()
				done <- opened{line, err}
			}
			if r.Inline {
				try()
			} else {
				go try()
			}
		}
		return nil
	}
	select {
	case o := <-r.done:
		r.done = nil
		if o.err != nil {
			// The error has both reasons: that of the loss, and that of the failed reopening.
			r.cause = fmt.Errorf("%w; opening again: %w", ErrDisconnected, o.err)
			r.wait, r.pause = r.pause, min(2*r.pause, lastPause)
			return nil
		}
		return o.line
	default:
		return nil
	}
}

// Close waits for a running attempt and closes its line. No other follows.
func (r *Reconnector) Close() error {
	r.closing = true
	if r.done == nil {
		return nil
	}
	o := <-r.done
	r.done = nil
	if o.err != nil {
		return nil // the line was lost before and still is
	}
	return o.line.Close()
}

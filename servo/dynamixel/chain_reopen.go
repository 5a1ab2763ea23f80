package dynamixel

import (
	"errors"
	"fmt"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
)

// Cycles between two tries to get a lost line back, doubled each time.
const (
	firstPause = 10
	lastPause  = 200
)

// reopening is the way back of a lost line. Opening may block, so it runs in a goroutine, at most one at a time, which
// Close waits for; the cycle looks whether it is done and never waits.
type reopening struct {
	done    chan opened // of the try under way, nil when none is
	pause   int
	wait    int // cycles until the next try
	cause   error
	closing bool
}

type opened struct {
	line servo.Line
	err  error
}

// lineError passes on an error of the port; when the adapter is gone the line is given up.
func (c *Chain) lineError(err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, servo.ErrGone) {
		c.lose(err)
		return c.lost()
	}
	return &hal.Error{Kind: hal.BusFault, Bus: c.cfg.Name, Err: err}
}

// lineErrorOf is lineError for an error that already says where it comes from.
func (c *Chain) lineErrorOf(err error) error {
	if errors.Is(err, servo.ErrGone) {
		c.lose(err)
	}
	return err
}

// lose closes the line. Whether the servos still hold torque is unknown from now on.
func (c *Chain) lose(err error) {
	c.line.Close() // it is gone: there is nothing to learn from a second error
	c.link, c.line = nil, nil
	c.reopen.pause, c.reopen.wait, c.reopen.cause = firstPause, 0, err
	c.queue, c.goals = c.queue[:0], c.goals[:0]
	for i := range c.devices {
		d := &c.devices[i]
		d.state.Err, d.state.Torque, d.torque = d.unasked, false, unknown
	}
}

// lost is the error of a chain without a line.
func (c *Chain) lost() error {
	cause := c.reopen.cause
	if cause == nil {
		cause = errors.New("no line")
	}
	return &hal.Error{Kind: hal.Absent, Bus: c.cfg.Name, Op: "line", Err: cause}
}

// attend sees to a lost line: it starts a try to get it back when it is time and takes the new line when there is one.
// It never blocks. nil means that there is a line.
func (c *Chain) attend() error {
	r := &c.reopen
	switch {
	case c.link != nil:
		return nil
	case c.cfg.Reopen == nil || r.closing:
		return c.lost()
	case r.done == nil:
		if r.wait--; r.wait > 0 {
			return c.lost()
		}
		// Room for one result: the goroutine ends whether or not anybody still wants it.
		done, open := make(chan opened, 1), c.cfg.Reopen
		r.done = done
		go func() {
			line, err := open()
			done <- opened{line, err}
		}()
		return c.lost()
	}
	select {
	case o := <-r.done:
		r.done = nil
		if o.err != nil {
			// Both reasons matter: what happened, and what is in the way of repair.
			r.cause = fmt.Errorf("%w; opening again: %w", servo.ErrGone, o.err)
			r.wait, r.pause = r.pause, min(2*r.pause, lastPause)
			return c.lost()
		}
		c.regain(o.line)
		return nil
	default:
		return c.lost()
	}
}

// regain takes a new line. The servos may have lost their power, or hold torque on an old goal: nothing is written to
// those that had torque until Enable has been false once, and every one is read long first.
func (c *Chain) regain(line servo.Line) {
	c.line, c.link = line, c.newLink(line)
	c.stats.Reopened++
	for i := range c.devices {
		d := &c.devices[i]
		if d.m == nil {
			continue
		}
		// A goal of some seconds ago is no goal of now.
		if d.stage == driven {
			d.hold(errRegained)
		}
		d.verify, d.limit = true, -1
		// Everything about its answering is learned anew, on a line that may be another.
		d.reading.init(d.m)
		d.reading.lost, d.reading.probing, d.reading.ask, d.reading.misses = false, false, 0, 0
	}
}

var errRegained = errors.New("the line was lost and is back: enable again")

// endReopen waits for a try under way and closes what it opened.
func (c *Chain) endReopen() error {
	r := &c.reopen
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

package dynamixel

import (
	"errors"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
)

// lineError passes on an error of the port; when the adapter is gone the line is given up.
func (c *Chain) lineError(err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, servo.ErrDisconnected) {
		c.lose(err)
		return c.lost()
	}
	return &hal.Error{Kind: hal.BusFault, Bus: c.cfg.Name, Err: err}
}

// lineErrorOf is lineError for an error that already says where it comes from.
func (c *Chain) lineErrorOf(err error) error {
	if errors.Is(err, servo.ErrDisconnected) {
		c.lose(err)
	}
	return err
}

// lose closes the line. Whether the servos still hold torque is unknown from now on.
func (c *Chain) lose(err error) {
	c.line.Close() // it is gone: there is nothing to learn from a second error
	c.link, c.line = nil, nil
	c.reopen.Lose(err)
	c.queue, c.goals = c.queue[:0], c.goals[:0]
	for i := range c.devices {
		c.devices[i].Gone()
	}
}

// Inline lets a lost line be opened within the cycle, for lines in memory; see servo.Reconnector. Call it before Send.
func (c *Chain) Inline() { c.reopen.Inline = true }

// lost is the error of a chain without a line.
func (c *Chain) lost() error { return c.reopen.Lost() }

// attend sees to a lost line and never blocks. nil means that there is a line.
func (c *Chain) attend() error {
	if c.link == nil {
		line := c.reopen.Attend()
		if line == nil {
			return c.lost()
		}
		c.regain(line)
	}
	return nil
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
		d.Regained()
		d.limit = -1
		// Everything about its answering is learned again, on a line that may be another.
		d.reading.restart(d.m)
	}
}

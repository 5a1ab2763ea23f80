package dynamixel

import (
	"errors"
	"fmt"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
)

// Halt switches every servo's torque off with one packet, sent twice, and then asks each whether it is off, once more
// where it did not answer. The result has an entry for every servo, nil where it said that its torque is off. Torque
// does not come back until Enable has been false once. Safe at any time, and twice.
func (c *Chain) Halt() []error {
	faults := make([]error, len(c.devices))
	for i := range c.devices {
		if d := &c.devices[i]; d.Stage == servo.TorqueOn {
			d.hold(servo.ErrHalted)
		}
	}
	// Twice: a broadcast is not acknowledged, and this one matters.
	for range 2 {
		if c.link == nil {
			break
		}
		c.link.Out, c.queue = c.link.Out[:0], c.queue[:0]
		for i := range c.devices {
			if d := &c.devices[i]; d.m != nil && !d.barred {
				c.put(d, d.reg.torque, 0)
			}
		}
		c.flushWrites()
		c.sendFirst() // the reading below finds out
	}
	for i := range c.devices {
		faults[i] = c.verifyHalt(&c.devices[i])
	}
	return faults
}

func (c *Chain) verifyHalt(d *device) error {
	if d.m == nil || d.barred {
		// Another model's torque switch lies elsewhere: writing blindly could change its settings.
		return c.deviceError(d, hal.BusFault, "halt", errors.New("not the model it should be: left alone"))
	}
	var err error
	for range 2 {
		if c.link == nil {
			return c.deviceError(d, hal.Absent, "halt", c.lost())
		}
		var v int64
		// Reading is the acknowledgement: an answered write would say that it was heard, not that it was done.
		if v, err = c.fetch(d, d.reg.torque); err != nil {
			continue
		}
		d.Torque, d.State.Torque = servo.SwitchOf(v), v != 0
		if v == 0 {
			d.Verify = false
			return nil
		}
		err = c.deviceError(d, hal.BusFault, "halt", errors.New("torque is still on"))
		c.put(d, d.reg.torque, 0)
		c.flushWrites()
	}
	return err
}

// ClearAlarm frees servo i of a latched alarm: a reboot in 2.0, after which it is silent for some cycles; a new torque
// limit in 1.0. It moves nothing: torque comes with the next change of Enable to true. It blocks for two exchanges.
// The fourth call within 5 minutes of the line's clock is refused.
func (c *Chain) ClearAlarm(i int) error {
	d := &c.devices[i]
	if c.link == nil {
		return c.lost()
	}
	if !d.clears.Allow(c.link.Port.Now()) {
		e := fmt.Errorf("cleared %d times within %v: find what overloads it", servo.MaxClears, servo.ClearWindow)
		return c.deviceError(d, hal.Unsafe, "clear alarm", e)
	}
	if d.Stage == servo.TorqueOn {
		d.hold(servo.ErrLatched)
	}
	c.link.Out = c.link.Out[:0]
	if d.reg.hardware == nil {
		// Torque itself stays off: the stage is holding or limp.
		if err := c.store(d, d.reg.torqueLimit, d.maxLimit[limitOutput]); err != nil {
			return err
		}
		d.Latched, d.Verify, d.limit = false, true, -1
		return nil
	}
	client := &Client{Name: c.cfg.Name, Latency: c.cfg.Latency, link: c.link}
	if err := client.Reboot(d.cfg.ID); err != nil {
		return c.lineErrorOf(err)
	}
	d.Latched, d.Torque, d.limit = false, servo.Unknown, -1
	d.State.Err, d.State.Torque, d.State.Alarm = d.Unasked, false, 0
	d.reading.Lost, d.reading.Ask = true, c.cycle+rebootPause
	return nil
}

// ClearAlarms frees every servo that an alarm has latched; see ClearAlarm. It returns what was wrong with each, nil where it is free.
func (c *Chain) ClearAlarms() (faults []error) {
	for i := range c.devices {
		if c.devices[i].Latched {
			faults = append(faults, c.ClearAlarm(i))
		}
	}
	return faults
}

// rebootPause is how many cycles a servo is left alone after a reboot.
const rebootPause = 20

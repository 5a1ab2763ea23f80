package dynamixel

import (
	"errors"
	"fmt"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
)

// Identify pings servo i, compares its model and reads the settings that the cycle needs. It writes EEPROM, with torque
// off, only if the servo is set to reply to pings only.
func (c *protocol) Identify(i int) error {
	d := &c.devices[i]
	f, err := c.client().Ping(d.cfg.ID)
	if errors.Is(err, errPingOnly) && c.enableStatusReturn(d) == nil {
		f, err = c.client().Ping(d.cfg.ID)
	}
	e, failed := errors.AsType[*hal.Error](err)
	switch {
	case failed && e.Kind == hal.Timeout:
		return fmt.Errorf("%w, want a %s", servo.ErrNoReply, d.m.Name)
	case failed:
		e.Joint = d.cfg.Joint
		return e
	case f.Number == d.m.Number:
		return c.inspect(d)
	}
	// Goals in another model's units are dangerous.
	d.Barred = true
	got := fmt.Sprintf("model %d", f.Number)
	if m := f.Model(c.protocol); m != nil {
		got = m.Name
	}
	return d.Error(hal.BusFault, "open", fmt.Errorf("got %s, want %s", got, d.m.Name))
}

// client exchanges packets with single servos of the chain.
func (c *protocol) client() *Client { return &Client{Name: c.name, link: c.link} }

// inspect reads the settings of d that the cycle needs.
func (c *protocol) inspect(d *device) error {
	if err := c.enableStatusReturn(d); err != nil {
		return err
	}
	var fault error
	read := func(name string, take func(v int64)) {
		r := d.m.Register(name)
		if r == nil || fault != nil {
			return
		}
		v, err := c.fetch(d, r)
		if servo.IsServoError(err) {
			v, err = c.fetch(d, r) // one lost reply is no reason not to start
		}
		if fault = err; err == nil {
			take(v)
		}
	}
	// Limits in the EEPROM are the owner's; goals beyond them would be refused.
	top := func(i int) func(int64) { return func(v int64) { d.maxLimit[i] = v } }
	read("return_delay", func(v int64) { d.delay = time.Duration(v) * 2 * time.Microsecond })
	read("shutdown", func(v int64) { d.fatal = d.m.Alarms(byte(v)) })
	read("max_torque", top(limitOutput))
	read("pwm_limit", top(limitOutput))
	read("current_limit", top(limitCurrent))
	read("velocity_limit", top(limitVelocity))
	read("min_position", func(v int64) { d.minTicks = float64(v) })
	read("max_position", func(v int64) { d.maxTicks = float64(v) })
	read("operating_mode", func(v int64) { d.mode = int(v) })
	read("homing_offset", func(v int64) { d.State.Homing = float64(v) })
	if d.reg.operatingMode == nil || d.m.RAMStart == 24 {
		// The angle limits, which in 1.0 choose the mode: both zero is a wheel.
		var lo, hi int64
		read("cw_angle_limit", func(v int64) { lo = v })
		read("ccw_angle_limit", func(v int64) { hi = v })
		// Limits that do not rise are a wheel or multi-turn.
		if lo < hi {
			d.minTicks, d.maxTicks = float64(lo), float64(hi)
		}
		switch {
		case d.reg.operatingMode != nil:
		case lo == 0 && hi == 0:
			d.mode = wheelMode
		default:
			d.mode = jointMode
		}
	}
	if d.isY() {
		numerator, denominator := int64(0), int64(0)
		read("gear_numerator", func(v int64) { numerator = v })
		read("gear_denominator", func(v int64) { denominator = v })
		read("safe_stop_time", func(v int64) { d.safeStop = v })
		read("startup", func(v int64) { d.startsOn = v&1 != 0 })
		if fault == nil {
			fault = d.inspectY(numerator, denominator)
		}
	}
	read("torque_enable", func(v int64) { d.Torque = servo.SwitchOf(v != 0); d.State.Torque = v != 0 })
	switch { // a reset may come before the first cycle
	case d.m.Protocol == 1:
		d.note(d.told)
	case !d.isY() && d.told&alertBit != 0:
		read("hardware_error", func(v int64) { d.note(byte(v)); d.alert = true })
	}
	switch {
	case fault == nil || errors.Is(fault, servo.ErrDisconnected) || hal.KindOf(fault) != hal.Unexpected:
		return fault
	case errors.Is(fault, servo.ErrNoReply): // it is there
		return d.Error(hal.Timeout, "open", fault)
	}
	return d.Error(hal.BusFault, "open", fault)
}

// Holds reports whether servo i is in its position mode and near its goal.
func (c *protocol) Holds(i int) (bool, error) {
	d := &c.devices[i]
	if d.isY() || d.mode != d.m.Modes[hal.PositionMode] || d.reg.goalPosition == nil {
		return false, nil
	}
	goal, err := c.fetch(d, d.reg.goalPosition)
	if err != nil {
		return false, err
	}
	at, err := c.fetch(d, d.reg.position)
	return err == nil && servo.NearGoal(float64(goal), float64(at), d.m.TicksPerTurn), err
}

// enableStatusReturn makes a servo reply to reads if it is set to reply to pings only.
func (c *protocol) enableStatusReturn(d *device) error {
	_, err := c.fetch(d, d.reg.torque)
	if !errors.Is(err, servo.ErrNoReply) {
		return err
	}
	// Level 0 has no acknowledgement: write without one, then read back.
	r := d.m.Register("status_return")
	if r.Access == EEPROM {
		c.put(d, d.reg.torque, 0)
	}
	c.put(d, r, r.Max)
	c.Stage()
	if err := c.Flush(); err != nil {
		return err
	}
	if _, again := c.fetch(d, d.reg.torque); again == nil {
		return nil
	}
	return d.Error(hal.BusFault, "open", errPingOnly)
}

// Clear frees servo i of a latched alarm: a reboot in 2.0, after which it is silent for some cycles; an error clear
// with the Y table; a new torque limit in 1.0. It blocks for two exchanges.
func (c *protocol) Clear(i int) error {
	d := &c.devices[i]
	c.link.Out = c.link.Out[:0]
	if d.isY() {
		return c.clearY(i, d)
	}
	if d.reg.hardware == nil {
		// Torque itself stays off: the stage is inhibited or off.
		return c.store(d, d.reg.torqueLimit, d.maxLimit[limitOutput])
	}
	if err := c.client().Reboot(d.cfg.ID); err != nil {
		return err
	}
	d.State.Report = servo.Report{} // not its Alarm alone: the same fault would not be noted again
	c.chain.Pause(i, rebootPause)
	return nil
}

// rebootPause is the number of cycles without a request to a servo after a reboot.
const rebootPause = 20

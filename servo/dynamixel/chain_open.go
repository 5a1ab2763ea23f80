package dynamixel

import (
	"errors"
	"fmt"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
)

// Open asks every servo who it is and how it is set, and reports all that is wrong together: a servo that is missing,
// another model, two servos with one id, one that does not answer reads. Nothing moves, no torque goes on; EEPROM is
// written only where a servo is set to answer nothing but pings, with its torque off.
//
// After an error the chain may be used all the same: missing servos are asked again at a slow pace, other models are
// left alone.
func (c *Chain) Open() error {
	if err := c.check(); err != nil {
		return err
	}
	if c.link == nil {
		return c.lost()
	}
	var faults []error
	client := &Client{Name: c.cfg.Name, Latency: c.cfg.Latency, link: c.link}
	// One servo after the other, each fault noted: the user repairs them all at once.
	for i := range c.devices {
		d := &c.devices[i]
		err := c.identify(client, d)
		if err == nil {
			err = c.inspect(d)
		}
		// The adapter went while asking: nothing more can be learned.
		if c.link == nil {
			return errors.Join(append(faults, err)...)
		}
		if err != nil {
			faults = append(faults, err)
		}
	}
	return errors.Join(faults...)
}

// check finds what is wrong with the chain's own description.
func (c *Chain) check() error {
	var faults []error
	seen := map[byte]bool{}
	longest := 1
	for i := range c.devices {
		d := &c.devices[i]
		fault := func(format string, args ...any) {
			faults = append(faults, c.deviceError(d, hal.Invalid, "open", fmt.Errorf(format, args...)))
		}
		if d.m == nil {
			fault("no model")
			continue
		}
		if most := byte(254 - d.m.Protocol); d.cfg.ID > most {
			fault("got id %d, want 0..%d", d.cfg.ID, most)
		}
		if seen[d.cfg.ID] {
			fault("id used twice on one line")
		}
		seen[d.cfg.ID] = true
		if d.m.Protocol != c.protocol() {
			fault("got protocol %d (%s), want %d as the first servo's: a line speaks one protocol", d.m.Protocol, d.m.Name, c.protocol())
		}
		for _, s := range d.cfg.Settings {
			if r := d.m.Register(s.Register); r == nil || !r.Setting() || s.Value < r.Min || s.Value > r.Max {
				fault("setting %s = %d: not a setting in RAM of %s, or out of range", s.Register, s.Value, d.m.Name)
			}
		}
		// The longest packet is the fast answer with one servo read long, or in 1.0 the goals.
		longest += 5 + int(d.short.size)
	}
	limit := MaxLength2
	if c.protocol() == 1 {
		limit, longest = MaxLength1, 3+5*len(c.devices)
	}
	if longest > limit-100 {
		e := fmt.Errorf("got %d servos, want fewer: they do not fit into one packet", len(c.devices))
		faults = append(faults, &hal.Error{Kind: hal.Invalid, Bus: c.cfg.Name, Op: "open", Err: e})
	}
	return errors.Join(faults...)
}

// identify pings d, a second time if the first went wrong, and compares its model.
func (c *Chain) identify(client *Client, d *device) error {
	f, err := client.Ping(d.cfg.ID)
	if err != nil && hal.KindOf(err) != hal.Absent {
		f, err = client.Ping(d.cfg.ID)
	}
	if errors.Is(err, errPingOnly) && c.enableStatusReturn(d) == nil {
		f, err = client.Ping(d.cfg.ID)
	}
	var e *hal.Error
	switch {
	case errors.As(err, &e):
		e.Joint = d.cfg.Joint
		if e.Kind == hal.Timeout {
			d.reading.Lost = true
			d.State.Err = d.Unasked
			return c.deviceError(d, hal.Absent, "open", fmt.Errorf("%w, want a %s", servo.ErrNoReply, d.m.Name))
		}
		return c.lineErrorOf(e)
	case f.Number == d.m.Number:
		return nil
	}
	// Goals in another model's units are worse than none.
	d.barred = true
	got := fmt.Sprintf("model %d", f.Number)
	if m := f.Model(c.link.protocol); m != nil {
		got = m.Name
	}
	err = c.deviceError(d, hal.BusFault, "open", fmt.Errorf("got %s, want %s", got, d.m.Name))
	d.State.Err = err
	return err
}

// inspect reads what the cycle needs to know of d's settings.
func (c *Chain) inspect(d *device) error {
	if err := c.enableStatusReturn(d); err != nil {
		return err
	}
	var faults []error
	read := func(name string, take func(v int64, r *Register)) {
		r := d.m.Register(name)
		if r == nil || c.link == nil {
			return
		}
		v, err := c.fetch(d, r)
		if k := hal.KindOf(err); c.link != nil && (k == hal.Timeout || k == hal.BusFault) {
			v, err = c.fetch(d, r) // one lost answer is no reason not to start
		}
		if err != nil {
			faults = append(faults, err)
			return
		}
		take(v, r)
	}
	// Limits in the EEPROM are the owner's; goals beyond them would be refused.
	top := func(i int) func(int64, *Register) { return func(v int64, _ *Register) { d.maxLimit[i] = v } }
	read("return_delay", func(v int64, _ *Register) { d.delay = time.Duration(v) * 2 * time.Microsecond })
	read("shutdown", func(v int64, _ *Register) { d.fatal = d.m.Alarms(byte(v)) })
	read("max_torque", top(limitOutput))
	read("pwm_limit", top(limitOutput))
	read("current_limit", top(limitCurrent))
	read("velocity_limit", top(limitVelocity))
	read("min_position", func(v int64, _ *Register) { d.minTicks = float64(v) })
	read("max_position", func(v int64, _ *Register) { d.maxTicks = float64(v) })
	read("operating_mode", func(v int64, _ *Register) { d.mode = int(v) })
	if d.reg.operatingMode == nil || d.m.RAMStart == 24 {
		c.inspectAngles(d, read)
	}
	read("torque_enable", func(v int64, _ *Register) { d.Torque = servo.SwitchOf(v); d.State.Torque = v != 0 })
	d.inspected = len(faults) == 0
	return errors.Join(faults...)
}

// inspectAngles reads the angle limits, which in 1.0 choose the mode: both zero is a wheel.
func (c *Chain) inspectAngles(d *device, read func(string, func(int64, *Register))) {
	var lo, hi int64
	read("cw_angle_limit", func(v int64, _ *Register) { lo = v })
	read("ccw_angle_limit", func(v int64, _ *Register) { hi = v })
	// Limits that do not rise are a wheel or multi-turn.
	if lo < hi {
		d.minTicks, d.maxTicks = float64(lo), float64(hi)
	}
	if d.reg.operatingMode != nil {
		return
	}
	d.mode = jointMode
	if lo == 0 && hi == 0 {
		d.mode = wheelMode
	}
}

// enableStatusReturn makes a servo answer reads that is set to answer nothing but pings.
func (c *Chain) enableStatusReturn(d *device) error {
	_, err := c.fetch(d, d.reg.torque)
	if hal.KindOf(err) != hal.Timeout || c.link == nil {
		return err
	}
	// No acknowledgement comes at level 0: write blindly, then ask again.
	r := d.m.Register("status_return")
	if r.Access == EEPROM {
		c.put(d, d.reg.torque, 0)
	}
	c.put(d, r, r.Max)
	c.flushWrites()
	if err := c.sendFirst(); err != nil {
		return err
	}
	if _, again := c.fetch(d, d.reg.torque); again == nil {
		return nil
	}
	return c.deviceError(d, hal.BusFault, "open", errPingOnly)
}

// Close closes the line and waits for a try to get it back that is under way. Torque stays as it is: Halt first.
func (c *Chain) Close() error {
	err := c.reopen.Close()
	if c.link == nil {
		return err
	}
	line := c.line
	c.link, c.line = nil, nil
	return errors.Join(err, line.Close())
}

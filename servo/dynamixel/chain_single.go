package dynamixel

import (
	"errors"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
)

// readAlone reads the servos that no group holds: by their level, because they missed the last group, or because it
// is time to ask a lost one. Once a servo was silent the rest is asked only while the period lasts, and begins the
// next cycle; of the lost ones that stay silent a single one is asked a cycle. So a limb without power costs the
// others their pace in no cycle, and their values in few.
func (c *Chain) readAlone() error {
	n, over, first := len(c.devices), false, c.next
	for _, lost := range []bool{false, true} {
		for k := range n {
			i := (first + k) % n
			d := &c.devices[i]
			if d.m == nil || d.barred || d.reading.Lost != lost || !d.reading.IsAlone(c.cycle) {
				continue
			}
			if !over && (c.silences > 0 || d.reading.Misses > 0) && c.stats.Late(&c.link.Exchange, c.cfg.Period) {
				over, c.next = true, i
			}
			if over {
				if !lost {
					d.State.Err = d.Skipped
				}
				continue
			}
			if err := c.readOne(d); err != nil {
				return err
			}
			if lost && d.reading.Lost {
				return nil
			}
		}
	}
	return nil
}

// readOne reads one servo with its own request.
func (c *Chain) readOne(d *device) error {
	l, s := c.link, c.span(d)
	in := &c.request
	*in = Instruction{ID: d.cfg.ID, Op: Read, Addr: s.addr, Size: s.size, Blocks: in.Blocks[:0]}
	l.add(in)
	if err := l.ask(statusBytes(l.protocol, int(s.size)), d.delay); err != nil {
		return c.lineError(err)
	}
	// What comes from another id is a late answer to an earlier question.
	bad := l.parser.BadChecksum
	for {
		st, err := l.status()
		switch {
		case errors.Is(err, servo.ErrNoReply):
			d.reading.Garbled = l.parser.BadChecksum > bad
			c.missed(d)
			return nil
		case err != nil:
			return c.lineError(err)
		case st.ID == d.cfg.ID:
			c.accept(d, s, &st)
			return nil
		}
	}
}

// fetch reads one register of one servo.
func (c *Chain) fetch(d *device, r *Register) (int64, error) {
	l := c.link
	if err := c.sendFirst(); err != nil {
		return 0, err
	}
	l.add(&Instruction{ID: d.cfg.ID, Op: Read, Addr: r.Addr, Size: r.Size})
	if err := l.ask(statusBytes(l.protocol, int(r.Size)), d.delay); err != nil {
		return 0, c.lineError(err)
	}
	for {
		st, err := l.status()
		switch {
		case errors.Is(err, servo.ErrNoReply):
			return 0, c.deviceError(d, hal.Timeout, "read "+r.Name, err)
		case err != nil:
			return 0, c.lineError(err)
		case st.ID != d.cfg.ID:
			continue
		case len(st.Data) != int(r.Size):
			return 0, c.deviceError(d, hal.BusFault, "read "+r.Name, servo.ErrCorrupt)
		}
		return r.Decode(st.Data), nil
	}
}

// sendFirst sends what waits, so that an exchange may begin.
func (c *Chain) sendFirst() error {
	switch {
	case c.link == nil:
		return c.lost()
	case len(c.link.Out) == 0:
		return nil
	}
	return c.lineError(c.link.Write())
}

// setMode writes an operating mode and reads it back; 1.0 does it by angle limits.
func (c *Chain) setMode(d *device, mode int) error {
	if r := d.reg.operatingMode; r != nil {
		return c.store(d, r, int64(mode))
	}
	// A joint gets back the limits it had when the chain was opened, or its model's.
	lo, hi := int64(0), int64(0)
	if mode == jointMode {
		lo, hi = int64(d.minTicks), int64(d.maxTicks)
	}
	if err := c.store(d, d.m.Register("cw_angle_limit"), lo); err != nil {
		return err
	}
	return c.store(d, d.m.Register("ccw_angle_limit"), hi)
}

// store writes v to r and reads it back, whatever the servo's status return level. Torque must be off for EEPROM.
func (c *Chain) store(d *device, r *Register, v int64) error {
	var room [4]byte
	l := c.link
	if err := c.sendFirst(); err != nil {
		return err
	}
	l.add(&Instruction{ID: d.cfg.ID, Op: Write, Addr: r.Addr, Data: r.Append(room[:0], v)})
	if err := l.ask(statusBytes(l.protocol, 0), d.delay); err != nil {
		return c.lineError(err)
	}
	// No acknowledgement is no fault: a status return level of 1 answers reads alone. The reading back decides.
	if s, err := l.status(); err == nil {
		if err := refusal(l.protocol, s.Error); err != nil {
			return c.deviceError(d, hal.BusFault, "write "+r.Name, err)
		}
	}
	got, err := c.fetch(d, r)
	if err == nil && got != v {
		return c.deviceError(d, hal.BusFault, "write "+r.Name, unequal(got, v))
	}
	return err
}

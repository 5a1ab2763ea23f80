package dynamixel

import (
	"fmt"

	"github.com/halyard-robotics/halyard/servo"
)

// fetch reads one register of one servo.
func (c *protocol) fetch(d *device, r *Register) (int64, error) {
	data, err := c.fetchSpan(d, span{r.Addr, r.Size})
	if err != nil {
		return 0, fmt.Errorf("read %s: %w", r.Name, err)
	}
	return r.Decode(data), nil
}

// fetchSpan reads some registers of one servo. The bytes are the line's until the next exchange.
func (c *protocol) fetchSpan(d *device, s span) ([]byte, error) {
	if err := c.Flush(); err != nil {
		return nil, err
	}
	st, err := c.link.read(d.cfg.ID, s, d.delay)
	if err == nil && len(st.Data) != int(s.size) {
		err = servo.ErrCorrupt
	}
	if err == nil {
		d.told = st.Error
	}
	return st.Data, err
}

// setMode writes an operating mode and reads it back; 1.0 does it by angle limits.
func (c *protocol) setMode(d *device, mode int) error {
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

// store writes v to r and reads it back, at any status return level. Torque must be off for EEPROM.
func (c *protocol) store(d *device, r *Register, v int64) error {
	var room [4]byte
	l := c.link
	if err := c.Flush(); err != nil {
		return err
	}
	l.add(&Instruction{ID: d.cfg.ID, Op: Write, Addr: r.Addr, Data: r.Append(room[:0], v)})
	if err := l.ask(statusBytes(l.protocol, 0), d.delay); err != nil {
		return err
	}
	// No acknowledgement is not a fault: a status return level of 1 answers only reads. The read-back decides.
	if s, err := l.status(); err == nil {
		if err := refusal(l.protocol, s.Error); err != nil {
			return fmt.Errorf("write %s: %w: %w", r.Name, servo.ErrDiffers, err)
		}
	}
	got, err := c.fetch(d, r)
	if err != nil {
		return err
	}
	if err = servo.Unequal(got, v); err != nil {
		err = fmt.Errorf("write %s: %w", r.Name, err)
	}
	return err
}

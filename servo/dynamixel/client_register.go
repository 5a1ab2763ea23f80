package dynamixel

import (
	"fmt"

	"github.com/halyard-robotics/halyard/hal"
)

// ReadRegister returns the raw value of a register of a servo that is an m.
func (c *Client) ReadRegister(id byte, m *Model, name string) (int64, error) {
	r := m.Register(name)
	if r == nil {
		return 0, c.fault(hal.Invalid, id, "read "+name, fmt.Errorf("%s has no such register", m.Name))
	}
	p, err := c.Read(id, r.Addr, int(r.Size))
	if err != nil {
		return 0, err
	}
	return r.Decode(p), nil
}

// WriteRegister writes a raw value. It refuses writes that the servo would refuse or even execute: read-only registers,
// values out of range, and EEPROM while torque is on, which it reads first.
func (c *Client) WriteRegister(id byte, m *Model, name string, v int64) error {
	op := "write " + name
	r := m.Register(name)
	if err := r.CheckWrite(m.Name, v); err != nil {
		return c.fault(hal.Invalid, id, op, err)
	}
	// 2.0 servos refuse it themselves; 1.0 ones take it and may lose the write. One question more is cheap here.
	if r.Access == EEPROM && id != Broadcast {
		torque, err := c.ReadRegister(id, m, "torque_enable")
		if err != nil {
			return err
		}
		if torque != 0 {
			return c.fault(hal.Unsafe, id, op, fmt.Errorf("torque is on: EEPROM is writable only with torque off"))
		}
	}
	var room [4]byte
	return c.Write(id, r.Addr, r.Append(room[:0], v))
}

package feetech

import (
	"errors"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
)

// Client talks to one servo at a time, for tools. Every call blocks for its wire time, the servos' return delay,
// Latency and 2 ms at most. It shares its port with nobody.
type Client struct {
	Name    string        // the bus in errors
	Latency time.Duration // what the adapter may hold an answer back (FTDI: its latency timer)
	link    *link
	x       servo.Exchange
}

// NewClient returns a client on port, which stays the caller's.
func NewClient(port servo.Port) *Client {
	c := &Client{x: servo.NewExchange(port, bitsPerByte, exchangeRoom, exchangeRoom)}
	c.link = newLink(&c.x)
	return c
}

// Found is a servo that answered.
type Found struct {
	ID       byte
	Number   uint16 // model_number
	Series   Series
	Firmware [2]byte // major, minor
}

// Model is the found servo's model, nil when it is none that this package knows.
func (f *Found) Model() *Model { return ModelByNumber(f.Number) }

// Ping asks one servo who it is: a ping, then its first registers, since the ping's answer says nothing.
func (c *Client) Ping(id byte) (Found, error) {
	f := Found{ID: id}
	c.x.Latency = c.Latency
	c.link.Out = AppendPacket(c.link.Out[:0], &Packet{ID: id, Code: byte(Ping)})
	if _, err := c.link.answer(id, 0, maxDelay); err != nil {
		return f, c.fault(id, "ping", err)
	}
	k, err := c.link.read(id, firstAt, firstSize, maxDelay)
	if err != nil {
		return f, c.fault(id, "ping", err)
	}
	f.read(k.Params)
	return f, nil
}

// read fills in what the first registers say. The order of the model number's bytes is what the byte before it says.
func (f *Found) read(p []byte) {
	f.Firmware, f.Series = [2]byte{p[0], p[1]}, Series(p[2])
	if f.Number = uint16(p[3]) | uint16(p[4])<<8; f.Series == SCS {
		f.Number = uint16(p[3])<<8 | uint16(p[4])
	}
}

// Scan asks every id from first to last, one after the other, and calls found for each that answers or whose answer is
// mangled (err then says how). It takes the wire time and about 3 ms an id.
func (c *Client) Scan(first, last byte, found func(Found, error)) error {
	return servo.Scan(first, last, c.Ping, found)
}

// ReadRegister returns the raw value of a register of a servo that is an m.
func (c *Client) ReadRegister(id byte, m *Model, name string) (int64, error) {
	r := m.Register(name)
	if r == nil {
		return 0, servo.Refuse(c.Name, int(id), "read "+name, "%s has no such register", m.Name)
	}
	c.x.Latency = c.Latency
	v, err := c.link.register(id, r, maxDelay)
	return v, c.fault(id, "read "+name, err)
}

// WriteRegister writes a raw value and reads it back. It refuses read-only registers, values out of range, and EEPROM
// while torque is on, which it asks for first. EEPROM is unlocked for the write and locked again after it, also where
// the write fails; a new id is locked at its new address.
func (c *Client) WriteRegister(id byte, m *Model, name string, v int64) (err error) {
	op := "write " + name
	r := m.Register(name)
	if err := r.CheckWrite(m.Name, v); err != nil {
		return servo.Refuse(c.Name, int(id), op, "%w", err)
	}
	c.x.Latency = c.Latency
	if r.Access == servo.RAM {
		return c.fault(id, op, c.link.store(id, r, v, maxDelay))
	}
	torque, err := c.link.register(id, m.Register("torque_enable"), maxDelay)
	if err != nil {
		return c.fault(id, op, err)
	}
	if torque != 0 {
		e := errors.New("torque is on: EEPROM can be written with torque off alone")
		return &hal.Error{Kind: hal.Unsafe, Bus: c.Name, ID: int(id), Op: op, Err: e}
	}
	lock := m.Register("lock")
	if err := c.link.store(id, lock, 0, maxDelay); err != nil {
		return c.fault(id, op, err)
	}
	after := id
	switch name {
	case "id", "baud_rate":
		// It answers from its new place, if at all: one write, and the reading back reports whether it took.
		if err = c.write(id, r, v); err == nil && name == "id" {
			after = byte(v)
		} else if err == nil {
			return c.lockAt(m.Rate(byte(v)), id, lock)
		}
	default:
		err = c.link.store(id, r, v, maxDelay)
	}
	return errors.Join(c.fault(id, op, err), c.fault(after, "lock", c.link.store(after, lock, 1, maxDelay)))
}

// write writes without asking for more than an answer, which may not come.
func (c *Client) write(id byte, r *servo.Register, v int64) error {
	var room [4]byte
	c.link.Out = AppendWrite(c.link.Out[:0], id, byte(r.Addr), r.Append(room[:0], v))
	if _, err := c.link.answer(id, 0, maxDelay); err != nil && !servo.IsServoError(err) {
		return err
	}
	return nil
}

// lockAt closes the lock of a servo that has gone to another rate, where the line can follow it.
func (c *Client) lockAt(baud int, id byte, lock *servo.Register) error {
	line, ok := c.x.Port.(servo.Line)
	if !ok {
		return servo.Refuse(c.Name, int(id), "lock", "the line cannot change its rate to %d", baud)
	}
	if err := line.SetBaud(baud); err != nil {
		return err
	}
	return c.fault(id, "lock", c.link.store(id, lock, 1, maxDelay))
}

// Table reads every register of a servo, one by one, into a map by name. It stops at the first failure.
func (c *Client) Table(id byte, m *Model) (map[string]int64, error) {
	return servo.Dump(m.Registers, func(name string) (int64, error) { return c.ReadRegister(id, m, name) })
}

// fault wraps err with its kind; nil stays nil.
func (c *Client) fault(id byte, op string, err error) error {
	return servo.Fault(c.Name, int(id), op, err)
}

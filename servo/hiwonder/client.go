package hiwonder

import (
	"fmt"
	"time"

	"github.com/halyard-robotics/halyard/servo"
)

// Client talks to one servo at a time, for tools. Every call blocks for its wire time, Latency and 3 ms at most. It
// shares its port with nobody.
type Client struct {
	Name    string        // the bus in errors
	Latency time.Duration // what the adapter may hold an answer back
	link    *link
	x       servo.Exchange
}

// NewClient returns a client on port, which stays the caller's.
func NewClient(port servo.Port) *Client {
	c := &Client{x: servo.NewExchange(port, bitsPerByte, maxPacket, 8*maxPacket)}
	c.link = newLink(&c.x)
	return c
}

// Ping asks one servo whether it is there. With Broadcast the one that is alone on the line says its id.
func (c *Client) Ping(id byte) (byte, error) {
	r := ModelByName("lx-16a").Register("id")
	c.x.Latency = c.Latency
	v, err := c.link.register(id, r)
	return byte(v), c.fault(id, "ping", err)
}

// Scan asks every id from first to last and calls found for each that answers or whose answer is mangled.
func (c *Client) Scan(first, last byte, found func(id byte, err error)) error {
	return servo.Scan(first, last, func(id byte) (byte, error) {
		_, err := c.Ping(id)
		return id, err
	}, found)
}

// ReadRegister returns the raw value of a register.
func (c *Client) ReadRegister(id byte, m *Model, name string) (int64, error) {
	r := m.Register(name)
	if r == nil {
		return 0, servo.Refuse(c.Name, int(id), "read "+name, "%s has no such register", m.Name)
	}
	c.x.Latency = c.Latency
	v, err := c.link.register(id, r)
	return v, c.fault(id, "read "+name, err)
}

// WriteRegister writes a raw value and reads it back, with the other registers of its command as they are. A new id is
// read back from its new place; an offset is saved for good.
func (c *Client) WriteRegister(id byte, m *Model, name string, v int64) error {
	op := "write " + name
	r := m.Register(name)
	if err := r.CheckWrite(m.Name, v); err != nil {
		return servo.Refuse(c.Name, int(id), op, "%w", err)
	}
	c.x.Latency = c.Latency
	cmd := commandOf(r)
	k, err := c.link.read(id, cmd)
	if err != nil {
		return c.fault(id, op, err)
	}
	params := append([]byte(nil), k.Params...)
	r.Append(params[:r.Addr-cmd.Addr], v)
	c.link.Out = c.link.Out[:0]
	c.link.write(id, cmd.Write, params)
	if cmd.Write == adjustOffset {
		c.link.write(id, saveOffset, nil)
	}
	if err := c.link.Write(); err != nil {
		return c.fault(id, op, err)
	}
	if name == "id" {
		id = byte(v)
	}
	got, err := c.link.register(id, r)
	if err == nil && got != v {
		err = fmt.Errorf("got %d, want %d", got, v)
	}
	return c.fault(id, op, err)
}

// Table reads every register of a servo, one by one, into a map by name. It stops at the first failure.
func (c *Client) Table(id byte, m *Model) (map[string]int64, error) {
	return servo.Dump(m.Registers, func(name string) (int64, error) { return c.ReadRegister(id, m, name) })
}

func (c *Client) fault(id byte, op string, err error) error {
	return servo.Fault(c.Name, int(id), op, err)
}

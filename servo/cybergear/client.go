package cybergear

import (
	"errors"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
)

// Client asks motors one by one, for tools. One goroutine calls it. It makes no motor turn.
type Client struct {
	Name    string        // the bus in errors
	Latency time.Duration // what the adapter may hold an answer back

	x    servo.Exchange
	can  *servo.CANExchange
	want Message // the answer that is waited for: its type, its sender as Extra, and of a reading the index as Data
	got  Message
}

// NewClient returns a client of a line, which stays the caller's.
func NewClient(line servo.Line) *Client {
	c := &Client{x: servo.NewExchange(line, frameBits, 8*servo.CANSize, 64*servo.CANSize)}
	c.can = servo.NewCANExchange(&c.x, c.accept)
	return c
}

// accept takes a frame, and reports whether it is the one that is waited for.
func (c *Client) accept(f *servo.CANFrame) bool {
	var m Message
	if !m.Parse(f) || m.Type != c.want.Type {
		return false
	}
	id, ok := m.sender()
	if !ok || uint16(id) != c.want.Extra || m.Type == Read && [2]byte(m.Data[:2]) != [2]byte(c.want.Data[:2]) {
		return false
	}
	c.got = m
	return true
}

// ask sends m and waits for an answer of type t from id; what came before is thrown away.
func (c *Client) ask(op string, m Message, t Type, id byte) error {
	c.x.Latency = c.Latency
	c.want = Message{}
	if err := c.can.Drain(); err != nil {
		return servo.Fault(c.Name, int(m.Target), op, err)
	}
	c.want = Message{Type: t, Extra: uint16(id), Data: m.Data}
	f := m.Frame()
	c.can.Put(&f)
	return servo.Fault(c.Name, int(m.Target), op, c.can.Collect(1, replyDelay))
}

// Ping asks motor id whether it is there.
func (c *Client) Ping(id byte) error { return c.ask("ping", To(id, Who), Who, id) }

// Read reads a parameter, raw. A motor whose firmware does not know it does not answer: servo.ErrNoRegister where it is there.
func (c *Client) Read(id byte, r *servo.Register) (int64, error) {
	if err := c.ask("read "+r.Name, Ask(id, Index(r.Addr)), Read, id); err != nil {
		if hal.KindOf(err) == hal.Timeout && c.Ping(id) == nil {
			err = servo.Refuse(c.Name, int(id), "read "+r.Name, "%w", servo.ErrNoRegister)
		}
		return 0, err
	}
	return r.Decode(c.got.Data[4:]), nil
}

// Write writes a parameter and reads it back. It is lost with the power.
func (c *Client) Write(id byte, r *servo.Register, v int64) error {
	m := Ask(id, Index(r.Addr))
	m.Type = Write
	r.Append(m.Data[:4], v)
	if err := c.ask("write "+r.Name, m, Tell, id); err != nil {
		return err
	}
	got, err := c.Read(id, r)
	if err != nil {
		return err
	}
	return servo.Verify(c.Name, int(id), r.Name, got, v)
}

var errStillOn = errors.New("it still has its torque")

// Stop takes the torque of motor id, and makes sure.
func (c *Client) Stop(id byte) error {
	if err := c.ask("stop", To(id, Stop), Tell, id); err != nil {
		return err
	}
	if State(c.got.Extra>>14) == Running {
		return servo.Fault(c.Name, int(id), "stop", errStillOn)
	}
	return nil
}

// SetID gives motor id another id, which it has from then on, also without power. Its torque must be off. It answers from
// the new one.
func (c *Client) SetID(id, to byte) error {
	m := To(id, SetID)
	m.Extra = uint16(to)<<8 | Host
	return c.ask("set id", m, Who, to)
}

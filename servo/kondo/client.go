package kondo

import (
	"fmt"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
)

// Client talks to one servo at a time, for tools. Every call blocks for its wire time, Latency and 2 ms at most. It
// shares its port with nobody; the port's echo is out of it already.
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

// Ping asks one servo whether it is there, by reading its stiffness: nothing moves.
func (c *Client) Ping(id byte) error {
	_, err := c.ask("ping", Packet{Op: Read, ID: id, A: Stretch})
	return err
}

// Alone returns the id of the only servo on the line. Where there are several, their answers collide.
func (c *Client) Alone() (byte, error) {
	k, err := c.ask("id", Packet{Op: ID, ID: LastID})
	return k.ID, err
}

// SetID gives the only servo on the line another id, for good.
func (c *Client) SetID(id byte) error {
	if id > LastID {
		return &hal.Error{Kind: hal.Invalid, Bus: c.Name, Op: "set id", Err: fmt.Errorf("got %d, want 0..%d", id, LastID)}
	}
	_, err := c.ask("set id", Packet{Op: ID, ID: id, A: 1})
	return err
}

// Scan asks every id from first to last and calls found for each that answers or whose answer is mangled.
func (c *Client) Scan(first, last byte, found func(id byte, err error)) error {
	return servo.Scan(first, min(last, LastID), func(id byte) (byte, error) { return id, c.Ping(id) }, found)
}

// Get reads a parameter: Stretch, Speed, or the present Current or Heat.
func (c *Client) Get(id, sc byte) (byte, error) {
	k, err := c.ask(fmt.Sprintf("read %d", sc), Packet{Op: Read, ID: id, A: sc})
	return k.B, err
}

// Set writes a parameter of 1..127: Stretch, Speed, or the limit of Current or Heat. It is lost with the power.
func (c *Client) Set(id, sc, v byte) error {
	op := fmt.Sprintf("write %d", sc)
	if v < 1 || v > 127 || sc < Stretch || sc > Heat {
		e := fmt.Errorf("got %d = %d, want parameter %d..%d of 1..127", sc, v, Stretch, Heat)
		return &hal.Error{Kind: hal.Invalid, Bus: c.Name, ID: int(id), Op: op, Err: e}
	}
	k, err := c.ask(op, Packet{Op: Write, ID: id, A: sc, B: v})
	if err == nil && k.B != v {
		err = servo.Fault(c.Name, int(id), op, fmt.Errorf("got %d, want %d", k.B, v))
	}
	return err
}

// Free takes the torque off a servo and returns where it stands, ticks.
func (c *Client) Free(id byte) (int, error) {
	k, err := c.ask("free", At(id, 0))
	return k.Value(), err
}

func (c *Client) ask(op string, k Packet) (Packet, error) {
	c.x.Latency = c.Latency
	got, err := c.link.exchange(k)
	return got, servo.Fault(c.Name, int(k.ID), op, err)
}

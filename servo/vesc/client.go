package vesc

import (
	"time"

	"github.com/halyard-robotics/halyard/servo"
)

// Client asks controllers one by one, for tools. One goroutine calls it. It makes no motor turn.
type Client struct {
	Name    string        // the bus in errors
	Latency time.Duration // what the adapter may hold an answer back

	x    servo.Exchange
	link *link
}

// NewClient returns a client of a line, which stays the caller's.
func NewClient(line servo.Line) *Client {
	c := &Client{x: servo.NewExchange(line, bitsPerByte, 4*maxPacket, 2*maxPacket)}
	c.link = newLink(&c.x)
	return c
}

// Found is what a controller says of itself.
type Found struct {
	ID           byte
	Major, Minor byte          // firmware
	Hardware     string        // "60_MK6"
	PolePairs    int           // of its motor
	Timeout      time.Duration // after which it stops the motor when nobody speaks; 0 = never
	Volts        float64       // of its supply
	Fault        Fault
}

// First returns the id of the controller at the line's end.
func (c *Client) First() (byte, error) {
	c.x.Latency = c.Latency
	if err := c.link.find(); err != nil {
		return 0, servo.Fault(c.Name, 0, "find", err)
	}
	return byte(c.link.first), nil
}

// Identify asks the controller id, at the line's end or behind it.
func (c *Client) Identify(id byte) (Found, error) {
	if _, err := c.First(); err != nil {
		return Found{}, err
	}
	who, err := c.link.identify(int(id))
	if err != nil {
		return Found{}, servo.Fault(c.Name, int(id), "identify", err)
	}
	v, err := c.link.measure(int(id), Mask(Volts, FaultCode, ControllerID))
	if err != nil {
		return Found{}, servo.Fault(c.Name, int(id), "measure", err)
	}
	return Found{ID: id, Major: who.major, Minor: who.minor, Hardware: who.hardware, PolePairs: who.poles / 2,
		Timeout: who.timeout, Volts: v[Volts], Fault: Fault(v[FaultCode])}, nil
}

// Behind returns the ids of the controllers on the CAN bus of the first; asking takes it up to half a second.
func (c *Client) Behind() ([]byte, error) {
	c.x.Latency = c.Latency + pingTime
	defer func() { c.x.Latency = c.Latency }()
	c.link.put(c.link.first, []byte{byte(PingCAN)})
	p, err := c.link.askPing()
	if err != nil {
		return nil, servo.Fault(c.Name, 0, "ping", err)
	}
	return append([]byte(nil), p...), nil
}

// pingTime is how long the first controller may look for others.
const pingTime = 500 * time.Millisecond

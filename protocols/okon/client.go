package okon

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"slices"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/protocols"
)

// Client is the client of one control channel, of Halyard or the original. Only one goroutine may use it. Every method
// blocks until the answer or the timeout; after an error of kind hal.Timeout only Close may be called. A refusal by the
// server is a Refusal, and the session continues.
type Client struct {
	conn    net.Conn
	timeout time.Duration
	in      packets
	out     []byte
	events  []Event
}

// Event is an unsolicited packet: ResetSim, HitNoGo or HitFinish, with the zone's id.
type Event struct {
	Type Type
	ID   string
}

// maxEvents bounds the events that are kept for Events; the oldest go first.
const maxEvents = 256

// Refusal is the ERROR of a server.
type Refusal struct{ Fault }

func (r *Refusal) Error() string { return "okon: refused: " + r.Info }

// refusal reads the data of an ERROR.
func refusal(data []byte) *Refusal {
	r := &Refusal{}
	if json.Unmarshal(data, &r.Fault) != nil {
		r.Info = string(data)
	}
	return r
}

// Dial connects to the control channel at address. timeout is that of connecting and of each exchange; 0 = 10 s.
func Dial(address string, timeout time.Duration) (*Client, error) {
	conn, timeout, err := dial(address, timeout)
	if err != nil {
		return nil, err
	}
	return NewClient(conn, timeout), nil
}

func dial(address string, timeout time.Duration) (net.Conn, time.Duration, error) {
	protocols.Positive(&timeout, 10*time.Second)
	conn, err := net.DialTimeout("tcp", address, timeout)
	if err != nil {
		return nil, 0, &hal.Error{Kind: hal.Absent, Op: "okon: dial", Err: err}
	}
	return conn, timeout, nil
}

// NewClient is Dial on an open connection; it owns conn.
func NewClient(conn net.Conn, timeout time.Duration) *Client {
	return &Client{conn: conn, timeout: timeout, in: packets{from: conn, limit: maxReply}}
}

// Close closes the connection.
func (c *Client) Close() error { return c.conn.Close() }

// Send sends a packet without waiting for an answer.
func (c *Client) Send(p Packet) error {
	c.conn.SetDeadline(time.Now().Add(c.timeout))
	c.out = Append(c.out[:0], p)
	if _, err := c.conn.Write(c.out); err != nil {
		return fault(p.Type, err)
	}
	return nil
}

// Ask sends a packet and returns the data that answer it, valid until the next call.
func (c *Client) Ask(t Type, f Flag, data []byte) ([]byte, error) {
	if err := c.Send(Packet{t, f, data}); err != nil {
		return nil, err
	}
	return c.await(t)
}

// SendConfirmed sends a packet that has no answer but an ERROR, and waits for the echo behind that.
func (c *Client) SendConfirmed(t Type, data []byte) error {
	if err := c.Send(Packet{t, serverEcho, data}); err != nil {
		return err
	}
	var refusal *Refusal
	for {
		_, err := c.await(Ack)
		if errors.As(err, &refusal) {
			continue // the echo is still to come
		}
		if err == nil && refusal != nil {
			return refusal
		}
		return err
	}
}

// await returns the data of the next packet of type t; of an Ack those of one that is no heartbeat.
func (c *Client) await(t Type) ([]byte, error) {
	for {
		var p Packet
		if err := c.in.next(&p); err != nil {
			return nil, fault(t, err)
		}
		switch {
		case p.Type == Ack && len(p.Data) == 0:
		case p.Type == t && t != ResetSim:
			return p.Data, nil
		case p.Type == failure:
			return nil, refusal(p.Data)
		case p.Type == ResetSim || p.Type == HitNoGo || p.Type == HitFinish:
			if len(c.events) == maxEvents {
				c.events = slices.Delete(c.events, 0, 1)
			}
			c.events = append(c.events, Event{p.Type, word(p.Data, "id")})
		}
	}
}

// Events returns the events received since the last call, and clears them.
func (c *Client) Events() []Event {
	e := c.events
	c.events = nil
	return e
}

// get requests a value that is sent as JSON.
func get[T any](c *Client, t Type) (v T, err error) { return fill(c, t, v) }

// fill is get into v, of which null changes nothing.
func fill[T any](c *Client, t Type, v T) (T, error) {
	b, err := c.Ask(t, DoNotLog, nil)
	if err != nil {
		return v, err
	}
	if err := json.Unmarshal(b, &v); err != nil {
		return v, fault(t, fmt.Errorf("answer: %w", err))
	}
	return v, nil
}

// sendJSON sends v as JSON.
func (c *Client) sendJSON(t Type, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return fault(t, err)
	}
	return c.SendConfirmed(t, b)
}

func fault(t Type, err error) error { return protocols.Fault("okon: "+t.String(), err) }

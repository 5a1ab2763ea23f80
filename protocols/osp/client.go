package osp

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/protocols"
)

// ClientOptions are the timeouts of a client. The zero ClientOptions are good.
type ClientOptions struct {
	Resend      time.Duration // a request without an answer is sent again after this; 0 = 250 ms
	Timeout     time.Duration // of every request but steps and resets; 0 = 2 s
	StepTimeout time.Duration // of steps and resets, which wait for other clients too; 0 = 30 s
	// Listen opens the client's socket; nil = protocols.ListenUDP.
	Listen protocols.Listener
}

// ErrCommunicationReset reports that some client has reset the communication: this one has to dial again.
var ErrCommunicationReset = errors.New("osp: communication was reset")

// Client is one client of a server. Only one goroutine may use it. Every method blocks until its answer arrives, or
// returns an error of kind hal.Timeout after its timeout. An agent of another client is an error of kind hal.Busy.
type Client struct {
	conn    protocols.PacketConn
	server  netip.AddrPort // the session's port
	options ClientOptions
	agents  []*remote // under control
	number  byte      // of the last numbered request

	in, out  []byte
	d        Datagram  // the last datagram received
	deadline time.Time // the socket's
	begun    bool      // the session has its port
	lost     error     // why the session ended
	reset    awaited
	current  *remote // of the last 85: the 51s that follow are its
}

// Dial opens a session with the server at address, with version 1.1 as ints, as in the document.
func Dial(address string, o ClientOptions) (*Client, error) {
	server, err := net.ResolveUDPAddr("udp", address)
	if err != nil {
		return nil, &hal.Error{Kind: hal.Invalid, Op: "osp: dial", Err: err}
	}
	return dialVersion(protocols.Plain(server.AddrPort()), versionNumber{Major: 1, Minor: 1}, o)
}

// dialVersion is Dial with another way to name the version.
func dialVersion(server netip.AddrPort, v versionNumber, o ClientOptions) (*Client, error) {
	protocols.Positive(&o.Resend, 250*time.Millisecond)
	protocols.Positive(&o.Timeout, 2*time.Second)
	protocols.Positive(&o.StepTimeout, 30*time.Second)
	conn, err := protocols.ListenFor(server, o.Listen)
	if err != nil {
		return nil, &hal.Error{Kind: hal.Unexpected, Op: "osp: dial", Err: err}
	}
	c := &Client{conn: conn, server: server, options: o, in: make([]byte, MaxDatagram+1)}
	ack := func() bool { return c.d.Command == initCommunicationAck && c.d.Version == v }
	if err := c.exchange("dial", &Datagram{Command: initCommunication, Version: v}, ack); err != nil {
		conn.Close()
		return nil, err
	}
	return c, nil
}

// Close ends the session and closes the socket; the server frees the agents. It waits briefly for the answer.
func (c *Client) Close() error {
	defer c.conn.Close()
	if c.lost != nil {
		return nil
	}
	return c.exchange("close", &Datagram{Command: endCommunication}, c.got(endCommunicationAck))
}

// ResetCommunication ends the sessions of all clients of the server, this one too.
func (c *Client) ResetCommunication() error {
	err := c.exchange("reset communication", &Datagram{Command: resetCommunication},
		func() bool { return c.lost != nil })
	if errors.Is(err, ErrCommunicationReset) {
		return nil
	}
	return err
}

func (c *Client) got(want Command) func() bool { return func() bool { return c.d.Command == want } }

func (c *Client) gotID(want Command, id int32) func() bool {
	return func() bool { return c.d.Command == want && c.d.ID == id }
}

// exchange sends d, repeatedly, until done returns true. done is called for each datagram that belongs to no step or
// reset.
func (c *Client) exchange(op string, d *Datagram, done func() bool) error {
	// every such request may be repeated: its answer is the same, or equivalent
	end := time.Now().Add(c.options.Timeout)
	for time.Now().Before(end) {
		if err := c.send(d); err != nil {
			return err
		}
		for {
			err := c.receive(min(c.options.Resend, c.options.Timeout))
			if errors.Is(err, os.ErrDeadlineExceeded) {
				break
			}
			if done() {
				return nil
			}
			if err != nil {
				return err
			}
		}
	}
	return c.timeout(op, c.options.Timeout)
}

func (c *Client) timeout(op string, after time.Duration) error {
	return &hal.Error{Kind: hal.Timeout, Op: "osp: " + op, Err: fmt.Errorf("%v: no answer within %v", c.server, after)}
}

func (c *Client) send(d *Datagram) error {
	if c.lost != nil {
		return c.lost
	}
	c.out = Append(c.out[:0], d)
	_, err := c.conn.WriteToUDPAddrPort(c.out, c.server)
	if errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil // another error of the socket for one datagram counts as its loss
}

// receive waits about timeout for one datagram of the session, decodes it into c.d, and handles an answer to a step or
// a reset. It moves the socket's deadline only when it is near: moving it costs as much as a datagram.
func (c *Client) receive(timeout time.Duration) error {
	if now := time.Now(); c.deadline.Sub(now) < timeout/2 || c.deadline.Sub(now) > timeout {
		c.deadline = now.Add(timeout)
		c.conn.SetReadDeadline(c.deadline)
	}
	for {
		n, from, err := c.conn.ReadFromUDPAddrPort(c.in)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			c.deadline = time.Time{}
			return err
		}
		if err != nil && !protocols.Transient(err) {
			return err
		}
		if err != nil || decode(c.in[:n], &c.d) != nil {
			continue
		}
		// the session's port is unknown before its first datagram; after it datagrams from other ports are ignored
		from = protocols.Plain(from)
		if c.d.Command == initCommunicationAck && !c.begun && from.Addr() == c.server.Addr() {
			c.server, c.begun = from, true // the session's own port
		}
		if from == c.server {
			return c.handle()
		}
	}
}

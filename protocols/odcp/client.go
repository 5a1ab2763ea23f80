package odcp

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
	Resend  time.Duration // a request without an answer is sent again after this; 0 = 100 ms
	Timeout time.Duration // of every request; 0 = 2 s
	// Listen opens the client's socket; nil = protocols.ListenUDP.
	Listen protocols.Listener
}

// Client is one client of a server. Only one goroutine may use it. A request with an answer blocks until the answer, or
// returns an error of kind hal.Timeout after Timeout.
type Client struct {
	conn    protocols.PacketConn
	server  netip.AddrPort
	options ClientOptions
	in, out []byte
	d       Datagram
}

// Open returns a client of the server at address. It sends nothing.
func Open(address string, o ClientOptions) (*Client, error) {
	server, err := net.ResolveUDPAddr("udp", address)
	if err != nil {
		return nil, &hal.Error{Kind: hal.Invalid, Op: "odcp: open", Err: err}
	}
	protocols.Positive(&o.Resend, 100*time.Millisecond)
	protocols.Positive(&o.Timeout, 2*time.Second)
	c := &Client{server: protocols.Plain(server.AddrPort()), options: o, in: make([]byte, MaxDatagram+1)}
	if c.conn, err = protocols.ListenFor(c.server, o.Listen); err != nil {
		return nil, &hal.Error{Kind: hal.Unexpected, Op: "odcp: open", Err: err}
	}
	return c, nil
}

// Close closes the socket without a message to the server.
func (c *Client) Close() error { return c.conn.Close() }

// Connect notifies the agent's rig of a client; Disconnect, of its end. Both are optional.
func (c *Client) Connect() error {
	return c.ask("connect", initCommunication, initCommunicationAck)
}

// Disconnect is the opposite of Connect.
func (c *Client) Disconnect() error {
	return c.ask("disconnect", endCommunication, endCommunicationAck)
}

// Set sends angles and torques, 0..1023, in the order of the agent's motors. It is not answered and may be lost. With
// torques there must be an angle of every motor: the server distinguishes the two by their number.
func (c *Client) Set(angles, torques []int32) error {
	c.d.Command, c.d.Values = setMotors, append(append(c.d.Values[:0], angles...), torques...)
	return c.send()
}

// Get returns the measured angles of all motors, 0..1023. They are valid until the next call.
func (c *Client) Get() ([]int32, error) {
	err := c.ask("get", getMotors, motorSettings)
	return c.d.Values, err
}

func (c *Client) send() error {
	c.out = Append(c.out[:0], &c.d)
	if _, err := c.conn.WriteToUDPAddrPort(c.out, c.server); errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil // another error of the socket for one datagram counts as its loss
}

// ask sends command until want is received.
func (c *Client) ask(op string, command, want Command) error {
	for end := time.Now().Add(c.options.Timeout); time.Now().Before(end); {
		c.d.Command, c.d.Values = command, c.d.Values[:0]
		if err := c.send(); err != nil {
			return err
		}
		c.conn.SetReadDeadline(time.Now().Add(c.options.Resend))
		for {
			n, from, err := c.conn.ReadFromUDPAddrPort(c.in)
			if errors.Is(err, os.ErrDeadlineExceeded) {
				break
			}
			if err != nil && !protocols.Transient(err) {
				return err
			}
			if err == nil && protocols.Plain(from) == c.server && decode(c.in[:n], &c.d) == nil && c.d.Command == want {
				return nil
			}
		}
	}
	return &hal.Error{Kind: hal.Timeout, Op: "odcp: " + op,
		Err: fmt.Errorf("%v: no answer within %v", c.server, c.options.Timeout)}
}

package batch

import (
	"bufio"
	"net"

	"github.com/halyard-robotics/halyard/hal"
)

// Client steps the copies of a server. It is not safe for two goroutines.
type Client struct {
	Spaces    Spaces
	conn      net.Conn
	in        *bufio.Reader
	body, out []byte
}

// NewClient sends HELLO on conn. It owns conn.
func NewClient(conn net.Conn, h *Hello) (*Client, error) {
	c := &Client{conn: conn, in: bufio.NewReaderSize(conn, 64<<10)}
	err := c.ask(appendHello(beginFrame(nil), h))
	if err == nil {
		var s *Spaces
		if s, err = parseSpaces(c.body); err == nil {
			c.Spaces = *s
			return c, nil
		}
	}
	conn.Close()
	return nil, refused(err)
}

// Step sends the actions of all copies and waits for their observations.
func (c *Client) Step(actions, observations []float64) error {
	if err := c.ask(appendStep(beginFrame(c.out), actions)); err != nil {
		return err
	}
	return refused(parseFloats(c.body, observationsType, observations))
}

// Reset resets the copies for which which is true, all where it is nil, by their seeds.
func (c *Client) Reset(which []bool, seeds []int64, observations []float64) error {
	if err := c.ask(appendReset(beginFrame(c.out), c.Spaces.Copies, which, seeds)); err != nil {
		return err
	}
	return refused(parseFloats(c.body, observationsType, observations))
}

// Close ends the session, and the copies with it.
func (c *Client) Close() error { return c.conn.Close() }

func (c *Client) ask(frame []byte) (err error) {
	c.out = endFrame(frame)
	if _, err = c.conn.Write(c.out); err != nil {
		return err
	}
	c.body, err = readFrame(c.in, c.body, maxFrame)
	return err
}

// refused is an ERROR of the server as an error of its kind.
func refused(err error) error {
	if r, ok := err.(*Refusal); ok {
		return &hal.Error{Kind: hal.Kind(r.Kind), Op: "batch", Err: r}
	}
	return err
}

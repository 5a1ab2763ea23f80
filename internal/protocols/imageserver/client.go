package imageserver

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/protocols"
)

// Client is a client of one server, Halyard's or an original. It belongs to one goroutine. Each wait ends with an error
// of kind hal.Timeout when its time is over; after an error only Close is left.
type Client struct {
	conn    net.Conn
	timeout time.Duration
	data    []byte
}

// Dial connects to the server at address. timeout bounds that, and the wait for each picture; 0 = 30 s.
func Dial(address string, timeout time.Duration) (*Client, error) {
	protocols.Positive(&timeout, 30*time.Second)
	conn, err := net.DialTimeout("tcp", address, timeout)
	if err != nil {
		return nil, &hal.Error{Kind: hal.Absent, Op: "imageserver: dial", Err: err}
	}
	return &Client{conn: conn, timeout: timeout}, nil
}

// Next waits for the next picture. Its Data are valid until the next call.
func (c *Client) Next() (Image, error) {
	c.conn.SetReadDeadline(time.Now().Add(c.timeout))
	var header [headerSize]byte
	if _, err := io.ReadFull(c.conn, header[:]); err != nil {
		return Image{}, fault(err)
	}
	size := binary.BigEndian.Uint32(header[1:])
	if size > MaxSize {
		return Image{}, fault(fmt.Errorf("%w: size: got %d, want at most %d", errFormat, size, MaxSize))
	}
	if cap(c.data) < int(size) {
		c.data = make([]byte, size)
	}
	c.data = c.data[:size]
	if _, err := io.ReadFull(c.conn, c.data); err != nil {
		return Image{}, fault(err)
	}
	m, err := decode(header, c.data)
	if err != nil {
		return Image{}, fault(err)
	}
	return m, nil
}

// Acknowledge requests the next picture.
func (c *Client) Acknowledge() error {
	c.conn.SetWriteDeadline(time.Now().Add(c.timeout))
	if _, err := c.conn.Write([]byte("OK")); err != nil {
		return fault(err)
	}
	return nil
}

// Close ends the connection.
func (c *Client) Close() error { return c.conn.Close() }

func fault(err error) error { return protocols.Fault("imageserver: receive", err) }

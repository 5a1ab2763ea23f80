package gamebots

import (
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/protocols"
)

// ClientOptions are the settings of a client. The zero ClientOptions are good.
type ClientOptions struct {
	Timeout time.Duration // of connecting, and of each wait for a message; 0 = 30 s
}

// maxMessage bounds one line of the server: the message of a scanner with some ten thousand rays.
const maxMessage = 128 << 10

// Client is the client of one server, Halyard's or an original. It belongs to one goroutine. Each wait ends with an
// error of kind hal.Timeout when its time is over; after an error only Close is left.
type Client struct {
	conn    net.Conn
	options ClientOptions
	in      protocols.LineReader
	message Message
	out     []byte
	until   time.Time // the present read deadline
}

// Dial connects to the server at address. Its NFO is the first message.
func Dial(address string, o ClientOptions) (*Client, error) {
	protocols.Positive(&o.Timeout, 30*time.Second)
	conn, err := net.DialTimeout("tcp", address, o.Timeout)
	if err != nil {
		return nil, &hal.Error{Kind: hal.Absent, Op: "gamebots: dial", Err: err}
	}
	return NewClient(conn, o), nil
}

// NewClient returns a client on an open connection, which it owns.
func NewClient(conn net.Conn, o ClientOptions) *Client {
	protocols.Positive(&o.Timeout, 30*time.Second)
	return &Client{conn: conn, options: o, in: lines(conn.Read, maxMessage)}
}

// Send sends one command, without its end: Send("DRIVE {Left %g} {Right %g}", 1.0, 1.0).
func (c *Client) Send(format string, args ...any) error {
	c.out = append(fmt.Appendf(c.out[:0], format, args...), "\r\n"...)
	c.conn.SetWriteDeadline(time.Now().Add(c.options.Timeout))
	if _, err := c.conn.Write(c.out); err != nil {
		return protocols.Fault("gamebots: send", err)
	}
	return nil
}

// Next waits for the next message; it is valid until the call after it.
func (c *Client) Next() (*Message, error) {
	if now := time.Now(); c.until.Sub(now) < c.options.Timeout/2 {
		c.until = now.Add(c.options.Timeout)
		c.conn.SetReadDeadline(c.until)
	}
	line, err := nextLine(&c.in)
	if err == nil {
		err = Parse(line, &c.message)
	}
	if err != nil {
		return nil, protocols.Fault("gamebots: receive", err)
	}
	return &c.message, nil
}

// Wait waits for a message of that type that has all these pairs, names and values in turn, and skips the others:
// Wait("SEN", "Type", "Sonar").
func (c *Client) Wait(kind string, pairs ...string) (*Message, error) {
	end := time.Now().Add(c.options.Timeout)
	for {
		m, err := c.Next()
		if err != nil {
			return nil, err
		}
		if m.Is(kind) && m.has(pairs) {
			return m, nil
		}
		if time.Now().After(end) {
			return nil, protocols.Fault("gamebots: wait for "+kind, os.ErrDeadlineExceeded)
		}
	}
}

// has reports whether m has all these pairs, names and values in turn, case-insensitive.
func (m *Message) has(pairs []string) bool {
	for i := 0; i+1 < len(pairs); i += 2 {
		if v, ok := m.Value(pairs[i]); !ok || !equal(v, pairs[i+1]) {
			return false
		}
	}
	return true
}

// Init spawns a robot and waits for its first state, or for the refusal, which is an error of kind hal.Invalid. An
// original server sends no refusal. location is m and rotation rad, both as on the wire; name may be "".
func (c *Client) Init(class, name string, location, rotation [3]float64) error {
	var t text
	t.begin("INIT")
	t.segment("ClassName", class)
	if name != "" {
		t.segment("Name", name)
	}
	t.vectorSegment("Location", location, fine)
	t.vectorSegment("Rotation", rotation, fine)
	if err := c.Send("%s", t.b); err != nil {
		return err
	}
	for {
		m, err := c.Next()
		switch {
		case err != nil:
			return err
		case m.Is("STA"):
			return nil
		case m.Is("RES") && m.has([]string{"Type", class, "Status", failed}):
			return &hal.Error{Kind: hal.Invalid, Op: "gamebots: init " + class,
				Err: errors.New("the server answered Failed")}
		}
	}
}

// Close ends the connection; the server removes the robot.
func (c *Client) Close() error { return c.conn.Close() }

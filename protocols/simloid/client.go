package simloid

import (
	"errors"
	"io"
	"net"
	"slices"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/protocols"
)

// ClientOptions are the settings of a client. The zero ClientOptions are good.
type ClientOptions struct {
	Dialect Dialect
	Timeout time.Duration // of connecting and of each exchange, a real robot's way home included; 0 = 30 s
}

// Client is the client of one server, Halyard's or an original. It belongs to one goroutine. Every method blocks until
// it has its answer or its time is over, then returns an error of kind hal.Timeout; a server that has another client
// already is an error of kind hal.Busy. After an error only Close is left.
type Client struct {
	conn    net.Conn
	options ClientOptions
	traits  Traits
	status  *Status
	out     []byte
	in      []byte // bytes read and not decoded
	room    [2 * (maxFrame + 1)]byte
	until   time.Time // the present deadline
}

// Dial connects to the server at address, acknowledges its traits and reads the first status.
func Dial(address string, o ClientOptions) (*Client, error) {
	protocols.Positive(&o.Timeout, 30*time.Second)
	conn, err := net.DialTimeout("tcp", address, o.Timeout)
	if err != nil {
		return nil, &hal.Error{Kind: hal.Absent, Op: "simloid: dial", Err: err}
	}
	return NewClient(conn, o)
}

// NewClient is Dial on an open connection; it owns conn, and closes it after an error.
func NewClient(conn net.Conn, o ClientOptions) (*Client, error) {
	protocols.Positive(&o.Timeout, 30*time.Second)
	c := &Client{conn: conn, options: o}
	if err := c.begin(); err != nil {
		conn.Close()
		return nil, err
	}
	return c, nil
}

// Traits returns the robot's traits, Status the last status; the client owns both and changes them.
func (c *Client) Traits() *Traits { return &c.traits }
func (c *Client) Status() *Status { return c.status }

// Cycle sends commands and DONE, and returns the status that answers them; it is valid until the next call. Pause is
// not answered, so Cycle returns the last status. After Model the traits are the new robot's.
func (c *Client) Cycle(commands ...Command) (*Status, error) {
	has := func(v Verb) bool { return slices.ContainsFunc(commands, func(d Command) bool { return d.Verb == v }) }
	if err := c.send("DONE\n", commands...); err != nil {
		return nil, err
	}
	switch {
	case has(Model):
		if err := c.begin(); err != nil {
			return nil, err
		}
	case !has(pause):
		if err := c.receive("cycle", c.decodeStatus); err != nil {
			return nil, err
		}
	}
	return c.status, nil
}

// Describe requests the robot's description: later dialect.
func (c *Client) Describe() (text string, err error) {
	if err := c.send("DESCRIPTION\n"); err != nil {
		return "", err
	}
	err = c.receive("description", func(b []byte) (int, error) {
		r := lines{rest: b}
		if err := r.next(); err != nil {
			return 0, err
		}
		text = string(r.line)
		return len(r.line) + 1, nil
	})
	return text, err
}

// Close sends EXIT and closes the connection.
func (c *Client) Close() error {
	err := c.send("EXIT\n")
	return errors.Join(c.conn.Close(), ignoreClosed(err))
}

// ignoreClosed returns nil for a connection that the server has closed: the session has ended either way.
func ignoreClosed(err error) error {
	var e *net.OpError
	if errors.As(err, &e) || errors.Is(err, io.ErrClosedPipe) {
		return nil
	}
	return err
}

// begin reads the traits and the first status.
func (c *Client) begin() error {
	c.arm()
	err := c.receive("traits", func(b []byte) (int, error) { return decodeTraits(b, &c.traits, c.options.Dialect) })
	if err != nil {
		return err
	}
	c.status = newStatus(&c.traits, c.options.Dialect)
	if err := c.send("ACK\n"); err != nil {
		return err
	}
	return c.receive("first status", c.decodeStatus)
}

func (c *Client) decodeStatus(b []byte) (int, error) { return decodeStatus(b, c.status) }

// send writes commands and last in one piece.
func (c *Client) send(last string, commands ...Command) error {
	c.arm()
	c.out = c.out[:0]
	for i := range commands {
		c.out = Append(c.out, &commands[i])
	}
	c.out = append(c.out, last...)
	if _, err := c.conn.Write(c.out); err != nil {
		return protocols.Fault("simloid: send", err)
	}
	return nil
}

// arm bounds the exchange that begins. The deadline moves when half of it has passed, not with every cycle.
func (c *Client) arm() {
	if now := time.Now(); c.until.Sub(now) < c.options.Timeout/2 {
		c.until = now.Add(c.options.Timeout)
		c.conn.SetDeadline(c.until)
	}
}

// receive reads until decode has a complete frame.
func (c *Client) receive(op string, decode func([]byte) (int, error)) error {
	for {
		n, err := decode(c.in)
		if err == nil {
			c.in = c.in[n:]
			return nil
		}
		if !errors.Is(err, ErrTruncated) {
			return &hal.Error{Kind: hal.Unexpected, Op: "simloid: " + op, Err: err}
		}
		// to the front, so that all the room is behind it
		c.in = c.room[:copy(c.room[:], c.in)]
		if len(c.in) == len(c.room) {
			return &hal.Error{Kind: hal.Unexpected, Op: "simloid: " + op, Err: ErrFormat}
		}
		n, err = c.conn.Read(c.room[len(c.in):])
		c.in = c.room[:len(c.in)+n]
		if n == 0 && err != nil {
			if op == "traits" && errors.Is(err, io.EOF) {
				return &hal.Error{Kind: hal.Busy, Op: "simloid: dial",
					Err: errors.New("closed at once: it has a client already")}
			}
			return protocols.Fault("simloid: "+op, err)
		}
	}
}

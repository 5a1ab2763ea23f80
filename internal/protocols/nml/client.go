package nml

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"strings"
	"time"

	"github.com/halyard-robotics/halyard/protocols"
)

// ErrProtocol reports a reply that does not fit its request; the connection cannot be used afterwards.
var ErrProtocol = errors.New("reply does not fit the request")

// StatusError is a status with which the server refused a request.
type StatusError struct {
	Op     string
	Status Status
}

func (e *StatusError) Error() string { return fmt.Sprintf("%s: %v", e.Op, e.Status) }

// Client reads and writes one buffer over one connection. One goroutine uses it. Every call blocks for at most Timeout.
type Client struct {
	// Timeout bounds a request and its reply; 0 = 5 s.
	Timeout time.Duration

	conn    net.Conn
	buffer  BufferOptions
	serial  uint32
	id      int32 // of the last message read
	out, in []byte
}

// NewClient returns a client of the buffer that o describes, and compares its name with the server's. It owns conn.
func NewClient(conn net.Conn, o BufferOptions) (*Client, error) {
	protocols.Positive(&o.Size, DefaultSize)
	c := &Client{conn: conn, buffer: o}
	reply, err := c.ask(bufferNameType, 0, 0, nil, 4+nameSize)
	if err != nil {
		conn.Close()
		return nil, err
	}
	want := o.Name[:min(len(o.Name), nameSize-1)]
	if name := strings.TrimRight(string(reply[4:]), "\x00"); name != want {
		conn.Close()
		return nil, fmt.Errorf("buffer %d: name: got %q, want %q: %w", o.Number, name, want, ErrProtocol)
	}
	return c, nil
}

// Dial connects to a buffer of a configuration file.
func Dial(line BufferLine) (*Client, error) {
	conn, err := net.DialTimeout("tcp", net.JoinHostPort(line.Host, fmt.Sprint(line.Port)), 5*time.Second)
	if err != nil {
		return nil, fmt.Errorf("buffer %s: %w", line.Name, err)
	}
	return NewClient(conn, line.Options(nil))
}

// Close sends a close request and closes the connection.
func (c *Client) Close() error {
	c.request(closeType, 0, 0, nil)
	return c.conn.Close()
}

func (c *Client) timeout() time.Duration {
	if c.Timeout > 0 {
		return c.Timeout
	}
	return 5 * time.Second
}

// request sends one request. Every request counts, also one without a reply.
func (c *Client) request(kind uint32, a, b int32, data []byte) error {
	c.out = c.out[:0]
	for _, w := range []uint32{c.serial, kind, uint32(c.buffer.Number), uint32(a), uint32(b)} {
		c.out = binary.BigEndian.AppendUint32(c.out, w)
	}
	c.out = append(c.out, data...)
	c.serial++
	c.conn.SetDeadline(time.Now().Add(c.timeout()))
	_, err := c.conn.Write(c.out)
	return err
}

// ask sends a request and reads the reply of n bytes after the serial. Its status is the first word.
func (c *Client) ask(kind uint32, a, b int32, data []byte, n int) ([]byte, error) {
	op := "buffer " + c.buffer.Name
	if err := c.request(kind, a, b, data); err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	return c.reply(op, n)
}

func (c *Client) reply(op string, n int) ([]byte, error) {
	c.in = append(c.in[:0], make([]byte, 4+n)...)
	if _, err := io.ReadFull(c.conn, c.in); err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	if got := binary.BigEndian.Uint32(c.in); got != c.serial {
		return nil, fmt.Errorf("%s: serial: got %d, want %d: %w", op, got, c.serial, ErrProtocol)
	}
	if s := Status(binary.BigEndian.Uint32(c.in[4:])); s < 0 {
		return c.in[4:], &StatusError{op, s}
	}
	return c.in[4:], nil
}

// Write sends m; ifRead sends it only where the message before has been read, which only a buffer with confirm_write
// answers.
func (c *Client) Write(m Message, ifRead bool) error {
	data, err := Append(nil, c.buffer.Encoding, m)
	if err != nil {
		return err
	}
	access := int32(writeAccess)
	if ifRead {
		access = writeIfReadAccess
	}
	if !c.buffer.ConfirmWrite {
		return c.request(writeType, access, int32(len(data)), data)
	}
	reply, err := c.ask(writeType, access, int32(len(data)), data, 8)
	if err == nil && Status(binary.BigEndian.Uint32(reply)) != WriteOK {
		err = &StatusError{"write " + c.buffer.Name, Status(binary.BigEndian.Uint32(reply))}
	}
	return err
}

// Read returns the next message, or ErrOld.
func (c *Client) Read(v Vocabulary) (Message, error) {
	return c.message(v, readType, readAccess, nil)
}

// Peek returns the next message and leaves it unread, or ErrOld.
func (c *Client) Peek(v Vocabulary) (Message, error) {
	return c.message(v, readType, peekAccess, nil)
}

// BlockingRead waits up to limit, in ms steps, for a message that is new to this client, or returns ErrOld.
func (c *Client) BlockingRead(v Vocabulary, limit time.Duration) (Message, error) {
	before := c.Timeout
	c.Timeout = c.timeout() + limit
	defer func() { c.Timeout = before }()
	ms := min(limit.Milliseconds(), math.MaxInt32)
	return c.message(v, blockingReadType, readAccess, binary.BigEndian.AppendUint32(nil, uint32(ms)))
}

func (c *Client) message(v Vocabulary, kind uint32, access int32, more []byte) (Message, error) {
	reply, err := c.ask(kind, access, c.id, more, 16)
	var refused *StatusError
	if errors.As(err, &refused) && refused.Status == TimedOut {
		return nil, ErrOld
	}
	if err != nil {
		return nil, err
	}
	word := func(i int) int32 { return int32(binary.BigEndian.Uint32(reply[4*i:])) }
	status, size, id := Status(word(0)), int(word(1)), word(2)
	if limit := growth * c.buffer.Size; size < 0 || size > limit {
		return nil, fmt.Errorf("buffer %s: size: got %d, want 0..%d: %w", c.buffer.Name, size, limit, ErrProtocol)
	}
	data := make([]byte, size)
	if _, err := io.ReadFull(c.conn, data); err != nil {
		return nil, fmt.Errorf("buffer %s: %w", c.buffer.Name, err)
	}
	if status != ReadOK || size == 0 {
		return nil, ErrOld
	}
	if access == readAccess {
		c.id = id
	}
	encoding, ok := Detect(data)
	if !ok {
		return nil, fmt.Errorf("buffer %s: encoding: %w", c.buffer.Name, ErrFormat)
	}
	return DecodeAny(data, encoding, v)
}

// Clear empties the buffer.
func (c *Client) Clear() error {
	_, err := c.ask(clearType, 0, 0, nil, 4)
	return err
}

// CheckRead reports whether the last message has been read.
func (c *Client) CheckRead() (bool, error) {
	n, err := c.value(checkReadType)
	return n != 0, err
}

// Count is the number of messages written, Length of those that wait, Space the bytes that a message may have.
func (c *Client) Count() (int, error)  { return c.value(messageCountType) }
func (c *Client) Length() (int, error) { return c.value(queueLengthType) }
func (c *Client) Space() (int, error)  { return c.value(spaceAvailableType) }

func (c *Client) value(kind uint32) (int, error) {
	reply, err := c.ask(kind, 0, 0, nil, 8)
	if err != nil {
		return 0, err
	}
	return int(int32(binary.BigEndian.Uint32(reply[4:]))), nil
}

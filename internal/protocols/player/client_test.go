package player

import (
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"
)

// ErrRefused reports a NACK.
var ErrRefused = errors.New("request refused")

// Message is one message, with its payload as it was received.
type Message struct {
	Header
	Payload []byte
}

// Client is one connection to a server. Only one goroutine may use it. It starts in push mode; messages received while
// it waits for an answer are kept for Next, at most 1000.
type Client struct {
	// Timeout bounds each call; 0 = 5 s.
	Timeout time.Duration

	conn net.Conn
	seq  uint32
	kept []Message
}

// NewClient reads the server's banner. It owns conn.
func NewClient(conn net.Conn) (*Client, error) {
	c := &Client{conn: conn}
	var b [bannerSize]byte
	conn.SetDeadline(time.Now().Add(c.timeout()))
	if _, err := io.ReadFull(conn, b[:]); err != nil {
		conn.Close()
		return nil, fmt.Errorf("player %v: banner: %w", conn.RemoteAddr(), err)
	}
	if !strings.HasPrefix(string(b[:]), "Player v.") {
		conn.Close()
		return nil, fmt.Errorf("player %v: banner: got %q, want Player v.: %w", conn.RemoteAddr(), b[:9], ErrFormat)
	}
	return c, nil
}

// Close ends the connection.
func (c *Client) Close() error { return c.conn.Close() }

func (c *Client) timeout() time.Duration {
	if c.Timeout > 0 {
		return c.Timeout
	}
	return 5 * time.Second
}

func (c *Client) send(h Header, in []byte) error {
	h.Size = uint32(len(in))
	c.conn.SetDeadline(time.Now().Add(c.timeout()))
	_, err := c.conn.Write(append(h.Append(nil), in...))
	return err
}

func (c *Client) receive() (m Message, err error) {
	var b [headerSize]byte
	if _, err = io.ReadFull(c.conn, b[:]); err != nil {
		return m, err
	}
	if err = m.Header.Decode(b[:]); err != nil {
		return m, err
	}
	if m.Size > maxAnswer {
		return m, fmt.Errorf("%v: size: got %d, want at most %d: %w", m.Device, m.Size, maxAnswer, ErrFormat)
	}
	m.Payload = make([]byte, m.Size)
	_, err = io.ReadFull(c.conn, m.Payload)
	return m, err
}

// Command sends a command.
func (c *Client) command(d Device, subtype uint8, p payload) error {
	return c.send(Header{Device: d, Type: Cmd, Subtype: subtype}, appendPayload(nil, p))
}

// request sends a request and waits for its answer, which it decodes into answer where that is not nil.
func (c *Client) request(d Device, subtype uint8, p, answer payload) error {
	const limit = 1000
	c.seq++
	if err := c.send(Header{Device: d, Type: Req, Subtype: subtype, Seq: c.seq}, appendPayload(nil, p)); err != nil {
		return err
	}
	for {
		m, err := c.receive()
		switch {
		case err != nil:
			return fmt.Errorf("%v: request %d: %w", d, subtype, err)
		case m.Seq != c.seq || m.Type != Ack && m.Type != Nack:
			if c.kept = append(c.kept, m); len(c.kept) > limit {
				c.kept = c.kept[1:]
			}
		case m.Type == Nack:
			return fmt.Errorf("%v: request %d: %w", d, subtype, ErrRefused)
		case answer != nil:
			return decodePayload(m.Payload, answer)
		default:
			return nil
		}
	}
}

// Next waits for the next message that is no answer.
func (c *Client) Next() (Message, error) {
	if len(c.kept) > 0 {
		m := c.kept[0]
		c.kept = c.kept[1:]
		return m, nil
	}
	c.conn.SetDeadline(time.Now().Add(c.timeout()))
	return c.receive()
}

// Devices lists the server's devices.
func (c *Client) Devices() ([]Device, error) {
	var list deviceList
	err := c.request(Device{Player, 0}, reqDeviceList, nil, &list)
	var out []Device
	for _, a := range list.Devices {
		out = append(out, a.Device)
	}
	return out, err
}

// Open subscribes to a device and returns its driver's name.
func (c *Client) Open(d Device) (driver string, err error) {
	p := deviceRequest{Address: address{Device: d}, Access: accessOpen}
	if err := c.request(Device{Player, 0}, reqDevice, &p, &p); err != nil {
		return "", err
	}
	if p.Access != accessOpen {
		return "", fmt.Errorf("open %v: %w", d, ErrRefused)
	}
	return strings.TrimRight(string(p.Driver), "\x00"), nil
}

// Drive moves position2d at v, m/s, and w, rad/s, counter-clockwise.
func (c *Client) Drive(v, w float64) error {
	return c.command(Device{Position2D, 0}, 1, &position2Velocity{pose2{X: v, A: w}, 1})
}

// Fly moves position3d at linear, m/s, and angular, rad/s, in the robot's own axes.
func (c *Client) Fly(linear, angular [3]float64) error {
	return c.command(Device{Position3D, 0}, 1, &position3Velocity{pose3{linear, angular}, 1})
}

// Switch sets the first n outputs of dio by the bits of on.
func (c *Client) Switch(n, on uint32) error { return c.command(Device{DIO, 0}, 1, &dioData{n, on}) }

// Place puts the robot at a pose in the world, where it is simulated.
func (c *Client) Place(name string, at, rollPitchYaw [3]float64) error {
	return c.request(Device{Simulation, 0}, 4, &simulationPose3{Name: name, Pose: pose3{at, rollPitchYaw}}, nil)
}

// Pose is a place in the plane, m, and a heading, rad, counter-clockwise.
type Pose struct{ X, Y, Heading float64 }

// Position2D is the odometry in m; false where it is another message.
func (m *Message) Position2D() (Pose, bool) {
	var p position2Data
	ok := m.data(Position2D, &p)
	return Pose{p.Pose.X, p.Pose.Y, p.Pose.A}, ok
}

// data decodes m where it is data of an interface.
func (m *Message) data(i Interface, p payload) bool {
	return m.Type == Data && m.Device.Interface == i && m.Subtype == 1 && decodePayload(m.Payload, p) == nil
}

// Velocity3D is position3d's linear and angular speed in the robot's own axes; false where it is another message.
func (m *Message) Velocity3D() (linear, angular [3]float64, ok bool) {
	var p position3Data
	ok = m.data(Position3D, &p)
	return p.Velocity.P, p.Velocity.R, ok
}

// Bits are dio's; false where it is another message.
func (m *Message) Bits() (bits uint32, ok bool) {
	var p dioData
	ok = m.data(DIO, &p)
	return p.Bits, ok
}

// Tags are rfid's, or the ids of fiducial's; false where it is another message.
func (m *Message) Tags() (ids []string, ok bool) {
	var tags rfidData
	var marks fiducialData
	ok = m.data(RFID, &tags) || m.data(Fiducial, &marks)
	for _, t := range tags.Tags {
		ids = append(ids, string(t.GUID))
	}
	for _, f := range marks.Fiducials {
		ids = append(ids, strconv.Itoa(int(f.ID)))
	}
	return ids, ok
}

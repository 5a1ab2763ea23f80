package odrive

import (
	"fmt"
	"strconv"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
)

// Client asks the axes of a controller on a serial line one by one, for tools. One goroutine calls it. It makes no motor
// turn.
type Client struct {
	Name    string        // the bus in errors
	Latency time.Duration // what the adapter may hold an answer back

	x       servo.Exchange
	link    *link
	dialect Dialect
}

// NewClient returns a client of a line, which stays the caller's.
func NewClient(line servo.Line) *Client {
	c := &Client{x: servo.NewExchange(line, bitsPerByte, MaxLine, 2*MaxLine), dialect: V05}
	c.link = newLink(&c.x)
	return c
}

func (c *Client) fail(axis int, op string, err error) error {
	if err != nil && c.link.none {
		return servo.Refuse(c.Name, axis, op, "%w", servo.ErrNoRegister)
	}
	return servo.Fault(c.Name, axis, op, err)
}

// Identify asks for the controller's firmware and hardware, and whether it has the axis. Firmware before 0.5 counts encoder
// steps and is refused.
func (c *Client) Identify(axis int) (*Model, error) {
	c.x.Latency = c.Latency
	var v [3]float64
	for i, p := range [...]Property{FirmwareMajor, FirmwareMinor, HardwareMajor} {
		var err error
		if v[i], err = c.link.number(p, V05, 0); err != nil && (p != HardwareMajor || !c.link.none) {
			return nil, c.fail(axis, "identify", err)
		}
	}
	if v[0] != 0 || v[1] < float64(V05) {
		return nil, servo.Refuse(c.Name, axis, "identify", "firmware: got %g.%g, want 0.5 or 0.6", v[0], v[1])
	}
	c.dialect = Dialect(min(v[1], float64(V06)))
	if _, err := c.link.number(CurrentState, c.dialect, axis); err != nil {
		if c.link.none {
			err = servo.ErrNoReply // there is a controller, but not this axis of it
		}
		return nil, servo.Fault(c.Name, axis, "identify", err)
	}
	m := modelOf(v[2])
	if m == nil {
		return nil, servo.Refuse(c.Name, axis, "identify", "hardware: got %g, want 3, 4 or 5", v[2])
	}
	return m, nil
}

// Read reads a register of Parameters, raw.
func (c *Client) Read(axis int, r *servo.Register) (int64, error) {
	path, factor := Path(r, c.dialect, axis)
	if path == "" {
		return 0, servo.Refuse(c.Name, axis, "read "+r.Name, "%w", servo.ErrNoRegister)
	}
	c.x.Latency = c.Latency
	c.link.Out = AppendLine(c.link.Out, "r "+path)
	var v [1]float64
	if err := c.link.numbers(v[:]); err != nil {
		return 0, c.fail(axis, "read "+r.Name, err)
	}
	if r.Name == torqueEnable {
		if v[0] == float64(ClosedLoop) {
			return 1, nil
		}
		return 0, nil
	}
	return r.Round(v[0] * factor), nil
}

const torqueEnable = "torque_enable"

// Write writes a register and reads it back. What the controller keeps it keeps when Save tells it to, and it is written at
// rest alone. Of torque_enable only 0 may be written.
func (c *Client) Write(axis int, r *servo.Register, v int64) error {
	path, factor := Path(r, c.dialect, axis)
	value := r.SI(v) / factor
	switch {
	case path == "":
		return servo.Refuse(c.Name, axis, "write "+r.Name, "%w", servo.ErrNoRegister)
	case r.Name == torqueEnable:
		path, value = string(RequestedState.Append(nil, c.dialect, axis)), float64(Idle)
	case r.Access == servo.EEPROM:
		if err := c.resting("write " + r.Name); err != nil {
			return err
		}
	}
	c.link.Out = AppendLine(c.link.Out, "w "+path+" "+strconv.FormatFloat(value, 'f', 9, 64))
	if err := c.link.Write(); err != nil {
		return c.fail(axis, "write "+r.Name, err)
	}
	got, err := c.Read(axis, r)
	if err != nil {
		return err
	}
	return servo.Verify(c.Name, axis, r.Name, got, v)
}

// resting makes sure that no axis of the controller is under torque: it saves nothing then, and does not say so.
func (c *Client) resting(op string) error {
	for axis := range 2 {
		switch state, err := c.link.number(CurrentState, c.dialect, axis); {
		case err != nil && c.link.none: // one axis alone
		case err != nil:
			return c.fail(axis, op, err)
		case state != float64(Idle):
			return &hal.Error{Kind: hal.Unsafe, Bus: c.Name, ID: axis, Op: op,
				Err: fmt.Errorf("torque is on at axis %d: what is kept can be written with torque off alone", axis)}
		}
	}
	return nil
}

// Save makes the controller keep what was written, all of its axes'. Firmware 0.6 starts again then, which on USB closes the
// port; nothing is answered. All axes must be idle.
func (c *Client) Save() error {
	c.link.Out = AppendLine(c.link.Out, "ss")
	return servo.Fault(c.Name, 0, "save", c.link.Write())
}

// Restarts reports whether saving makes the controller start again.
func (c *Client) Restarts() bool { return c.dialect == V06 }

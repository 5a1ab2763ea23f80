package gamebots

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/halyard-robotics/halyard/hal"
)

// The reasons of a refused command. The client receives only Failed, and only for commands that the manual answers.
var (
	errAbsent  = errors.New("this robot cannot")
	errNoRobot = errors.New("no robot yet")
	errEmpty   = errors.New("the battery is empty")
	errUnknown = errors.New("no such command")

	errUnmeasured = errors.New("its position is not known, and the goal is relative to it")
)

// Control is one command in execution: its message and its staged effects. They are applied if the command returns nil,
// otherwise none of them.
type Control struct {
	session *session
	message *Message
	err     error // of the first malformed value
	staged  bool
	numbers []float64
}

// Command handles one line. After an error or a malformed value the robot is unchanged.
type Command func(c *Control) error

// Has reports whether the line names a value. Names are compared in any case.
func (c *Control) Has(name string) bool {
	_, ok := c.message.Value(name)
	return ok
}

// Text is a value, "" if absent.
func (c *Control) Text(name string) string { return c.message.Text(name) }

// Number is a value as a finite number, otherwise if absent.
func (c *Control) Number(name string, otherwise float64) float64 {
	if !c.Has(name) {
		return otherwise
	}
	return c.vector(name, 1)[0]
}

// Vector is a value as three finite numbers, zero if absent.
func (c *Control) Vector(name string) [3]float64 {
	if !c.Has(name) {
		return [3]float64{}
	}
	return c.vector(name, 3)
}

// vector is the value of name, which has to be count numbers.
func (c *Control) vector(name string, count int) (v [3]float64) {
	var err error
	c.numbers, err = c.message.Numbers(name, c.numbers)
	if err == nil && len(c.numbers) != count {
		err = ErrNumber
	}
	if err != nil {
		c.malformed(name, err)
	}
	copy(v[:], c.numbers)
	return v
}

// malformed stores the error of the first malformed value.
func (c *Control) malformed(name string, err error) {
	c.err = cmp.Or(c.err, fmt.Errorf("%s: %w", name, err))
}

// Truth returns a boolean value, True or False; false if absent.
func (c *Control) Truth(name string) bool {
	v, ok := c.message.Value(name)
	switch {
	case !ok || equal(v, "False"), string(v) == "0":
		return false
	case equal(v, "True"), string(v) == "1":
		return true
	}
	c.malformed(name, ErrNumber)
	return false
}

// order is a value as an order; Angle if absent.
func (c *Control) order(name string) Order {
	v := c.Number(name, 0)
	if v != 0 && v != 1 && v != 2 {
		c.malformed(name, ErrNumber)
		return Angle
	}
	return Order(v)
}

// Drive commands a joint by its name on the wire: rad, rad/s or N·m, positive as there.
func (c *Control) Drive(joint string, order Order, value float64) error {
	i, err := c.joint([]byte(joint))
	if err != nil {
		return err
	}
	return c.drive(i, order, value)
}

// joint returns the index of a joint in Robot.Joints.
func (c *Control) joint(name []byte) (int, error) {
	i := slices.IndexFunc(c.robot().Joints, func(j Joint) bool { return equal(name, j.Name) })
	if i < 0 {
		return i, fmt.Errorf("joint %q: %w", name, errAbsent)
	}
	return i, nil
}

// link and robot are the session's; a command that runs has them (session.ready).
func (c *Control) link() *link   { return c.session.robot.Load() }
func (c *Control) robot() *Robot { return c.link().robot }

// drive commands a joint of Robot.Joints; value is the wire's.
func (c *Control) drive(joint int, order Order, value float64) error {
	j := &c.robot().Joints[joint]
	return c.stage(j.Actuator, order.mode(), signed(value, j.Reversed))
}

// stage puts a goal of one mode into the inputs, and clears the actuator's goals of other modes.
func (c *Control) stage(actuator int, mode hal.Mode, value float64) error {
	a := &c.link().layout.Actuators[actuator]
	if a.Goal[mode] == hal.None {
		return fmt.Errorf("%s by %v: %w", a.Name, mode, errAbsent)
	}
	for _, at := range a.Goal {
		if at != hal.None {
			c.session.inputs[at] = math.NaN()
		}
	}
	c.session.inputs[a.Goal[mode]] = value
	c.staged = true
	return nil
}

// eachCalled calls f for each pair of that name, while c.message is cut to it and the pairs up to the next one.
func (c *Control) eachCalled(name string, f func(first []byte) error) error {
	whole := c.message.Pairs
	defer func() { c.message.Pairs = whole }()
	for first := range whole {
		if !equal(whole[first].Name, name) {
			continue
		}
		last := first + 1
		for last < len(whole) && !equal(whole[last].Name, name) {
			last++
		}
		c.message.Pairs = whole[first:last]
		if err := f(whole[first].Value); err != nil {
			return err
		}
	}
	return nil
}

// betweenCycles calls something of the robot's own between two cycles.
func (c *Control) betweenCycles(f func() error) (err error) {
	c.session.server.rig.BetweenCycles(func() { err = f() })
	return err
}

package simloid

import (
	"errors"
	"os"
	"time"

	"github.com/halyard-robotics/halyard/hal"
)

// turn answers a DONE: sequentially with the status after the step, interlaced with the one before it.
func (c *session) turn() error {
	first, second := c.step, c.send
	if c.interlaced {
		first, second = c.send, c.step
	}
	if err := first(); err != nil {
		return err
	}
	return second()
}

// step passes the commands to the rig and waits for the cycle. In lock-step the cycle runs in this call if no other
// client is pending.
func (c *session) step() error {
	if c.pushing {
		c.server.rig.BetweenCycles(c.push)
	}
	c.want.Store(wantStep)
	c.party.Renew(c.lease) // commands persist while the client requests steps
	if err := c.party.Step(c.lease, c.stage()); err != nil {
		return err
	}
	if err := c.wait(); err != nil {
		return err
	}
	c.watchState()
	c.status.Time = (c.time - c.zero).Seconds()
	c.sensors.read(c.status, c.robot, c.measured, c.period)
	return nil
}

// watchState logs when the client's commands begin to move nothing, and when they move the robot again: no number of a
// status could say it.
func (c *session) watchState() {
	switch why := c.robot.Agent.Ready(); {
	case why == nil && c.idle:
		c.log.Info("simloid: commands move the robot again")
	case why != nil && !c.idle:
		c.log.Warn("simloid: commands move nothing", "why", why)
	default:
		return
	}
	c.idle = !c.idle
}

// wait waits for the answer to a request. A client that leaves meanwhile ends the session: the way home of a real robot
// takes seconds, and does not go on without it.
func (c *session) wait() error {
	select {
	case <-c.answered:
		return nil
	default:
	}
	c.look.Reset(heartbeat)
	defer c.look.Stop()
	for {
		select {
		case <-c.answered:
			return nil
		case <-c.done:
			return errClosed
		case <-c.look.C:
			c.conn.SetReadDeadline(time.Now().Add(time.Millisecond))
			err := c.in.Ahead(c.conn.Read)
			c.arm()
			if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
				return err
			}
			c.look.Reset(heartbeat)
		}
	}
}

// Cycle is the rig's call after each cycle and each reset, under the rig's lock.
func (c *session) Cycle(cycle *hal.Cycle) {
	switch c.want.Load() {
	case wantStep:
		if cycle.Reset || !c.lease.Stepped() {
			return
		}
	case wantReset:
		if !cycle.Reset || !c.lease.ResetDone() {
			return
		}
	default:
		return
	}
	f := c.lease.Frame()
	copy(c.measured, f.Measured)
	c.time = f.Time
	c.want.Store(wantNothing)
	c.answered <- struct{}{} // never blocks: one request at a time
}

// joint is the last command of one joint.
type joint struct {
	mode  jointMode
	goal  float64 // as on the wire
	limit float64 // 0..1, of the position controller's torque
	fresh bool    // commanded since the last step
}

type jointMode uint8

const (
	noMode jointMode = iota
	voltageMode
	positionMode
)

func (j *joint) setGoal(m jointMode, goal float64) { j.mode, j.goal, j.fresh = m, goal, true }

// stage puts the commands of j since the last step into the inputs. A voltage has no torque limit. If a motor has no
// voltage input, 0 V means no torque.
func (j *joint) stage(inputs []float64, at *jointChannels, l *hal.Layout) {
	if !j.fresh {
		return
	}
	j.fresh = false
	share := j.limit
	switch {
	case j.mode == positionMode:
		inputs[at.Goal] = j.goal * halfTurn
	case at.Duty != hal.None:
		inputs[at.Duty], share = j.goal, 1
	default:
		share = 0
	}
	if at.Limit != hal.None {
		inputs[at.Limit] = share * l.Inputs[at.Limit].Max
	}
}

// stage returns the inputs of this step: the message's command of each joint, NaN for the others.
func (c *session) stage() []float64 {
	hal.FillNaN(c.inputs)
	for i := range c.joints {
		c.joints[i].stage(c.inputs, &c.robot.Joints[i], c.robot.Agent.Layout())
	}
	return c.inputs
}

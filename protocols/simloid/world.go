package simloid

import "github.com/halyard-robotics/halyard/hal"

// force adds to the forces of the next step.
func (c *session) force() {
	d, n := &c.command, len(c.forces)
	if c.world.Pusher == nil {
		c.refuse(errAbsent)
		return
	}
	switch d.Verb {
	case FX:
		for i := range min(len(d.Values)/3, n) {
			c.addForce(i, d.Values[3*i:])
		}
		if len(d.Values) < 3*n {
			c.malformed(errNumbers)
		}
	case FA:
		for i := range n {
			c.addForce(i, d.Values)
		}
	default:
		if d.Index >= n {
			c.malformed(errIndex)
			return
		}
		c.addForce(d.Index, d.Values)
	}
}

func (c *session) addForce(body int, f []float64) {
	for k := range c.forces[body] {
		c.forces[body][k] += f[k]
	}
	c.pushing = true
}

// pushAll applies the forces, at the cycle's edge.
func (c *session) pushAll() {
	for i, f := range c.forces {
		if f != [3]float64{} {
			c.notDone(c.world.Pusher.Push(c.robot.Agent.Name(), c.robot.Traits.Names[i], f))
		}
	}
	clear(c.forces)
	c.pushing = false
}

// setGravity switches gravity, at the cycle's edge.
func (c *session) setGravity(on bool) {
	g := [3]float64{0, 0, -gravity}
	switch {
	case c.world.Gravity == nil && on:
		return // it is
	case c.world.Gravity == nil:
		c.refuse(errAbsent)
		return
	case !on:
		g = [3]float64{}
	}
	if !c.notDone(c.world.Gravity.SetGravity(g)) {
		c.weightless = !on
	}
}

func (c *session) saveOrRestore() {
	save := c.command.Verb == Save
	if c.world.Saver == nil {
		c.refuse(errAbsent)
		return
	}
	c.server.rig.AtEdge(func() {
		if save && !c.notDone(c.world.Saver.Save()) {
			c.sensors.save()
		} else if !save && !c.notDone(c.world.Saver.Restore()) {
			c.sensors.restore()
		}
	})
}

// reset returns the robot to its start, and its clock to zero. A real one is on its way for some seconds.
func (c *session) reset() error {
	// the rig's reset is the best one: it clears the guard and reads the body again. But it waits for all others
	own := c.world.Resetter != nil
	c.want.Store(wantReset)
	if !own || c.server.rig.Mode() == hal.Lockstep {
		if err := c.party.Reset(c.lease, 0); err != nil {
			return err
		}
	}
	if own {
		c.server.rig.AtEdge(c.resetWorld)
	} else if err := c.wait(); err != nil {
		return err
	}
	c.rest()
	c.sensors.reset()
	c.newTime()
	return nil
}

// resetWorld ends a reset that waits for nobody, at the cycle's edge. In lock-step without others the rig has done it.
func (c *session) resetWorld() {
	select {
	case <-c.answered:
	default:
		c.want.Store(wantNothing) // the step takes the place of what was asked
		if c.notDone(c.world.Resetter.Reset(0)) {
			return
		}
		// the guard forgets its goals as the robot does: the way to the next one begins where the joint is
		if state, _, _ := c.robot.Agent.Guard(); state == hal.Armed {
			c.robot.Agent.Disarm()
			c.notDone(c.robot.Agent.Arm())
		}
	}
	if c.weightless { // the original's reset leaves gravity as it is
		c.setGravity(false)
	}
}

// newTime sets the session's clock to zero at the cycle's edge.
func (c *session) newTime() {
	c.server.rig.AtEdge(func() {
		c.zero, c.period = c.lease.Frame().Time, c.server.rig.Period().Seconds()
		if c.world.Clock != nil {
			c.notDone(c.world.Clock.ZeroClock())
		}
	})
}

// notDone tells of a capability that failed.
func (c *session) notDone(err error) bool {
	if err != nil {
		c.refuse(err)
	}
	return err != nil
}

// rest forgets what the joints were told: nothing drives them until they are told anew.
func (c *session) rest() {
	for i := range c.joints {
		c.joints[i] = joint{limit: startTorque}
	}
	clear(c.forces)
	c.pushing = false
}

// startTorque is the greatest torque of the position controller at the start, of the stall torque.
const startTorque = 0.5

// remodel makes the robot that the message asked for and begins with it as with a new client. Where it cannot be made
// the old one goes on.
func (c *session) remodel() error {
	asked := c.model
	c.model = nil
	c.party.Release(c.lease)
	robot, err := c.world.Model(asked.Index, asked.Values)
	if err == nil {
		err = robot.validate()
	}
	if err != nil {
		c.command.Verb = Model
		c.refuse(err)
		if c.lease, err = c.party.Acquire(c.robot.Agent); err != nil {
			return err
		}
		return c.turn()
	}
	c.robot, c.lease = robot, nil
	c.server.replace(robot)
	return c.introduce()
}

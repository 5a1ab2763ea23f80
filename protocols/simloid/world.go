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
	case fx:
		for i := range min(len(d.Values)/3, n) {
			c.addForce(i, d.Values[3*i:])
		}
		if len(d.Values) < 3*n {
			c.malformed(errNumbers)
		}
	case fa:
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

// save stores the world and the session's staged commands.
func (c *session) save() {
	if c.absent() || c.notDone(c.server.rig.SaveWorld(c.world.Scene)) {
		return
	}
	c.kept = append(c.kept[:0], c.joints...)
	c.sensors.save()
}

// restore returns to the state saved by this session, else to the start. Earlier commands of the same message still
// apply, as in the original, whose snapshot has no commands. Devices have no state to return to.
func (c *session) restore() {
	switch {
	case c.absent():
		return
	case c.robot.Agent.BodyKind() != hal.Simulated:
		c.refuse(errAbsent)
		return
	case c.kept != nil || c.server.options.Continue:
		if c.notDone(c.server.rig.RestoreWorld(c.world.Scene)) {
			return
		}
	case c.notDone(c.server.rig.ResetWorld(c.world.Scene, 0)):
		return
	}
	for i := range c.joints {
		switch j := &c.joints[i]; {
		case j.fresh:
		case c.kept != nil:
			*j = c.kept[i]
		default:
			*j = joint{limit: c.server.options.StartTorque}
		}
	}
	c.sensors.restore()
}

// absent refuses operations of a simulated world on other bodies.
func (c *session) absent() bool {
	if c.world.Scene == nil {
		c.refuse(errAbsent)
	}
	return c.world.Scene == nil
}

// reset returns the robot to its start, and its clock to zero. A real one is on its way for some seconds.
func (c *session) reset() error {
	if c.world.Scene == nil {
		c.want.Store(wantReset)
		if err := c.party.Reset(c.lease, 0); err != nil {
			return err
		}
		if err := c.wait(); err != nil {
			return err
		}
	} else if c.notDone(c.server.rig.ResetWorld(c.world.Scene, 0)) {
		return nil
	}
	if c.weightless { // the original's reset does not change gravity
		c.server.rig.BetweenCycles(func() { c.setGravity(false) })
	}
	c.rest()
	c.sensors.reset()
	c.newTime()
	return nil
}

// newTime sets the session's clock to zero at the cycle's edge.
func (c *session) newTime() {
	c.server.rig.BetweenCycles(func() {
		c.zero, c.period = c.lease.Frame().Time, c.server.rig.Period().Seconds()
		if c.world.Clock != nil {
			c.notDone(c.world.Clock.ZeroClock())
		}
	})
}

// notDone refuses the command if a capability failed, and reports whether it did.
func (c *session) notDone(err error) bool {
	if err != nil {
		c.refuse(err)
	}
	return err != nil
}

// rest clears the commands of the joints: no motor drives them until the next command.
func (c *session) rest() {
	for i := range c.joints {
		c.joints[i] = joint{limit: c.server.options.StartTorque}
	}
	clear(c.forces)
	c.pushing = false
}

// startTorque is the original's Options.StartTorque.
const startTorque = 0.5

// remodel makes the robot of a MODEL and begins with it as with a new client. If it cannot be made the old one stays.
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

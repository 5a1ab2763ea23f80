package simloid

import (
	"cmp"
	"errors"
	"math"

	"github.com/halyard-robotics/halyard/hal"
)

var (
	errAbsent  = errors.New("nothing here can do that")
	errNumbers = errors.New("fewer numbers than there are joints or bodies")
	errIndex   = errors.New("no such joint or body")
	errRange   = errors.New("out of range")
)

// handle executes the command, or stages it for the step. Only errors of the session are returned.
func (c *session) handle() error {
	switch d := &c.command; d.Verb {
	case UX, PX, tx:
		c.eachJoint(d.Values)
	case UA, PA, TA:
		if v := d.Values[0]; d.Verb == TA && !(v >= 0 && v <= 1) {
			c.malformed(errRange) // where TX and TI clip
			break
		}
		for i := range c.joints {
			c.setGoal(i, d.Values[0])
		}
	case ui, PI, ti:
		if d.Index >= len(c.joints) {
			c.malformed(errIndex)
			break
		}
		c.setGoal(d.Index, d.Values[0])
	case fx, fa, FI, im:
		c.force()
	case GravityOn, GravityOff:
		c.server.rig.BetweenCycles(func() { c.setGravity(d.Verb == GravityOn) })
	case Reset:
		return c.reset()
	case Save:
		c.save()
	case Restore:
		c.restore()
	case newTime:
		c.newTime()
	default:
		c.handleExtended()
	}
	return nil
}

// handleExtended executes the commands of the later dialect.
func (c *session) handleExtended() {
	switch d := &c.command; d.Verb {
	case pause:
		c.paused = true
	case Model:
		if c.world.Model == nil {
			c.refuse(errAbsent)
			break
		}
		c.model = &Command{Verb: Model, Index: d.Index, Values: append([]float64(nil), d.Values...)}
	case Motor:
		if c.world.Motors == nil {
			c.refuse(errAbsent)
			break
		}
		c.server.rig.BetweenCycles(func() { c.notDone(c.world.Motors.SetMotor(c.robot.Agent.Name(), d.Values)) })
	case Fixed:
		if d.Index >= len(c.robot.Bodies) {
			c.malformed(errIndex)
			break
		}
		if c.world.Fixer == nil {
			c.refuse(errAbsent)
			break
		}
		c.server.rig.BetweenCycles(func() {
			c.notDone(c.world.Fixer.ToggleFixed(c.robot.Agent.Name(), c.robot.Traits.Names[d.Index]))
		})
	case SensorsPoor, SensorsGood:
		c.sensors.poor = d.Verb == SensorsPoor
	case Description:
		c.out = append(append(c.out[:0], cmp.Or(c.robot.Text, "<EMPTY>")...), '\n')
		c.write() // an error shows at the next status
	case Interlaced, Sequential:
		c.interlaced = d.Verb == Interlaced
	case record: // there are no pictures of it
	}
}

// eachJoint commands as many joints as there are numbers.
func (c *session) eachJoint(values []float64) {
	for i := range min(len(values), len(c.joints)) {
		c.setGoal(i, values[i])
	}
	if len(values) < len(c.joints) {
		c.malformed(errNumbers)
	}
}

// setGoal commands joint i by the command's verb.
func (c *session) setGoal(i int, v float64) {
	j, at := &c.joints[i], &c.robot.Joints[i]
	switch c.command.Verb {
	case UX, UA, ui:
		// without a voltage mode 0 V is still possible: no torque
		if at.Duty == hal.None && (v != 0 || at.Limit == hal.None) {
			c.refuse(errAbsent)
			return
		}
		j.setGoal(voltageMode, clip(v))
	case PX, PA, PI:
		if at.Goal == hal.None {
			c.refuse(errAbsent)
			return
		}
		j.setGoal(positionMode, clip(v))
	default:
		if at.Limit == hal.None {
			c.refuse(errAbsent)
			return
		}
		j.limit = math.Max(0, math.Min(1, v))
		j.fresh = j.fresh || j.mode == positionMode
	}
}

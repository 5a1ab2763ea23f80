package chaos

import (
	"math"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/sim/emulator/wire"
)

// command lets c command a joint from now on.
func (r *run) command(c *client, a *Action) {
	if c.session == nil {
		*c = client{session: r.sys.Rig.NewSession("chaos "+a.Client, nil), joints: map[int]bool{}}
		for _, agent := range r.agents {
			lease, _ := c.session.Acquire(agent)
			for i := range r.clients {
				if o := &r.clients[i]; lease != nil && o != c && o.session != nil && o.leases[len(c.leases)] != nil {
					r.violated(status, 0, "two clients hold the lease of one agent")
				}
			}
			c.leases = append(c.leases, lease)
			inputs := make([]float64, len(agent.Layout().Inputs))
			for i := range inputs {
				inputs[i] = math.NaN()
			}
			c.inputs = append(c.inputs, inputs)
		}
	}
	c.talks, c.ghost = true, false
	j, w := &r.joints[a.Joint], &r.watches[a.Joint]
	act := r.actuator(j)
	w.target, w.aimed, w.from = math.NaN(), r.cycle, j.truth.Position
	if limited := a.Verb == "limit"; limited && act.TorqueLimit != hal.None {
		c.inputs[j.agent][act.TorqueLimit] = a.Value * act.Limits.MaxTorque
		w.share, w.shared = a.Value, r.cycle
		delete(c.joints, a.Joint)
	} else if modeOf(a.Mode) == hal.PositionMode && !act.Wraps {
		w.target = min(max(a.Value*r.span(j, hal.PositionMode), act.Limits.MinPosition), act.Limits.MaxPosition)
	}
	for m, at := range act.Goal {
		if at == hal.None {
			continue
		}
		if c.inputs[j.agent][at] = math.NaN(); hal.Mode(m) == modeOf(a.Mode) {
			c.inputs[j.agent][at] = a.Value * r.span(j, hal.Mode(m))
			c.joints[a.Joint] = true
			r.watches[a.Joint].far = math.Abs(a.Value) > 0.8
		}
	}
}

// fault plants a fault of a line.
func (r *run) fault(a *Action) {
	f, err := wire.Parse(a.Fault)
	l := &r.lines[a.Joint]
	if err != nil || l.emu.Fault(f) != nil {
		return
	}
	x := acting{line: a.Joint, id: f.Target, until: r.passed() + f.From + f.For}
	if f.For == 0 {
		x.until = math.MaxInt64
	}
	switch f.Kind {
	case wire.PowerLoss: // the robot's supply is one
		x.id = wire.All
	case wire.Delayed, wire.Truncated: // its answers meet those of others
		x.id = wire.All
	case wire.DuplicateID, wire.Garbage:
		x.id, x.lies = wire.All, true
	case wire.Wrong, wire.Stale, wire.Slipped, wire.Stuck:
		x.lies = true
	}
	if l.chained {
		x.id = wire.All
	}
	r.acting = append(r.acting, x)
}

// talk repeats the commands of c.
func (r *run) talk(c *client) {
	if c.session == nil || !c.talks {
		return
	}
	for i := range c.inputs {
		r.send(c, i, c.inputs[i])
	}
	for i := range c.joints {
		if w := &r.watches[i]; !c.ghost && !(r.ended && r.cycle > r.endAt) &&
			r.rules[r.joints[i].agent].state == hal.Armed {
			if w.command+r.sys.Rig.Period() < r.clock.now {
				w.chance = false // it is commanded again
			}
			w.command, w.commanded, w.held, w.left = r.clock.now, true, false, false
		}
	}
}

// send hands inputs of an agent on: by the lease, or over the other client's.
func (r *run) send(c *client, agent int, inputs []float64) {
	if l := c.leases[agent]; l != nil {
		c.session.Step(l, inputs)
		return
	}
	r.agents[agent].Override(inputs)
}

// hang makes c send nothing more.
func (r *run) hang(c *client) {
	c.ghost = r.plant != nil && r.plant.ghosts && c.talks
	c.talks = c.ghost
}

func (r *run) leave(c *client) {
	if c.session != nil {
		c.session.Close()
		for i := range c.joints {
			w := &r.watches[i]
			w.left = c.leases[r.joints[i].agent] != nil && r.cycle-max(w.aimed, w.troubled) > calmCycles &&
				r.clock.now-w.command <= r.sys.Rig.Period()
		}
		for i := range r.watches {
			r.watches[i].held = true
		}
	}
	*c = client{}
}

package osp

import (
	"slices"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/protocols"
)

// agentType is the type of every agent in 92, the original's.
const agentType = "Agent"

// overview answers 90. It assigns agents their ids, in the order of their first appearance, and keeps them: before an
// overview an id is undefined. A removed agent leaves the list; its id is not reused.
func (c *session) overview() {
	now := c.server.rig.Agents()
	c.server.names.declare()
	// ids are places in this list, so that it only grows
	for _, a := range now {
		if !slices.Contains(c.agents, a) {
			c.agents = append(c.agents, a)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.list.begin()
	c.list.add(&Datagram{Command: agentOverview, Count: int32(len(now))})
	index := int32(0)
	for i, a := range c.agents {
		if !slices.Contains(now, a) {
			continue
		}
		d := Datagram{Command: agentOverviewNext, Index: index, ID: int32(i + 1), Type: agentType, Name: a.Name()}
		if a.Holder() == "" {
			d.Status = 1
		}
		c.list.add(&d)
		index++
	}
	c.deliver(&c.list)
}

// agent finds an agent by the client's id, or returns nil.
func (c *session) agent(id int32) *hal.Agent {
	if id < 1 || int(id) > len(c.agents) {
		return nil
	}
	a := c.agents[id-1]
	if c.server.rig.Agent(a.Name()) != a {
		return nil
	}
	return a
}

// agentInfo answers 95. For an unknown agent the answer is four zeros and an empty name. Clients do not acknowledge it.
func (c *session) agentInfo() {
	a := c.agent(c.d.ID)
	if a == nil {
		c.reply(&Datagram{Command: agentInfo})
		return
	}
	// the ranges are always normalised, also with Options.Physical, as in the original
	l, t := a.Layout(), newTerminals(a.Layout())
	c.mu.Lock()
	defer c.mu.Unlock()
	c.list.begin()
	c.list.add(&Datagram{Command: agentInfo, ID: c.d.ID, Name: a.Name(), NumInputs: int32(len(l.Inputs)),
		NumOutputs: int32(len(l.Outputs)), NumInfos: int32(len(l.Infos))})
	index := int32(0)
	for _, list := range [][]terminal{t.inputs, t.outputs, t.infos} {
		for i := range list {
			c.list.add(&Datagram{Command: agentInfoNext, Index: index, Min: float32(list[i].low), Max: 1,
				Name: list[i].name})
			index++
		}
	}
	c.deliver(&c.list)
}

// register answers 100. It takes effect at once: in lock-step, time waits for this client from now on.
// Registering again for one's own agent is a success, as the answer to the first time may have been lost.
func (c *session) register() {
	id := c.d.ID
	status := byte(StatusNo)
	if a := c.agent(id); a != nil && fits(a.Layout()) {
		if lease, err := c.party.Acquire(a); err == nil {
			c.addLease(&agentLease{id: id, lease: lease, terminals: newTerminals(a.Layout()),
				inputs: make([]float64, len(a.Layout().Inputs))})
			status = StatusOK
		} else {
			c.server.traffic.Drop(protocols.Refused)
		}
	}
	c.reply(&Datagram{Command: registerForAgentAck, ID: id, Status: status})
}

// fits reports whether the datagrams of a step have room for the agent's channels.
func fits(l *hal.Layout) bool {
	const fields = 32 // command, ids, counts, terminator, number
	return fields+4*max(len(l.Inputs), len(l.Outputs)+len(l.Infos)+maxEvents) <= MaxDatagram
}

// deregister answers 105: 1 for every existing agent, whether or not this client controls it, and 2 for an unknown id
// (document, "Deregister Agent Control").
func (c *session) deregister() {
	id := c.d.ID
	status := byte(StatusUnknown)
	// remove it from the list first: no cycle may use a lease that is being released
	if s := c.leave(id); s != nil {
		c.party.Release(s.lease)
		status = StatusOK
	} else if c.agent(id) != nil {
		status = StatusOK
	}
	c.reply(&Datagram{Command: deregisterFromAgentAck, ID: id, Status: status})
}

// addLease adds a lease, unless there is one of that id.
func (c *session) addLease(s *agentLease) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at, have := slices.BinarySearchFunc(c.leases, s.id, (*agentLease).compare)
	if !have {
		c.leases = slices.Insert(c.leases, at, s)
	}
}

// leave removes and returns the lease of id, or nil.
func (c *session) leave(id int32) *agentLease {
	c.mu.Lock()
	defer c.mu.Unlock()
	at, have := slices.BinarySearchFunc(c.leases, id, (*agentLease).compare)
	if !have {
		return nil
	}
	s := c.leases[at]
	c.leases = slices.Delete(c.leases, at, at+1)
	return s
}

// lease returns the lease of an agent. Call it under mu, or from the reading goroutine, which is the only one to change
// the list.
func (c *session) lease(id int32) *agentLease {
	at, have := slices.BinarySearchFunc(c.leases, id, (*agentLease).compare)
	if !have {
		return nil
	}
	return c.leases[at]
}

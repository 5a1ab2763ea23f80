package osp

import (
	"bytes"
	"slices"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/protocols"
)

// agentLease is one agent under a session's control. Its fields are under the session's mu, but for those that never
// change and for inputs, which is the reading goroutine's.
type agentLease struct {
	id        int32
	lease     *hal.Lease
	terminals *terminals
	inputs    []float64 // of the request being handled, SI

	pending   bool    // a step is requested and not answered
	resetting bool    // a reset is
	asked     request // the last step request
	completed outbox  // its answer
}

func (s *agentLease) compare(id int32) int { return int(s.id) - int(id) }

// request is the last request of a kind, to recognise a repetition.
type request struct {
	bytes    []byte
	numbered bool
	number   byte
}

// keep stores the bytes that d was decoded from.
func (r *request) keep(b []byte, d *Datagram) {
	r.bytes, r.numbered, r.number = append(r.bytes[:0], b...), d.Numbered, d.Number
}

// again reports whether d, decoded from b, repeats the last request. With a number this is certain. Without a number it
// is a repetition while the answer o is not acknowledged and older than timeout: a client that does not acknowledge
// continues at once, and a client that missed its answer waits first.
func (r *request) again(b []byte, d *Datagram, o *outbox, timeout time.Duration) bool {
	if d.Numbered {
		return r.numbered && r.number == d.Number && len(r.bytes) > 0
	}
	return o.waiting && !r.numbered && bytes.Equal(r.bytes, b) && time.Since(o.sent) >= timeout
}

// timeout is the age from which an unacknowledged answer may have been lost.
func (c *session) timeout() time.Duration { return c.server.options.AckTimeout / tickShare }

// step answers 80: it acknowledges, passes on the inputs and requests the step. The step may run in this call.
func (c *session) step(b []byte) {
	s := c.lease(c.d.ID)
	if s == nil {
		c.acknowledge()
		c.server.traffic.Drop(protocols.Unheld) // silence, as the original
		return
	}
	if c.repeated(s, b) {
		return
	}
	// in SI, without clipping: the guard clips, and counts the clipped values
	hal.FillNaN(s.inputs) // a missing input is unchanged
	for i := range min(len(s.inputs), len(c.d.Inputs)) {
		s.inputs[i] = s.terminals.inputs[i].fromNormalised(c.d.Inputs[i])
	}
	if err := c.party.Step(s.lease, s.inputs); err != nil {
		c.mu.Lock()
		s.pending = false
		c.mu.Unlock()
		c.server.traffic.Drop(protocols.Refused)
	}
}

// repeated acknowledges the request for a step. It returns true if that step is pending or done: then its answer is
// sent when the step completes, or again. Other inputs during a pending step replace the previous ones.
func (c *session) repeated(s *agentLease, b []byte) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	again := s.asked.again(b, &c.d, &s.completed, c.timeout()) ||
		s.pending && bytes.Equal(s.asked.bytes, b) // to ask for it again could run it twice, were it answered just now
	c.send(&Datagram{Command: NextStepAck, ID: s.id, Numbered: c.d.Numbered, Number: c.d.Number})
	if again {
		// the answer of a pending step is sent when it completes
		if !s.pending {
			s.completed.each(c.write)
		}
		return true
	}
	c.acknowledgeAll()
	s.asked.keep(b, &c.d)
	s.pending, s.resetting = true, false
	return false
}

// reset answers 70: it acknowledges and requests the reset of one more agent. The reset may run in this call.
func (c *session) reset(b []byte) {
	lease, seed := c.nextReset(b), int64(c.d.Seed)
	if lease == nil {
		return
	}
	if err := c.party.Reset(lease, seed); err != nil {
		c.server.traffic.Drop(protocols.Refused)
	}
}

// nextReset acknowledges the request and returns the lease that it applies to. The document's request names no agent,
// and a client sends one for each of its agents, so it applies to the first agent without a request. nil means a
// repetition, or more requests than agents.
func (c *session) nextReset(b []byte) *hal.Lease {
	c.mu.Lock()
	defer c.mu.Unlock()
	again := c.resetAsked.again(b, &c.d, &c.completed, c.timeout())
	c.send(&Datagram{Command: resetSimulationAck, Numbered: c.d.Numbered, Number: c.d.Number})
	if again {
		if !c.waits() {
			c.completed.each(c.write)
		}
		return nil
	}
	c.acknowledgeAll()
	c.resetAsked.keep(b, &c.d)
	for _, s := range c.leases {
		if !s.resetting {
			s.resetting, s.pending = true, false
			return s.lease
		}
	}
	return nil
}

// waits reports whether the client has requested a step or reset that is not done. Under mu.
func (c *session) waits() bool {
	return slices.ContainsFunc(c.leases, func(s *agentLease) bool { return s.resetting || s.pending })
}

// Cycle is called by the rig after each cycle and each reset, under the rig's lock: it stores the events and sends the
// requested answers. It neither blocks nor calls the rig.
func (c *session) Cycle(cycle *hal.Cycle) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if cycle.Reset {
		c.events.forget() // events before the reset do not belong to the new episode
	}
	c.events.note(cycle.Events)
	if cycle.Reset {
		c.resetCompleted()
		return
	}
	// by id, as the original: the first answer has the data that is sent once a step
	first := true
	for _, s := range c.leases {
		if s.pending && s.lease.Stepped() {
			s.pending = false
			c.stepCompleted(s, first)
			first = false
		}
	}
}

// resetCompleted sends 75 to a client that requested it, and to one that controls no agent and only watches. Under mu.
func (c *session) resetCompleted() {
	done := len(c.leases) == 0
	for _, s := range c.leases {
		if s.lease.ResetDone() {
			s.resetting, done = false, true
		}
	}
	if !done {
		return
	}
	a := c.resetAsked
	c.completed.begin()
	c.completed.add(&Datagram{Command: resetSimulationCompleted, Numbered: a.numbered, Number: a.number})
	c.deliver(&c.completed)
}

// stepCompleted sends 85 for s. The first of a step carries the events and the observed values. Under mu.
func (c *session) stepCompleted(s *agentLease, first bool) {
	d, f := &c.answer, s.lease.Frame()
	*d = Datagram{Command: StepCompleted, ID: s.id, Numbered: s.asked.numbered, Number: s.asked.number,
		Outputs: c.scale(d.Outputs[:0], s.terminals.outputs, f.Outputs),
		Infos:   c.scale(d.Infos[:0], s.terminals.infos, f.Infos), IDs: d.IDs[:0]}
	// the number of values is in 85, their texts in the 51s behind it
	if first {
		d.IDs = c.events.drain(d.IDs)
		d.NumValues = int32(len(c.observed))
	}
	s.completed.begin()
	s.completed.add(d)
	if first {
		c.addObserved(&s.completed)
	}
	c.deliver(&s.completed)
}

// scale appends measured values as the wire has them.
func (c *session) scale(dst []float32, list []terminal, measured []float64) []float32 {
	for i := range list {
		if c.server.options.Physical {
			dst = append(dst, float32(list[i].physical(measured[i])))
		} else {
			dst = append(dst, list[i].normalised(measured[i]))
		}
	}
	return dst
}

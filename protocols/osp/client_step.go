package osp

import (
	"errors"
	"os"
	"time"
)

// remote is an agent under the client's control.
type remote struct {
	id     int32
	inputs []float32
	result Result
	awaited
}

// awaited is a request whose answer depends on other clients.
type awaited struct {
	asked  bool
	number byte // of the request
	acked  bool // 81 or 71 came
	done   bool // 85 and its 51s, or 75, came
	values int  // number of 51s still expected
}

// answers reports whether a received answer belongs to the request: by its number; from a server without numbers, by an
// acknowledgement before it, since the datagrams of a session stay in order.
func (a *awaited) answers(d *Datagram) bool {
	if d.Numbered {
		return d.Number == a.number
	}
	return a.acked
}

// Result is the result of a step. It is valid until the agent's next step.
type Result struct {
	Outputs, Infos []float32 // normalised, unless the server is set to physical values
	Events         []int32   // ids of those registered events that occurred
	Values         []Observed
}

// Observed is one observed value; the first agent of a client that is answered has them.
type Observed struct {
	ID      int32
	Content []byte
}

// Step sends normalised inputs (NaN, or a missing one, keeps) to an agent under control and waits for the step. With
// several agents use Request for each, then Await for each: the step runs when all have been requested.
func (c *Client) Step(agent int32, inputs []float32) (*Result, error) {
	if err := c.Request(agent, inputs); err != nil {
		return nil, err
	}
	return c.Await(agent)
}

// Request requests a step without waiting.
func (c *Client) Request(agent int32, inputs []float32) error {
	r := c.remote(agent)
	if r == nil {
		return c.notHeld("step", agent)
	}
	c.number++
	r.awaited = awaited{asked: true, number: c.number}
	r.inputs = append(r.inputs[:0], inputs...)
	return c.sendStep(r)
}

func (c *Client) sendStep(r *remote) error {
	d := Datagram{Command: NextStep, ID: r.id, Inputs: r.inputs, Numbered: true, Number: r.number}
	return c.send(&d)
}

// sendAgain repeats the unanswered step requests of all agents, whether the request, its acknowledgement or its answer
// was lost: the step of one agent waits for the requests of all.
func (c *Client) sendAgain() error {
	for _, r := range c.agents {
		if r.asked && !r.done {
			if err := c.sendStep(r); err != nil {
				return err
			}
		}
	}
	return nil
}

// remote finds an agent under control, or returns nil.
func (c *Client) remote(id int32) *remote {
	for _, r := range c.agents {
		if r.id == id {
			return r
		}
	}
	return nil
}

// Await waits for the answer to Request.
func (c *Client) Await(agent int32) (*Result, error) {
	r := c.remote(agent)
	if r == nil {
		return nil, c.notHeld("step", agent)
	}
	// in the usual case no clock is read for the timeout: it starts with the first silence
	var end time.Time
	for !r.done {
		err := c.receive(c.options.Resend)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			now := time.Now()
			if end.IsZero() {
				end = now.Add(c.options.StepTimeout)
			} else if now.After(end) {
				return nil, c.timeout("step", c.options.StepTimeout)
			}
			err = c.sendAgain()
		}
		if err != nil {
			return nil, err
		}
	}
	return &r.result, nil
}

// Reset requests a reset with seed (0 = any), once for each agent under control, and waits for it.
func (c *Client) Reset(seed int32) error {
	// the document's request names no agent: the server counts them
	end := time.Now().Add(c.options.StepTimeout)
	c.reset = awaited{}
	for range max(1, len(c.agents)) {
		c.number++
		c.reset = awaited{number: c.number}
		if err := c.awaitReset(seed, end, func() bool { return c.reset.acked }); err != nil {
			return err
		}
	}
	return c.awaitReset(seed, end, func() bool { return c.reset.done })
}

// awaitReset sends the request, unless it was acknowledged, until done.
func (c *Client) awaitReset(seed int32, end time.Time, done func() bool) error {
	d := Datagram{Command: resetSimulation, Seed: seed, Numbered: true, Number: c.reset.number}
	fresh := !c.reset.acked
	for !done() {
		if time.Now().After(end) {
			return c.timeout("reset", c.options.StepTimeout)
		}
		if fresh {
			if err := c.send(&d); err != nil {
				return err
			}
		}
		for !done() {
			err := c.receive(c.options.Resend)
			if errors.Is(err, os.ErrDeadlineExceeded) {
				fresh = true
				break
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// handle processes an answer to a step or reset and acknowledges it, also a repeated one: the server has then missed
// the acknowledgement.
func (c *Client) handle() error {
	switch d := &c.d; d.Command {
	case NextStepAck:
		if r := c.remote(d.ID); r != nil && (!d.Numbered || d.Number == r.number) {
			r.acked = true
		}
	case StepCompleted:
		r := c.remote(d.ID)
		if c.current = nil; r == nil || !r.answers(d) {
			return nil // an earlier step's; its 51s are dropped with it, and the next request acknowledges it
		}
		if r.done {
			return c.send(&Datagram{Command: StepCompletedAck, ID: r.id})
		}
		r.result.Outputs = append(r.result.Outputs[:0], d.Outputs...)
		r.result.Infos = append(r.result.Infos[:0], d.Infos...)
		r.result.Events = append(r.result.Events[:0], d.IDs...)
		r.result.Values = r.result.Values[:0]
		r.values = int(d.NumValues)
		c.current = r
		return c.completeStep(r)
	case value:
		if r := c.current; r != nil {
			r.result.observe(d)
			r.values--
			return c.completeStep(r)
		}
	case resetSimulationAck:
		c.reset.acked = c.reset.acked || !d.Numbered || d.Number == c.reset.number
	case resetSimulationCompleted:
		c.reset.done = c.reset.done || c.reset.answers(d)
		return c.send(&Datagram{Command: resetSimulationCompletedAck})
	case resetCommunicationAck:
		c.lost = ErrCommunicationReset
		return c.lost
	}
	return nil
}

// completeStep acknowledges an answer once it is complete.
func (c *Client) completeStep(r *remote) error {
	if r.values > 0 {
		return nil
	}
	r.done, c.current = true, nil
	return c.send(&Datagram{Command: StepCompletedAck, ID: r.id})
}

// observe appends an observed value, using old memory.
func (r *Result) observe(d *Datagram) {
	n := len(r.Values)
	if n < cap(r.Values) {
		r.Values = r.Values[:n+1]
	} else {
		r.Values = append(r.Values, Observed{})
	}
	r.Values[n].ID = d.ID
	r.Values[n].Content = append(r.Values[n].Content[:0], d.Content...)
}

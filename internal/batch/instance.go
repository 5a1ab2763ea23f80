package batch

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/assembly"
	"github.com/halyard-robotics/halyard/internal/plan"
)

// instance is one copy of the rig: a system of its own, with the leases of all its agents.
type instance struct {
	sys     *assembly.System
	session *hal.Session
	leases  []*hal.Lease
	inputs  [][]float64 // one an agent, all NaN but for the actions

	actions, observations []Channel
	from, to              []place // of the actions among the inputs, of the observations among what is measured

	seed    int64
	out     []float64 // of the step at hand
	isReset bool      // the present reset is done
	err     error
}

// newInstance opens the rig of p with a seed of its own. p is shared and read-only.
func newInstance(p *plan.Plan, seed int64, o *Options, log *slog.Logger) (*instance, error) {
	own, config := *p, *p.Config
	config.World.Seed, config.Clock.Mode = seed, "lockstep"
	own.Config = &config
	sys, err := assembly.Build(&own, log)
	if err != nil {
		return nil, err
	}
	c := &instance{sys: sys, seed: seed}
	c.session = sys.Rig.NewSession("batch", c)
	agents := sys.Rig.Agents()
	all, at, usual := inputs(agents)
	if c.actions, c.from, err = choose("actions", o.Actions, all, at, usual); err == nil {
		all, at, usual = outputs(agents)
		c.observations, c.to, err = choose("observations", o.Observations, all, at, usual)
	}
	for _, a := range agents {
		lease, busy := c.session.Acquire(a)
		err = errors.Join(err, busy)
		in := make([]float64, len(a.Layout().Inputs))
		for i := range in {
			in[i] = nothing
		}
		c.leases, c.inputs = append(c.leases, lease), append(c.inputs, in)
	}
	if err != nil {
		return nil, errors.Join(err, c.close())
	}
	return c, nil
}

// Cycle implements hal.Observer: it stores the observations of the last cycle.
func (c *instance) Cycle(cycle *hal.Cycle) {
	c.isReset = c.isReset || cycle.Reset
	if c.out == nil {
		return
	}
	for k, p := range c.to {
		c.out[k] = c.leases[p.agent].Frame().Measured[p.at]
	}
}

// step runs a cycle: the last agent's request runs it.
func (c *instance) step(actions, observations []float64) {
	c.out = observations
	for k, p := range c.from {
		c.inputs[p.agent][p.at] = actions[k]
	}
	for k, l := range c.leases {
		if err := c.session.Step(l, c.inputs[k]); err != nil {
			c.err = err
		}
	}
	c.out = nil
}

// reset returns to the initial state of the seed.
func (c *instance) reset(observations []float64) {
	c.out, c.isReset = observations, false
	for _, l := range c.leases {
		if err := c.session.Reset(l, c.seed); err != nil {
			c.err = err
		}
	}
	if !c.isReset && c.err == nil {
		c.err = &hal.Error{Kind: hal.Unexpected, Op: "batch reset", Err: fmt.Errorf("seed %d: the rig did not end its reset", c.seed)}
	}
	c.out = nil
}

// close ends the rig.
func (c *instance) close() error {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	c.session.Close()
	return errors.Join(c.sys.Rig.Run(ended), c.sys.Close())
}

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

// instance is one copy of the rig: a system of its own.
type instance struct {
	sys *assembly.System
	arrays

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
	if err := errors.Join(c.choose(sys.Rig.Agents(), o), c.acquire(sys.Rig.Agents())); err != nil {
		return nil, errors.Join(err, c.close())
	}
	return c, nil
}

// Cycle implements hal.Observer: it stores the observations of the last cycle.
func (c *instance) Cycle(cycle *hal.Cycle) {
	c.isReset = c.isReset || cycle.Reset
	if c.out != nil {
		c.observe(c.out)
	}
}

// step runs a cycle: the last agent's request runs it.
func (c *instance) step(actions, observations []float64) {
	c.out = observations
	c.command(actions)
	for k, l := range c.leases {
		if err := c.session.Step(l, c.inputs[k]); err != nil {
			c.err = err
		}
	}
	c.stopped()
	if why := c.ready(); c.err == nil && why != nil {
		c.err = &hal.Error{Kind: hal.Unsafe, Op: "batch step", Err: fmt.Errorf("seed %d: %w", c.seed, why)}
	}
	c.out = nil
}

// stopped makes it an error that the rig has stopped itself, as after a panic of its world: it takes no commands any
// more.
func (c *instance) stopped() {
	if c.err != nil || !c.sys.Rig.Latched() {
		return
	}
	var s hal.Stats
	c.sys.Rig.Stats(&s)
	c.err = &hal.Error{Kind: hal.Unexpected, Op: "batch step",
		Err: fmt.Errorf("seed %d: the rig has stopped: %s", c.seed, s.LastFault)}
}

// reset returns to the initial state of the seed.
func (c *instance) reset(observations []float64) {
	c.out, c.isReset = observations, false
	for _, l := range c.leases {
		if err := c.session.Reset(l, c.seed); err != nil {
			c.err = err
		}
	}
	c.stopped()
	if !c.isReset && c.err == nil {
		c.err = &hal.Error{Kind: hal.Unexpected, Op: "batch reset",
			Err: fmt.Errorf("seed %d: the rig did not end its reset", c.seed)}
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

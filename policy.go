package halyard

import (
	"context"
	"sync"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/policy"
)

// openPolicies makes a client of each agent that has policies.
func (s *System) openPolicies() error {
	c := s.Config()
	drivers, err := policy.Open(c, func(agent string) *hal.Layout {
		if a := s.sys.Rig.Agent(agent); a != nil {
			return a.Layout()
		}
		return nil
	})
	if err != nil {
		return err
	}
	for i := range c.Agents {
		var own []*policy.Driver
		start := ""
		for _, d := range drivers {
			if d.Config.Agent != c.Agents[i].Name {
				continue
			}
			if own = append(own, d); d.Config.Use {
				start = d.Name
			}
		}
		if own != nil {
			s.policies = append(s.policies, policy.NewClient(s.sys.Rig, s.sys.Rig.Agent(c.Agents[i].Name), own, start,
				c.Agents[i].Guard.CommandTimeout, s.sys.Log))
		}
	}
	return nil
}

// runPolicies runs the policies until the function that it returns is called.
func (s *System) runPolicies() (end func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	for _, p := range s.policies {
		all.Go(func() { p.Run(ctx) })
	}
	return func() { cancel(); all.Wait() }
}

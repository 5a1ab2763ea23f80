package moast

import (
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/assembly"
	"github.com/halyard-robotics/halyard/internal/protocols/moast/echelon"
)

// NewHierarchy is the modules of an agent of an open system, for a test that steps both; ask lets the next step pass.
func NewHierarchy(sys *assembly.System, agent string, fleet *echelon.Fleet) (h *echelon.Hierarchy, ask func(),
	err error) {
	for i := range sys.Plan.Config.Servers {
		s := &sys.Plan.Config.Servers[i]
		if s.Agent != agent {
			continue
		}
		for k := range sys.Plan.Agents {
			if p := &sys.Plan.Agents[k]; p.Config.Name == agent {
				v := newVehicle(sys.Rig, sys.Rig.Agent(agent), p.Robot, s)
				h, err = echelon.New(v, options(s, number(sys.Plan.Config, agent), nil, fleet))
				return h, v.ask, err
			}
		}
	}
	return nil, nil, &hal.Error{Kind: hal.Absent, Op: "server of " + agent}
}

package plan

import (
	"fmt"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal/autopilot"
)

// checkOkon finds servers of Okon's protocol whose robot has no thrusters, and two that would both steer one.
func (r *Resolver) checkOkon(p *Plan) {
	seen := map[string]int{}
	for i, s := range r.Config.Servers {
		if s.Protocol != "okon" && s.Protocol != "okon-video" {
			continue
		}
		at := configs.Path("servers").Index(i)
		for k := range p.Agents {
			a := &p.Agents[k]
			if a.Config.Name != s.Agent || a.Layout == nil {
				continue
			}
			if n := len(autopilot.OkonThrusters()); !Afloat(a.Layout) || len(a.Layout.Actuators) != n {
				r.fault(at.Key("agent"), s.Agent+", which is "+a.Config.Model, fmt.Sprintf("an underwater vehicle with %d thrusters", n), "")
			}
		}
		if s.Protocol != "okon" {
			continue
		}
		if first, twice := seen[s.Agent]; twice {
			r.fault(at.Key("agent"), s.Agent, "one server of okon a robot", fmt.Sprintf("servers[%d] has it too; any number of clients may share one", first))
		}
		seen[s.Agent] = i
	}
}

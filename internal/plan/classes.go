package plan

import (
	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/report"
)

// classes resolves the robots that can be spawned, by the names of the config. Each has its own devices: those of an
// emulated class are created for each of its robots.
func (r *Resolver) classes() map[string]*AgentPlan {
	classes := map[string]*AgentPlan{}
	for _, name := range report.SortedKeys(r.Config.Classes) {
		path := configs.Path("classes").Key(name)
		c := &configs.Agent{Name: name, Robot: r.Config.Classes[name]}
		others := r.devices
		r.devices = DevicePlan{}
		p := r.Agent(path, c)
		r.Measure(path, 0, c, &p)
		r.wires(path, 0, c)
		r.sights(path, 0, c, &p)
		p.Devices, r.devices = r.devices, others
		if p.Robot == nil {
			continue
		}
		switch {
		case p.Vehicle != nil && c.Body != configs.Sim:
			r.fault(path.Key("body"), string(c.Body), "sim: a vehicle is no class of devices", "make it one of agents")
		case c.Has(configs.Real) && c.Has(configs.Emulated):
			r.fault(path.Key("parts"), "emulated",
				"sim or real: a class that is real has one robot, whose devices are open from the start", "")
		case c.Shadow:
			r.fault(path.Key("shadow"), "true", "false: a spawned robot has no twin", "make it one of agents")
		}
		classes[name] = &p
	}
	return classes
}

// Named is the plan of a robot of this class called name, which begins at a place.
func (p *AgentPlan) Named(name string, at hal.Pose) *AgentPlan {
	own, config := *p, *p.Config
	config.Name = name
	own.Config, own.start = &config, &at
	return &own
}

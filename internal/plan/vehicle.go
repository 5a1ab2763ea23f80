package plan

import (
	"slices"
	"strings"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/report"
	"github.com/halyard-robotics/halyard/sim"
	"github.com/halyard-robotics/halyard/sim/hydro"
	"github.com/halyard-robotics/halyard/sim/model"
)

// vehicle resolves an agent whose model is an underwater vehicle, built in or a file; false: it is not.
func (r *Resolver) vehicle(path configs.Path, c *configs.Agent) (p AgentPlan, ok bool) {
	v, ok, err := hydro.Open(c.Model, r.Config.Resolve(c.Model))
	if !ok {
		return p, false
	}
	p = AgentPlan{Config: c}
	if r.ownFaults(err) {
		return p, true
	}
	// A vehicle has thrusters and a hull, but no joints; its layout is that of its body in a scene.
	p.Vehicle, p.Robot = v, &model.Robot{Name: v.Name, Title: v.Title, Simloid: hal.None}
	body, err := p.Stand(sim.NewScene(sim.SceneConfig{}))
	if err != nil {
		r.fault(path.Key("model"), c.Model, err.Error(), "")
		return p, true
	}
	p.Layout = body.Layout()
	p.Joints = r.thrusters(path, c, p.Layout)
	var names []string
	for i := range p.Layout.Actuators {
		names = append(names, p.Layout.Actuators[i].Name)
	}
	among := "a thruster of " + v.Name + ": " + strings.Join(names, ", ")
	for _, part := range report.SortedKeys(c.Parts) {
		if !slices.Contains(names, part) && !measures(p.Layout, part) && !monitored(c, part) {
			r.fault(path.Key("parts").Key(part), part, among, "")
		}
	}
	for _, joint := range report.SortedKeys(c.Devices().Joints) {
		if !slices.Contains(names, joint) {
			r.fault(path.Key("hardware").Key("joints").Key(joint), joint, among, "")
		}
	}
	r.checkLoss(path, c, &p, names)
	r.checkCouple(path, c, &p, names)
	if c.Shadow {
		r.fault(path.Key("shadow"), "true", "false: a vehicle has no joints to compare", "")
	}
	return p, true
}

// monitored reports whether a robot has a monitor called name.
func monitored(c *configs.Agent, name string) bool {
	_, ok := c.Devices().Monitors[name]
	return ok
}

// measures reports whether a layout has a sensor or a camera called name.
func measures(l *hal.Layout, name string) bool {
	return slices.ContainsFunc(l.Sensors, func(s hal.Sensor) bool { return s.Name == name }) ||
		slices.ContainsFunc(l.Cameras, func(c hal.Camera) bool { return c.Name == name })
}

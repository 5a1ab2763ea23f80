package main

import (
	"slices"
	"strings"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/sim"
	"github.com/halyard-robotics/halyard/sim/hydro"
	"github.com/halyard-robotics/halyard/sim/model"
)

// vehicle resolves an agent whose model is an underwater vehicle; false: it is none.
func (r *resolver) vehicle(path configs.Path, c *configs.Agent) (p agentPlan, ok bool) {
	if !slices.Contains(hydro.Names(), c.Model) {
		return p, false
	}
	p = agentPlan{config: c}
	v, err := hydro.Load(c.Model)
	if err != nil {
		r.fault(path.Key("model"), c.Model, err.Error(), "")
		return p, true
	}
	// A vehicle has thrusters and a hull, and no joints; what it offers, it says in a scene.
	p.vehicle, p.robot = v, &model.Robot{Name: v.Name, Title: v.Title, Simloid: hal.None}
	body, err := p.stand(sim.NewScene(sim.SceneConfig{}))
	if err != nil {
		r.fault(path.Key("model"), c.Model, err.Error(), "")
		return p, true
	}
	p.layout = body.Layout()
	p.joints = r.thrusters(path, c, p.layout)
	var names []string
	for i := range p.layout.Actuators {
		names = append(names, p.layout.Actuators[i].Name)
	}
	among := "a thruster of " + v.Name + ": " + strings.Join(names, ", ")
	for _, part := range sortedKeys(c.Parts) {
		if !slices.Contains(names, part) && !measures(p.layout, part) && !monitored(c, part) {
			r.fault(path.Key("parts").Key(part), part, among, "")
		}
	}
	if c.Hardware != nil {
		for _, joint := range sortedKeys(c.Hardware.Joints) {
			if !slices.Contains(names, joint) {
				r.fault(path.Key("hardware").Key("joints").Key(joint), joint, among, "")
			}
		}
	}
	if c.Shadow {
		r.fault(path.Key("shadow"), "true", "false: a vehicle has no joints to compare", "")
	}
	return p, true
}

// monitored tells whether a robot has a monitor called name.
func monitored(c *configs.Agent, name string) bool {
	if c.Hardware == nil {
		return false
	}
	_, ok := c.Hardware.Monitors[name]
	return ok
}

// measures tells whether a layout has a sensor or a camera called name.
func measures(l *hal.Layout, name string) bool {
	return slices.ContainsFunc(l.Sensors, func(s hal.Sensor) bool { return s.Name == name }) ||
		slices.ContainsFunc(l.Cameras, func(c hal.Camera) bool { return c.Name == name })
}

// stand puts a robot or a vehicle into a scene.
func (p *agentPlan) stand(s *sim.Scene) (hal.Body, error) {
	if p.vehicle != nil {
		return s.AddVehicle(p.config.Name, p.vehicle, p.place(), sim.SensorNoise())
	}
	return s.Add(p.config.Name, p.robot, p.place())
}

// place is where the robot begins.
func (p *agentPlan) place() hal.Pose {
	if p.start != nil {
		return *p.start
	}
	return poseOf(p.config.Pose)
}

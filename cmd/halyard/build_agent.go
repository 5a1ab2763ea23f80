package main

import (
	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/drivers"
	"github.com/halyard-robotics/halyard/hal"
)

// jointRef is one joint of one agent.
type jointRef struct{ agent, joint int }

// addAgent puts agent i into the rig, with the body that its joints are made of.
func (b *builder) addAgent(i int) error {
	p := &b.plan.agents[i]
	body, reality, err := b.body(i)
	if err != nil {
		return err
	}
	if p.config.Shadow {
		scene, err := newScene(b.plan)
		if err != nil {
			return err
		}
		twin, err := scene.Add(p.config.Name, p.robot, poseOf(p.config.Pose))
		if err != nil {
			return err
		}
		if body, err = hal.Shadow(body, twin); err != nil {
			return err
		}
		b.addWorld(scene)
	}
	b.bodies = append(b.bodies, body)
	_, err = b.rig.Add(p.agent(body, b.scene, reality))
	return err
}

// agent is what the rig must know of it. The original Simloid had no guard, and its controllers count on what it let
// them do: simulated, its robots have one that bounds and does not delay.
func (p *agentPlan) agent(body hal.Body, world hal.World, reality hal.BodyKind) hal.AgentConfig {
	g := p.config.Guard
	return hal.AgentConfig{Name: p.config.Name, Body: body, World: world, BodyKind: reality,
		Guard: hal.GuardConfig{CommandTimeout: g.CommandTimeout, OnTimeout: policies[g.OnTimeout], Slew: g.Slew,
			HomeSpeed: g.HomeSpeed, Disarmed: !g.Armed, Interlock: p.interlock(),
			Direct: reality == hal.Simulated && p.robot.Simloid != hal.None && g.Slew == 1}}
}

// body is the body of agent i: simulated, of hardware, or joined of both.
func (b *builder) body(i int) (hal.Body, hal.BodyKind, error) {
	p := &b.plan.agents[i]
	sensors, reality := b.sensed(i)
	var on []int
	var joints []drivers.Joint
	for k := range p.joints {
		if j, ok := b.hung[jointRef{i, k}]; ok {
			on, joints = append(on, k), append(joints, j)
			reality = max(reality, realities[p.joints[k].body])
		}
	}
	// What no emulated device measures is told by the physics, which moves all of them; but a vehicle's pose nobody tells.
	told := reality == hal.Emulated && len(sensors) < len(p.layout.Sensors) && !afloat(p.layout)
	whole := len(joints) == len(p.joints) && !told
	if reality == hal.Real {
		// What is real and has no device is not known; the physics is no witness for it.
		for k := range p.layout.Sensors {
			if name := p.layout.Sensors[k].Name; p.config.BodyOf(name) == configs.Real {
				sensors[name] = true
			}
		}
	}
	layout := p.layout
	switch {
	case len(joints)+len(sensors) == 0:
		return b.simulated(i), reality, nil
	case !whole:
		layout = cut(p.layout, on, joints, sensors)
	}
	built, err := drivers.Build(layout, joints, reality == hal.Emulated)
	if err == nil {
		err = b.sense(i, built)
	}
	if err != nil {
		return nil, reality, err
	}
	body := hal.Body(built)
	if !whole {
		if body, err = hal.Join(b.simulated(i), built); err != nil {
			return nil, reality, err
		}
	}
	switch {
	case p.base != nil && p.base.body != configs.Sim:
		body, err = b.reckonWheels(i, body, p.place())
	case whole && afloat(p.layout):
		body = reckon(body, sensors, p.pascalPerMetre())
	case whole || told:
		body, err = p.estimate(body)
	}
	return body, reality, err
}

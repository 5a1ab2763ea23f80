package main

import (
	"slices"

	"github.com/halyard-robotics/halyard/hal"
)

// stationed is p with one robot of each class that has hardware, under the class's name and at a start of its scene, among
// the agents: what is to be examined, emulated or listed of a config is there whether or not anybody has spawned it. p is
// not to be used any more, for its devices are the new plan's.
func (p *plan) stationed() (*plan, error) {
	whole := *p
	whole.agents, whole.classes = slices.Clone(p.agents), nil
	starts, err := p.starts()
	if err != nil {
		return nil, err
	}
	for _, name := range sortedKeys(p.classes) {
		c := p.classes[name]
		if c.config.Hardware == nil {
			continue
		}
		var at hal.Pose
		if len(starts) > 0 {
			at = starts[len(whole.agents)%len(starts)]
		}
		whole.devicePlan.add(&c.devices, len(whole.agents))
		whole.agents = append(whole.agents, *c.named(name, at))
	}
	return &whole, nil
}

// starts are the places to begin at in the scene, for who begins at none of his own.
func (p *plan) starts() (list []hal.Pose, err error) {
	if len(p.classes) == 0 {
		return nil, nil
	}
	scene, err := newScene(p)
	if err != nil {
		return nil, err
	}
	arena, err := scene.Arena()
	if err != nil {
		return nil, err
	}
	for _, s := range arena.Course.Starts {
		list = append(list, s.Pose)
	}
	return list, nil
}

// add takes the devices of one robot in, as those of agent.
func (p *devicePlan) add(more *devicePlan, agent int) {
	for _, s := range more.sensors {
		s.agent = agent
	}
	for _, b := range more.bases {
		b.agent = agent
	}
	for _, c := range more.cameras {
		c.agent = agent
	}
	for _, w := range slices.Concat(more.estops, more.lights) {
		w.agent = agent
	}
	for _, g := range more.gates {
		g.agent = agent
	}
	p.boards, p.sensors, p.bases = slices.Concat(p.boards, more.boards), slices.Concat(p.sensors, more.sensors), slices.Concat(p.bases, more.bases)
	p.cameras, p.estops = slices.Concat(p.cameras, more.cameras), slices.Concat(p.estops, more.estops)
	p.lights, p.gates = slices.Concat(p.lights, more.lights), slices.Concat(p.gates, more.gates)
}

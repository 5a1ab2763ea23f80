package plan

import (
	"slices"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/report"
)

// Stationed returns p with one robot of each class that has hardware, named as the class and placed at a start of the
// scene. So doctor, emulate and list find these devices before a client spawns the robot. Do not use p afterwards: the
// new plan owns its devices.
func (p *Plan) Stationed() (*Plan, error) {
	whole := *p
	whole.Agents, whole.Classes = slices.Clone(p.Agents), nil
	starts, err := p.starts()
	if err != nil {
		return nil, err
	}
	for _, name := range report.SortedKeys(p.Classes) {
		c := p.Classes[name]
		if c.Config.Hardware == nil {
			continue
		}
		var at hal.Pose
		if len(starts) > 0 {
			at = starts[len(whole.Agents)%len(starts)]
		}
		whole.DevicePlan.add(&c.Devices, len(whole.Agents))
		whole.Agents = append(whole.Agents, *c.Named(name, at))
	}
	return &whole, nil
}

// starts returns the start poses of the scene, for robots without their own.
func (p *Plan) starts() (list []hal.Pose, err error) {
	if len(p.Classes) == 0 {
		return nil, nil
	}
	scene, err := NewScene(p)
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

// add adds the devices of one robot, as those of agent.
func (p *DevicePlan) add(more *DevicePlan, agent int) {
	for _, s := range more.Sensors {
		s.Agent = agent
	}
	for _, b := range more.Bases {
		b.Agent = agent
	}
	for _, c := range more.Cameras {
		c.Agent = agent
	}
	for _, w := range slices.Concat(more.Estops, more.Lights) {
		w.Agent = agent
	}
	for _, g := range more.Gates {
		g.Agent = agent
	}
	p.Boards, p.Sensors, p.Bases = slices.Concat(p.Boards, more.Boards), slices.Concat(p.Sensors, more.Sensors),
		slices.Concat(p.Bases, more.Bases)
	p.Cameras, p.Estops = slices.Concat(p.Cameras, more.Cameras), slices.Concat(p.Estops, more.Estops)
	p.Lights, p.Gates = slices.Concat(p.Lights, more.Lights), slices.Concat(p.Gates, more.Gates)
}

package main

import (
	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/drivers"
	"github.com/halyard-robotics/halyard/hal"
)

// simulated is the robot of agent i as it is in the scene.
func (b *builder) simulated(i int) hal.Body {
	if v := b.scene.Vehicle(b.plan.agents[i].config.Name); v != nil {
		return v
	}
	if b.robots[i] == nil {
		return nil // and no body that is one of nothing
	}
	return b.robots[i]
}

// sensed lists the sensors of agent i that devices measure, and what is the most real of them.
func (b *builder) sensed(i int) (names map[string]bool, reality hal.BodyKind) {
	names = map[string]bool{}
	if p := b.plan.agents[i].base; p != nil && p.body != configs.Sim {
		for _, u := range p.serves {
			names[u.sensor] = true
		}
		reality = realities[p.body]
	}
	for _, p := range b.plan.sensors {
		if p.agent != i || p.body == configs.Sim {
			continue
		}
		for _, u := range p.uses {
			names[u.sensor] = true
			reality = max(reality, realities[p.body])
		}
	}
	return names, reality
}

// sense gives the sensors of a body of agent i their devices.
func (b *builder) sense(i int, body *drivers.Body) error {
	layout := b.plan.agents[i].layout
	give := func(sensor string, s drivers.Source, first int) error {
		b.sources[jointRef{i, sensorIndex(layout, sensor)}] = s
		return body.AttachSensor(sensor, s, first)
	}
	for _, p := range b.plan.sensors {
		if p.agent != i || p.body == configs.Sim {
			continue
		}
		for _, u := range p.uses {
			s := drivers.Source(b.pollers[p])
			switch layout.Sensors[sensorIndex(layout, u.sensor)].Kind {
			case "inertial":
				s = &tilted{Source: s}
			case "encoder":
				s = &counted{Source: s}
			}
			if err := give(u.sensor, s, u.first); err != nil {
				return err
			}
		}
	}
	if p := b.plan.agents[i].base; p != nil && p.body != configs.Sim {
		for _, u := range p.serves {
			if err := give(u.sensor, p.source(b.bases[p], u), u.first); err != nil {
				return err
			}
		}
	}
	return nil
}

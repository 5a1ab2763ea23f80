package assembly

import (
	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/drivers"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/catalog"
	"github.com/halyard-robotics/halyard/internal/plan"
)

// Simulated returns the robot of agent i in the scene.
func (b *Builder) Simulated(i int) hal.Body {
	if v := b.Scene.Vehicle(b.Plan.Agents[i].Config.Name); v != nil {
		return v
	}
	if b.Robots[i] == nil {
		return nil // untyped nil: a nil *sim.Body in an interface is not nil
	}
	return b.Robots[i]
}

// sensed lists the sensors of agent i that have devices, and the most real body of these devices.
func (b *Builder) sensed(i int) (names map[string]bool, reality hal.BodyKind) {
	names = map[string]bool{}
	if p := b.Plan.Agents[i].Base; p != nil && p.Body != configs.Sim {
		for _, u := range p.Serves {
			names[u.Sensor] = true
		}
		reality = realities[p.Body]
	}
	for _, p := range b.Plan.Sensors {
		if p.Agent != i || p.Body == configs.Sim {
			continue
		}
		for _, u := range p.Uses {
			names[u.Sensor] = true
			reality = max(reality, realities[p.Body])
		}
	}
	return names, reality
}

// sense attaches the devices to the sensors of a body of agent i.
func (b *Builder) sense(i int, body *drivers.Body) error {
	layout := b.Plan.Agents[i].Layout
	give := func(sensor string, s drivers.Source, first int) error {
		b.Sources[plan.JointRef{Agent: i, Joint: catalog.SensorIndex(layout, sensor)}] = s
		return body.AttachSensor(sensor, s, first)
	}
	for _, p := range b.Plan.Sensors {
		if p.Agent != i || p.Body == configs.Sim {
			continue
		}
		for _, u := range p.Uses {
			s := drivers.Source(b.Pollers[p])
			switch layout.Sensors[catalog.SensorIndex(layout, u.Sensor)].Kind {
			case "inertial":
				s = &tilted{Source: s}
			case "encoder":
				s = &catalog.Counted{Source: s}
			}
			if err := give(u.Sensor, s, u.First); err != nil {
				return err
			}
		}
	}
	if p := b.Plan.Agents[i].Base; p != nil && p.Body != configs.Sim {
		for _, u := range p.Serves {
			if err := give(u.Sensor, sourceOf(b.bases[p], u), u.First); err != nil {
				return err
			}
		}
	}
	return nil
}

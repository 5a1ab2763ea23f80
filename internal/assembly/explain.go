package assembly

import (
	"strings"

	"github.com/halyard-robotics/halyard/servo"
)

// Explainer returns a function that describes the packets in the bytes of a servo line; see servo.Traits.Explain. A
// line that is a part of a bus has its name and a number. It returns nil for an unknown line, and for a vendor without
// descriptions.
func (s *System) Explainer(line string) func(asked, data []byte, host bool) []string {
	buses, bus := s.Plan.Config.Buses, line
	if _, ok := buses[bus]; !ok {
		bus = line[:max(0, strings.LastIndexByte(line, '_'))]
	}
	explain := s.Plan.Catalog.Buses.Of(buses[bus].Type).Explain
	if explain == nil {
		return nil
	}
	models := map[int]servo.Model{}
	for i := range s.Plan.Agents {
		for _, j := range s.Plan.Agents[i].Joints {
			if j.Hardware != nil && j.Servo != nil && j.Hardware.Bus == bus {
				models[j.Hardware.ID] = j.Servo
			}
		}
	}
	return func(asked, data []byte, host bool) []string {
		return explain(asked, data, host, func(id int) servo.Model { return models[id] })
	}
}

package assembly

import (
	"github.com/halyard-robotics/halyard/servo"
)

// LineState is a bus with servos and what its chain has counted.
type LineState struct {
	Name, Body string
	Joints     []string // AGENT/JOINT of its servos
	Stats      servo.Stats
}

// LineStates lists the buses with servos, at a cycle's edge.
func (s *System) LineStates() (list []LineState) {
	for _, l := range s.Lines {
		state := LineState{Name: l.Name, Body: string(l.kind), Stats: l.Chain.Stats()}
		for _, h := range s.Plan.On(l.Name, l.kind) {
			a := &s.Plan.Agents[h.Agent]
			state.Joints = append(state.Joints, a.Config.Name+"/"+a.Layout.Actuators[h.Joint].Name)
		}
		list = append(list, state)
	}
	return list
}

package record

import (
	"encoding/json"
	"fmt"

	"github.com/halyard-robotics/halyard/hal"
)

// layoutName is the metadata record with the layouts of the agents that are there at the beginning, by name.
const layoutName = "halyard.layout"

// Layout is what a reader needs to know of an agent's joints and cameras.
type Layout struct {
	Inputs  []string `json:"inputs"` // of a command, in its order
	Joints  []Joint  `json:"joints"`
	Cameras []string `json:"cameras"`
}

// Joint is an actuator. Its position is measured.NAME.position of a state, its goal inputs.NAME.position.
type Joint struct {
	Name     string  `json:"name"`
	Goal     int     `json:"goal"` // which of Inputs is its position's goal, -1 = none
	Measured bool    `json:"measured"`
	Slide    bool    `json:"slide"`
	Min      float64 `json:"min"` // its soft limits, rad or m; 0, 0 where it wraps
	Max      float64 `json:"max"`
}

// layoutsOf are those of a rig's agents.
func layoutsOf(r *hal.Rig) map[string]Layout {
	all := map[string]Layout{}
	for _, a := range r.Agents() {
		l, of := a.Layout(), Layout{}
		for i := range l.Inputs {
			of.Inputs = append(of.Inputs, l.Inputs[i].Name)
		}
		for i := range l.Actuators {
			t := &l.Actuators[i]
			j := Joint{Name: t.Name, Goal: t.Goal[hal.PositionMode], Measured: t.Position != hal.None,
				Slide: t.Kind == hal.Slide}
			if !t.Wraps && t.Kind != hal.Thruster {
				j.Min, j.Max = t.Limits.MinPosition, t.Limits.MaxPosition
			}
			of.Joints = append(of.Joints, j)
		}
		for i := range l.Cameras {
			of.Cameras = append(of.Cameras, l.Cameras[i].Name)
		}
		all[a.Name()] = of
	}
	return all
}

func layoutText(all map[string]Layout) map[string]string {
	m := map[string]string{}
	for name, l := range all {
		text, _ := json.Marshal(l)
		m[name] = string(text)
	}
	return m
}

// layoutsFrom reads them again.
func layoutsFrom(m map[string]string) (map[string]Layout, error) {
	all := map[string]Layout{}
	for name, text := range m {
		var l Layout
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			return nil, fmt.Errorf("layout of %.60q: %w", name, err)
		}
		for _, j := range l.Joints {
			if j.Goal < -1 || j.Goal >= len(l.Inputs) {
				return nil, fmt.Errorf("layout of %.60q: %.60q: got input %d, want below %d", name, j.Name, j.Goal,
					len(l.Inputs))
			}
		}
		all[name] = l
	}
	return all, nil
}

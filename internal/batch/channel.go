package batch

import (
	"fmt"
	"strings"

	"github.com/halyard-robotics/halyard/hal"
)

// Channel is one column of the actions or the observations.
type Channel struct {
	Name     string  // "elbow/position"; "arm/elbow/position" where the rig has several agents
	Unit     string  // "rad"
	Min, Max float64 // the range of values
}

// place is the source of a column: a channel of an agent's inputs or of its measurements.
type place struct{ agent, at int }

// column is a channel of agent k.
func column(agents []*hal.Agent, k int, c *hal.Channel) Channel {
	name := c.Name
	if len(agents) > 1 {
		name = agents[k].Name() + "/" + name
	}
	return Channel{name, c.Quantity.Unit(), c.Min, c.Max}
}

// inputs are the columns of all that may be commanded, and which of them one goal for each joint is: of the first mode that it
// offers, position before velocity, torque and duty.
func inputs(agents []*hal.Agent) (all []Channel, at []place, usual []int) {
	for k, a := range agents {
		l := a.Layout()
		first := len(all)
		for i := range l.Inputs {
			all, at = append(all, column(agents, k, &l.Inputs[i])), append(at, place{k, i})
		}
		for i := range l.Actuators {
			for _, goal := range l.Actuators[i].Goal {
				if goal != hal.None {
					usual = append(usual, first+goal)
					break
				}
			}
		}
	}
	return all, at, usual
}

// outputs returns the columns of all measurements. usual omits ground-truth sensors, which a real robot does not have.
func outputs(agents []*hal.Agent) (all []Channel, at []place, usual []int) {
	for k, a := range agents {
		l := a.Layout()
		for i := range l.Outputs {
			usual = append(usual, len(all))
			all, at = append(all, column(agents, k, &l.Outputs[i])), append(at, place{k, i})
		}
		for i := range l.Infos {
			all, at = append(all, column(agents, k, &l.Infos[i])), append(at, place{k, len(l.Outputs) + i})
		}
	}
	return all, at, usual
}

// choose selects columns by their names; by default the usual ones.
func choose(what string, names []string, all []Channel, at []place, usual []int) (columns []Channel, places []place, err error) {
	picked := usual
	if len(names) > 0 {
		picked = nil
		for _, name := range names {
			k := -1
			for i := range all {
				if all[i].Name == name {
					k = i
				}
			}
			if k < 0 {
				var have []string
				for i := range all {
					have = append(have, all[i].Name)
				}
				return nil, nil, fmt.Errorf("batch: %s: got %q, want one of %s", what, name, strings.Join(have, ", "))
			}
			picked = append(picked, k)
		}
	}
	for _, k := range picked {
		columns, places = append(columns, all[k]), append(places, at[k])
	}
	return columns, places, nil
}

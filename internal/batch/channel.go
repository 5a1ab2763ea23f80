package batch

import (
	"fmt"
	"slices"
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

// arrays are the leases of all agents of a rig, and the columns by which they are commanded and observed.
type arrays struct {
	session *hal.Session
	leases  []*hal.Lease
	inputs  [][]float64 // one an agent, all NaN except for the actions

	actions, observations []Channel
	from, to              []place // of the actions among the inputs, of the observations among the measurements
}

// choose sets the columns.
func (r *arrays) choose(agents []*hal.Agent, o *Options) (err error) {
	all, at, usual := inputs(agents)
	if r.actions, r.from, err = choose("actions", o.Actions, all, at, usual); err != nil {
		return err
	}
	all, at, usual = outputs(agents)
	r.observations, r.to, err = choose("observations", o.Observations, all, at, usual)
	return err
}

// acquire takes the lease of each agent, up to one that another client holds: a lease that is given back makes its
// joints hold.
func (r *arrays) acquire(agents []*hal.Agent) error {
	for _, a := range agents {
		lease, err := r.session.Acquire(a)
		if err != nil {
			return err
		}
		r.leases, r.inputs = append(r.leases, lease),
			append(r.inputs, slices.Repeat([]float64{nothing}, len(a.Layout().Inputs)))
	}
	return nil
}

// command puts actions into the inputs.
func (r *arrays) command(actions []float64) {
	for k, p := range r.from {
		r.inputs[p.agent][p.at] = actions[k]
	}
}

// observe fills in observations; only for hal.Observer.
func (r *arrays) observe(observations []float64) {
	for k, p := range r.to {
		observations[k] = r.leases[p.agent].Frame().Measured[p.at]
	}
}

// ready returns an error of kind Unsafe where the last actions command an agent of which nothing follows: what a step
// returns then is no effect of its actions.
func (r *arrays) ready() error {
	for k, l := range r.leases {
		a := l.Agent()
		if a == nil || !slices.ContainsFunc(r.inputs[k], func(v float64) bool { return v == v }) {
			continue
		}
		if err := a.Ready(); err != nil {
			return err
		}
	}
	return nil
}

// column is a channel of agent k.
func column(agents []*hal.Agent, k int, c *hal.Channel) Channel {
	name := c.Name
	if len(agents) > 1 {
		name = agents[k].Name() + "/" + name
	}
	return Channel{name, c.Unit(), c.Min, c.Max}
}

// inputs are the columns of all that may be commanded, and which of them one goal for each joint is: of the first mode
// that it offers, position before velocity, torque and duty.
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
func choose(what string, names []string, all []Channel, at []place, usual []int) (columns []Channel, places []place,
	err error) {
	if len(names) > 0 {
		usual = nil
	}
	have := make([]string, len(all))
	for i := range all {
		have[i] = all[i].Name
	}
	for _, name := range names {
		k := slices.Index(have, name)
		if k < 0 {
			return nil, nil, fmt.Errorf("batch: %s: got %q, want one of %s", what, name, strings.Join(have, ", "))
		}
		usual = append(usual, k)
	}
	for _, k := range usual {
		columns, places = append(columns, all[k]), append(places, at[k])
	}
	return columns, places, nil
}

package osp

import (
	"sync"

	"github.com/halyard-robotics/halyard/hal"
)

// interfaces declares every channel of every agent as a named value, as the original does, in the original's names and
// units: "/humanoid/Left/Elbow/JointAngle", in degrees. Measured values are read-only. Setting an input commands the
// agent as ODCP does: on a real body only while its lease is free.
type interfaces struct {
	rig      *hal.Rig
	mu       sync.Mutex
	declared map[*hal.Agent]bool
}

// declare adds the values of agents added since the last call.
func (n *interfaces) declare() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, a := range n.rig.Agents() {
		if n.declared[a] {
			continue
		}
		n.declared[a] = true
		l, t := a.Layout(), newTerminals(a.Layout())
		for i := range t.inputs {
			n.one(a, &t.inputs[i], "/"+a.Name()+"/"+l.Inputs[i].Name+"_goal", func(v hal.Value) error {
				command := make([]float64, i+1)
				hal.FillNaN(command)
				command[i] = v.Double * t.inputs[i].unit
				return a.Override(command)
			})
		}
		for i := range t.outputs {
			n.one(a, &t.outputs[i], "/"+a.Name()+"/"+l.Outputs[i].Name, nil)
		}
		for i := range t.infos {
			n.one(a, &t.infos[i], "/"+a.Name()+"/"+l.Infos[i].Name, nil)
		}
	}
}

// one declares t as a view of the rig's own value of that channel.
func (n *interfaces) one(a *hal.Agent, t *terminal, of string, set func(hal.Value) error) {
	values := n.rig.Values()
	name := "/" + a.Name() + t.name
	source, ok := values.Lookup(of)
	if !ok || name == of {
		return // it has that name already
	}
	values.Declare(name, hal.InterfaceValue, func() hal.Value {
		v, _ := values.Read(source)
		v.Double = t.physical(v.Double)
		return v
	}, set)
}

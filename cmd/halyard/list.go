package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/halyard-robotics/halyard/hal"
)

// thing is one line of "halyard list": an actuator, a sensor, a channel of either, a body with its mass, or a server.
type thing struct {
	Kind  string `json:"kind"`
	Agent string `json:"agent"`
	Name  string `json:"name"`
	Body  string `json:"body"`
	Unit  string `json:"unit"`
	Min   number `json:"min"`
	Max   number `json:"max"`
	On    string `json:"on"` // where it hangs: bus and id, the body before it, or an address; of a sensor its kind
}

func (thing) header() []string {
	return []string{"kind", "agent", "name", "body", "unit", "min", "max", "on"}
}

func (t thing) cells() []string {
	return []string{t.Kind, t.Agent, t.Name, t.Body, t.Unit, t.Min.String(), t.Max.String(), t.On}
}

func newList(a *app) *cobra.Command {
	var f configFlags
	c := &cobra.Command{
		Use:               "list CONFIG",
		Short:             "actuators, sensors, bodies and servers of a config, with units and ranges",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: completeConfigs,
		RunE: func(_ *cobra.Command, args []string) error {
			c, p, err := f.load(a, args)
			if err != nil {
				return err
			}
			if p, err = p.stationed(); err != nil {
				return err
			}
			var rows []thing
			none := number(math.NaN())
			for i := range p.agents {
				rows = p.agents[i].things(rows)
			}
			for _, s := range c.Servers {
				rows = append(rows, thing{Kind: "server", Agent: s.Agent, Name: s.Protocol, Min: none, Max: none, On: s.Listen})
			}
			return show(a, rows)
		},
	}
	f.add(c)
	return c
}

// things lists what an agent offers.
func (p *agentPlan) things(rows []thing) []thing {
	l, none := p.layout, number(math.NaN())
	for i := range l.Actuators {
		act := &l.Actuators[i]
		on, body := "", string(p.config.BodyOf(act.Name))
		if p.base.turns(i) {
			on, body = p.base.config.Bus+" "+p.base.config.Device+" "+p.base.robot.Name, string(p.base.body)
		}
		if hw, ok := p.hardware(act.Name); ok {
			on = hw.Bus + " id " + strconv.Itoa(hw.ID) + " " + hw.Model
			if hw.Device != "" {
				on = strings.TrimSpace(hw.Bus + " " + hw.Device)
				if hw.Address != nil {
					on += fmt.Sprintf(" 0x%02X", *hw.Address)
				}
				on += " channel " + strconv.Itoa(*hw.Channel)
			}
		}
		row := thing{"joint", p.config.Name, act.Name, body, hal.Position.Unit(),
			number(act.Limits.MinPosition), number(act.Limits.MaxPosition), on}
		if act.Kind == hal.Thruster {
			row.Kind, row.Unit, row.Min, row.Max = "thruster", hal.Force.Unit(), number(-act.Limits.MaxTorque), number(act.Limits.MaxTorque)
		}
		rows = append(rows, row)
		for _, at := range act.Goal {
			if at != hal.None {
				rows = append(rows, channel(p, "input", body, &l.Inputs[at]))
			}
		}
		if act.TorqueLimit != hal.None {
			rows = append(rows, channel(p, "input", body, &l.Inputs[act.TorqueLimit]))
		}
		for _, at := range []int{act.Position, act.Velocity, act.Torque, act.Voltage, act.Temperature} {
			if at == hal.None {
				continue
			}
			// What all of them share, such as the battery's voltage, is a sensor's.
			if row := p.measured(at, body); strings.HasPrefix(row.Name, act.Name+"/") {
				rows = append(rows, row)
			}
		}
	}
	for _, s := range l.Sensors {
		row := thing{Kind: "sensor", Agent: p.config.Name, Name: s.Name, Min: none, Max: none, On: s.Kind}
		if hw := p.config.Hardware; hw != nil {
			if d, ok := hw.Sensors[s.Name]; ok {
				row.Body, row.On = string(p.config.BodyOf(s.Name)), s.Kind+" on "+d.Bus+" "+d.Device
			}
		}
		rows = append(rows, row)
		for at := range s.Count {
			rows = append(rows, p.measured(s.First+at, ""))
		}
	}
	for _, c := range l.Cameras {
		row := thing{Kind: "camera", Agent: p.config.Name, Name: c.Name, Unit: "pixels", Min: number(c.Width), Max: number(c.Height)}
		if hw := p.config.Hardware; hw != nil {
			if d, ok := hw.Cameras[c.Name]; ok {
				row.Body, row.On = string(p.config.BodyOf(c.Name)), d.Device+" "+d.Format
			}
		}
		rows = append(rows, row)
	}
	parents := p.robot.Parents()
	for i := range p.robot.Bodies {
		b, on := &p.robot.Bodies[i], "free"
		switch {
		case parents[i] != hal.None:
			on = p.robot.Bodies[parents[i]].Name
		case p.robot.Fixed:
			on = "fixed"
		}
		rows = append(rows, thing{"body", p.config.Name, b.Name, "", "kg", number(b.Mass), number(b.Mass), on})
	}
	return rows
}

// measured is measured channel at.
func (p *agentPlan) measured(at int, body string) thing {
	kind := "output"
	if at >= len(p.layout.Outputs) {
		kind = "info"
	}
	return channel(p, kind, body, p.layout.Measured(at))
}

func channel(p *agentPlan, kind, body string, c *hal.Channel) thing {
	return thing{kind, p.config.Name, c.Name, body, c.Quantity.Unit(), number(c.Min), number(c.Max), ""}
}

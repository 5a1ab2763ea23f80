package plan

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/report"
)

// Thing is one line of "halyard list": an actuator, a sensor, a channel of either, a body with its mass, or a server.
type Thing struct {
	Kind  string        `json:"kind"`
	Agent string        `json:"agent"`
	Name  string        `json:"name"`
	Body  string        `json:"body"`
	Unit  string        `json:"unit"`
	Min   report.Number `json:"min"`
	Max   report.Number `json:"max"`
	// where it hangs: bus and id, the body before it, or an address; of a sensor its kind
	On string `json:"on"`
}

func (t Thing) Cells() report.Cells {
	value := func(n report.Number) report.Value { return report.Value{Number: n, Unit: t.Unit, Bare: true} }
	return report.Cells{{"kind", t.Kind}, {"agent", t.Agent}, {"name", t.Name}, {"body", t.Body},
		{"unit", report.Unit(t.Unit)}, {"min", value(t.Min)}, {"max", value(t.Max)}, {"on", t.On}}
}

// Things lists the inputs and outputs of an agent.
func (p *AgentPlan) Things(rows []Thing) []Thing {
	l, none := p.Layout, report.Number(math.NaN())
	for i := range l.Actuators {
		act := &l.Actuators[i]
		on, body := "", string(p.Config.BodyOf(act.Name))
		if p.Base.turns(i) {
			on, body = p.Base.Config.Bus+" "+p.Base.Config.Device+" "+p.Base.Robot.Name, string(p.Base.Body)
		}
		if hw := p.Joints[i].Hardware; hw != nil {
			on = hw.Bus + " id " + strconv.Itoa(hw.ID) + " " + hw.Model
			if hw.Device != "" {
				on = strings.TrimSpace(hw.Bus + " " + hw.Device)
				if hw.Address != nil {
					on += fmt.Sprintf(" 0x%02X", *hw.Address)
				}
				if hw.Channel != nil { // of a simulated joint it may be absent
					on += " channel " + strconv.Itoa(*hw.Channel)
				}
			}
		}
		row := Thing{"joint", p.Config.Name, act.Name, body, hal.Position.UnitOf(act.Kind == hal.Slide),
			report.Number(act.Limits.MinPosition), report.Number(act.Limits.MaxPosition), on}
		if act.Kind == hal.Thruster {
			row.Kind, row.Unit, row.Min, row.Max = "thruster", hal.Force.Unit(), report.Number(-act.Limits.MaxTorque),
				report.Number(act.Limits.MaxTorque)
		}
		rows = append(rows, row)
		for _, at := range act.Inputs(nil) {
			rows = append(rows, p.channel("input", body, &l.Inputs[at]))
		}
		for _, at := range []int{act.Position, act.Velocity, act.Torque, act.Voltage, act.Temperature} {
			if at == hal.None {
				continue
			}
			// A value of the whole base, such as the battery's voltage, belongs to a sensor.
			if row := p.measured(at, body); strings.HasPrefix(row.Name, act.Name+"/") {
				rows = append(rows, row)
			}
		}
	}
	for _, s := range l.Sensors {
		row := Thing{Kind: "sensor", Agent: p.Config.Name, Name: s.Name, Min: none, Max: none, On: s.Kind}
		if d, ok := p.Config.Devices().Sensors[s.Name]; ok {
			row.Body, row.On = string(p.Config.BodyOf(s.Name)), s.Kind+" on "+d.Bus+" "+d.Device
		}
		rows = append(rows, row)
		for at := range s.Count {
			rows = append(rows, p.measured(s.First+at, ""))
		}
	}
	for _, c := range l.Cameras {
		row := Thing{Kind: "camera", Agent: p.Config.Name, Name: c.Name, Unit: "pixels", Min: report.Number(c.Width),
			Max: report.Number(c.Height)}
		if d, ok := p.Config.Devices().Cameras[c.Name]; ok {
			row.Body, row.On = string(p.Config.BodyOf(c.Name)), d.Device+" "+d.Format
		}
		rows = append(rows, row)
	}
	parents := p.Robot.Parents()
	for i := range p.Robot.Bodies {
		b, on := &p.Robot.Bodies[i], "free"
		switch {
		case parents[i] != hal.None:
			on = p.Robot.Bodies[parents[i]].Name
		case p.Robot.Fixed:
			on = "fixed"
		}
		rows = append(rows, Thing{"body", p.Config.Name, b.Name, "", "kg", report.Number(b.Mass), report.Number(b.Mass),
			on})
	}
	return rows
}

// measured is measured channel at.
func (p *AgentPlan) measured(at int, body string) Thing {
	kind := "output"
	if at >= len(p.Layout.Outputs) {
		kind = "info"
	}
	return p.channel(kind, body, p.Layout.Measured(at))
}

func (p *AgentPlan) channel(kind, body string, c *hal.Channel) Thing {
	return Thing{kind, p.Config.Name, c.Name, body, c.Unit(), report.Number(c.Min), report.Number(c.Max), ""}
}

package assembly

import (
	"log/slog"

	"github.com/halyard-robotics/halyard/calibration"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/plan"
)

// driftCycle is the cycle after which every joint has been read, and none has moved far yet.
const driftCycle = 3

// driftWatch compares the joints of each robot with the rest pose of their calibrations, once at the start, and logs
// each joint that has drifted. It does not change the control.
type driftWatch struct {
	log    *slog.Logger
	source string
	agents []driftAgent
	cycles int
}

type driftAgent struct {
	agent    *hal.Agent
	channels []int // measured positions of the joints below
	joints   []calibration.Lying
}

func (b *Builder) watchDrift() {
	w := &driftWatch{log: b.Log, source: b.Plan.Config.Source}
	for i := range b.Plan.Agents {
		p := &b.Plan.Agents[i]
		a := driftAgent{agent: b.Rig.Agent(p.Config.Name)}
		for k := range p.Joints {
			c := p.Joints[k].Calibration
			if _, connected := b.connected[plan.JointRef{Agent: i, Joint: k}]; connected && c != nil &&
				c.RestTicks != nil {
				a.channels, a.joints = append(a.channels, p.Layout.Actuators[k].Position),
					append(a.joints, calibration.Lying{Joint: c})
			}
		}
		if len(a.joints) > 0 && a.agent != nil {
			w.agents = append(w.agents, a)
		}
	}
	if len(w.agents) > 0 {
		b.watch("drift", w)
	}
}

func (w *driftWatch) Cycle(*hal.Cycle) {
	if w.cycles++; w.cycles != driftCycle {
		return
	}
	for i := range w.agents {
		a := &w.agents[i]
		measured := a.agent.Measured(nil)
		for k, channel := range a.channels {
			a.joints[k].Ticks = a.joints[k].Joint.Ticks(measured[channel])
		}
		drifted, _ := calibration.Drift(a.joints)
		for _, d := range drifted {
			w.log.Warn("joint has drifted", "agent", a.agent.Name(), "joint", d.Joint, "found", d.String(), "try",
				"halyard calibrate "+w.source+" --joint "+d.Joint)
		}
	}
}

package assembly

import (
	"log/slog"
	"math"
	"slices"

	"github.com/halyard-robotics/halyard/calibration"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/plan"
)

// driftCycle is the cycle after which every joint has been read, and none has moved far yet. The joints are judged by
// driftReadings from there on.
const (
	driftCycle    = 3
	driftReadings = 5
	driftStill    = 2 * math.Pi / 180 // rad; a joint that moves more meanwhile does not lie
)

// driftWatch compares the joints of each robot with the rest pose of their calibrations, once at the start, and logs
// each joint that has drifted. A robot of which a joint has torque, or moves, does not lie in its rest pose and is not
// judged. It does not change the control.
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
	readings [][]float64 // one list a joint
}

func (b *Builder) watchDrift() {
	w := &driftWatch{log: b.Log, source: b.Plan.Config.Source}
	for i := range b.Plan.Agents {
		p := &b.Plan.Agents[i]
		a := driftAgent{agent: b.Rig.Agent(p.Config.Name)}
		held := false
		for k := range p.Joints {
			c := p.Joints[k].Calibration
			at, connected := b.connected[plan.JointRef{Agent: i, Joint: k}]
			held = held || connected && at.Chain != nil && at.Chain.State(at.Index).Torque
			if connected && c != nil && c.RestTicks != nil {
				a.channels, a.joints = append(a.channels, p.Layout.Actuators[k].Position),
					append(a.joints, calibration.Lying{Joint: c})
			}
		}
		if a.readings = make([][]float64, len(a.joints)); len(a.joints) > 0 && a.agent != nil && !held {
			w.agents = append(w.agents, a)
		}
	}
	if len(w.agents) > 0 {
		b.watch("drift", w)
	}
}

func (w *driftWatch) Cycle(*hal.Cycle) {
	if w.cycles++; w.cycles < driftCycle || w.cycles >= driftCycle+driftReadings {
		return
	}
	for i := range w.agents {
		a := &w.agents[i]
		measured := a.agent.Measured(nil)
		for k, channel := range a.channels {
			if v := measured[channel]; !math.IsNaN(v) {
				a.readings[k] = append(a.readings[k], v)
			}
		}
		if w.cycles == driftCycle+driftReadings-1 && a.lies() {
			w.judge(a)
		}
	}
}

// lies reports whether the robot is at rest without torque, and turns its readings into ticks.
func (a *driftAgent) lies() bool {
	for _, g := range a.agent.Goals(nil) {
		if g.Mode != hal.NoMode {
			return false
		}
	}
	for k, all := range a.readings {
		if a.joints[k].Ticks = math.NaN(); len(all) == 0 {
			continue
		}
		slices.Sort(all)
		if all[len(all)-1]-all[0] > driftStill {
			return false
		}
		a.joints[k].Ticks = a.joints[k].Joint.Ticks(all[len(all)/2])
	}
	return true
}

func (w *driftWatch) judge(a *driftAgent) {
	drifted, _ := calibration.Drift(a.joints)
	for _, d := range drifted {
		w.log.Warn("joint has drifted", "agent", a.agent.Name(), "joint", d.Joint, "found", d.String(), "try",
			"put the robot into its rest pose, then halyard calibrate check "+w.source)
	}
}

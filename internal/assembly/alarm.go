package assembly

import (
	"log/slog"
	"math"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/drivers"
	"github.com/halyard-robotics/halyard/hal"
)

// alarms watch the first values of devices against the bounds of the config: an event /AGENT/NAME/Alarm when one is
// passed, /AGENT/NAME/Fault when a monitor or a light is lost, /AGENT/NAME/Recovered when it is back, and a line in the
// log of each. They control nothing.
type alarms struct {
	rig   *hal.Rig
	log   *slog.Logger
	list  []*alarm
	noted []*noted
}

// noted is a device that may have something to say of itself; see drivers.Noted.
type noted struct {
	agent, name string
	poller      *drivers.Poller
	last        string
}

type alarm struct {
	agent, name  string
	poller       *drivers.Poller
	below, above float64 // infinite without a bound
	ring, lost   hal.EventID
	back         hal.EventID // it measures again
	monitor      bool        // otherwise its faults are those of the robot's sensor, which the rig reports
	on, faulty   bool
	value        [1]float64
}

// clearance is by how much of a bound a value must be recovered for its alarm to end: one at the bound would ring on
// and on.
const clearance = 0.02

// watchAlarms starts the alarms of the plan.
func (b *Builder) watchAlarms() {
	w := &alarms{rig: b.Rig, log: b.Log}
	for _, p := range b.Plan.Sensors {
		if p.Body != configs.Sim {
			w.noted = append(w.noted, &noted{agent: b.Plan.Agents[p.Agent].Config.Name, name: p.Name,
				poller: b.Pollers[p]})
		}
		monitor := len(p.Uses) == 0
		if p.Body == configs.Sim || !monitor && p.Config.Below == nil && p.Config.Above == nil {
			continue
		}
		a := &alarm{agent: b.Plan.Agents[p.Agent].Config.Name, name: p.Name, poller: b.Pollers[p], monitor: monitor,
			below: configs.Or(p.Config.Below, math.Inf(-1)), above: configs.Or(p.Config.Above, math.Inf(1)),
			value: [1]float64{math.NaN()}}
		a.ring = b.Rig.Events().Declare(a.path() + "/Alarm")
		if w.add(a); monitor {
			b.Rig.Values().Declare(a.path(), hal.DoubleValue, func() hal.Value {
				return hal.Value{Kind: hal.DoubleValue, Double: a.value[0]}
			}, nil)
		}
	}
	for _, l := range b.lamps { // the value of a light is declared where it is opened
		w.add(&alarm{agent: l.agent, name: l.name, poller: l.poller, monitor: true, below: math.Inf(-1),
			above: math.Inf(1)})
	}
	if len(w.list)+len(w.noted) > 0 {
		b.watch("alarms", w)
	}
}

func (w *alarms) add(a *alarm) {
	if w.list = append(w.list, a); a.monitor {
		a.lost, a.back = w.rig.Events().Declare(a.path()+"/Fault"), w.rig.Events().Declare(a.path()+"/Recovered")
	}
}

// path is the beginning of the names of its events, and the name of a monitor's value.
func (a *alarm) path() string { return "/" + a.agent + "/" + a.name }

func (w *alarms) Cycle(*hal.Cycle) {
	for _, n := range w.noted {
		if note := n.poller.Note(); note != n.last {
			if n.last = note; note != "" {
				w.log.Warn("device note", "agent", n.agent, "device", n.name, "note", note)
			}
		}
	}
	for _, a := range w.list {
		age, err := a.poller.Latest(a.value[:], 0)
		if lost := err != nil; lost != a.faulty {
			switch a.faulty = lost; {
			case !a.monitor: // the rig reports it
			case lost:
				w.rig.Events().Raise(a.lost)
				w.log.Warn("device fault", "agent", a.agent, "device", a.name, "fault", err)
			default:
				w.rig.Events().Raise(a.back)
				w.log.Info("device recovered", "agent", a.agent, "device", a.name)
			}
		}
		if err != nil || age < 0 {
			continue // an unknown value neither raises nor clears an alarm
		}
		v, low, high := a.value[0], a.below, a.above
		if a.on {
			low, high = worse(low, 1), worse(high, -1)
		}
		if on := v < low || v > high; on != a.on {
			if a.on = on; on {
				w.rig.Events().Raise(a.ring)
				w.log.Error("alarm", "agent", a.agent, "device", a.name, "value", v)
			} else {
				w.log.Info("alarm cleared", "agent", a.agent, "device", a.name, "value", v)
			}
		}
	}
}

// worse returns a bound moved up or down by the clearance; an infinite bound is unchanged.
func worse(bound, direction float64) float64 {
	if math.IsInf(bound, 0) {
		return bound
	}
	return bound + direction*clearance*math.Abs(bound)
}

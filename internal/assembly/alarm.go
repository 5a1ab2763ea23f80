package assembly

import (
	"log/slog"
	"math"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/drivers"
	"github.com/halyard-robotics/halyard/hal"
)

// alarms watch the first values of devices against the bounds of the config: an event /AGENT/NAME/Alarm when one is
// passed, /AGENT/NAME/Fault when a monitor or a light is lost, /AGENT/NAME/Recovered when it is back, and a line in the log of each. They control nothing.
type alarms struct {
	session *hal.Session
	rig     *hal.Rig
	log     *slog.Logger
	list    []alarm
}

type alarm struct {
	agent, name  string
	poller       *drivers.Poller
	below, above float64 // infinite without a bound
	ring, lost   hal.EventID
	back         hal.EventID // it measures again
	light        bool        // its value is published elsewhere
	monitor      bool        // otherwise its faults are those of the robot's sensor, which the rig reports
	on, faulty   bool
	value        [1]float64
}

// clearance is by how much of a bound a value must be recovered for its alarm to end: one at the bound would ring on and on.
const clearance = 0.02

// watchAlarms starts the alarms of the plan.
func (b *Builder) watchAlarms() {
	w := &alarms{rig: b.Rig, log: b.Log}
	for _, p := range b.Plan.Sensors {
		if monitor := len(p.Uses) == 0; p.Body == configs.Sim || !monitor && p.Config.Below == nil && p.Config.Above == nil {
			continue
		}
		a := alarm{agent: b.Plan.Agents[p.Agent].Config.Name, name: p.Name, poller: b.Pollers[p], monitor: len(p.Uses) == 0,
			below: math.Inf(-1), above: math.Inf(1), value: [1]float64{math.NaN()}}
		if p.Config.Below != nil {
			a.below = *p.Config.Below
		}
		if p.Config.Above != nil {
			a.above = *p.Config.Above
		}
		path := "/" + a.agent + "/" + a.name
		a.ring = b.Rig.Events().Declare(path + "/Alarm")
		if a.monitor {
			a.lost, a.back = b.Rig.Events().Declare(path+"/Fault"), b.Rig.Events().Declare(path+"/Recovered")
		}
		w.list = append(w.list, a)
	}
	for _, l := range b.lamps {
		w.list = append(w.list, alarm{agent: l.agent, name: l.name, poller: l.poller, monitor: true, light: true, below: math.Inf(-1), above: math.Inf(1),
			lost: b.Rig.Events().Declare("/" + l.agent + "/" + l.name + "/Fault"), back: b.Rig.Events().Declare("/" + l.agent + "/" + l.name + "/Recovered")})
	}
	for i := range w.list {
		if a := &w.list[i]; a.monitor && !a.light {
			b.Rig.Values().Declare("/"+a.agent+"/"+a.name, hal.DoubleValue,
				func() hal.Value { return hal.Value{Kind: hal.DoubleValue, Double: a.value[0]} }, nil)
		}
	}
	if len(w.list) > 0 {
		w.session = b.Rig.NewSession("alarms", w)
	}
	b.alarms = w
}

func (w *alarms) Cycle(*hal.Cycle) {
	for i := range w.list {
		a := &w.list[i]
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

func (w *alarms) Close() {
	if w != nil && w.session != nil {
		w.session.Close()
	}
}

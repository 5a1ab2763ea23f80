package chaos

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/sim/emulator/wire"
)

// Result is what came of one schedule.
type Result struct {
	Config    string                `json:"config"`
	Seed      int64                 `json:"seed"`
	Actions   int                   `json:"actions"`
	Exercised [numInvariants]uint64 `json:"exercised"` // how often each of Invariants was judged
	Violated  string                `json:"violated"`  // the first; "" = none
	Cycle     int                   `json:"cycle,omitempty"`
	What      string                `json:"what,omitempty"`
	Script    []string              `json:"script,omitempty"` // the shortest schedule that shows it
}

// run is one schedule under way.
type run struct {
	*robot
	schedule []Action
	result   Result
	cycle    int
	clients  [2]client
	watches  []watch
	handAt   time.Duration // when a hand last pushed a joint
	acting   []acting
	cancel   context.CancelFunc
	plant    func(*run) // a defect, for tests; nil = none
}

// client is a controller: what it says is said again each cycle until it hangs or leaves.
type client struct {
	session *hal.Session
	lease   *hal.Lease
	inputs  []float64
	talks   bool
	joints  map[int]bool // of run.joints, that it commands
}

// acting is a fault under way.
type acting struct {
	line, id int // id < 0: the whole line
	until    time.Duration
}

// Run lets a schedule pass on a config and judges it. The error is one of the config or the schedule.
func Run(config string, seed int64, schedule []Action) (Result, error) {
	return execute(config, seed, schedule, nil)
}

// Seed is Run with the schedule that the seed gives; a violation is minimised.
func Seed(config string, seed int64) (Result, error) {
	r, err := open(config, seed)
	if err != nil {
		return Result{}, err
	}
	schedule := generate(seed, r)
	r.sys.Close()
	result, err := execute(config, seed, schedule, nil)
	if err == nil && result.Violated != "" {
		short := minimise(schedule, func(s []Action) bool {
			again, err := execute(config, seed, s, nil)
			return err == nil && again.Violated == result.Violated
		})
		for _, a := range short {
			result.Script = append(result.Script, a.String())
		}
	}
	return result, err
}

func execute(config string, seed int64, schedule []Action, plant func(*run)) (result Result, err error) {
	robot, err := open(config, seed)
	if err != nil {
		return result, err
	}
	r := &run{robot: robot, schedule: schedule, plant: plant, watches: make([]watch, len(robot.joints))}
	r.handAt = -time.Hour
	r.result.Config, r.result.Seed, r.result.Actions = config, seed, len(schedule)
	for i := range r.watches {
		r.watches[i] = watch{unarmed: -1, stopped: -1, spoiled: -Length, command: -time.Hour, released: -time.Hour}
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	r.cancel = cancel
	r.clock.tick = r.edge
	r.sys.Rig.Run(ctx) // what a body did not confirm at the end is judged by its motor
	r.sys.Close()
	return r.result, nil
}

// edge is between two cycles: the last one is judged, then the schedule goes on.
func (r *run) edge() {
	if r.cycle > Length {
		return // the rig ends
	}
	if r.cycle > 0 {
		if r.plant != nil {
			r.plant(r)
		}
		r.judge()
	}
	if r.cycle++; r.cycle > Length || r.result.Violated != "" {
		r.cycle = Length + 1
		for i := range r.clients {
			r.leave(&r.clients[i])
		}
		r.cancel()
		return
	}
	for len(r.schedule) > 0 && r.schedule[0].At <= r.cycle {
		r.act(&r.schedule[0])
		r.schedule = r.schedule[1:]
	}
	for i := range r.clients {
		r.talk(&r.clients[i])
	}
}

// act does one action.
func (r *run) act(a *Action) {
	rig := r.sys.Rig
	c := &r.clients[0]
	if a.Who == "b" {
		c = &r.clients[1]
	}
	if a.Joint < 0 || a.Verb != "fault" && a.Joint >= len(r.joints) || a.Verb == "fault" && a.Joint >= len(r.lines) {
		return // of another robot
	}
	switch a.Verb {
	case "command":
		if c.session == nil {
			c.session = rig.NewSession("chaos "+a.Who, nil)
			c.lease, _ = c.session.Acquire(r.agent) // held by the other one: it overrides
			c.joints = map[int]bool{}
			c.inputs = make([]float64, len(r.agent.Layout().Inputs))
			for i := range c.inputs {
				c.inputs[i] = math.NaN()
			}
		}
		c.talks = true
		j := &r.joints[a.Joint]
		for m, at := range r.agent.Layout().Actuators[j.index].Goal {
			if at != hal.None {
				if c.inputs[at] = math.NaN(); hal.Mode(m) == modeOf(a.Mode) {
					c.inputs[at] = a.Value * r.span(j, hal.Mode(m))
					c.joints[a.Joint] = true
				}
			}
		}
	case "rubbish":
		if c.session != nil {
			bad := make([]float64, len(c.inputs))
			for i := range bad {
				bad[i] = []float64{math.NaN(), math.Inf(1), math.Inf(-1)}[i%3]
			}
			r.send(c, bad)
		}
	case "hang":
		c.talks = false
	case "leave":
		r.leave(c)
	case "stop":
		rig.EmergencyStop("chaos")
		for i := range r.watches {
			r.watches[i].stopped = 0
		}
	case "reset":
		rig.Recover()
		for i := range r.watches {
			r.watches[i].stopped = -1
		}
	case "arm":
		rig.Arm()
	case "disarm":
		rig.Disarm()
	case "fault":
		f, err := wire.Parse(a.Fault)
		line := &r.lines[a.Joint]
		if err != nil || line.emu.Fault(f) != nil {
			return
		}
		id := f.Target
		switch f.Kind {
		case wire.PowerLoss: // the robot's supply is one
			id = wire.All
		case wire.Delayed, wire.DuplicateID, wire.Truncated, wire.Garbage: // its answers meet those of others
			id = wire.All
		}
		r.acting = append(r.acting, acting{line: a.Joint, id: id, until: r.clock.now + f.From + f.For})
	case "hand":
		s := r.joints[a.Joint].truth
		s.External = a.Value * r.agent.Layout().Actuators[r.joints[a.Joint].index].Limits.MaxTorque
	case "late":
		r.clock.late = time.Duration(a.Value) * r.sys.Rig.Period()
	}
}

// talk says what c wants, again.
func (r *run) talk(c *client) {
	if c.session == nil || !c.talks {
		return
	}
	r.send(c, c.inputs)
	for i := range c.joints {
		r.watches[i].command = r.clock.now
	}
}

func (r *run) send(c *client, inputs []float64) {
	if c.lease != nil {
		c.session.Step(c.lease, inputs)
		return
	}
	r.agent.Override(inputs)
}

func (r *run) leave(c *client) {
	if c.session != nil {
		c.session.Close()
	}
	*c = client{}
}

// minimise removes what is not needed for fails to stay true.
func minimise(schedule []Action, fails func([]Action) bool) []Action {
	for size := (len(schedule) + 1) / 2; size > 0; size /= 2 {
		for at := 0; at+size <= len(schedule); {
			shorter := append(append([]Action(nil), schedule[:at]...), schedule[at+size:]...)
			if fails(shorter) {
				schedule = shorter
			} else {
				at += size
			}
		}
	}
	return schedule
}

// Describe is a violation in one line.
func (r *Result) Describe() string {
	return fmt.Sprintf("%s seed %d: cycle %d: %s: %s", r.Config, r.Seed, r.Cycle, r.Violated, r.What)
}

package chaos

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/emulator/reg"
	"github.com/halyard-robotics/halyard/internal/plan"
	"github.com/halyard-robotics/halyard/sim/actuator"
	"github.com/halyard-robotics/halyard/sim/emulator/wire"
)

// Result is what came of one schedule.
type Result struct {
	Config    string `json:"config"`
	Seed      int64  `json:"seed"`
	Actions   int    `json:"actions"`
	Cycles    int    `json:"cycles"`
	Exercised Counts `json:"exercised"`
	Violated  string `json:"violated"` // the first; "" = none
	What      string `json:"what,omitempty"`
	Script    Script `json:"script,omitempty"` // the shortest schedule that shows it
}

// Script is a schedule as text, an action a line.
type Script []string

// Describe is a violation in one line.
func (r *Result) Describe() string {
	return fmt.Sprintf("%s seed %d: cycle %d: %s: %s", r.Config, r.Seed, r.Cycles, r.Violated, r.What)
}

// longest is the maximum number of cycles of a schedule; later actions are cut off.
const longest = 2000

// run is one schedule under way.
type run struct {
	*stand
	schedule []Action
	result   Result
	cycle    int
	end      int           // the cycle after the last one
	woke     int           // the first cycle after a late one
	began    time.Duration // when the last cycle did
	ended    bool          // by Control-C
	endAt    int           // the cycle of that
	clients  [2]client
	watches  []watch
	rules    []rule // what each agent's state must be
	acting   []acting
	status   [][]hal.Status // of each agent
	stats    hal.Stats
	volts    map[*actuator.Supply]float64 // of supplies that sag
	cancel   context.CancelFunc
	button   bool // of a stop input is pressed
	panics   bool // its check panics the next time
	panicked bool // something did
	latched  bool // a stop is
	// clientStop: only clients ordered it
	clientStop bool
	journal    *hal.Journal // of a recorder that takes nothing; nil = none
	plant      *plant
}

// plant is a defect that a test plants; nil = none.
type plant struct {
	plan   func(*plan.Plan) // before the robot is built
	cycle  func(*run)       // after each cycle
	ghosts bool             // the sessions of clients that hang or leave go on to command
	awake  bool             // the clock does not report that the machine was suspended
}

// client is a controller: its command is repeated in each cycle until it hangs or leaves.
type client struct {
	session *hal.Session
	leases  []*hal.Lease // one an agent; nil: held by the other client, and overridden
	inputs  [][]float64  // one an agent
	talks   bool
	ghost   bool         // it has hung or left, and still sends commands: a planted defect
	joints  map[int]bool // of run.joints, that it commands
}

// acting is a fault under way.
type acting struct {
	line, id int  // id < 0: the whole line
	lies     bool // what is measured is wrong; else the line or the servo does not answer well
	until    time.Duration
}

// Run lets a schedule pass on the robot and judges it. The error is of the robot.
func (r *Robot) Run(seed int64, schedule []Action) (Result, error) {
	return r.execute(seed, schedule, nil)
}

// Schedule is the schedule that a seed gives.
func (r *Robot) Schedule(seed int64) []Action { return generate(seed, &r.shapes[r.variant(seed)]) }

// Seed is Run with the schedule that the seed gives; a violation is minimised.
func (r *Robot) Seed(seed int64) (Result, error) { return r.seed(seed, nil) }

func (r *Robot) seed(seed int64, p *plant) (Result, error) {
	schedule := r.Schedule(seed)
	result, err := r.execute(seed, schedule, p)
	if err != nil || result.Violated == "" || r.Quick {
		return result, err
	}
	short := minimise(schedule, func(s []Action) bool {
		again, err := r.execute(seed, s, p)
		return err == nil && again.Violated == result.Violated
	})
	actions, counts := result.Actions, result.Exercised
	if result, err = r.execute(seed, short, p); err != nil {
		return result, err
	}
	result.Actions, result.Exercised = actions, counts
	for _, a := range short {
		result.Script = append(result.Script, a.String())
	}
	return result, nil
}

func (r *Robot) execute(seed int64, schedule []Action, p *plant) (result Result, err error) {
	var planted func(*plan.Plan)
	if p != nil {
		planted = p.plan
	}
	s, err := r.build(seed, planted)
	if err != nil {
		return result, fmt.Errorf("%s seed %d: %w", r.name, seed, err)
	}
	x := &run{stand: s, schedule: schedule, plant: p, volts: map[*actuator.Supply]float64{}}
	x.result = Result{Config: r.name, Seed: seed, Actions: len(schedule), Exercised: Counts{}}
	x.end = max(1, min(x.length(schedule), longest))
	x.begin()
	x.sys.Rig.AddStopInput(x.pressed)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	x.cancel = cancel
	x.clock.tick = x.edge
	ended := x.sys.Rig.Run(ctx) // what a body did not confirm at the end is judged by its motor
	if x.result.Violated == "" && (x.ended || x.cycle >= x.end) {
		x.judgeEnd()
	}
	for i := range x.joints {
		x.count(ends, i)
	}
	if x.cycle < x.end && !x.ended {
		x.violated(ends, 0, "the rig ended by itself in cycle %d: %v", x.cycle, ended)
	}
	x.record(false)
	if err := s.close(); err != nil {
		x.violated(ends, 0, "close: %v", err)
	}
	return x.result, nil
}

// length is how many cycles pass until the last action was judged.
func (r *run) length(schedule []Action) (end int) {
	period := r.sys.Rig.Period()
	for i := range schedule {
		a := &schedule[i]
		last := a.At + int(settled/period)
		switch a.Verb {
		case "fault":
			if f, err := wire.Parse(a.Fault); err == nil {
				last += reachable + int((f.From+f.For)/period)
			}
		case "id", "sag":
			last += reachable
		}
		end = max(end, last)
	}
	return end
}

// edge is between two cycles: the last one is judged, then the schedule goes on.
func (r *run) edge() {
	if r.cycle >= r.end && !r.ended || r.result.Violated != "" || r.ended && !slices.ContainsFunc(r.agents,
		(*hal.Agent).Homing) {
		return // the rig ends, under its lock
	}
	if r.cycle > 0 {
		if r.plant != nil && r.plant.cycle != nil {
			r.plant.cycle(r)
		}
		r.judge()
	}
	if r.cycle++; r.cycle >= r.end && !r.ended || r.result.Violated != "" {
		for i := range r.clients {
			r.leave(&r.clients[i])
		}
		r.result.Cycles = r.cycle
		r.cancel()
		return
	}
	for len(r.schedule) > 0 && r.schedule[0].At <= r.cycle {
		r.act(&r.schedule[0])
		r.schedule = r.schedule[1:]
	}
	if r.result.Violated != "" {
		r.cancel()
		return
	}
	for i := range r.clients {
		r.talk(&r.clients[i])
	}
	if r.cycle > 1 && r.clock.now-r.began < r.sys.Rig.Period()/2 {
		r.violated(ends, 0, "two cycles begin %v apart", r.clock.now-r.began)
	}
	r.began = r.clock.now
}

// act does one action. One of another robot does nothing.
func (r *run) act(a *Action) {
	rig := r.sys.Rig
	c := &r.clients[0]
	if a.Client == "b" {
		c = &r.clients[1]
	}
	if a.Joint < 0 || a.Verb != "fault" && a.Joint >= len(r.joints) || a.Verb == "fault" && a.Joint >= len(r.lines) {
		return
	}
	j := &r.joints[a.Joint]
	switch a.Verb {
	case "command", "limit":
		r.command(c, a)
	case "brief":
		r.command(c, a)
		r.talk(c)
		r.leave(c)
	case "rubbish":
		if c.session != nil {
			bad := make([]float64, len(c.inputs[j.agent]))
			for i := range bad {
				bad[i] = []float64{math.NaN(), math.Inf(1), math.Inf(-1)}[i%3]
			}
			r.send(c, j.agent, bad)
		}
	case "hang":
		r.hang(c)
	case "leave":
		if r.hang(c); !c.ghost {
			r.leave(c)
		}
	case "stop":
		r.stopped(false)
		r.judgeStop(rig.EmergencyStop("chaos"))
	case "button":
		if r.button = a.Value > 0; r.button && !r.latched && !r.ended {
			r.stopped(false)
		}
	case "panic":
		if r.panicked = true; a.Value > 0 { // in the cycle
			r.panics = !r.latched && !r.ended
		} else {
			func() {
				defer rig.Contain("chaos")
				panic("chaos")
			}()
		}
		if !r.latched && !r.ended || a.Value == 0 {
			r.stopped(false)
		}
	case "ask":
		r.ask(a)
	case "reset":
		if err := rig.Recover(); r.button && err == nil {
			r.violated(status, 0, "a reset while the button is pressed: got no error")
		} else if err == nil || !r.ended && !r.button {
			r.recovered()
		}
	case "arm":
		for i, agent := range r.agents {
			if r.latched && agent.Arm() == nil {
				r.violated(status, r.first(i), "an agent is armed while a stop is latched")
			}
		}
		if rig.Arm() == nil || !r.ended {
			r.ruled(hal.Armed)
			for i := range r.rules {
				r.rules[i].operator = r.rules[i].operator && r.rules[i].state == hal.Stopped
				r.rules[i].stalled = false
			}
			for i := range r.watches {
				r.watches[i].barred = false
			}
		}
	case "disarm":
		rig.Disarm()
		r.ruled(hal.Disarmed)
		for i := range r.rules {
			r.rules[i].operator = true
		}
	case "end": // the bodies park, where that is their policy
		r.ended, r.endAt, r.result.Cycles = true, r.cycle, r.cycle
		r.cancel()
	case "fault":
		r.fault(a)
	case "hand":
		r.watches[a.Joint].hand, r.watches[a.Joint].letGo = a.Value, r.cycle
	case "sag":
		s := j.truth.Supply
		if _, known := r.volts[s]; !known {
			r.volts[s] = s.Volts
		}
		s.Volts = r.volts[s] * a.Value
		r.watchSag(s, a.Value < 1)
	case "id":
		if j.servo != nil && j.servo.Has(reg.ID) {
			emu := r.lines[j.line].emu
			emu.Lock()
			j.servo.Set(reg.ID, int64(a.Value))
			emu.Unlock()
			for i := range r.joints {
				if i == a.Joint || r.joints[i].line == j.line && r.lines[j.line].chained {
					r.watches[i].moved, r.watches[i].movedAt = int(a.Value) != j.id, r.cycle
				}
			}
		}
	case "late":
		r.woke = r.cycle + 1
		r.clock.late = time.Duration(a.Value) * rig.Period()
		r.stalled()
	case "suspend":
		r.woke = r.cycle + 1
		r.clock.late = time.Duration(a.Value) * rig.Period()
		if r.plant == nil || !r.plant.awake {
			r.clock.slept += r.clock.late
		}
		if r.stalled(); r.clock.late >= suspended && r.cycle > 1 {
			r.stopped(false)
			for i := range r.watches {
				r.watches[i].stopped = -1 // the stop is of the next cycle
			}
		}
	case "output":
		r.out.set(a.Fault)
		r.record(a.Fault == unreadOutput)
	}
}

// stopped notes a stop, of a client or of another cause.
func (r *run) stopped(client bool) {
	r.ruled(hal.Stopped)
	r.clientStop = client && (r.clientStop || !r.latched)
	r.latched = true
	for i := range r.watches {
		r.watches[i].stopped, r.watches[i].torque = 0, r.watches[i].on
	}
	for i := range r.rules {
		r.rules[i].operator = r.rules[i].operator || !client || r.rules[i].stalled
	}
}

// recovered notes a reset of those that were stopped.
func (r *run) recovered() {
	r.ruled(hal.Expired)
	r.latched, r.clientStop = false, false
	for i := range r.watches {
		w := &r.watches[i]
		w.barred = w.barred || w.moved && r.cycle-w.movedAt > calmCycles
	}
}

// stalled notes that the host is late for so long that all counts as lost.
func (r *run) stalled() {
	for i := range r.rules {
		r.rules[i].stalled = r.rules[i].stalled || r.arming[i] && r.clock.late > deadline
	}
}

// ask is what a client asks for in place of an operator. It gets no more than its config and the operator allow.
func (r *run) ask(a *Action) {
	rig, name, clients := r.sys.Rig, "chaos "+a.Client, true
	for i := range r.rules {
		clients = clients && !r.arming[i]
	}
	var err error
	refused := false
	switch a.Mode {
	case "stop":
		r.stopped(true)
		r.judgeStop(rig.RequestStop(name))
		return
	case "reset":
		refused = !clients || r.latched && !r.clientStop || r.button || r.ended
		if err = rig.RequestRecover(name); !refused { // a body may have an alarm that is not to be cleared
			r.recovered()
			return
		}
	case "disarm":
		for i, agent := range r.agents {
			if agent.RequestDisarm(name); r.rules[i].state == hal.Armed {
				r.rule(i, hal.Disarmed)
			}
		}
		return
	case "arm":
		for i, agent := range r.agents {
			rule := &r.rules[i]
			not := rule.state == hal.Stopped || rule.state == hal.Disarmed &&
				(rule.operator || r.arming[i] || agent.Passive())
			e := agent.RequestArm(name)
			if e == nil && !not {
				for k := range r.watches {
					r.watches[k].barred = r.watches[k].barred && r.joints[k].agent != i
				}
				r.rule(i, hal.Armed)
			}
			if not && e == nil {
				refused = true
			}
		}
	}
	if refused && err == nil {
		r.violated(status, 0, "a client asks to %s: got no error, want it refused", a.Mode)
	}
}

// pressed is the rig's stop input.
func (r *run) pressed() error {
	if r.panics {
		r.panics = false
		panic("chaos: in the cycle")
	}
	if r.button {
		return errButton
	}
	return nil
}

var errButton = errors.New("chaos: the button is pressed")

// record begins or ends a recording whose reader takes nothing, as one on a disk that hangs.
func (r *run) record(begin bool) {
	if r.journal != nil {
		r.journal.Close()
		r.journal = nil
	}
	if begin {
		r.journal = r.sys.Rig.OpenJournal(2)
	}
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

package hal

import (
	"fmt"
	"math"
	"time"
)

// BodyKind is whether a body is simulated, emulated or real.
type BodyKind uint8

// The realities, the most careful last: a mixed body counts as its most real part.
const (
	Simulated BodyKind = iota
	Emulated
	Real
)

func (r BodyKind) String() string { return [...]string{"sim", "emulated", "real"}[min(r, Real)] }

// AgentConfig describes a new agent to the rig.
type AgentConfig struct {
	Name     string
	Body     Body
	World    World // nil = Room
	BodyKind BodyKind
	Guard    GuardConfig
	// Watch, if not nil, is called in each cycle before the guard decides, under the rig's lock: it must not block, log
	// nor call the rig. It lists how the actuators bring the robot nearer to what it must keep away from; the guard
	// reads the list in this cycle. The rig logs what it tells, if anything; with stop the robot holds still, and only
	// an operator arms it.
	Watch func() (near []Approach, told string, stop bool)
}

// Agent is a named body under control. Its methods may be called from any goroutine.
type Agent struct {
	name     string
	rig      *Rig
	body     Body
	world    World
	bodyKind BodyKind
	layout   *Layout
	frame    *Frame // the rig's; only under its lock
	shown    *Frame // the frame as observers see it: NaN of what a lost device measures
	// one per device: the event of its present fault, raised once; 0 without a fault
	faulty   []EventID
	faults   []EventID                         // one a device: "/humanoid/left_elbow/Fault"
	returns  []EventID                         // likewise: "/humanoid/left_elbow/Recovered"
	odd      []bool                            // one an actuator: its guard has reported a fault
	decision AgentRecord                       // of the last cycle, for the journal
	states   [Expired + 1]EventID              // of the states of its guard: "/humanoid/Armed"
	watch    func() ([]Approach, string, bool) // see AgentConfig
	gone     []bool                            // one a device: it is lost, by OnLoss
	replaced []bool                            // one a device: a simulated joint has its place

	mu        agentLock // guards what follows, for microseconds; see doc.go
	guard     *guard
	pilot     pilot
	now       time.Duration // elapsed time, for commands that come between cycles
	time      time.Duration // rig time of the cycle
	decided   uint64        // the last cycle it has decided for
	condition Condition
	lease     *Lease
	status    []Status // of the last cycle
	overrides uint64
	saved     agentSnapshot
	leaving   bool // it is being removed
}

// Name is the agent's name in the config.
func (a *Agent) Name() string { return a.name }

// Layout returns the layout of its body; it is read-only.
func (a *Agent) Layout() *Layout { return a.layout }

// BodyKind returns whether its body is simulated, emulated or real.
func (a *Agent) BodyKind() BodyKind { return a.bodyKind }

// Measured appends the body's measurements of the last cycle, outputs then infos, to dst[:0]. What is not known is NaN:
// never measured, or measured by a device with a fault LossAge ago or before.
func (a *Agent) Measured(dst []float64) []float64 {
	a.lock()
	defer a.mu.Unlock()
	return append(dst[:0], a.shown.Measured...)
}

// Status appends the state of each device in the last cycle to dst[:0].
func (a *Agent) Status(dst []Status) []Status {
	a.lock()
	defer a.mu.Unlock()
	return append(dst[:0], a.status...)
}

// Goal is a goal at work: rad, rad/s, N·m or a share of the supply; of a slide m, m/s, N. NoMode: no goal.
type Goal struct {
	Mode  Mode
	Value float64
}

// Goals appends the goal that the guard lets each actuator have to dst[:0]; NoMode where it has no torque.
func (a *Agent) Goals(dst []Goal) []Goal {
	a.lock()
	defer a.mu.Unlock()
	dst = dst[:0]
	for i := range a.guard.joints {
		g := Goal{NoMode, math.NaN()}
		switch j := &a.guard.joints[i]; {
		case !j.enabled || j.mode == NoMode:
		case j.mode == PositionMode:
			g = Goal{PositionMode, j.out}
		default:
			g = Goal{j.mode, j.goal}
		}
		dst = append(dst, g)
	}
	return dst
}

// World is the world of its body.
func (a *Agent) World() World { return a.world }

// Holder names the party that holds the lease, or "".
func (a *Agent) Holder() string {
	a.lock()
	defer a.mu.Unlock()
	if a.lease == nil {
		return ""
	}
	return a.lease.session.name
}

// Guard returns the guard's state and the commands it limited or refused; Overrides counts commands without a lease.
func (a *Agent) Guard() (state GuardState, counts GuardCounts, overrides uint64) {
	a.lock()
	defer a.mu.Unlock()
	return a.guard.state, a.guard.counts, a.overrides
}

// Override commands the agent without a lease, for protocols without leases (ODCP). NaN keeps the last command. A
// simulated or emulated body executes it from the next cycle on, even while a lease is held; a real one then refuses it
// (Busy).
func (a *Agent) Override(inputs []float64) error {
	a.lock()
	defer a.mu.Unlock()
	if a.lease != nil && a.bodyKind == Real {
		return &Error{Kind: Busy, Op: "command " + a.name, Err: fmt.Errorf("held by %s", a.lease.session.name)}
	}
	a.enter(Order{Kind: OverrideOrder, Inputs: inputs})
	a.overrides++
	a.guard.accept(inputs, a.now)
	return nil
}

// command passes inputs of a lease's holder to the guard.
func (a *Agent) command(inputs []float64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.enter(Order{Kind: CommandOrder, Inputs: inputs})
	a.guard.accept(inputs, a.now)
}

// Renew counts as a command for every joint with an active one, and for its autopilot, for protocols whose commands
// persist: it restarts their deadlines. It moves nothing, and does not revive an expired joint.
func (a *Agent) Renew() {
	a.lock()
	defer a.mu.Unlock()
	a.enter(Order{Kind: RenewOrder})
	a.guard.renew(a.now)
}

// look asks the watch of the agent, if it has one, and looks for lost devices. Under the rig's lock.
func (a *Agent) look() {
	a.watchLosses()
	if a.watch == nil {
		return
	}
	callOut("a watch")
	near, why, stop := a.watch()
	if why != "" {
		a.rig.log.Warn("a real robot feels nothing of it: "+why, "agent", a.name)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.guard.approaches = near; stop && a.guard.active() && !a.guard.ending {
		a.guard.freeze()
		a.noteStateLocked(Expired, why)
	}
}

// decide runs the autopilot, where piloted, and the guard for the cycle at rig time now; elapsed counts the missed
// periods too. Under the rig's lock.
func (a *Agent) decide(now, elapsed, dt time.Duration, piloted bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	// A stop needs no lock to be latched: from the next decision on it holds, also where the stop waits for this cycle.
	a.latch()
	a.now = elapsed + dt // a later command counts from the next cycle
	a.time, a.frame.Time = now, now
	if piloted {
		a.steer(elapsed, dt)
	}
	a.decided = a.rig.deciding
	a.guard.apply(a.frame, now, elapsed, dt)
	a.keepDecision()
}

// publish makes the measurements visible outside the rig, but for those of lost devices. Under the rig's lock.
func (a *Agent) publish() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.shown.Time = a.frame.Time
	copy(a.shown.Measured, a.frame.Measured)
	copy(a.status, a.frame.Status)
	for i := range a.status {
		if a.status[i].Err == nil || trusted(a.frame, i) {
			continue
		}
		if n := len(a.layout.Actuators); i >= n {
			s := &a.layout.Sensors[i-n]
			FillNaN(a.shown.Measured[s.First : s.First+s.Count])
			continue
		}
		act := &a.layout.Actuators[i]
		for _, at := range [...]int{act.Position, act.Velocity, act.Torque, act.Voltage, act.Temperature} {
			if at != None {
				a.shown.Measured[at] = math.NaN()
			}
		}
	}
}

// device is the name of device i of the frame's status.
func (a *Agent) device(i int) string {
	if n := len(a.layout.Actuators); i >= n {
		return a.layout.Sensors[i-n].Name
	}
	return a.layout.Actuators[i].Name
}

// Homing reports whether the body is on its way to its default pose.
func (a *Agent) Homing() bool {
	a.lock()
	defer a.mu.Unlock()
	return a.guard.homing
}

// Joints are the names of the actuators, in the layout's order.
func (a *Agent) Joints() []string {
	names := make([]string, len(a.layout.Actuators))
	for i := range names {
		names[i] = a.layout.Actuators[i].Name
	}
	return names
}

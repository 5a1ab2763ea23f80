package hal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Config holds the settings of a rig.
type Config struct {
	Name   string
	Mode   ClockMode
	Period time.Duration // of one cycle; above 0
	Seed   int64         // of the first reset; 0 = 1
	Clock  Clock         // nil = the wall's
	Log    *slog.Logger  // nil = silent
	Replay bool          // repeats a journal: real bodies, whose lines are recordings, may be in lock-step
	// MeasureFirst lets buses receive and bodies be read before time passes in the worlds, as on real lines: a
	// measurement is that of the cycle's beginning, and a command that answers it acts one period later.
	MeasureFirst bool
}

// Rig is all agents and worlds, one clock, one cycle. New makes it, Add fills it, Run lets time pass.
//
// One lock guards the cycle: its holder is between two cycles. Agents, sessions and values change there only.
type Rig struct {
	config Config
	log    *slog.Logger // through sink
	sink   Sink
	clock  Clock
	events *Events
	values *Values

	mu       turnLock
	changed  *sync.Cond // leases, paused or closed have changed
	agents   []*Agent
	worlds   []World
	buses    []Bus
	paces    []paced
	sessions []*Session
	inputs   []func() error // of emergency stops
	alive    func()         // see OnBeat; nil = none
	disarmed bool           // it was latched, or all were disarmed, and no operator has armed the rig since
	armed    bool           // an operator has armed all, and those that join where clients may arm them
	leases   int
	ending   bool // it parks, then closes: only stops are executed
	closed   bool
	paused   bool

	edgeTime   time.Duration             // see defaultEdgeTime
	verifyTime time.Duration             // see defaultVerifyTime
	slept      time.Duration             // the clock's Suspended, as of the last cycle
	latched    atomic.Pointer[stopCause] // why an emergency stop is; nil = it is not
	journal    atomic.Pointer[Journal]   // nil = none; changes under the lock
	ended      atomic.Uint64             // the last cycle that is over
	period     atomic.Int64              // config.Period, which changes under the lock
	epoch      atomic.Int64              // Unix time, ns, of rig time 0; 0: not known
	lines      atomic.Pointer[[]Bus]     // the buses, for a stop that waits for no lock
	roll       atomic.Pointer[[]*Agent]  // the agents, likewise

	// Rig time is the sum of the periods of all cycles: worlds advance by it, and every protocol reports it. A period
	// missed by a late wake-up is neither simulated nor counted. missed is the sum of those, by which rig time is
	// behind the clock. Command deadlines count both, since a robot does not wait for a slow host.
	time      time.Duration
	missed    time.Duration
	step      uint64 // cycles since the last reset
	total     uint64 // cycles since the start
	deciding  uint64 // the last cycle in which commands were applied to the bodies
	tries     int64
	steps     int64 // cycles a try is meant to have, 0 = no end
	seed      int64
	resetting bool // real bodies are on their way to their default poses
	occurred  []EventID
	cycle     Cycle
	pool      *busPool
	stats     Stats
	rate      rateMeter
	idle      idle
	known     controlEvents
}

// New returns an empty rig.
func New(c Config) (*Rig, error) {
	if c.Period <= 0 {
		return nil, &Error{Kind: Invalid, Op: "clock.period", Err: fmt.Errorf("got %v, want above 0", c.Period)}
	}
	c.Clock = cmp.Or(c.Clock, WallClock())
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	c.Seed = cmp.Or(c.Seed, 1)
	r := &Rig{config: c, clock: c.Clock, seed: c.Seed, events: newEvents()}
	// The log's writer may block without bound: a stopped terminal does not stop the cycle.
	r.log = slog.New(r.sink.Handler(c.Log.Handler()))
	r.edgeTime, r.verifyTime = defaultEdgeTime, defaultVerifyTime
	r.period.Store(int64(c.Period))
	r.idle.wake = make(chan struct{}, 1)
	r.lines.Store(new([]Bus))
	r.roll.Store(new([]*Agent))
	r.changed = sync.NewCond(&r.mu)
	r.values = newValues(r.BetweenCycles, r.enter)
	r.declareControl()
	return r, nil
}

// Add puts an agent into the rig, between cycles, and reads its body once.
func (r *Rig) Add(c AgentConfig) (*Agent, error) {
	l := c.Body.Layout()
	if err := l.Validate(); err != nil {
		return nil, &Error{Kind: Invalid, Op: "agent " + c.Name, Err: err}
	}
	if r.config.Mode == Lockstep && c.BodyKind == Real && !r.config.Replay {
		return nil, &Error{Kind: Invalid, Op: "agent " + c.Name,
			Err: errors.New("a real body needs clock.mode: realtime"), Try: "halyard serve --set clock.mode=realtime"}
	}
	if c.World == nil {
		c.World = PhysicalWorld{}
	}
	a := &Agent{name: c.Name, rig: r, body: c.Body, world: c.World, bodyKind: c.BodyKind, layout: l,
		frame: NewFrame(l), guard: newGuard(l, c.Guard), watch: c.Watch,
		gone: make([]bool, len(l.Actuators)+len(l.Sensors)), replaced: make([]bool, len(l.Actuators)+len(l.Sensors))}
	shown := *a.frame
	shown.Measured = slices.Clone(shown.Measured)
	shown.split(l)
	a.shown = &shown
	a.status = append(a.status, a.frame.Status...)
	r.lock()
	defer r.mu.Unlock()
	if r.ending {
		return nil, ended("agent " + c.Name)
	}
	if r.agent(c.Name) != nil {
		return nil, &Error{Kind: Invalid, Op: "agent " + c.Name,
			Err: errors.New("an agent of this name exists already")}
	}
	r.agents = append(r.agents, a)
	r.publishRoll()
	r.addWorld(c.World)
	a.now, a.time, a.decided = r.elapsed(), r.time, r.total
	a.guard.missed, a.guard.real = r.missed, c.BodyKind == Real
	a.guard.behind = c.BodyKind == Real || c.BodyKind == Emulated && r.config.MeasureFirst
	if a.guard.exact = c.BodyKind == Simulated; c.BodyKind == Real {
		a.guard.blindfold(trustSamples)
	}
	a.odd = make([]bool, len(l.Actuators))
	r.note(a, "read", a.body.Read(a.frame))
	a.publish()
	switch {
	case r.Latched():
		a.disarm(Stopped)
		r.note(a, "halt", a.body.Halt())
	case r.disarmed:
		a.disarm(Disarmed)
	case c.Guard.Passive:
	case r.armed && a.guard.config.Arming == OperatorArms:
		// The operator has not seen it: not this robot, or not where it is now.
		if a.guard.state == Disarmed {
			r.log.Warn("joins disarmed: only an operator arms it", "agent", c.Name, "try", "halyard arm")
		}
	case r.armed:
		a.guard.state, a.guard.operator = Armed, false
	}
	a.condition = Condition{State: a.guard.state, Since: r.time}
	if h, ok := a.body.(TorqueReporter); ok {
		a.guard.adopt(h, a.frame)
	}
	r.declareAgent(a)
	r.watchFaults(a)
	return a, nil
}

func (r *Rig) addWorld(w World) {
	if !slices.Contains(r.worlds, w) {
		r.worlds = append(r.worlds, w)
	}
}

// AddWorld lets w pass time with the rig though no agent names it: the world of a shadow.
func (r *Rig) AddWorld(w World) {
	r.lock()
	defer r.mu.Unlock()
	r.addWorld(w)
}

// AddBus puts a line under the rig, between cycles: it sends and receives once a cycle. It is asked for its states at
// once, so that the agents added afterwards know where they are.
func (r *Rig) AddBus(b Bus) error {
	r.lock()
	defer r.mu.Unlock()
	r.buses = append(r.buses, b)
	if p, ok := b.(pacer); ok {
		r.paces = append(r.paces, paced{p, 1, 1})
	}
	r.publishRoll()
	if r.pool != nil {
		r.pool.add(b)
	}
	return b.Receive()
}

// RemoveBus removes a line from the rig, between cycles; its agents must be removed before. The line stays open: its
// owner closes it.
func (r *Rig) RemoveBus(b Bus) {
	r.lock()
	defer r.mu.Unlock()
	r.buses = slices.DeleteFunc(r.buses, func(have Bus) bool { return have == b })
	r.paces = slices.DeleteFunc(r.paces, func(have paced) bool { return have.bus == b })
	r.publishRoll()
	if r.pool != nil {
		r.pool.remove(b)
	}
}

// publishRoll publishes agents and buses to readers without the rig's lock. Under the lock.
func (r *Rig) publishRoll() {
	lines, agents := slices.Clone(r.buses), slices.Clone(r.agents)
	r.lines.Store(&lines)
	r.roll.Store(&agents)
}

// LastCycle is the number of the last cycle that is over, since the start. It takes no lock.
func (r *Rig) LastCycle() uint64 { return r.ended.Load() }

// elapsed is rig time plus the missed periods.
func (r *Rig) elapsed() time.Duration { return r.time + r.missed }

// Name is the rig's name.
func (r *Rig) Name() string { return r.config.Name }

// Mode is how time passes, Period how much of it in a cycle.
func (r *Rig) Mode() ClockMode       { return r.config.Mode }
func (r *Rig) Period() time.Duration { return time.Duration(r.period.Load()) }

// FlushLog waits until all that the rig has logged is with its logger, for timeout at most: a terminal may be stopped.
func (r *Rig) FlushLog(timeout time.Duration) { r.sink.Flush(timeout) }

// Events and Values are the rig's repositories.
func (r *Rig) Events() *Events { return r.events }
func (r *Rig) Values() *Values { return r.values }

// Agents are all agents in the order they were added.
func (r *Rig) Agents() []*Agent { return slices.Clone(*r.roll.Load()) }

// Agent finds an agent by name, or returns nil.
func (r *Rig) Agent(name string) *Agent {
	r.lock()
	defer r.mu.Unlock()
	return r.agent(name)
}

func (r *Rig) agent(name string) *Agent {
	for _, a := range r.agents {
		if a.name == name {
			return a
		}
	}
	return nil
}

// BetweenCycles runs f between two cycles, under the rig's lock. f must not call the rig.
func (r *Rig) BetweenCycles(f func()) {
	r.lock()
	defer r.mu.Unlock()
	f()
}

// Run lets time pass until ctx ends, then stops every body by its policy. It is called once. From that end on the rig
// executes stops only, also when Run has returned: all commands, resets and requests to arm are refused.
func (r *Rig) Run(ctx context.Context) error {
	r.lock()
	r.pool = newBusPool(r.buses)
	r.mu.Unlock()
	defer func() {
		r.lock()
		c := r.pool
		r.pool = nil // a bus that is added now gets no goroutine
		r.mu.Unlock()
		c.close()
	}()
	woken := make(chan struct{})
	unused := context.AfterFunc(ctx, func() {
		defer close(woken)
		r.lock()
		defer r.mu.Unlock()
		r.changed.Broadcast()
	})
	r.loop(ctx)
	if !unused() {
		<-woken // the end holds the lock for as long as it takes
	}
	return r.close()
}

// ended refuses what a rig that ends no longer does.
func ended(op string) error { return &Error{Kind: Unsafe, Op: op, Err: errEnds} }

var errEnds = errors.New("the program ends: only stops are executed")

// watchFaults reports devices that failed or recovered since the last cycle: the log has the error, the joint's event
// the time. A fault of a joining agent is reported at once.
func (r *Rig) watchFaults(a *Agent) {
	for i := range a.frame.Status {
		err := a.frame.Status[i].Err
		if took := err == errSimulated; took != a.replaced[i] {
			if a.replaced[i] = took; took {
				r.log.Warn("a simulated joint takes the place of a lost one", "agent", a.name, "joint", a.device(i),
					"try", "halyard disarm, then halyard arm")
			}
		}
		if (err != nil) == (a.faulty[i] != 0) {
			continue
		}
		if a.faulty[i] = 0; err == nil {
			r.events.Raise(a.returns[i])
			r.log.Info("device recovered", "agent", a.name, "device", a.device(i))
			continue
		}
		a.faulty[i] = a.faults[i]
		r.events.Raise(a.faults[i])
		r.log.Warn("device fault", "agent", a.name, "device", a.device(i), "fault", err)
	}
}

// note counts and logs a fault of a whole body or bus, once while it stays the same.
func (r *Rig) note(a *Agent, op string, err error) {
	if err == nil {
		return
	}
	r.stats.Faults++
	name := ""
	if a != nil {
		name = a.name
	}
	if text := err.Error(); text != r.stats.LastFault {
		r.stats.LastFault = text
		r.log.Warn(op, "agent", name, "fault", err)
	}
}

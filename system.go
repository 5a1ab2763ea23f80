package halyard

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"regexp"
	"sync"
	"sync/atomic"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/assembly"
	"github.com/halyard-robotics/halyard/internal/control"
	"github.com/halyard-robotics/halyard/internal/record"
	"github.com/halyard-robotics/halyard/internal/report"
	"github.com/halyard-robotics/halyard/internal/serve/dashboard"
)

// System is the open robots of one config. Its methods may be called from any goroutine, but Step, Run and Close from one.
type System struct {
	sys     *assembly.System
	spawner hal.Spawner
	session *hal.Session // ours: it holds the leases of the agents that the program commands
	cycles  cycles
	agents  agents
	servers *assembly.Servers // nil until Listen
	control *control.Control
	journal *dashboard.Journal // of the log

	taps      *record.Taps
	recordMu  sync.Mutex // guards recording
	recording *Recording // nil = none
	recorded  io.Closer  // the config's file

	twins atomic.Pointer[func() any] // what AnswerTwin was given

	exposed    func() error // ends Expose; nil = not exposed
	supervisor []string     // the command of the process that supervises real lines; nil = none
	ran        atomic.Bool
	closed     bool
}

// Server is an open server of a System.
type Server struct {
	Protocol string `json:"protocol"`
	Agent    string `json:"agent"`   // "" where it serves all
	Address  string `json:"address"` // host:port
}

// Open opens everything in cfg: lines, devices, simulated worlds, agents. No joint moves, and no server answers yet. After
// an error nothing stays open; all faults are returned together.
func Open(cfg *Config, with ...Option) (*System, error) {
	o := newOptions(with)
	p, err := o.plan(cfg)
	if err != nil {
		return nil, err
	}
	taps := tap(p)
	journal := &dashboard.Journal{}
	sys, err := assembly.Build(p, slog.New(journal.Handler(o.log.Handler())))
	if err != nil {
		return nil, err
	}
	s := &System{sys: sys, taps: taps, supervisor: o.supervisor, journal: journal, spawner: sys.NewSpawner(), cycles: cycles{tick: make(chan struct{}, 1)}}
	s.session = sys.Rig.NewSession("program", &s.cycles)
	if p.Config.Record.File != "" {
		if err := s.recordFile(); err != nil {
			return nil, errors.Join(err, s.Close())
		}
	}
	return s, nil
}

// Config is the config that was opened; read it only.
func (s *System) Config() *Config { return s.sys.Plan.Config }

// Rig is the system's cycle, its named values and events (package hal), for programs that need more than this package shows.
func (s *System) Rig() *hal.Rig { return s.sys.Rig }

// Listen opens the servers of the config and the control socket, and lists the servers; none answers until Run. It may be
// called once; otherwise Run calls it.
func (s *System) Listen() (list []Server, err error) {
	if s.servers != nil {
		return nil, &hal.Error{Kind: hal.Invalid, Op: "listen", Err: errors.New("the servers are open already")}
	}
	servers, err := assembly.OpenServers(s.sys)
	if err != nil {
		return nil, err
	}
	c, err := control.OpenControl(s.sys.Rig, control.Hooks{Record: s.recordInto, Buses: s.busStatus, Twin: s.twinRows})
	if err != nil {
		servers.Close()
		return nil, err
	}
	s.servers, s.control = servers, c
	for _, r := range servers.Ready {
		list = append(list, Server(r))
	}
	return list, nil
}

// Run runs the cycles: by the wall clock in real time, and in lock-step whenever all clients have requested the step. It
// serves until ctx ends or a server fails. Then it first ends the servers, so that no further command arrives, and the
// bodies stop by their policies. A System runs once.
func (s *System) Run(ctx context.Context) error {
	if s.ran.Load() {
		return &hal.Error{Kind: hal.Invalid, Op: "run", Err: errors.New("the system has run already")}
	}
	if s.servers == nil {
		if _, err := s.Listen(); err != nil {
			return err
		}
	}
	unsupervise, err := s.supervise()
	if err != nil {
		return err
	}
	defer unsupervise()
	s.ran.Store(true)
	rigCtx, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	ran := make(chan error, 1)
	go func() { ran <- s.sys.Rig.Run(rigCtx) }()
	err = s.servers.Run(ctx)
	stop()
	err = errors.Join(err, <-ran)
	s.cycles.end()
	return err
}

// Step passes on the commands of all agents and returns after the next cycle of a system in lock-step. It runs the cycle in
// the calling goroutine and allocates nothing. While Run serves clients, Step acts as one of them: it acquires the lease of
// every free agent, and returns when all clients have requested the step. In real time the error is hal.Invalid; without Run
// it is hal.Busy while a client holds an agent.
func (s *System) Step() error {
	if s.sys.Rig.Mode() != hal.Lockstep {
		return s.sys.Rig.Step() // which refuses
	}
	running := s.ran.Load()
	if running {
		if err := s.lead(); err != nil {
			return err
		}
	}
	before := s.cycles.count.Load()
	asked, err := s.agents.ask(s.session)
	switch {
	case err != nil:
		return err
	case !asked:
		return s.sys.Rig.Step()
	case s.cycles.count.Load() != before:
		return nil
	case !running:
		return &hal.Error{Kind: hal.Busy, Op: "step", Err: errors.New("a client holds an agent and has not asked for the step")}
	}
	return s.cycles.wait(before)
}

// lead acquires the lease of every free agent.
func (s *System) lead() error {
	for _, a := range s.Agents() {
		a.mu.Lock()
		err := a.acquire()
		a.mu.Unlock()
		if err != nil && hal.KindOf(err) != hal.Busy {
			return err
		}
	}
	return nil
}

// Agent is the agent called name, nil if absent.
func (s *System) Agent(name string) *Agent { return s.agents.of(s, s.sys.Rig.Agent(name)) }

// Agents lists all agents, spawned ones too.
func (s *System) Agents() (list []*Agent) {
	for _, a := range s.sys.Rig.Agents() {
		list = append(list, s.agents.of(s, a))
	}
	return list
}

// Spawn makes a robot of a class of the config at a pose.
func (s *System) Spawn(class, name string, at hal.Pose) (*Agent, error) {
	a, err := s.spawner.Spawn(class, name, at)
	if err != nil {
		return nil, err
	}
	return s.agents.of(s, a), nil
}

// Remove removes a spawned robot. The error is hal.Busy while a client, or the program itself, holds its lease
// (Agent.Release); it stays as it is then.
func (s *System) Remove(name string) error {
	err := s.spawner.Remove(name)
	if s.sys.Rig.Agent(name) == nil {
		s.agents.forget(name)
	}
	return err
}

// Stop is the emergency stop: torque off on every joint, latched until Reset. The error joins one for each joint that did
// not confirm.
func (s *System) Stop(reason string) error {
	var faults []error
	for _, j := range s.sys.Rig.EmergencyStop(reason) {
		if j.Err != nil {
			faults = append(faults, fmt.Errorf("%s/%s: %w", j.Agent, j.Joint, j.Err))
		}
	}
	return errors.Join(faults...)
}

// Reset clears the emergency stop and the alarms of devices. Stopped joints stay disarmed.
func (s *System) Reset() error { return s.sys.Rig.Recover() }

// Arm lets commands move the bodies. It is refused (hal.Unsafe) while the emergency stop is latched.
func (s *System) Arm() error { return s.sys.Rig.Arm() }

// Value is the named value of the rig called name: "/arm/battery" of a monitor, "/Control/CurrentStep". The error is
// hal.Absent if absent.
func (s *System) Value(name string) (hal.Value, error) {
	ids := s.sys.Rig.Values().Find(regexp.MustCompile(regexp.QuoteMeta(name)))
	if len(ids) == 0 {
		return hal.Value{}, &hal.Error{Kind: hal.Absent, Op: "value", Err: fmt.Errorf("got %q, want a named value of the rig", name)}
	}
	return s.sys.Rig.Values().Get(ids[0])
}

// OnCycle calls f after every cycle, under the rig's lock: f must neither block nor call the System. It lasts until the
// returned function is called.
func (s *System) OnCycle(f func(c *hal.Cycle)) (cancel func()) {
	session := s.sys.Rig.NewSession("observer", observer(f))
	return session.Close
}

// OnEvent calls f for every event called name ("/Control/EmergencyStop", "/arm/elbow_flex/Fault"), under the conditions of
// OnCycle. The error is hal.Invalid if the system has no such event.
func (s *System) OnEvent(name string, f func()) (cancel func(), err error) {
	id, ok := s.sys.Rig.Events().Lookup(name)
	if !ok {
		return nil, &hal.Error{Kind: hal.Invalid, Op: "subscribe", Err: fmt.Errorf("got event %q, want one of the rig", name)}
	}
	return s.OnCycle(func(c *hal.Cycle) {
		for _, e := range c.Events {
			if e == id {
				f()
			}
		}
	}), nil
}

// Close releases all. A system that did not run is stopped first: torque off, and the error names each joint that did not
// confirm. After Run, bodies stay as their policies left them.
func (s *System) Close() error {
	if s.closed {
		return nil
	}
	s.closed = true
	var faults []error
	if s.exposed != nil {
		faults = append(faults, s.exposed())
	}
	if !s.ran.Load() {
		faults = append(faults, s.Stop("the system is closed"))
		ended, cancel := context.WithCancel(context.Background())
		cancel()
		if s.servers != nil {
			s.servers.Close()
		}
		faults = append(faults, s.sys.Rig.Run(ended))
	}
	faults = append(faults, s.endRecording())
	s.session.Close()
	if s.control != nil {
		s.control.Close()
	}
	return errors.Join(append(faults, s.sys.Close())...)
}

// observer is a function as a hal.Observer.
type observer func(*hal.Cycle)

func (f observer) Cycle(c *hal.Cycle) { f(c) }

// cycles counts cycles for Step, which may have to wait for those of others.
type cycles struct {
	count atomic.Uint64
	ended atomic.Bool
	tick  chan struct{} // of one element; made by Open
}

func (c *cycles) Cycle(*hal.Cycle) {
	c.count.Add(1)
	c.wake()
}

// Deferrable implements hal.Deferrable: Step holds leases while it waits.
func (*cycles) Deferrable() bool { return true }

func (c *cycles) wake() {
	select {
	case c.tick <- struct{}{}:
	default:
	}
}

// end lets a Step that waits return.
func (c *cycles) end() {
	c.ended.Store(true)
	c.wake()
}

// wait returns after the cycle that follows number before.
func (c *cycles) wait(before uint64) error {
	for c.count.Load() == before {
		if c.ended.Load() {
			return &hal.Error{Kind: hal.Unexpected, Op: "step", Err: errors.New("the system has ended")}
		}
		<-c.tick
	}
	return nil
}

// AnswerTwin lets rows answer halyard twin on the control socket: the joints, each as JSON, with why they differ from their simulated
// twins. rows is called in goroutines of the socket; nil ends it.
func (s *System) AnswerTwin(rows func() any) {
	if rows == nil {
		s.twins.Store(nil)
		return
	}
	s.twins.Store(&rows)
}

// twinRows is control's.
func (s *System) twinRows() any {
	if rows := s.twins.Load(); rows != nil {
		return (*rows)()
	}
	return nil
}

// busStatus is control's.
func (s *System) busStatus() (list []control.BusStatus) {
	s.sys.Rig.BetweenCycles(func() { // a chain's counts are the cycle's
		for _, l := range s.sys.LineStates() {
			list = append(list, control.BusStatus{Name: l.Name, Body: l.Body, Servos: len(l.Joints), Cycles: l.Stats.Cycles, Timeouts: l.Stats.Timeouts,
				BadChecksums: l.Stats.BadChecksums, Reopened: l.Stats.Reopened, Wire: report.Number(l.Stats.Wire.Seconds()), Spent: report.Number(l.Stats.Spent.Seconds())})
		}
	})
	return list
}

package halyard

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"reflect"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/assembly"
	"github.com/halyard-robotics/halyard/internal/control"
	"github.com/halyard-robotics/halyard/internal/policy"
	"github.com/halyard-robotics/halyard/internal/record"
	"github.com/halyard-robotics/halyard/internal/report"
	"github.com/halyard-robotics/halyard/internal/serve/dashboard"
	"github.com/halyard-robotics/halyard/internal/teleop"
)

// System is the open robots of one config. Its methods may be called from any goroutine, but Step from one.
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

	policies []*policy.Client
	teleop   *teleop.Teleop // nil = none

	twins atomic.Pointer[func() any] // what AnswerTwin was given

	exposed    func() error // ends Expose; nil = not exposed
	supervisor []string     // the command of the process that supervises real lines; nil = none
	ran        atomic.Bool  // the rig has run

	ending  context.Context // ends with Close
	end     context.CancelFunc
	mu      sync.Mutex    // guards running and closed
	running chan struct{} // closed at the end of Run; nil before Run
	closed  bool
	ranErr  error     // of Run
	closing sync.Once // of Close
	fault   error     // of Close
}

// Server is an open server of a System.
type Server struct {
	Protocol string `json:"protocol"`
	Agent    string `json:"agent"`   // "" where it serves all
	Address  string `json:"address"` // host:port
}

// Open opens everything in cfg: lines, devices, simulated worlds, agents. No joint moves, and no server answers yet.
// After an error nothing stays open; all faults are returned together.
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
	s := &System{sys: sys, taps: taps, supervisor: o.supervisor, journal: journal, spawner: sys.NewSpawner(),
		cycles: cycles{tick: make(chan struct{}, 1)}}
	s.ending, s.end = context.WithCancel(context.Background())
	s.session = sys.Rig.NewSession("program", &s.cycles)
	if err := s.openPolicies(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	if s.teleop, err = teleop.New(sys.Rig, p.Config); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	if p.Config.Record.File != "" {
		if err := s.recordFile(); err != nil {
			return nil, errors.Join(err, s.Close())
		}
	}
	return s, nil
}

// Config is the config that was opened; read it only.
func (s *System) Config() *Config { return s.sys.Plan.Config }

// Rig is the system's cycle, its named values and events (package hal), for programs that need more than this package
// shows.
func (s *System) Rig() *hal.Rig { return s.sys.Rig }

// Listen opens the servers of the config and the control socket, and lists the servers; none answers until Run. It may
// be called once; otherwise Run calls it.
func (s *System) Listen() (list []Server, err error) {
	if s.servers != nil {
		return nil, &hal.Error{Kind: hal.Invalid, Op: "listen", Err: errors.New("the servers are open already")}
	}
	servers, err := assembly.OpenServers(s.sys)
	if err != nil {
		return nil, err
	}
	c, err := control.OpenControl(s.sys.Rig, control.Hooks{Record: s.recordInto, Files: s.attached, Buses: s.busStatus,
		Twin: s.twinRows})
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

// Run runs the cycles: by the wall clock in real time, and in lock-step whenever all clients have requested the step.
// It serves until ctx ends, a server fails or Close is called. Then the bodies stop by their policies, and the servers
// end last: while a body parks they refuse every command and still execute stops. A System runs once.
func (s *System) Run(ctx context.Context) error {
	s.mu.Lock()
	if s.running != nil || s.closed {
		defer s.mu.Unlock()
		what := "the system has run already"
		if s.closed {
			what = "the system is closed"
		}
		return &hal.Error{Kind: hal.Invalid, Op: "run", Err: errors.New(what)}
	}
	running := make(chan struct{})
	s.running = running
	s.mu.Unlock()
	defer close(running)
	s.ranErr = s.run(ctx)
	if !s.ran.Load() { // it may be tried again
		s.mu.Lock()
		s.running = nil
		s.mu.Unlock()
	}
	return s.ranErr
}

// serversTime bounds how long Run waits for its servers when the robots have stopped: one of a client that called Close
// waits for that call.
const serversTime = 5 * time.Second

func (s *System) run(ctx context.Context) error {
	if s.servers == nil {
		if _, err := s.Listen(); err != nil {
			return err
		}
	}
	unsupervise, err := s.supervise()
	if err != nil {
		return err
	}
	s.ran.Store(true)
	rig, stop := context.WithCancel(ctx)
	defer stop()
	defer context.AfterFunc(s.ending, stop)()
	doors, endDoors := context.WithCancel(context.WithoutCancel(ctx))
	defer endDoors()
	served := make(chan error, 1)
	go func() { served <- s.servers.Run(doors, stop) }()
	endPolicies := s.runPolicies()
	err = s.sys.Rig.Run(rig)
	endPolicies()
	unsupervise()
	s.cycles.end()
	endDoors()
	timer := time.NewTimer(serversTime)
	defer timer.Stop()
	select {
	case ended := <-served:
		return errors.Join(ended, err)
	case <-timer.C:
		return errors.Join(err, &hal.Error{Kind: hal.Timeout, Op: "run",
			Err: fmt.Errorf("a server did not end within %v", serversTime)})
	}
}

// Step passes on the commands of all agents and returns after the next cycle of a system in lock-step. It runs the
// cycle in the calling goroutine and allocates nothing. While Run serves clients, Step acts as one of them: it acquires
// the lease of every free agent, and returns when all clients have requested the step. In real time the error is
// hal.Invalid; without Run it is hal.Busy while a client holds an agent.
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
		return &hal.Error{Kind: hal.Busy, Op: "step",
			Err: errors.New("a client holds an agent and has not asked for the step")}
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

// Stop is the emergency stop: torque off on every joint, latched until Reset. The error joins one for each joint that
// did not confirm.
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

// Fault plants a fault in the emulated or real servos of lines, as halyard serve --fault: "stale servo 3 by=40ms",
// "BUS: drop servo 3 p=0.2 from=5s" (docs/faults.md); see Agent.Fault.
func (s *System) Fault(text string) (err error) {
	s.sys.Rig.BetweenCycles(func() { err = s.sys.Plant(text) })
	return err
}

// Value is the named value of the rig called name: "/arm/battery" of a monitor, "/Control/CurrentStep". The error is
// hal.Absent if absent.
func (s *System) Value(name string) (hal.Value, error) {
	ids := s.sys.Rig.Values().Find(regexp.MustCompile(regexp.QuoteMeta(name)))
	if len(ids) == 0 {
		return hal.Value{}, &hal.Error{Kind: hal.Absent, Op: "value",
			Err: fmt.Errorf("got %q, want a named value of the rig", name)}
	}
	return s.sys.Rig.Values().Get(ids[0])
}

// OnCycle calls f after every cycle, under the rig's lock: f must neither block nor call the System. It lasts until the
// returned function is called.
func (s *System) OnCycle(f func(c *hal.Cycle)) (cancel func()) {
	session := s.sys.Rig.NewSession("observer", observer(f))
	return session.Close
}

// OnEvent calls f for every event called name ("/Control/EmergencyStop", "/arm/elbow_flex/Fault"), under the conditions
// of OnCycle. The error is hal.Invalid if the system has no such event.
func (s *System) OnEvent(name string, f func()) (cancel func(), err error) {
	id, ok := s.sys.Rig.Events().Lookup(name)
	if !ok {
		return nil, &hal.Error{Kind: hal.Invalid, Op: "subscribe",
			Err: fmt.Errorf("got event %q, want an event of the rig", name)}
	}
	return s.OnCycle(func(c *hal.Cycle) {
		for _, e := range c.Events {
			if e == id {
				f()
			}
		}
	}), nil
}

// Close ends Run, waits until the bodies have stopped by their policies, and releases all. A system that did not run is
// stopped first: torque off. The error names each joint that did not confirm. Close may be called from any goroutine
// and again: each call waits for the end and returns the same error. In main, "defer sys.Close()" also covers a panic
// of that goroutine. Neither os.Exit nor a panic of another goroutine runs it: only a supervising process
// (WithSupervisor) switches the torque off then.
//
// From a function that the cycle calls, as one of OnCycle, Close ends Run without waiting, and returns hal.Busy: call
// it again elsewhere.
func (s *System) Close() error {
	s.end()
	if s.inCycle() {
		return &hal.Error{Kind: hal.Busy, Op: "close",
			Err: errors.New("called from inside the cycle: Run ends after it, and nothing is released yet"),
			Try: "go sys.Close()"}
	}
	s.closing.Do(func() { s.fault = s.close() })
	return s.fault
}

// inCycle reports whether the caller may hold the rig's lock, for which Close waits: a function of package hal has
// called it.
func (s *System) inCycle() bool {
	pcs := make([]uintptr, 256)
	n := runtime.Callers(2, pcs)
	for ; n == len(pcs); n = runtime.Callers(2, pcs) { // the cycle is at the root, below any recursion of the program
		pcs = make([]uintptr, 2*len(pcs))
	}
	frames, more, frame := runtime.CallersFrames(pcs[:n]), true, runtime.Frame{}
	for panicked := false; more; {
		frame, more = frames.Next()
		panicked = panicked || frame.Function == "runtime.gopanic"
		if strings.HasPrefix(frame.Function, reflect.TypeFor[hal.Rig]().PkgPath()+".") {
			return !panicked || !s.unlocks() // after a panic it may have unlocked already
		}
	}
	return false
}

// unlocks reports whether the rig's lock comes free.
func (s *System) unlocks() bool {
	free := make(chan struct{})
	go s.sys.Rig.BetweenCycles(func() { close(free) })
	select {
	case <-free:
		return true
	case <-time.After(time.Second):
		return false
	}
}

func (s *System) close() error {
	s.mu.Lock()
	s.closed = true
	running := s.running
	s.mu.Unlock()
	var faults []error
	if running != nil {
		select {
		case <-running: // Run has returned its error
		default:
			<-running
			faults = append(faults, s.ranErr)
		}
	}
	if !s.ran.Load() {
		faults = append(faults, s.Stop("the system is closed"), s.sys.Rig.Run(s.ending))
		s.cycles.end()
		if s.servers != nil {
			s.servers.Close()
		}
	}
	if s.exposed != nil {
		faults = append(faults, s.exposed())
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

// AnswerTwin lets rows answer halyard twin on the control socket: the joints, each as JSON, with why they differ from
// their simulated twins. rows is called in goroutines of the socket; nil ends it.
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
			list = append(list, control.BusStatus{Name: l.Name, Body: l.Body, Servos: len(l.Joints),
				Cycles: l.Stats.Cycles, Timeouts: l.Stats.Timeouts,
				BadChecksums: l.Stats.BadChecksums, Reopened: l.Stats.Reopened,
				Wire: report.Number(l.Stats.Wire.Seconds()), Spent: report.Number(l.Stats.Spent.Seconds()),
				Span: l.Stats.Span})
		}
	})
	return list
}

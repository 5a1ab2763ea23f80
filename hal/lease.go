package hal

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// Observer is called in every cycle, under the rig's lock: it must neither block nor call the rig, its agents' leases
// or Values (except Values.Read). It reads an agent's data from Lease.Frame.
type Observer interface{ Cycle(c *Cycle) }

// Cycle describes one cycle, or one reset, to an observer. It is valid during the call.
type Cycle struct {
	Step   uint64 // cycles since the last reset
	Reset  bool   // no cycle: a reset has completed
	Events []EventID

	Time    time.Duration // rig time
	Elapsed time.Duration // the same with the periods that the rig missed
}

// Session is one protocol session: an observer that may hold leases. In lock-step, time waits for every lease of every
// session.
type Session struct {
	rig      *Rig
	name     string
	observer Observer
	leases   []*Lease
	closed   bool
	inner    bool // it commands in the cycle: time waits for none of its leases
}

// Lease is the right to command one agent. Its session owns it; it is not safe for two goroutines.
type Lease struct {
	session *Session
	agent   *Agent // nil once released
	asked   request
	done    request // request that the last cycle completed
}

type request uint8

const (
	askNothing request = iota
	askStep
	askReset
)

// NewSession registers an observer. name is used in messages: "osp@127.0.0.1:5000". Close removes it.
func (r *Rig) NewSession(name string, o Observer) *Session {
	r.lock()
	defer r.mu.Unlock()
	p := &Session{rig: r, name: name, observer: o}
	r.sessions = append(r.sessions, p)
	return p
}

// NewController registers an observer that commands in the cycle: its Cycle, and what runs between two cycles
// (BetweenCycles, the functions of Values), may call AcquireNow, ReleaseNow and Lease.Command. Time never waits for it.
func (r *Rig) NewController(name string, o Observer) *Session {
	p := r.NewSession(name, o)
	p.inner = true
	return p
}

// Name is the session's name.
func (p *Session) Name() string { return p.name }

// Acquire takes the lease of a, or fails with Busy where another session holds it. In lock-step, time stops at the
// cycle's edge until every lease has asked. A session that holds it already gets the same lease; one that is closed
// gets none.
func (p *Session) Acquire(a *Agent) (*Lease, error) {
	p.rig.lock()
	defer p.rig.mu.Unlock()
	return p.AcquireNow(a)
}

// AcquireNow is Acquire for a controller, in its Cycle or between two cycles.
func (p *Session) AcquireNow(a *Agent) (*Lease, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.lease != nil && a.lease.session != p {
		return nil, &Error{Kind: Busy, Op: "control " + a.name, Err: fmt.Errorf("held by %s", a.lease.session.name)}
	}
	if a.leaving {
		return nil, &Error{Kind: Busy, Op: "control " + a.name, Err: errLeaving}
	}
	if p.closed { // it would never be released
		return nil, &Error{Kind: Unexpected, Op: "control " + a.name, Err: errSessionClosed}
	}
	if a.lease == nil {
		a.lease = &Lease{session: p, agent: a}
		if p.leases = append(p.leases, a.lease); !p.inner {
			p.rig.leases++
		}
	}
	return a.lease, nil
}

var errSessionClosed = errors.New("the session is closed")

// Release gives l back; its body holds still. Nothing moves because a client left.
func (p *Session) Release(l *Lease) {
	p.rig.lock()
	defer p.rig.mu.Unlock()
	p.release(l)
	p.rig.runPending()
}

// ReleaseNow is Release for a controller, in its Cycle or between two cycles.
func (p *Session) ReleaseNow(l *Lease) { p.release(l) }

// Command hands on the inputs (Layout.Inputs, SI; NaN keeps) of a controller, in its Cycle or between two cycles: they
// count from the next cycle on. It has no effect once l is released.
func (l *Lease) Command(inputs []float64) {
	if l.agent != nil {
		l.agent.command(inputs)
	}
}

// Close releases every lease and removes the session. Its observer is not called again once Close has returned.
func (p *Session) Close() {
	r := p.rig
	r.lock()
	defer r.mu.Unlock()
	p.closed = true
	for len(p.leases) > 0 {
		p.release(p.leases[0])
	}
	r.sessions = slices.DeleteFunc(r.sessions, func(q *Session) bool { return q == p })
	r.runPending()
}

func (p *Session) release(l *Lease) {
	if l.agent == nil {
		return
	}
	a := l.agent
	a.mu.Lock()
	a.lease = nil
	if !a.guard.ending { // then it parks, or holds already
		a.enter(Order{Kind: ReleaseOrder})
		a.guard.hold()
	}
	a.mu.Unlock()
	l.agent, l.done = nil, askNothing
	if p.leases = slices.DeleteFunc(p.leases, func(q *Lease) bool { return q == l }); !p.inner {
		p.rig.leases--
	}
	p.rig.changed.Broadcast()
}

// Step hands on the inputs (Layout.Inputs, SI; NaN keeps) and asks for the next cycle. In lock-step the call that
// completes the set runs the cycle, and every observer, before it returns; in real time the next tick answers.
func (p *Session) Step(l *Lease, inputs []float64) error {
	return p.ask(l, askStep, inputs, 0)
}

// Renew is Agent.Renew of l's agent; without effect once l is released.
func (p *Session) Renew(l *Lease) {
	if a := l.agent; a != nil {
		a.Renew()
	}
}

// Reset asks for a reset with seed (0 = don't care); when every lease has asked, it runs. The last seed that is not 0
// counts. A real body moves to its default pose first; observers are notified of the completion.
func (p *Session) Reset(l *Lease, seed int64) error {
	return p.ask(l, askReset, nil, seed)
}

func (p *Session) ask(l *Lease, what request, inputs []float64, seed int64) error {
	r := p.rig
	r.lock()
	defer r.mu.Unlock()
	switch {
	case l.agent == nil || r.closed:
		return &Error{Kind: Unexpected, Op: "step", Err: fmt.Errorf("no lease")}
	case r.ending && what == askReset:
		return ended("reset")
	}
	if inputs != nil {
		l.agent.command(inputs)
	}
	if what == askReset && seed != 0 {
		r.seed = seed
	}
	l.asked = what
	r.runPending()
	return nil
}

// Agent is the agent under l, nil once released.
func (l *Lease) Agent() *Agent { return l.agent }

// Frame is the agent's frame, with NaN for what lost devices measure; only for Observer.Cycle, and only to read.
func (l *Lease) Frame() *Frame { return l.agent.shown }

// Stepped reports to an observer whether this cycle answers l's Step; ResetDone whether it answers its Reset.
func (l *Lease) Stepped() bool   { return l.done == askStep }
func (l *Lease) ResetDone() bool { return l.done == askReset }

// Pending reports whether l has asked and is not answered. Only the session that owns l calls it.
func (l *Lease) Pending() bool {
	l.session.rig.lock()
	defer l.session.rig.mu.Unlock()
	return l.asked != askNothing
}

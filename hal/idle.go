package hal

import (
	"slices"
	"sync/atomic"
	"time"
)

// A rig whose bodies are all simulated and that has received no call for a second is idle: its loop wakes every
// idleTime, not every period, and runs the deferred cycles at once. Results do not depend on it: a call from outside
// first runs the deferred cycles that are due (Rig.lock, Agent.lock), so that it finds the rig as if each had been run
// in time, and wakes the loop. A deferred cycle counts neither as late nor as missed.

const (
	idleTime  = 100 * time.Millisecond // upper bound of the delay of a deferred cycle
	idleAfter = time.Second            // time without a call before the first cycle is deferred
)

// Deferrable is a World or an Observer that accepts deferred cycles while Deferrable returns true: several at once, up
// to 100 ms late. It is called under the rig's lock. A rig with a world or an observer that is not Deferrable runs each
// cycle in time.
type Deferrable interface{ Deferrable() bool }

// napper is a Clock that can also wait until t or until wake has an element.
type napper interface {
	NapUntil(t time.Duration, wake <-chan struct{})
}

// NapUntil waits with the runtime's timers, up to a millisecond too long. Unlike a system call it lets the runtime's
// monitor sleep too.
func (w wallClock) NapUntil(t time.Duration, wake <-chan struct{}) {
	timer := time.NewTimer(t - w.Now())
	defer timer.Stop()
	select {
	case <-wake:
	case <-timer.C:
	}
}

// idle is the state of a loop that defers cycles.
type idle struct {
	asked atomic.Bool   // a call came since the loop last checked
	on    atomic.Bool   // cycles are deferred; changes under the rig's lock
	wake  chan struct{} // capacity 1; wakes the loop
	since time.Duration // elapsed time of the last call
	next  time.Duration // deadline of the first deferred cycle, by the rig's clock
	last  time.Duration // deadline of the last one
}

// lock takes the rig's lock for a call from outside and runs the deferred cycles that are due.
func (r *Rig) lock() {
	r.idle.asked.Store(true)
	r.mu.Lock()
	r.catchUp()
}

// lock takes a's lock for a call from outside, after the deferred cycles that are due. It may be called under the rig's
// lock.
func (a *Agent) lock() {
	r := a.rig
	if !r.idle.asked.Load() {
		r.idle.asked.Store(true)
	}
	if r.idle.on.Load() {
		r.lock()
		r.mu.Unlock()
	}
	a.mu.Lock()
}

// catchUp runs the deferred cycles that are due, ends the deferral and wakes the loop. Under the lock.
func (r *Rig) catchUp() {
	i := &r.idle
	if !i.on.Load() {
		return
	}
	i.on.Store(false) // first: the observers of these cycles may call agents
	r.noticeSuspend()
	for now := r.clock.Now(); i.next <= min(now, i.last); i.next += r.config.Period {
		r.beat(r.clock.Now())
	}
	select {
	case i.wake <- struct{}{}:
	default:
	}
}

// nap defers the cycles from deadline next on, waits, runs those that are due and returns the deadline of the cycle
// after them. ok is false if no cycle may be deferred.
func (r *Rig) nap(next time.Duration) (after time.Duration, ok bool) {
	clock, can := r.clock.(napper)
	if !can || !r.deferFrom(next) {
		return next, false
	}
	clock.NapUntil(r.idle.last, r.idle.wake)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.catchUp()
	return r.idle.next, true
}

// deferFrom begins to defer cycles from deadline next on. It reports false if no cycle may be deferred.
func (r *Rig) deferFrom(next time.Duration) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	i, now := &r.idle, r.elapsed()
	if i.asked.Swap(false) {
		i.since = now
	}
	n := idleTime / r.config.Period
	// a late loop does not catch up
	if n < 2 || now-i.since < idleAfter || r.clock.Now()-next >= r.config.Period || !r.deferrable() {
		return false
	}
	select {
	case <-i.wake: // of an earlier nap
	default:
	}
	i.next, i.last = next, next+(n-1)*r.config.Period
	i.on.Store(true)
	if i.asked.Load() { // a call to an agent may have come before on was set
		i.on.Store(false)
		return false
	}
	return true
}

// deferrable reports whether the next cycles may be deferred. Under the lock.
func (r *Rig) deferrable() bool {
	if r.closed || r.paused || r.resetting || r.leases > 0 || r.journal.Load() != nil || len(r.buses) > 0 ||
		len(r.inputs) > 0 || !r.simulated() {
		return false
	}
	inTime := func(x any) bool {
		d, ok := x.(Deferrable)
		return !ok || !d.Deferrable()
	}
	return !slices.ContainsFunc(r.worlds, func(w World) bool { return inTime(w) }) &&
		!slices.ContainsFunc(r.sessions, func(s *Session) bool { return s.observer != nil && inTime(s.observer) })
}

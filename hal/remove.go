package hal

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// releaseTime is how long a real body that leaves may take to switch its torque off: a base that rolls brakes first.
const releaseTime = time.Second

// Remove removes the agent called name from the rig, between cycles, and leaves its body inert. Its values keep their
// last state. The error is Busy while a session holds it.
//
// In a running rig a real body first switches its joints off in normal cycles, for at most a second, in which the other
// agents continue. Its Halt, during which no cycle runs, then need not wait. Remove blocks for that time.
func (r *Rig) Remove(name string) error {
	a, err := r.leave(name)
	if err != nil {
		return err
	}
	for end := r.clock.Now() + releaseTime; r.releasing(a) && r.clock.Now() < end; {
		r.clock.SleepUntil(r.clock.Now() + r.config.Period)
	}
	r.lock()
	defer r.mu.Unlock()
	r.agents = slices.DeleteFunc(r.agents, func(b *Agent) bool { return b == a })
	r.publishRoll()
	return a.body.Halt()
}

// leave marks an agent as leaving: it can no longer be leased.
func (r *Rig) leave(name string) (*Agent, error) {
	r.lock()
	defer r.mu.Unlock()
	a := r.agent(name)
	if a == nil {
		return nil, &Error{Kind: Invalid, Op: "remove " + name, Err: errors.New("no such agent")}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.lease != nil:
		return nil, &Error{Kind: Busy, Op: "remove " + name, Err: fmt.Errorf("held by %s", a.lease.session.name)}
	case a.leaving:
		return nil, &Error{Kind: Busy, Op: "remove " + name, Err: errLeaving}
	}
	a.leaving = true
	return a, nil
}

var errLeaving = errors.New("it is being removed")

// releasing reports whether a body being removed still has torque while the rig runs cycles, and commands it to switch
// torque off.
func (r *Rig) releasing(a *Agent) bool {
	r.lock()
	defer r.mu.Unlock()
	h, ok := a.body.(TorqueReporter)
	if !ok || a.bodyKind != Real || r.pool == nil || r.config.Mode != Realtime || r.resting() {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.guard.state == Armed {
		a.rest()
		a.guard.set(Disarmed)
	}
	for i := range a.layout.Actuators {
		if h.Holding(i) {
			return true
		}
	}
	return false
}

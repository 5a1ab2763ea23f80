package hal

import (
	"errors"
	"slices"
)

// Step runs one cycle of a rig in lock-step that is not running (Run): time passes in the calling goroutine. Where
// sessions hold leases, each of them must have asked for the step, or the error is of kind Busy; in real time it is of
// kind Invalid.
func (r *Rig) Step() error {
	r.lock()
	defer r.mu.Unlock()
	for r.config.Mode == Lockstep && !r.closed && r.journal.Load().lags() {
		r.wait()
	}
	switch {
	case r.config.Mode != Lockstep:
		e := &Error{Kind: Invalid, Op: "step " + r.config.Name, Err: errStepRealtime, Try: "--set clock.mode=lockstep"}
		if slices.ContainsFunc(r.agents, func(a *Agent) bool { return a.bodyKind == Real }) {
			e.Err, e.Try = errStepReal, ""
		}
		return e
	case r.closed:
		return &Error{Kind: Unexpected, Op: "step " + r.config.Name, Err: errStepClosed}
	case r.leases > 0 && !r.allAsked(askStep):
		return &Error{Kind: Busy, Op: "step " + r.config.Name, Err: errStepAwaits}
	}
	r.run()
	return nil
}

var (
	errStepRealtime = errors.New("clock.mode: got realtime, want lockstep")
	errStepReal     = errors.New("got a robot with real parts, whose time cannot be stepped: call Run")
	errStepClosed   = errors.New("the rig is closed")
	errStepAwaits   = errors.New("another session holds a lease and has not asked for the step")
)

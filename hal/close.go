package hal

import (
	"errors"
	"time"
)

// closeTime bounds how long the end of a rig waits until wheels have confirmed that their torque is off. One of a base
// rolls out first.
const closeTime = time.Second

// close stops every body by its policy and runs no more cycles. Joints of emulated and real bodies that hold a position
// keep their torque; those without a position, such as wheels, lose it. All other bodies end inert. The error names
// each joint that did not confirm.
func (r *Rig) close() error {
	r.lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil
	}
	r.ending, r.closed = true, true
	r.changed.Broadcast()
	var holding, ending []*Agent
	for _, a := range r.agents {
		a.mu.Lock()
		if a.bodyKind != Simulated && a.guard.state == Armed && a.guard.config.OnTimeout != TorqueOff {
			a.guard.hold()
			a.guard.coast(a.frame)
			holding = append(holding, a)
		} else {
			a.disarm(a.guard.state)
			ending = append(ending, a)
		}
		a.mu.Unlock()
	}
	faults := r.halt(ending, true)
	if len(holding) == 0 {
		return errors.Join(faults...)
	}
	// One lost packet leaves no wheel turning: it is repeated until the torque was read off.
	next := r.clock.Now()
	for end := r.elapsed() + closeTime; ; {
		r.write()
		before := r.stats.Faults
		r.exchange()
		if r.alive != nil {
			r.alive()
		}
		var unconfirmed []error
		for _, a := range holding {
			r.read(a)
			unconfirmed = append(unconfirmed, a.unconfirmed()...)
		}
		if len(unconfirmed) == 0 || r.elapsed() >= end {
			if faults = append(faults, unconfirmed...); r.stats.Faults > before {
				faults = append(faults, errors.New(r.stats.LastFault))
			}
			return errors.Join(faults...)
		}
		if next += r.config.Period; r.config.Mode == Realtime {
			r.clock.SleepUntil(next)
		}
	}
}

// coast switches torque off for every joint that has no position to hold. f has the readings of before.
func (g *guard) coast(f *Frame) {
	for i := range g.joints {
		if j := &g.joints[i]; j.mode != NoMode && j.mode != PositionMode {
			j.forget(j.limit)
			j.coasts, j.begun = true, f.Status[i].Time
		}
	}
}

var errTorqueOn = errors.New("did not confirm that its torque is off: cut the power")

// unconfirmed has one error for each joint that coasts and reports torque, or has not been read since: an exchange of a
// slow line may be under way that switches its torque on.
func (a *Agent) unconfirmed() (faults []error) {
	h, ok := a.body.(TorqueReporter)
	if !ok {
		return nil
	}
	for i := range a.guard.joints {
		j, s := &a.guard.joints[i], &a.frame.Status[i]
		if j.coasts && (h.Holding(i) || s.Err != nil || s.Time <= j.begun && a.rig.config.Mode == Realtime) {
			faults = append(faults, &Error{Kind: BusFault, Joint: a.layout.Actuators[i].Name, Op: "stop",
				Err: errTorqueOn})
		}
	}
	return faults
}

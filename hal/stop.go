package hal

import (
	"errors"
	"fmt"
)

// JointStop tells how one joint took an emergency stop. Err is nil where it acknowledged.
type JointStop struct {
	Agent, Joint string
	Err          error
}

// EmergencyStop takes the torque off every joint of every agent now, latched until Recover: an agent that joins before is
// stopped too. It may be called at any
// time, again too, from any goroutine but an observer; it waits for the cycle that is under way, no longer than its buses take.
// The answer lists every joint with what it said.
func (r *Rig) EmergencyStop(reason string) []JointStop {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.stop(reason)
}

// braker is a bus with a body on it whose Halt takes long, since it rolls: it is told before anybody is waited for, so that
// the last of several robots does not drive on for as long as the others take to say that they stand.
type braker interface{ Brake() error }

// stop is EmergencyStop under the lock.
func (r *Rig) stop(reason string) []JointStop {
	r.log.Error("emergency stop", "reason", reason)
	r.events.Raise(r.known.emergencyStop)
	r.latched = true
	for _, b := range r.buses {
		if k, ok := b.(braker); ok {
			r.note(nil, "brake", k.Brake())
		}
	}
	var all []JointStop
	for _, a := range r.agents {
		a.mu.Lock()
		a.rest()
		a.guard.set(Stopped)
		a.mu.Unlock()
		all = append(all, a.stopped(a.body.Halt())...)
	}
	return all
}

// AddStopInput lets f be asked at the beginning of every cycle, before anything is commanded. An error of it, the button is
// pressed or nobody hears of it, is an emergency stop, which cannot be cleared while it lasts. f must not block nor call the
// rig.
func (r *Rig) AddStopInput(f func() error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.inputs = append(r.inputs, f)
}

// checkStopInputs stops all where a stop input says so and the stop is not latched yet. Under the lock.
func (r *Rig) checkStopInputs() {
	err := r.pressed()
	if err == nil || r.latched {
		return
	}
	for _, s := range r.stop(err.Error()) {
		if s.Err != nil {
			r.log.Error("stop not acknowledged", "agent", s.Agent, "joint", s.Joint, "fault", s.Err)
		}
	}
}

// pressed is what the first stop input says that is not well.
func (r *Rig) pressed() error {
	for _, f := range r.inputs {
		if err := f(); err != nil {
			return err
		}
	}
	return nil
}

// stopped splits the error of a Halt by joint.
func (a *Agent) stopped(err error) []JointStop {
	stops := make([]JointStop, len(a.layout.Actuators))
	for i := range stops {
		stops[i] = JointStop{Agent: a.name, Joint: a.layout.Actuators[i].Name}
	}
	for _, e := range flatten(err, nil) {
		var fault *Error
		if !errors.As(e, &fault) || a.layout.Actuator(fault.Joint) == None {
			for i := range stops { // nobody knows whom it means: believe no joint
				stops[i].Err = e
			}
			return stops
		}
		stops[a.layout.Actuator(fault.Joint)].Err = e
	}
	return stops
}

// flatten lists the leaves of joined errors.
func flatten(err error, list []error) []error {
	if err == nil {
		return list
	}
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range many.Unwrap() {
			list = flatten(e, list)
		}
		return list
	}
	return append(list, err)
}

// Latched tells whether an emergency stop is, also of a rig that nobody is in.
func (r *Rig) Latched() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.latched
}

// recoverer is a bus with devices that latch an alarm when they protect themselves: an overload that has cut a servo's
// torque. It frees those that may be freed, moves nothing, and returns one error for each that stays latched.
type recoverer interface{ ClearAlarms() []error }

// Recover unlatches the emergency stop: every agent is disarmed then. Without a stop it disarms the joints that are at fault
// alone, the others go on. Alarms that devices have latched are cleared. Arm lets commands pass again. While a stop input
// is not well it does nothing, and the error, of kind Unsafe, says what it is; else the error joins what could not be cleared.
func (r *Rig) Recover() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.pressed(); err != nil {
		return &Error{Kind: Unsafe, Op: "clear the emergency stop", Err: fmt.Errorf("its cause lasts: %w", err)}
	}
	r.disarmed = r.disarmed || r.latched
	r.latched = false
	for _, a := range r.agents {
		a.mu.Lock()
		if a.guard.state == Stopped {
			a.guard.set(Disarmed)
		}
		a.guard.disarmFaulty(a.frame)
		a.mu.Unlock()
	}
	var faults []error
	for _, b := range r.buses {
		if c, ok := b.(recoverer); ok {
			faults = append(faults, c.ClearAlarms()...)
		}
	}
	return errors.Join(faults...)
}

// Arm arms every agent, and those that join from now on; see Agent.Arm.
func (r *Rig) Arm() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.disarmed = r.latched
	var faults []error
	for _, a := range r.agents {
		faults = append(faults, a.Arm())
	}
	return errors.Join(faults...)
}

package hal

import "errors"

// JointStop tells how one joint took an emergency stop. Err is nil where it acknowledged.
type JointStop struct {
	Agent, Joint string
	Err          error
}

// EmergencyStop takes the torque off every joint of every agent now, latched until ClearStop. It may be called at any
// time, again too, from any goroutine but an observer; it waits for the cycle that is under way, no longer than its buses take.
// The answer lists every joint with what it said.
func (r *Rig) EmergencyStop(reason string) []JointStop {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.log.Error("emergency stop", "reason", reason)
	r.events.Raise(r.known.emergencyStop)
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

// ClearStop unlatches the emergency stop; every agent is disarmed then, and Agent.Arm lets commands pass.
func (r *Rig) ClearStop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, a := range r.agents {
		a.mu.Lock()
		if a.guard.state == Stopped {
			a.guard.set(Disarmed)
		}
		a.mu.Unlock()
	}
}

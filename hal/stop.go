package hal

import (
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"
)

// JointStop is the result of an emergency stop for one joint. Err is nil if it acknowledged.
type JointStop struct {
	Agent, Joint string
	Err          error
}

// TorqueCutter is a Bus that switches off the torque of every device on it at once: by broadcast if the line has one,
// by braking if a body would roll on. CutTorque may be called from any goroutine, also during Send or Receive. It waits
// at most for the running exchange of its line, and for no acknowledgement. Torque stays off until a device's Enable
// has been false once.
type TorqueCutter interface{ CutTorque() error }

const (
	// cutTime is the time that a stop waits for blocked lines before it continues to verify the others.
	cutTime = 50 * time.Millisecond
	// haltTime is how long bodies that become inert count as no hang, and haltBeat the time between two beats
	// meanwhile.
	haltTime = 2 * time.Second
	haltBeat = 20 * time.Millisecond
	// defaultEdgeTime is the time that a stop waits for the end of a cycle before it reports all joints as not
	// verified.
	defaultEdgeTime = 2 * time.Second
	// defaultVerifyTime is how long the verification may take then: the lines have their own bounds.
	defaultVerifyTime = 20 * time.Second
)

var errUnverified = errors.New("torque off was sent and not verified: the cycle does not end")

// EmergencyStop switches torque off for every joint of every agent now, latched until Recover: an agent that joins
// before is stopped too. It may be called at any time, again too, from any goroutine but an observer.
//
// Torque off goes out on all lines at once, first, and waits for no lock but that of each line. Then, at the end of the
// cycle, each joint is asked whether its torque is off; then the stop is logged. The answer lists every joint.
func (r *Rig) EmergencyStop(reason string) []JointStop { return r.stopNow(stopCause{reason, false}) }

// RequestStop is EmergencyStop by a client. Where it is the only cause and clients arm, RequestRecover may clear it.
func (r *Rig) RequestStop(client string) []JointStop { return r.stopNow(stopCause{client, true}) }

// stopCause is why a stop is latched.
type stopCause struct {
	reason string
	client bool // a client ordered it, and every other one since it is latched
}

// hold latches a stop.
func (r *Rig) hold(c stopCause) {
	for {
		was := r.latched.Load()
		if was != nil {
			c.client = c.client && was.client
		}
		if r.latched.CompareAndSwap(was, &c) {
			return
		}
	}
}

func (r *Rig) stopNow(c stopCause) []JointStop {
	r.hold(c)
	cut := r.cut()
	begun, given, done := make(chan struct{}), make(chan struct{}), make(chan []JointStop, 1)
	go func() {
		defer func() {
			if p := recover(); p != nil {
				done <- r.unverified(fmt.Errorf("torque off was sent and not verified: panic: %v", p))
			}
		}()
		r.mu.Lock() // in its queue, so that a thousand clients that ask for it do not keep a stop waiting
		defer r.mu.Unlock()
		close(begun)
		select {
		case <-given: // the cycle ends after all
			if !r.Latched() {
				return
			}
		default:
		}
		r.catchUp()
		done <- r.verifyStop(c, cut)
	}()
	timer := time.NewTimer(r.edgeTime)
	defer timer.Stop()
	for {
		select {
		case all := <-done:
			return all
		case <-begun:
			begun = nil // the bodies answer within their bounds
			timer.Reset(r.verifyTime)
		case <-timer.C:
			close(given)
			go r.log.Error("emergency stop not verified", "reason", c.reason)
			return r.unverified(errUnverified)
		}
	}
}

// unverified reports each joint as not verified. It takes no lock.
func (r *Rig) unverified(err error) (all []JointStop) {
	for _, a := range *r.roll.Load() {
		all = append(all, a.stopped(err)...)
	}
	return all
}

// stop is EmergencyStop under the lock.
func (r *Rig) stop(reason string) []JointStop {
	c := stopCause{reason, false}
	r.hold(c)
	return r.verifyStop(c, r.cut())
}

// virtual is a clock whose time passes only in SleepUntil. With it a stop waits for all lines, so that the result does
// not depend on the load of the processor.
type virtual interface{ Virtual() }

// cut switches off all torque on all lines, each in a goroutine of its own, and reports whether all have taken it. It
// needs no lock.
func (r *Rig) cut() (all bool) {
	var cuts sync.WaitGroup
	for _, b := range *r.lines.Load() {
		if c, ok := b.(TorqueCutter); ok {
			cuts.Go(func() {
				defer func() { recover() }() // the verification finds the joints that keep torque
				c.CutTorque()                // likewise
			})
		}
	}
	if _, ok := r.clock.(virtual); ok {
		cuts.Wait()
		return true
	}
	done := make(chan struct{})
	go func() { cuts.Wait(); close(done) }()
	timer := time.NewTimer(cutTime)
	defer timer.Stop()
	select {
	case <-done:
		return true
	case <-timer.C: // a blocked line does not delay the stop
		return false
	}
}

// verifyStop stops the guards and lets every body verify its joints, all concurrently. cut reports that all lines have
// switched their torque off. Under the lock.
func (r *Rig) verifyStop(c stopCause, cut bool) []JointStop {
	r.hold(c)
	kind := StopOrder
	if c.client {
		kind = RequestStopOrder
	}
	r.enter(Order{Kind: kind, Name: c.reason})
	for _, a := range r.agents {
		a.mu.Lock()
		a.latch()
		a.mu.Unlock()
	}
	var all []JointStop
	for i, err := range r.halt(r.agents, cut) {
		all = append(all, r.agents[i].stopped(err)...)
	}
	r.events.Raise(r.known.emergencyStop)
	r.log.Error("emergency stop", "reason", c.reason)
	for _, a := range r.agents {
		a.noteState(Stopped, c.reason)
	}
	return all
}

// halt makes the bodies of agents inert, concurrently: one that rolls out or does not answer delays no other. With
// beats it does not count as a hang, for haltTime.
func (r *Rig) halt(agents []*Agent, beats bool) []error {
	errs := make([]error, len(agents))
	var all sync.WaitGroup
	for i, a := range agents {
		if a.bodyKind == Simulated {
			errs[i] = a.body.Halt()
			continue
		}
		all.Go(func() {
			defer func() {
				if p := recover(); p != nil {
					errs[i] = fmt.Errorf("halt %s: panic: %v", a.name, p)
				}
			}()
			errs[i] = a.body.Halt()
		})
	}
	r.await(&all, beats)
	return errs
}

// await waits for all. With beats that does not count as a hang, for haltTime.
func (r *Rig) await(all *sync.WaitGroup, beats bool) {
	if r.alive == nil || !beats {
		all.Wait()
		return
	}
	done := make(chan struct{})
	go func() { all.Wait(); close(done) }()
	tick := time.NewTicker(haltBeat)
	defer tick.Stop()
	for range haltTime / haltBeat {
		select {
		case <-done:
			return
		case <-tick.C:
			callOut("a beat")
			r.alive()
		}
	}
	<-done
}

// OnBeat lets f be called, under the rig's lock, when a cycle has ended, and every 20 ms while alarms are cleared, or
// bodies become inert after all lines have taken a stop, for 2 s at most: the rig does not hang. f must not block nor
// call the rig. nil ends it.
func (r *Rig) OnBeat(f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.alive = f
}

// survive stops all robots after a panic in a cycle. The rig continues, so that it can still be queried and reset.
func (r *Rig) survive() {
	p := recover()
	if p == nil {
		return
	}
	defer func() { recover() }() // torque is off; a further failure changes nothing
	trace := string(debug.Stack())
	if b, ok := p.(*busPanic); ok {
		p, trace = b.value, b.stack
	}
	r.stats.Faults++
	r.stats.LastFault = fmt.Sprintf("panic: %v", p)
	r.stop(r.stats.LastFault)
	r.log.Error("panic", "value", p, "stack", trace)
	for _, s := range r.sessions {
		for _, l := range s.leases {
			if l.asked != askStep {
				l.asked = askNothing
			}
		}
	}
	r.notify(askStep) // clients that wait for the cycle get the stop as their answer
}

// Contain is deferred first in each goroutine that serves a client. A panic there causes an emergency stop, and its
// stack is logged; the rig and its other clients continue. what names the goroutine: "okon session".
func (r *Rig) Contain(what string) {
	p := recover()
	if p == nil {
		return
	}
	trace := string(debug.Stack())
	r.EmergencyStop(fmt.Sprintf("panic in %s: %v", what, p))
	r.log.Error("panic", "in", what, "value", p, "stack", trace)
}

// sleeper is a clock that measures how long the machine was suspended.
type sleeper interface{ Suspended() time.Duration }

// suspendLimit is how long the machine may have been suspended for its robots to go on.
const suspendLimit = 500 * time.Millisecond

// noticeSuspend stops emulated and real robots after a suspend: their motion meanwhile is not known. It returns how
// long the machine was suspended since the last cycle. Under the lock.
func (r *Rig) noticeSuspend() (slept time.Duration) {
	s, ok := r.clock.(sleeper)
	if !ok {
		return 0
	}
	was := r.slept
	r.slept = s.Suspended()
	if r.stats.Ticks == 0 {
		return 0
	}
	if slept = r.slept - was; slept >= suspendLimit && !r.simulated() {
		r.stop(fmt.Sprintf("the machine was suspended for %v", slept.Round(time.Millisecond)))
	}
	return slept
}

// AddStopInput adds a check that is called at the beginning of every cycle, before anything is commanded. An error of
// it (the button is pressed, or its state is unknown) causes an emergency stop, which cannot be cleared while it lasts.
// f must not block nor call the rig.
func (r *Rig) AddStopInput(f func() error) {
	r.lock()
	defer r.mu.Unlock()
	r.inputs = append(r.inputs, f)
}

// checkStopInputs stops all agents if a stop input is active and the stop is not latched yet. Under the lock.
func (r *Rig) checkStopInputs() {
	err := r.pressed()
	if err == nil || r.Latched() {
		return
	}
	for _, s := range r.stop(err.Error()) {
		if s.Err != nil {
			r.log.Error("stop not acknowledged", "agent", s.Agent, "joint", s.Joint, "fault", s.Err)
		}
	}
}

// pressed is the error of the first active stop input, or of the first lost device that stops.
func (r *Rig) pressed() error {
	for _, a := range r.agents {
		if err := a.stopsByLoss(); err != nil {
			return err
		}
	}
	for _, f := range r.inputs {
		callOut("a stop input")
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
			for i := range stops { // it names no joint: trust none
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

// Latched reports whether an emergency stop is, also of a rig without agents.
func (r *Rig) Latched() bool { return r.latched.Load() != nil }

// recoverer is a bus with devices that latch an alarm when they protect themselves: an overload that has switched a
// servo's torque off. ClearAlarms clears alarms without moving anything, and returns one error for each that stays
// latched.
type recoverer interface{ ClearAlarms() []error }

// Recover unlatches the emergency stop: every agent is disarmed then. Without a stop it disarms only the joints with a
// fault; the others continue. It clears latched alarms of devices. Arm lets commands pass again. While a stop input is
// open or has a fault, or the rig ends, it does nothing, and the error, of kind Unsafe, gives the cause. Else the error
// joins the alarms that could not be cleared.
func (r *Rig) Recover() error {
	r.lock()
	defer r.mu.Unlock()
	return r.recover(Order{Kind: RecoverOrder})
}

// RequestRecover is Recover by a client. The error is of kind Unsafe where that belongs to the operator: a body is
// real, only an operator arms it, or not only clients have ordered the stop.
func (r *Rig) RequestRecover(client string) error {
	r.lock()
	defer r.mu.Unlock()
	for _, a := range r.agents {
		switch {
		case a.bodyKind == Real:
			return operatorResets(a.name, errors.New("got a client, want the operator of a real body"))
		case a.guard.config.Arming == OperatorArms:
			return operatorResets(a.name, errors.New("got a client, want the operator: guard.arming is operator"))
		}
	}
	return r.recover(Order{Kind: RequestRecoverOrder, Name: client})
}

func operatorResets(what string, err error) error {
	return &Error{Kind: Unsafe, Op: "reset " + what, Err: err, Try: "halyard reset"}
}

// recover is Recover or RequestRecover. Under the lock.
func (r *Rig) recover(o Order) error {
	if r.ending {
		return ended("clear the emergency stop")
	}
	if err := r.pressed(); err != nil {
		return &Error{Kind: Unsafe, Op: "clear the emergency stop", Err: fmt.Errorf("its cause lasts: %w", err)}
	}
	client, cause := o.Kind == RequestRecoverOrder, r.latched.Load()
	stopped := cause != nil
	if stopped && client && !cause.client {
		return operatorResets(r.config.Name, fmt.Errorf("got a client, want the operator: stopped by %s", cause.reason))
	}
	for _, a := range r.agents {
		if a.mu.Lock(); stopped { // the stop may have met no cycle
			a.meetStop(cause)
		}
		a.mu.Unlock()
	}
	if !r.latched.CompareAndSwap(cause, nil) { // before the rest: a stop that comes from here on stays latched
		return &Error{Kind: Unsafe, Op: "clear the emergency stop", Err: errors.New("another stop came")}
	}
	r.enter(o)
	r.disarmed = stopped || r.disarmed
	r.armed = r.armed && !r.disarmed
	for _, a := range r.agents {
		a.mu.Lock()
		if a.guard.state == Stopped {
			a.guard.set(Disarmed)
			a.guard.operator = a.guard.operator || !client
			a.noteStateLocked(Disarmed, "reset")
		}
		a.guard.disarmFaulty(a.frame)
		a.mu.Unlock()
	}
	faults := make([]error, len(r.buses))
	var all sync.WaitGroup
	all.Go(func() {
		for i, b := range r.buses {
			if c, ok := b.(recoverer); ok {
				faults[i] = clearAlarms(c)
			}
		}
	})
	r.await(&all, true)
	return errors.Join(faults...)
}

func clearAlarms(c recoverer) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("clear alarms: panic: %v", p)
		}
	}()
	return errors.Join(c.ClearAlarms()...)
}

// Arm arms every agent, and those that join from now on; see Agent.Arm.
func (r *Rig) Arm() error {
	r.lock()
	defer r.mu.Unlock()
	if r.ending {
		return ended("arm " + r.config.Name)
	}
	r.enter(Order{Kind: ArmAllOrder})
	r.disarmed, r.armed = false, true // while a stop is latched those that join are stopped, and its reset disarms
	var faults []error
	for _, a := range r.agents {
		faults = append(faults, a.Arm())
	}
	return errors.Join(faults...)
}

// Disarm disarms every agent; see Agent.Disarm. An agent that joins later is disarmed too, until Arm.
func (r *Rig) Disarm() {
	r.lock()
	defer r.mu.Unlock()
	r.enter(Order{Kind: DisarmAllOrder})
	r.disarmed, r.armed = true, false
	for _, a := range r.agents {
		a.Disarm()
	}
}

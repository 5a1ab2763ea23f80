package hal

import (
	"cmp"
	"errors"
	"fmt"
	"time"
)

// Condition is the state of an agent's guard and how it came to it.
type Condition struct {
	State  GuardState
	Reason string        // "operator", "osp@127.0.0.1:5000", "command deadline"; "" = as configured
	Since  time.Duration // rig time
}

// Condition reports the state of the guard. An agent whose commands have all passed their deadline is Expired. A joint
// with a fault does not change it; see JointState.
func (a *Agent) Condition() Condition {
	a.lock()
	defer a.mu.Unlock()
	if why := a.rig.latched.Load(); why != nil && a.condition.State != Stopped { // the cycle has not ended since
		return Condition{State: Stopped, Reason: why.reason, Since: a.time}
	}
	return a.condition
}

// latch stops the agent where a stop is latched that has not met it yet. Under the lock.
func (a *Agent) latch() {
	if c := a.rig.latched.Load(); c != nil {
		a.meetStop(c)
	}
}

// meetStop stops the agent where it is not stopped yet. After a client's stop, clients may arm it if they might before.
// Under the lock.
func (a *Agent) meetStop(c *stopCause) {
	g := a.guard
	operator := g.operator || g.stalled || !c.client
	if g.state == Stopped && g.operator == operator {
		return
	}
	o := Order{Kind: LatchOrder}
	if c.client {
		o.Name = "client"
	}
	a.enter(o)
	if g.state != Stopped {
		a.disarm(Stopped)
	}
	g.operator = operator
}

// Arm lets commands pass again, as an operator orders it. It is refused (Unsafe) while the emergency stop is latched.
func (a *Agent) Arm() error {
	a.lock()
	defer a.mu.Unlock()
	if err := a.latchedError(); err != nil {
		return err
	}
	a.enter(Order{Kind: ArmOrder})
	g := a.guard
	if g.config.Passive {
		return nil
	}
	if g.operator = false; g.stalled { // what holds goes on holding
		g.stalled, g.expired = false, false
		a.noteStateLocked(Armed, "operator")
	}
	a.arm("operator")
	return nil
}

// RequestArm arms the guard if client may do so; if it is armed it does nothing. The error, of kind Unsafe, gives the
// reason: the emergency stop is latched, or an operator must arm. The latter is so after a stop, after Disarm, if the
// config starts disarmed, and always if the guard's Arming is OperatorArms. Every door for clients arms by it.
func (a *Agent) RequestArm(client string) error {
	a.lock()
	defer a.mu.Unlock()
	if err := a.latchedError(); err != nil {
		return err
	}
	if a.guard.config.Passive {
		return &Error{Kind: Unsafe, Op: "arm " + a.name, Err: errPassive}
	}
	if a.guard.active() {
		return nil
	}
	switch {
	case a.guard.stalled:
		return &Error{Kind: Unsafe, Op: "arm " + a.name,
			Err: fmt.Errorf("%s; only the operator arms it", a.condition.Reason), Try: "halyard arm"}
	case a.guard.operator || a.guard.config.Arming == OperatorArms:
		return &Error{Kind: Unsafe, Op: "arm " + a.name, Err: errOperator, Try: "halyard arm"}
	}
	a.enter(Order{Kind: RequestArmOrder, Name: client})
	a.arm(client)
	return nil
}

// ClientsArm reports whether a client may arm the guard, if no stop is latched, or clear the stop that is.
func (a *Agent) ClientsArm() bool {
	a.lock()
	defer a.mu.Unlock()
	return !a.guard.operator && !a.guard.stalled && a.guard.config.Arming == ClientArms
}

// Passive reports whether the agent is only read: it is never armed.
func (a *Agent) Passive() bool { return a.guard.config.Passive }

// Ready returns nil if commands reach an actuator, and else the reason, of kind Unsafe: the emergency stop, a disarmed
// agent, a fault of each actuator. It is for doors: a client whose commands move nothing must be notified of it.
func (a *Agent) Ready() error {
	a.lock()
	defer a.mu.Unlock()
	why, try := errDisarmed, "halyard arm"
	switch g := a.guard; {
	case g.config.Passive:
		why, try = errPassive, ""
	case g.state == Stopped || a.rig.Latched():
		why, try = errLatched, "halyard reset"
	case g.stalled:
		why = fmt.Errorf("%s; only the operator arms it", a.condition.Reason)
	case g.state == Armed:
		for i := range g.joints {
			if a.follows(i) {
				return nil
			}
		}
		if len(g.joints) == 0 {
			return nil
		}
		if j := cmp.Or(a.jointFault(0), a.status[0].Err); j != nil {
			why, try = j, "halyard reset"
		}
		why = fmt.Errorf("no joint follows its goals: %s: %w", a.layout.Actuators[0].Name, why)
	}
	return &Error{Kind: Unsafe, Op: "command " + a.name, Err: why, Try: try}
}

// follows reports whether commands reach actuator i of an armed agent: it is not disarmed by itself, the guard trusts
// it, and its device answers and has no alarm that takes its torque. Under the lock.
func (a *Agent) follows(i int) bool {
	j, s := &a.guard.joints[i], &a.status[i]
	fault := s.Err != nil && !s.Warns && (s.Time == a.shown.Time || a.shown.Time-s.Time >= LossAge)
	return !fault && !j.off && !j.outside && !j.sight.jumped
}

// State is the guard's state as clients see it: Faulty where only faults of all actuators keep commands from them.
func (a *Agent) State() GuardState {
	a.lock()
	state := a.condition.State
	a.mu.Unlock()
	switch {
	case a.rig.Latched():
		state = Stopped
	case state == Armed && a.Ready() != nil:
		state = Faulty
	}
	return state
}

var (
	errDisarmed = errors.New("disarmed")
	errLatched  = errors.New("the emergency stop is latched")
	errOperator = errors.New("disarmed; only the operator arms it")
	errPassive  = errors.New("a leader is only read, it never has torque")
)

func (a *Agent) latchedError() error {
	if a.guard.ending {
		return ended("arm " + a.name)
	}
	if a.guard.state != Stopped && !a.rig.Latched() {
		return nil
	}
	return &Error{Kind: Unsafe, Op: "arm " + a.name, Err: errLatched, Try: "halyard reset"}
}

// arm is Arm by a name. Under the lock.
func (a *Agent) arm(by string) {
	if a.guard.state == Disarmed {
		a.guard.set(Armed)
		a.noteStateLocked(Armed, by)
	}
	a.guard.admit()
}

// Disarm takes all torque off from the next cycle on, as an operator orders it, and drops commands until Arm. It counts
// also where the agent is disarmed already: no client arms it then.
func (a *Agent) Disarm() {
	a.lock()
	defer a.mu.Unlock()
	a.enter(Order{Kind: DisarmOrder})
	if a.guard.state == Armed {
		a.disarm(Disarmed)
		a.noteStateLocked(Disarmed, "operator")
	}
	a.guard.operator = true
}

// RequestDisarm is Disarm by a client. Where clients arm it may be armed again by RequestArm.
func (a *Agent) RequestDisarm(client string) {
	a.lock()
	defer a.mu.Unlock()
	if a.guard.state == Armed {
		a.enter(Order{Kind: RequestDisarmOrder, Name: client})
		operator := a.guard.operator || a.guard.stalled
		a.disarm(Disarmed)
		a.guard.operator = operator
		a.noteStateLocked(Disarmed, client)
	}
}

// disarm drops all commands; only an operator arms the agent again. Under the lock.
func (a *Agent) disarm(s GuardState) {
	a.rest()
	a.guard.set(s)
	a.guard.counts.Stops++
	a.guard.operator = true
}

// JointState reports whether commands reach actuator i: one with a fault may be disarmed by itself, by Rig.Recover;
// Expired after its command deadline; Faulty after a jump of its readings or outside its soft limits.
func (a *Agent) JointState(i int) GuardState {
	a.lock()
	defer a.mu.Unlock()
	if a.rig.Latched() { // though it may not be verified, since the cycle does not end
		return Stopped
	}
	return a.guard.jointState(i)
}

func (g *guard) jointState(i int) GuardState {
	switch j := &g.joints[i]; {
	case g.state != Armed:
		return g.state
	case j.sight.jumped || j.outside:
		return Faulty
	case j.off:
		return Disarmed
	case j.expired || g.expired && !j.waiting:
		return Expired
	}
	return Armed
}

// HasTorque reports whether the guard gives actuator i torque: an armed joint without a command yet has none.
func (a *Agent) HasTorque(i int) bool {
	a.lock()
	defer a.mu.Unlock()
	return a.guard.jointState(i) <= Expired && a.guard.state == Armed && a.guard.joints[i].enabled
}

func (a *Agent) noteState(s GuardState, why string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.noteStateLocked(s, why)
}

// noteStateLocked keeps, logs and raises the event of a change of state. The log's sink does not block.
func (a *Agent) noteStateLocked(s GuardState, why string) {
	a.condition = Condition{State: s, Reason: why, Since: a.time}
	a.rig.events.Raise(a.states[s])
	a.rig.log.Info("guard", "agent", a.name, "state", s.String(), "reason", why)
}

// watchGuard reports the guard's own decisions of the cycle: an expired deadline, a joint with a fault. Under the rig's
// lock.
func (a *Agent) watchGuard() {
	a.mu.Lock()
	defer a.mu.Unlock()
	g := a.guard
	if g.gap > 0 {
		a.rig.log.Warn("the cycle stood still", "agent", a.name, "for", g.gap)
		if g.state == Armed {
			a.noteStateLocked(Expired, fmt.Sprintf("the cycle stood still for %v", g.gap.Round(time.Millisecond)))
		}
		g.gap = 0
	}
	if g.fell {
		g.fell = false
		a.rig.log.Warn("robot has fallen", "agent", a.name, "then", g.config.Fall.Then.String())
		if g.state == Disarmed {
			a.noteStateLocked(Disarmed, "fall")
		}
	}
	if g.state == Armed && g.expired != (a.condition.State == Expired) {
		if g.expired {
			a.noteStateLocked(Expired, "command deadline")
		} else {
			a.noteStateLocked(Armed, "command")
		}
	}
	for i := range g.joints {
		j := &g.joints[i]
		bad := j.sight.jumped || j.outside
		if bad == a.odd[i] {
			continue
		}
		if a.odd[i] = bad; bad {
			a.rig.events.Raise(a.faults[i])
			a.rig.log.Warn("joint fault", "agent", a.name, "fault", a.jointFault(i))
		}
	}
}

// moved notifies the guard that the body is elsewhere, since its world was reset.
func (a *Agent) moved() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.guard.blindfold(1)
}

// JointFault is why the guard gives actuator i no torque although it is armed; nil where it does.
func (a *Agent) JointFault(i int) error {
	a.lock()
	defer a.mu.Unlock()
	return a.jointFault(i)
}

func (a *Agent) jointFault(i int) error {
	act, j := &a.layout.Actuators[i], &a.guard.joints[i]
	e := &Error{Kind: Unsafe, Joint: act.Name, Op: "position"}
	switch {
	case j.sight.jumped:
		e.Err, e.Try = fmt.Errorf("readings jumped: got %.3g, want near %.3g", j.sight.other, j.sight.at),
			"halyard reset"
	case j.outside:
		e.Err = fmt.Errorf("outside its soft limits: got %.3g, want %.3g..%.3g", j.sight.at, act.Limits.MinPosition,
			act.Limits.MaxPosition)
		e.Try = "move the joint into range by hand"
	default:
		return nil
	}
	return e
}

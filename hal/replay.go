package hal

import (
	"errors"
	"fmt"
	"time"
)

// BeginReplay prepares a rig in lock-step that does not run for Replay and ReplayCycle: the journal replaces the
// outputs of autopilots, and only the journal's stops count.
func (r *Rig) BeginReplay() {
	r.lock()
	defer r.mu.Unlock()
	r.inputs = nil
	for _, a := range r.agents {
		a.SetAutopilot(&played{inputs: make([]float64, len(a.layout.Inputs))})
	}
}

// Replay gives o, of a journal, to the rig, before ReplayCycle runs the cycle that o counts for. The error is Invalid
// where o names an agent or a value that the rig does not have.
func (r *Rig) Replay(o *Order) error {
	switch o.Kind {
	case StopOrder:
		r.EmergencyStop(o.Name)
		return nil
	case RequestStopOrder:
		r.RequestStop(o.Name)
		return nil
	case RequestRecoverOrder:
		r.RequestRecover(o.Name)
		return nil
	case RecoverOrder:
		r.Recover() // an alarm that could not be cleared then is not an error of the replay
		return nil
	case ArmAllOrder, DisarmAllOrder: // the agents' own orders follow
		r.lock()
		defer r.mu.Unlock()
		r.disarmed = o.Kind == DisarmAllOrder
		r.armed = !r.disarmed
		return nil
	case ResetOrder:
		r.lock()
		defer r.mu.Unlock()
		r.seed = o.Seed
		r.reset()
		return nil
	case paceOrder:
		r.lock()
		defer r.mu.Unlock()
		for _, p := range r.paces {
			if p.bus.BusName() == o.Name && o.Seed >= 1 && o.Seed <= int64(MaxPace(r.config.Period)) {
				p.bus.SetPace(int(o.Seed), r.config.Period)
				return nil
			}
		}
		return replayError(o, "bus", o.Name)
	case ParkOrder:
		r.lock()
		defer r.mu.Unlock()
		r.goHome()
		return nil
	case SetOrder:
		id, ok := r.values.Lookup(o.Name)
		if !ok { // of a controller in the recorded process, such as a policy: what it commanded has orders of its own
			return nil
		}
		r.values.Set(id, o.Value) // one that was refused is refused again
		return nil
	}
	a := r.Agent(o.Agent)
	if a == nil {
		return replayError(o, "agent", o.Agent)
	}
	switch o.Kind {
	case ResetWorldOrder:
		return r.ResetWorld(a.world, o.Seed)
	case SaveWorldOrder:
		return r.SaveWorld(a.world)
	case RestoreWorldOrder:
		return r.RestoreWorld(a.world)
	case ArmOrder:
		a.Arm() // refused then, refused now
	case RequestArmOrder:
		a.RequestArm(o.Name)
	case DisarmOrder:
		a.Disarm()
	case RequestDisarmOrder:
		a.RequestDisarm(o.Name)
	case RenewOrder:
		a.Renew()
	case CommandOrder:
		a.command(o.Inputs)
	case OverrideOrder:
		a.Override(o.Inputs)
	default:
		a.mu.Lock()
		defer a.mu.Unlock()
		switch law, _ := a.pilot.law.(*played); o.Kind {
		case ReleaseOrder:
			a.guard.hold()
		case LatchOrder:
			c := stopCause{client: o.Name != ""}
			a.rig.hold(c)
			a.meetStop(&c)
		case SteerOrder:
			if law == nil || len(o.Inputs) != len(law.inputs) {
				return replayError(o, "inputs of an autopilot", fmt.Sprint(len(o.Inputs)))
			}
			law.steers = copy(law.inputs, o.Inputs) > 0
		}
	}
	return nil
}

func replayError(o *Order, what, got string) error {
	return &Error{Kind: Invalid, Op: fmt.Sprintf("replay %v of cycle %d", o.Kind, o.Cycle),
		Err: fmt.Errorf("%s %q: not in this rig", what, got)}
}

// ReplayCycle runs the next cycle, after missed in all was missed before it, in a rig in lock-step that does not run.
func (r *Rig) ReplayCycle(missed time.Duration) error {
	r.lock()
	defer r.mu.Unlock()
	for !r.closed && r.journal.Load().lags() {
		r.wait()
	}
	if r.config.Mode != Lockstep || r.pool != nil || r.closed {
		return &Error{Kind: Invalid, Op: "replay " + r.config.Name,
			Err: errors.New("want a rig in lock-step that does not run")}
	}
	r.missed = missed
	r.run()
	return nil
}

// played is an autopilot that repeats the recorded output of one.
type played struct {
	inputs []float64
	steers bool
}

func (p *played) Update(_ *Frame, inputs []float64, _ time.Duration) bool {
	steers := p.steers
	if p.steers = false; steers {
		copy(inputs, p.inputs)
	}
	return steers
}

func (p *played) Disengage() { p.steers = false }

package hal

import "fmt"

// Loss is what becomes of a robot when one of its devices is lost: it has had a fault and no good reading for LossAge.
type Loss struct {
	Device int // of Frame.Status
	Then   Policy
	Stop   bool // the emergency stop, in place of Then; it cannot be reset while the device is lost
}

// isLost reports whether the device of a loss is lost, as of the last cycle.
func (a *Agent) isLost(l *Loss) bool {
	return a.frame.Status[l.Device].Err != nil && !trusted(a.frame, l.Device)
}

// stopsByLoss is the error of a lost device whose loss is an emergency stop. A replay has the stops in its journal.
// Under the rig's lock.
func (a *Agent) stopsByLoss() error {
	if a.rig.config.Replay {
		return nil
	}
	losses := a.guard.config.OnLoss
	for i := range losses {
		if l := &losses[i]; l.Stop && a.isLost(l) {
			return fmt.Errorf("on_loss: %s of %s is lost", a.device(l.Device), a.name)
		}
	}
	return nil
}

// watchLosses applies the policies of the devices that have been lost since the last cycle. An operator may arm a robot
// whose device is lost. Under the rig's lock.
func (a *Agent) watchLosses() {
	losses := a.guard.config.OnLoss
	for i := range losses {
		l, was := &losses[i], a.gone[i]
		if a.gone[i] = a.isLost(l); was || !a.gone[i] || l.Stop {
			continue
		}
		why := fmt.Sprintf("on_loss: %s is lost", a.device(l.Device))
		a.rig.log.Warn(why, "agent", a.name, "then", l.Then)
		a.mu.Lock()
		switch {
		case !a.guard.active() || a.guard.ending:
		case l.Then == TorqueOff:
			a.disarm(Disarmed)
			a.noteStateLocked(Disarmed, why)
		default:
			a.guard.freeze()
			a.noteStateLocked(Expired, why)
		}
		a.mu.Unlock()
	}
}

package hal

import "fmt"

// isLost reports whether a device is lost, as of the last cycle.
func (a *Agent) isLost(device int) bool {
	return a.frame.Status[device].Err != nil && !trusted(a.frame, device)
}

// stopsByLoss is the error of a lost device whose loss is an emergency stop. A replay has the stops in its journal.
// Under the rig's lock.
func (a *Agent) stopsByLoss() error {
	if a.rig.config.Replay {
		return nil
	}
	for _, i := range a.guard.config.OnLoss.Stop {
		if a.isLost(i) {
			return fmt.Errorf("on_loss: %s of %s is lost", a.device(i), a.name)
		}
	}
	return nil
}

// watchLosses applies the policies of the devices that have been lost since the last cycle. An operator may arm a robot
// whose device is lost. Under the rig's lock.
func (a *Agent) watchLosses() {
	c := &a.guard.config.OnLoss
	for _, i := range c.Hold {
		a.watchLoss(i, Hold)
	}
	for _, i := range c.TorqueOff {
		a.watchLoss(i, TorqueOff)
	}
}

func (a *Agent) watchLoss(device int, then Policy) {
	was := a.gone[device]
	if a.gone[device] = a.isLost(device); was || !a.gone[device] {
		return
	}
	why := fmt.Sprintf("on_loss: %s is lost", a.device(device))
	a.rig.log.Warn(why, "agent", a.name, "then", then)
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case !a.guard.active() || a.guard.ending:
	case then == TorqueOff:
		a.disarm(Disarmed)
		a.noteStateLocked(Disarmed, why)
	default:
		a.guard.freeze()
		a.noteStateLocked(Expired, why)
	}
}

package hal

import (
	"cmp"
	"slices"
	"time"
)

// Interlock keeps actuators still while a device is lost: for example wheels without a working scanner. Commands from
// before are discarded, so that only a new command moves an actuator after the device is back.
type Interlock struct {
	Devices   []int         // of Frame.Status: those that must be without a fault
	Actuators []int         // to stop then, at zero velocity, torque or duty, or at their positions
	After     time.Duration // how long a device may have a fault; 0 = 1 s
}

// defaultTimeout is longer than any scan and than the opening of a line that was lost for a moment.
const defaultTimeout = time.Second

// lost reports whether a device of the interlock has had no good reading for too long.
func (g *guard) lost(f *Frame, now time.Duration) bool {
	after := cmp.Or(g.config.Interlock.After, defaultTimeout)
	for _, i := range g.config.Interlock.Devices {
		if s := &f.Status[i]; s.Err != nil && (s.Time < 0 || now-s.Time > after) {
			return true
		}
	}
	return false
}

// lock stops the interlock's actuators when a device is lost, and lets new commands pass when all are back. One that
// will not execute when it is back, since it has switched itself off, is off for us as well: the next command switches
// it on.
func (g *guard) lock(f *Frame, now time.Duration) {
	was := g.locked
	if g.locked = g.lost(f, now); g.locked == was {
		return
	}
	if g.locked {
		g.counts.Locked++
	}
	for _, i := range g.config.Interlock.Actuators {
		j := &g.joints[i]
		switch {
		case g.locked && j.mode != NoMode:
			g.holdJoint(i)
		case !g.locked && f.Status[i].Err != nil:
			j.forget(j.limit)
		}
	}
}

// kept reports whether actuator i is not to be commanded now.
func (g *guard) kept(i int) bool {
	return g.locked && slices.Contains(g.config.Interlock.Actuators, i)
}

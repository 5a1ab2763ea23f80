package hal

import (
	"cmp"
	"math"
	"time"
)

// What a guard does with its joints when commands stop coming, or a reset asks for the default pose.

const (
	defaultHomeSpeed = 0.5             // rad/s: slow enough to step aside
	homeTolerance    = 0.05            // rad: a servo's steady error under load
	homeRest         = 0.05            // rad/s: slower is at rest
	homeTimeout      = 3 * time.Second // after the goals arrived; gravity may keep a joint from its pose
)

// expire applies the policy to the joints whose deadline has passed at elapsed time now. Their commands are discarded,
// so that a returning client moves nothing by connecting. A body parks when none of its joints has a command any more.
func (g *guard) expire(now time.Duration) {
	t := g.config.CommandTimeout
	if t == 0 || !g.waiting {
		return
	}
	any := false
	for i := range g.joints {
		if j := &g.joints[i]; j.waiting && now-j.last > t {
			any = true
			j.waiting, j.expired = false, true
			if g.config.OnTimeout == TorqueOff {
				j.forget(j.limit)
				j.expired = true
			} else {
				g.holdJoint(i)
			}
		}
	}
	if now-g.last > t {
		any, g.waiting, g.expired = true, false, true
	}
	if any {
		g.counts.Expired++
	}
	if any && !g.waiting && g.config.OnTimeout == Park {
		g.home(false)
	}
}

// patience is how long the cycle may stand still.
func (g *guard) patience() time.Duration { return cmp.Or(g.config.CommandTimeout, suspendLimit) }

// stall is called when the cycle has stood still for gap: the client and all readings of before count as lost. What has
// torque stays where it was commanded, or loses it where that is the policy; it does not park, since nothing is known.
// A real body then waits for its operator.
func (g *guard) stall(f *Frame, gap time.Duration) {
	g.gap = gap
	g.blindfold(trustSamples)
	for i := range g.joints {
		g.joints[i].sight.raw = f.Status[i].Time // what the device has sent meanwhile is of before
	}
	if g.state != Armed {
		return
	}
	g.hold()
	for i := range g.joints {
		j := &g.joints[i]
		if g.config.OnTimeout == TorqueOff {
			j.forget(j.limit)
		}
		j.expired = true
	}
	g.expired, g.stalled = true, g.real || g.config.Arming == OperatorArms
	g.counts.Expired++
}

// freeze makes every joint with torque stay where it is, until an operator arms.
func (g *guard) freeze() {
	g.hold()
	for i := range g.joints {
		g.joints[i].expired = true
	}
	g.expired, g.stalled = true, true
}

// hold makes every joint with torque stay where it is.
func (g *guard) hold() {
	g.homing, g.reset, g.waiting = false, false, false
	for i := range g.joints {
		g.joints[i].waiting = false
		g.holdJoint(i)
	}
}

// holdJoint keeps actuator i's last goal. A measured position would be adopted with all that is wrong with
// it: its age, and how far the joint sags under its load.
func (g *guard) holdJoint(i int) {
	j := &g.joints[i]
	j.homes = false
	switch {
	case !j.enabled, j.mode == PositionMode && j.waits: // no position to keep: torque is off, or not confirmed on
		j.mode = NoMode
	case j.mode == PositionMode && j.begins: // no other goal has reached its drive
		j.goal, j.out = j.from, j.from
	case j.mode == PositionMode:
		j.goal = j.out
	default:
		j.goal = 0
	}
}

// home sends every joint that has a default pose there, at the home speed. Where all is set it enables those without
// torque too, as an operator's reset does; else those stay as they are.
func (g *guard) home(all bool) {
	g.homing, g.arrived, g.waiting = true, -1, false
	for i := range g.joints {
		a, j := &g.layout.Actuators[i], &g.joints[i]
		j.waiting = false
		if j.off || !all && (!j.enabled || j.limit == 0) {
			continue
		}
		if a.Goal[PositionMode] == None {
			j.goal = 0
			continue
		}
		j.limit = cmp.Or(j.limit, a.Limits.MaxTorque)
		j.mode, j.goal, j.homes = PositionMode, a.Default, true
	}
}

// watchHoming ends homing when the joints are there, or as near as they come.
func (g *guard) watchHoming(f *Frame, now time.Duration) {
	if !g.homing {
		return
	}
	there := true
	for i := range g.joints {
		a, j := &g.layout.Actuators[i], &g.joints[i]
		if j.mode != PositionMode || !j.enabled {
			// One that was not seen yet, or not just now, is waited for, as long as one that does not arrive.
			there = there && (j.mode != PositionMode || j.outside || j.sight.jumped)
			continue
		}
		if j.moved { // one that is held back does not keep the others waiting
			return
		}
		there = there && !j.sight.blind && math.Abs(difference(a, j.goal, f.Measured[a.Position])) < homeTolerance &&
			(a.Velocity == None || !(math.Abs(f.Measured[a.Velocity]) > homeRest)) // NaN: it does not report one
	}
	if g.arrived < 0 {
		g.arrived = now
	}
	if !there && now-g.arrived <= homeTimeout {
		return
	}
	g.homing, g.reset = false, false
	for i := range g.joints { // one that was not found would go there when it is back
		if j := &g.joints[i]; j.mode == PositionMode && !j.enabled {
			j.forget(j.limit)
		}
	}
}

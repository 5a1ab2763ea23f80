package hal

import (
	"math"
	"time"
)

// What a guard does with its joints when commands stop coming, or a reset asks for the default pose.

const (
	defaultHomeSpeed = 0.5             // rad/s: slow enough to step aside
	homeTolerance    = 0.05            // rad: a servo's steady error under load
	homeTimeout      = 3 * time.Second // after the goals arrived; gravity may keep a joint from its pose
)

// stop applies the policy; what was commanded is forgotten, so that a client that comes back moves nothing by coming.
func (g *guard) stop(f *Frame) {
	g.waiting = false
	switch g.config.OnTimeout {
	case TorqueOff:
		g.clear()
	case Park:
		g.home(f)
	default:
		g.hold(f)
	}
}

// hold makes every enabled joint stay where it is.
func (g *guard) hold(f *Frame) {
	g.homing, g.reset, g.waiting = false, false, false
	for i := range g.joints {
		g.holdJoint(i, f)
	}
}

func (g *guard) holdJoint(i int, f *Frame) {
	j := &g.joints[i]
	switch {
	case !j.enabled:
		j.mode = NoMode
	case j.mode == PositionMode:
		if at := g.layout.Actuators[i].Position; at != None && !math.IsNaN(f.Measured[at]) {
			j.out = f.Measured[at]
		}
		j.goal = j.out
	default:
		j.goal = 0
	}
}

// home sends every joint that knows a default pose there, at the home speed. It enables what was limp.
func (g *guard) home(f *Frame) {
	g.homing, g.arrived, g.waiting = true, -1, false
	for i := range g.joints {
		a, j := &g.layout.Actuators[i], &g.joints[i]
		if j.off {
			continue
		}
		if a.Goal[PositionMode] == None {
			j.goal = 0
			continue
		}
		if j.mode != PositionMode {
			j.enabled = false // starts from the measured position
		}
		if j.limit == 0 {
			j.limit = a.Limits.MaxTorque
		}
		j.mode, j.goal = PositionMode, a.Default
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
			continue
		}
		if j.out != j.goal {
			return
		}
		there = there && math.Abs(difference(a, j.goal, f.Measured[a.Position])) < homeTolerance
	}
	if g.arrived < 0 {
		g.arrived = now
	}
	if there || now-g.arrived > homeTimeout {
		g.homing, g.reset = false, false
	}
}

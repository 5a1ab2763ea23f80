package hal

import "math"

// Approach is how the actuators of a robot bring it nearer to something: the gap changes at the sum of Moves times their
// speeds, m/s.
type Approach struct {
	Moves []float64 // m per rad or m of each actuator; 0 = it has no effect
	Room  float64   // m, how much nearer it may come
	Speed float64   // m/s, how fast
}

// keepAway slows the joints and wheels that bring the robot nearer to something than they may, all of them by one
// share: a base keeps its curve. What leads away passes. Each share is of what the one before has left, so that none
// breaks another's bound.
func (g *guard) keepAway(f *Frame) {
	for k := range g.approaches {
		n := &g.approaches[k]
		closing, ahead := 0.0, 0.0
		for i, m := range n.Moves {
			if m == 0 || !g.joints[i].enabled {
				continue
			}
			closing -= m * g.planned(i, f, m)
			if j := &g.joints[i]; j.mode == PositionMode && !math.IsNaN(j.out) {
				ahead -= m * difference(&g.layout.Actuators[i], j.out, j.sight.at)
			}
		}
		if closing > n.Speed {
			g.slow(n, f, n.Speed/closing)
		}
		// A goal that is ahead of its joint leads it on though the goal stands still.
		if ahead > n.Room {
			g.drawBack(n, f, n.Room/ahead)
		}
	}
}

// planned is the speed that actuator i is commanded to have. Of a torque or duty that brings the robot nearer it is
// the present speed.
func (g *guard) planned(i int, f *Frame, m float64) float64 {
	a, j := &g.layout.Actuators[i], &g.joints[i]
	switch {
	case j.mode == PositionMode && !math.IsNaN(j.before) && !math.IsNaN(j.out):
		return difference(a, j.out, j.before) * g.rate
	case j.mode == VelocityMode:
		return At(f.Inputs, a.Goal[VelocityMode])
	case j.mode == TorqueMode, j.mode == DutyMode:
		if v := At(f.Inputs, a.Goal[j.mode]); m*v < 0 {
			return math.Copysign(max(math.Abs(j.sight.speed), brakeShare*a.Limits.MaxVelocity), v)
		}
	}
	return 0
}

// slow gives all that n depends on a share of their commanded motion.
func (g *guard) slow(n *Approach, f *Frame, share float64) {
	for i, m := range n.Moves {
		a, j := &g.layout.Actuators[i], &g.joints[i]
		if m == 0 || !j.enabled {
			continue
		}
		switch at := a.Goal[j.mode]; {
		case j.mode == PositionMode && !math.IsNaN(j.before) && !math.IsNaN(j.out):
			g.aim(i, f, j.before+share*difference(a, j.out, j.before))
		case j.mode == VelocityMode, (j.mode == TorqueMode || j.mode == DutyMode) && m*f.Inputs[at] < 0:
			f.Inputs[at] *= share
		}
	}
}

// drawBack gives the goals of joints that lead the robot nearer a share of the way that they are ahead.
func (g *guard) drawBack(n *Approach, f *Frame, share float64) {
	for i, m := range n.Moves {
		a, j := &g.layout.Actuators[i], &g.joints[i]
		if m == 0 || !j.enabled || j.mode != PositionMode || math.IsNaN(j.out) {
			continue
		}
		if way := difference(a, j.out, j.sight.at); m*way < 0 {
			g.aim(i, f, j.sight.at+share*way)
		}
	}
}

// aim moves the goal of joint i in this cycle.
func (g *guard) aim(i int, f *Frame, goal float64) {
	a, j := &g.layout.Actuators[i], &g.joints[i]
	if j.out = soft(a, goal); !math.IsNaN(f.Inputs[a.Goal[PositionMode]]) {
		f.Inputs[a.Goal[PositionMode]] = j.out
	}
}

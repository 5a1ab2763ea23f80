package hal

import "math"

// Approach is how the actuators of a robot bring it nearer to something: the gap changes at the sum of Moves times
// their speeds, m/s. One without Moves is of something whose place is not known: no actuator moves.
type Approach struct {
	Moves []float64 // m per rad or m of each actuator; 0 = it has no effect
	Room  float64   // m, how much nearer it may come
	Speed float64   // m/s, how fast
}

const (
	// nearPasses is how often all approaches are looked at: what one slows down may have led away from another.
	nearPasses = 4
	// nearSlack is by how much a speed may be above its bound, of rounding.
	nearSlack = 1e-6
)

// keepAway slows the joints and wheels that bring the robot nearer to something than they may, all of them by one
// share: a base keeps its curve. What leads away passes, as far as no other approach is against it. Where the passes
// find no motion within all bounds, what is in their way stands still.
func (g *guard) keepAway(f *Frame) {
	for range nearPasses {
		if !g.keepAwayOnce(f, false) {
			return
		}
	}
	for range g.approaches { // each pass leaves one more of them still
		if !g.keepAwayOnce(f, true) {
			return
		}
	}
}

// keepAwayOnce looks at every approach once. With still, motion against one ends. It reports whether it changed any.
func (g *guard) keepAwayOnce(f *Frame, still bool) (changed bool) {
	for k := range g.approaches {
		n := &g.approaches[k]
		closing, ahead := 0.0, 0.0
		for i, m := range n.Moves {
			if m == 0 || !g.joints[i].enabled {
				continue
			}
			if v := m * g.planned(i, f, m); !math.IsNaN(v) {
				closing -= v
			}
			if j := &g.joints[i]; j.mode == PositionMode {
				if way := m * difference(&g.layout.Actuators[i], j.out, j.sight.at); !math.IsNaN(way) {
					ahead -= way
				}
			}
		}
		share := 1.0
		switch {
		case n.Moves == nil, closing > n.Speed+nearSlack && still:
			share = 0
		case closing > n.Speed+nearSlack:
			share = n.Speed / closing
		}
		if share < 1 {
			changed = g.slow(n, f, share) || changed
		}
		// A goal that is ahead of its joint leads it on though the goal stands still.
		if ahead > n.Room+nearSlack {
			changed = g.drawBack(n, f, n.Room/ahead) || changed
		}
	}
	return changed
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

// slow gives all that n depends on a share of their commanded motion. It reports whether it changed any.
func (g *guard) slow(n *Approach, f *Frame, share float64) (changed bool) {
	for i := range g.joints {
		a, j, m := &g.layout.Actuators[i], &g.joints[i], 0.0
		if n.Moves != nil {
			m = n.Moves[i]
		}
		if !j.enabled || m == 0 && n.Moves != nil {
			continue
		}
		switch at := a.Goal[j.mode]; {
		case at == None || j.mode != PositionMode && math.IsNaN(f.Inputs[at]):
		case j.mode == PositionMode && !math.IsNaN(j.before) && !math.IsNaN(j.out):
			changed = changed || j.out != j.before
			g.aim(i, f, j.before+share*difference(a, j.out, j.before))
		case j.mode == VelocityMode, (j.mode == TorqueMode || j.mode == DutyMode) && m*f.Inputs[at] <= 0:
			changed = changed || f.Inputs[at] != 0
			f.Inputs[at] *= share
		}
	}
	return changed
}

// drawBack gives the goals of joints that lead the robot nearer a share of the way that they are ahead. It reports
// whether it changed any.
func (g *guard) drawBack(n *Approach, f *Frame, share float64) (changed bool) {
	for i, m := range n.Moves {
		a, j := &g.layout.Actuators[i], &g.joints[i]
		if m == 0 || !j.enabled || j.mode != PositionMode || math.IsNaN(j.out) {
			continue
		}
		if way := difference(a, j.out, j.sight.at); m*way < 0 {
			g.aim(i, f, j.sight.at+share*way)
			changed = true
		}
	}
	return changed
}

// aim moves the goal of joint i in this cycle.
func (g *guard) aim(i int, f *Frame, goal float64) {
	a, j := &g.layout.Actuators[i], &g.joints[i]
	if j.out = soft(a, goal); !math.IsNaN(f.Inputs[a.Goal[PositionMode]]) {
		f.Inputs[a.Goal[PositionMode]] = j.out
	}
}

package hal

import "math"

const (
	// coupleTime is how long the torque that a joint feels takes from nothing to its bound, s.
	coupleTime = 0.05
	// coupleReserve is the energy, J, that a joint may have got beyond what the simulated load gave, for each N·m of
	// its bound: what the twin's lateness and the resolution of readings make of a reversal.
	coupleReserve = 0.03
	// coupleSmooth is the time, s, over which the load is smoothed: readings that are rounded shake the twin.
	coupleSmooth = 0.01
	// coupleStill is the speed, rad/s, below which a joint counts as at rest: of a servo's readings that are rounded.
	coupleStill = 0.05
)

// coupling lets a joint in torque mode feel the load of its twin, by GuardConfig.Couple.
//
// The load is late, and a late spring pushes more on the way out than it took on the way in: left alone, the joint
// would swing farther each time. So its account is kept: what the torque has worked on the joint, less what the load
// has worked on the twin. Where that is used up, the torque holds the joint back but pushes no more.
type coupling struct {
	on         bool
	given, was float64 // N·m, in the last cycle and in the one before
	smooth     float64 // of what the load gives
	at         float64 // the joint's last trusted position
	twin, load float64 // of the twin, likewise
	work       float64 // J
}

// feel sets what each coupled joint feels in this cycle. One that is lost, not commanded in torque mode, or whose
// client is, feels nothing, at once.
func (g *guard) feel(f *Frame) {
	for k := range g.couplings {
		c, to := &g.couplings[k], &g.config.Couple[k]
		j := &g.joints[to.Actuator]
		e := &j.sight
		load, twin := to.Load()
		if !g.active() || !j.enabled || j.mode != TorqueMode || j.lastMode != TorqueMode || j.expired || e.blind ||
			e.jumped ||
			f.Status[to.Actuator].Err != nil || math.IsNaN(load+twin+e.at) {
			*c, j.felt = coupling{}, 0
			continue
		}
		if c.on {
			acted := c.given
			if g.behind { // the reading was taken before the last command acted
				acted = c.was
			}
			reserve := coupleReserve * to.Max
			c.work += acted*(e.at-c.at) - to.Gain*(load+c.load)/2*(twin-c.twin)
			c.work = max(c.work, -reserve)
		}
		c.on, c.at, c.twin, c.load = true, e.at, twin, load
		c.was, c.given = c.given, c.next(to.Gain*load, to.Max, e.speed, g.seconds)
		j.felt = c.given
	}
}

// next is the torque of the next cycle of dt seconds, for the one that the load would give.
func (c *coupling) next(want, most, speed, dt float64) float64 {
	c.smooth += (want - c.smooth) * min(1, dt/coupleSmooth)
	want = max(-most, min(most, c.smooth))
	if want*speed > 0 && math.Abs(speed) > coupleStill {
		reserve := coupleReserve * most
		want *= max(0, min(1, 2*(reserve-c.work)/reserve))
	}
	step := most * dt / coupleTime
	return c.given + max(-step, min(step, want-c.given))
}

package hal

import (
	"math"
	"time"
)

// watchFall applies the policy of a fall once. An attitude that is not known is no fall.
func (g *guard) watchFall(f *Frame, now time.Duration) {
	c := &g.config.Fall
	q := f.Measured[c.Attitude:][:4]
	up := 1 - 2*(q[1]*q[1]+q[2]*q[2])
	if !(up < math.Cos(c.Tilt)) || q[0] == 0 && q[1] == 0 && q[2] == 0 && q[3] == 0 {
		g.tilted, g.fallen = -1, false
		return
	}
	if g.tilted < 0 {
		g.tilted = now
	}
	if g.fallen || now-g.tilted < c.For || g.state != Armed {
		return
	}
	g.fallen, g.fell = true, true
	switch c.Then {
	case TorqueOff:
		g.set(Disarmed)
	case Park:
		g.home(false)
	default:
		g.hold()
	}
}

// ramped is the torque limit of j, as commanded, in the time after its torque went on; NaN where it has none.
func (g *guard) ramped(a *Actuator, j *guardJoint, now time.Duration) float64 {
	const first = 0.05 // of the limit: 0 would be no torque
	if !j.enabled {
		j.since = now
	}
	limit := j.limit
	if math.IsNaN(limit) {
		limit = a.Limits.MaxTorque
	}
	return limit * max(first, min(1, (now-j.since).Seconds()/g.config.TorqueRamp.Seconds()))
}

package teleop

import (
	"math"
	"time"

	"github.com/halyard-robotics/halyard/hal"
)

const (
	// haste is how much faster than its no-load speed a person or gravity may turn a joint, noise how far two readings
	// of one at rest may be apart, rad or m. A reading beyond both has jumped.
	haste = 2
	noise = 2 * math.Pi / 128
	// stillWithin is how far a joint of an arm that is still may move, rad or m, in stillFor and longer.
	stillWithin = 0.01
	stillFor    = 500 * time.Millisecond
)

// arm is a leader or a follower, as last read.
type arm struct {
	agent    *hal.Agent
	measured []float64
	status   []hal.Status
	joints   []reading // one an actuator
	since    time.Duration

	// of a follower
	lease  *hal.Lease // nil = not engaged
	inputs []float64
	goals  []hal.Goal
	speed  float64 // rad/s or m/s: its home speed
}

// reading is what is known of one joint.
type reading struct {
	used   bool
	at     float64       // NaN = never read
	stamp  time.Duration // rig time of it
	seen   time.Duration // elapsed time of it
	leapt  bool          // it was too far from the one before
	before float64       // that one, where it leapt
	rest   float64       // where it was when the arm came to rest
}

func newArm(a *hal.Agent) *arm {
	l := a.Layout()
	f := hal.NewFrame(l)
	m := &arm{agent: a, measured: f.Measured, status: f.Status, inputs: f.Inputs,
		joints: make([]reading, len(l.Actuators)), goals: make([]hal.Goal, 0, len(l.Actuators))}
	for i := range m.joints {
		m.joints[i] = reading{at: math.NaN(), stamp: -1, rest: math.NaN()}
	}
	return m
}

// read reads the arm after a cycle at rig time now. After a reset it may be anywhere.
func (m *arm) read(now, elapsed time.Duration, reset bool) {
	m.measured, m.status = m.agent.Measured(m.measured), m.agent.Status(m.status)
	l := m.agent.Layout()
	for i := range m.joints {
		j, s := &m.joints[i], &m.status[i]
		if !j.used {
			continue
		}
		p := m.measured[l.Actuators[i].Position]
		fresh := (s.Err == nil || s.Warns) && s.Time > j.stamp && !math.IsNaN(p)
		if j.leapt = false; fresh {
			most := haste*l.Actuators[i].Limits.MaxVelocity*(s.Time-j.stamp).Seconds() + noise
			j.leapt = !reset && j.stamp >= 0 && math.Abs(p-j.at) > most
			j.before, j.at, j.stamp, j.seen = j.at, p, s.Time, elapsed-(now-s.Time)
		}
		if !(math.Abs(j.at-j.rest) <= stillWithin) {
			m.since = elapsed
			m.settle()
		}
	}
}

// settle takes the present pose for the one at rest.
func (m *arm) settle() {
	for i := range m.joints {
		m.joints[i].rest = m.joints[i].at
	}
}

// still reports whether no joint that counts has moved for long.
func (m *arm) still(elapsed time.Duration) bool { return elapsed-m.since >= stillFor }

// name is AGENT/JOINT.
func (m *arm) name(joint int) string {
	return m.agent.Name() + "/" + m.agent.Layout().Actuators[joint].Name
}

// goal is the goal that the follower's guard has for a joint, or where the joint is.
func (m *arm) goal(joint int) float64 {
	if g := m.goals[joint]; g.Mode == hal.PositionMode && !math.IsNaN(g.Value) {
		return g.Value
	}
	return m.joints[joint].at
}

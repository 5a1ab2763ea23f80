package calibrate

import (
	"math"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/sim/identify"
)

// capture is the motion of one joint as the cycles see it: each position with the goal that went over the wire at its
// time. The session's own goals reach a rig in real time a cycle later.
type capture struct {
	index   int
	began   time.Duration
	samples []identify.Sample
	wanted  bool // the last sample has no goal yet
	goals   []hal.Goal
}

// sees adds the cycle that has just ended at time now. A world that passes in the cycle, after the goals were sent, has
// its positions at the end: their goal is that of the next cycle. The room's passes between the cycles.
func (c *capture) sees(s *stand) {
	c.goals = s.rig.Goals(c.goals)
	g := c.goals[c.index]
	if c.wanted {
		c.goal(g)
	}
	a := &s.rig.Layout().Actuators[c.index]
	of := func(channel int) float64 {
		if channel == hal.None {
			return math.NaN()
		}
		return s.measured[channel]
	}
	v := identify.Sample{Time: (s.now - c.began).Seconds(), Position: of(a.Position), Load: of(a.Torque),
		Volts: of(a.Voltage)}
	if e := s.status[c.index]; e.Err != nil && !e.Warns || math.IsNaN(v.Position) {
		return
	}
	c.samples, c.wanted = append(c.samples, v), true
	if s.real {
		c.goal(g)
	}
}

// goal is that of the last sample: without torque, the one before.
func (c *capture) goal(g hal.Goal) {
	n := len(c.samples) - 1
	v := &c.samples[n]
	c.wanted, v.Torque = false, g.Mode == hal.PositionMode && !math.IsNaN(g.Value)
	switch {
	case v.Torque:
		v.Goal = g.Value
	case n > 0:
		v.Goal = c.samples[n-1].Goal
	default:
		v.Goal = v.Position
	}
}

// record begins to capture joint i; the returned function ends it.
func (s *stand) record(i int) (c *capture, end func() []identify.Sample) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c = &capture{index: i, began: s.now}
	s.capture = c
	return c, func() []identify.Sample {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.capture = nil; c.wanted {
			c.samples = c.samples[:len(c.samples)-1]
		}
		return c.samples
	}
}

// since is the time since c began.
func (s *stand) since(c *capture) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now - c.began
}

package dashboard

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/protocols/topics"
)

const (
	// Deadman is how long a joint moves after the last message of a jog.
	Deadman      = 250 * time.Millisecond
	jogInterval  = 20 * time.Millisecond
	jogReal      = 0.5 // rad/s, of a real joint; m/s of a slide a tenth
	jogLead      = 0.05
	jogLeadTime  = 0.3 // s: how far a goal may be ahead of a joint that does not follow
	slideOfHinge = 0.1
)

// jogger moves one joint on request of its tab. It holds the agent's lease meanwhile.
type jogger struct {
	session *session
	wake    chan struct{}

	mu   sync.Mutex
	asks *request  // nil: no motion
	at   time.Time // of the last message
}

// set sets the tab's present request; nil holds.
func (j *jogger) set(q *request, at time.Time) {
	j.mu.Lock()
	j.asks, j.at = q, at
	j.mu.Unlock()
	signal(j.wake)
}

// run jogs until ctx ends; then it releases the lease.
func (j *jogger) run(ctx context.Context) {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	var now jog
	defer func() { now.end() }()
	for {
		select {
		case <-j.wake:
		case <-timer.C:
		case <-ctx.Done():
			return
		}
		j.mu.Lock()
		asks, at := j.asks, j.at
		if asks != nil && time.Since(at) > Deadman {
			asks, j.asks = nil, nil
		}
		j.mu.Unlock()
		if asks == nil {
			now.end()
			continue
		}
		if err := j.step(&now, asks); err != nil {
			j.mu.Lock()
			j.asks = nil
			j.mu.Unlock()
			now.end()
			j.session.refuse(err)
			continue
		}
		timer.Reset(jogInterval)
	}
}

// jog is a joint under way.
type jog struct {
	commander *topics.Commander // nil: none is
	subject   *subject
	request   request // that it began with
	joint     int
	goal      float64
	last      time.Time
	tries     int // to begin, while the joint had a fault
}

func (g *jog) end() {
	if g.commander != nil {
		g.commander.Close()
	}
	*g = jog{}
}

// step moves the joint on.
func (j *jogger) step(g *jog, q *request) error {
	now := time.Now()
	if g.commander == nil || g.request.Rig != q.Rig || g.request.Agent != q.Agent || g.request.Joint != q.Joint {
		tries := g.tries + 1
		g.end()
		s, joint := j.session.server.sampler.find(q.Rig, q.Agent), hal.None
		if s != nil {
			joint = s.agent.Layout().Actuator(q.Joint)
		}
		if joint == hal.None {
			return fmt.Errorf("jog: got joint %.50q of %.50q, want a joint of the layout", q.Joint, q.Agent)
		}
		if err := s.idle(joint); err != nil {
			if g.tries = tries; tries < 3 {
				err = nil // it may be a single lost packet
			}
			return err
		}
		*g = jog{subject: s, request: *q, joint: joint, goal: math.NaN(), last: now,
			commander: topics.NewCommander(s.robot, j.session.name, j.session.conn.Blocked, Deadman)}
	} else if now.Sub(g.last) < jogInterval/2 {
		return nil // the tab's messages make it no faster
	}
	passed := min(now.Sub(g.last), 2*jogInterval)
	g.last = now
	goal, err := g.next(q.Share, passed.Seconds())
	if err != nil {
		return err
	}
	return g.commander.Goals([]topics.Goal{goal})
}

// idle is why a joint would not move: its fault, or that it is not armed.
func (s *subject) idle(joint int) error {
	why := cmp.Or(s.agent.JointFault(joint), s.agent.Status(nil)[joint].Err)
	switch s.agent.JointState(joint) {
	case hal.Stopped:
		why = errors.New("the emergency stop is latched (try: Reset, then Arm)")
	case hal.Disarmed:
		if s.agent.Passive() {
			return fmt.Errorf("jog: %w", s.agent.Ready())
		}
		why = cmp.Or(why, errors.New("disarmed (try: Arm)"))
	}
	if why != nil {
		why = fmt.Errorf("jog %s: %w", s.agent.Layout().Actuators[joint].Name, why)
	}
	return why
}

// next is the goal after dt more seconds at a share of the greatest speed.
func (g *jog) next(share, dt float64) (topics.Goal, error) {
	a := &g.subject.agent.Layout().Actuators[g.joint]
	if math.IsNaN(share) {
		return topics.Goal{}, errors.New("jog: share: got NaN, want -1 to 1")
	}
	share = max(-1, min(1, share))
	speed := share * a.Limits.MaxVelocity
	if g.subject.kinds[g.joint] == configs.Real {
		most := jogReal
		if a.Kind == hal.Slide {
			most *= slideOfHinge
		}
		speed = max(-most, min(most, speed))
	}
	switch {
	case a.Goal[hal.PositionMode] != hal.None && (!a.Wraps || a.Goal[hal.VelocityMode] == hal.None):
		at := math.NaN()
		if a.Position != hal.None {
			at = g.subject.agent.Measured(nil)[a.Position]
		}
		if math.IsNaN(at) {
			return topics.Goal{}, fmt.Errorf("jog %s: its position is not known", a.Name)
		}
		if math.IsNaN(g.goal) {
			g.goal = at
			// A joint with a load sags below its goal: continue from the goal, not from its position.
			if had := g.subject.agent.Goals(nil)[g.joint]; had.Mode == hal.PositionMode &&
				math.Abs(had.Value-at) < jogLead {
				g.goal = had.Value
			}
		}
		lead := jogLead + math.Abs(speed)*jogLeadTime
		if a.Wraps { // its angle begins again at a turn: the goal is the one next to it
			at = g.goal + math.Remainder(at-g.goal, 2*math.Pi)
		}
		g.goal = max(at-lead, min(at+lead, g.goal+speed*dt))
		if !a.Wraps {
			g.goal = max(a.Limits.MinPosition, min(a.Limits.MaxPosition, g.goal))
		}
		return topics.Goal{Actuator: g.joint, Mode: hal.PositionMode, Value: g.goal}, nil
	case a.Goal[hal.VelocityMode] != hal.None:
		return topics.Goal{Actuator: g.joint, Mode: hal.VelocityMode, Value: speed}, nil
	case a.Goal[hal.DutyMode] != hal.None:
		return topics.Goal{Actuator: g.joint, Mode: hal.DutyMode, Value: share}, nil
	case a.Goal[hal.TorqueMode] != hal.None:
		return topics.Goal{Actuator: g.joint, Mode: hal.TorqueMode, Value: share * a.Limits.MaxTorque}, nil
	}
	return topics.Goal{}, fmt.Errorf("jog %s: it takes no goals", a.Name)
}

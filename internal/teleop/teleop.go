package teleop

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/report"
	"github.com/halyard-robotics/halyard/internal/teleopconf"
)

// State is whether the followers follow.
type State string

// The states.
const (
	Off       State = "off"      // no follower is commanded: each holds, and other clients may command it
	Engaging  State = "engaging" // they go to the leader at their home speeds
	Following State = "following"
)

// Teleop is all leaders and followers of a rig. Engage, Disengage, Mark and Status may be called by any goroutine that
// is not in the cycle; they wait for its edge.
type Teleop struct {
	rig     *hal.Rig
	session *hal.Session
	arms    []*arm // leaders and followers
	links   []link
	changed [2]hal.EventID // engaged, disengaged

	// under the rig's lock
	state    State
	reason   string        // why it is off
	now      time.Duration // rig time of the last cycle
	elapsed  time.Duration
	episodes Episodes
}

// link is one joint of a follower that follows.
type link struct {
	leader, follower *arm
	from, to         int // actuators
	input            int // of the follower
	scale, offset    float64
	low, high        float64 // the follower's limits
	within           float64
	deadline         time.Duration
	matches          bool // it is refused while it is farther away

	target float64 // where the leader has the follower
	goal   float64
	rest   float64 // of the distance to the leader where it began to follow

	sum    float64 // of the differences while both arms are still
	frames int
	mean   float64 // of the last such time
	count  int
}

// New prepares the leaders and followers of a config, nil if it has none. The error is hal.Invalid and lists all that
// does not fit.
func New(rig *hal.Rig, c *configs.Config) (*Teleop, error) {
	if len(c.Teleop) == 0 {
		return nil, nil
	}
	t := &Teleop{rig: rig, state: Off, reason: "not engaged yet"}
	var faults []string
	driven := map[string]bool{}
	for i := range c.Teleop {
		faults = append(faults, t.pair(&c.Teleop[i], c, driven)...)
	}
	if len(faults) > 0 {
		return nil, &hal.Error{Kind: hal.Invalid, Op: "teleop", Err: errors.New(strings.Join(faults, "; "))}
	}
	for i, name := range [...]string{"/teleop/Engaged", "/teleop/Disengaged"} {
		t.changed[i] = rig.Events().Declare(name)
	}
	t.declare()
	t.session = rig.NewController("teleop", t)
	return t, nil
}

// pair makes the links of one leader and follower.
func (t *Teleop) pair(p *teleopconf.Pair, c *configs.Config, driven map[string]bool) (faults []string) {
	leader, follower := t.arm(p.Leader), t.arm(p.Follower)
	if leader == nil || follower == nil {
		return []string{fmt.Sprintf("got %s and %s, want two agents of the rig", p.Leader, p.Follower)}
	}
	for i := range c.Agents {
		if c.Agents[i].Name == p.Follower {
			follower.speed = c.Agents[i].Guard.HomeSpeed
		}
	}
	joints := p.Joints
	if joints == nil {
		joints = map[string]teleopconf.Joint{}
		for _, name := range follower.agent.Joints() {
			if leader.agent.Layout().Actuator(name) != hal.None {
				joints[name] = teleopconf.Joint{Scale: 1}
			}
		}
		if len(joints) == 0 {
			return []string{fmt.Sprintf("%s and %s have no joint of the same name, want joints: {JOINT: {leader: "+
				"JOINT}}", p.Leader, p.Follower)}
		}
	}
	for _, name := range report.SortedKeys(joints) {
		l, err := newLink(leader, follower, name, joints[name])
		full := p.Follower + "/" + name
		if err == nil && driven[full] {
			err = fmt.Errorf("%s follows two joints, want one entry of it", full)
		}
		if driven[full] = true; err != nil {
			faults = append(faults, err.Error())
			continue
		}
		l.within, l.deadline, l.matches = p.Within, p.Deadline, p.Engage == "match"
		t.links = append(t.links, l)
	}
	return faults
}

func (t *Teleop) arm(name string) *arm {
	for _, m := range t.arms {
		if m.agent.Name() == name {
			return m
		}
	}
	a := t.rig.Agent(name)
	if a == nil {
		return nil
	}
	t.arms = append(t.arms, newArm(a))
	return t.arms[len(t.arms)-1]
}

func newLink(leader, follower *arm, name string, c teleopconf.Joint) (l link, err error) {
	from := name
	if c.Leader != "" {
		from = c.Leader
	}
	of, to := leader.agent.Layout(), follower.agent.Layout()
	l = link{leader: leader, follower: follower, from: of.Actuator(from), to: to.Actuator(name), scale: c.Scale,
		offset: c.Offset, target: math.NaN(), goal: math.NaN(), mean: math.NaN()}
	if l.from == hal.None || l.to == hal.None {
		return l, fmt.Errorf("joints.%s: got %s/%s and %s/%s, want joints of the two: %s; %s", name,
			leader.agent.Name(), from, follower.agent.Name(), name, strings.Join(leader.agent.Joints(), ", "),
			strings.Join(follower.agent.Joints(), ", "))
	}
	a, b := &of.Actuators[l.from], &to.Actuators[l.to]
	measured := func(l *hal.Layout, a *hal.Actuator) bool {
		return a.Position != hal.None && !l.Measured(a.Position).Estimate && !a.Wraps
	}
	switch l.input = b.Goal[hal.PositionMode]; {
	case !measured(of, a):
		return l, fmt.Errorf("joints.%s: %s has no measured position between limits: it cannot lead", name,
			leader.name(l.from))
	case l.input == hal.None || b.Wraps || b.Position == hal.None:
		return l, fmt.Errorf("joints.%s: %s takes no position between limits: it cannot follow", name,
			follower.name(l.to))
	case a.Kind != b.Kind && !c.Range:
		return l, fmt.Errorf("joints.%s: %s and %s are of different kinds, want range: true", name,
			leader.name(l.from), follower.name(l.to))
	}
	l.low, l.high = b.Limits.MinPosition, b.Limits.MaxPosition
	if c.Range {
		k := (l.high - l.low) / (a.Limits.MaxPosition - a.Limits.MinPosition)
		l.scale, l.offset = k, c.Offset+l.low-k*a.Limits.MinPosition
		if c.Scale < 0 {
			l.scale, l.offset = -k, c.Offset+l.high+k*a.Limits.MinPosition
		}
	}
	leader.joints[l.from].used, follower.joints[l.to].used = true, true
	return l, nil
}

// declare makes engagement, state and episodes values of the rig, for every door.
func (t *Teleop) declare() {
	v := t.rig.Values()
	v.Declare(EngagedValue, hal.BoolValue, func() hal.Value {
		return hal.Value{Kind: hal.BoolValue, Bool: t.state != Off}
	}, func(v hal.Value) error {
		if v.Bool {
			return t.engage()
		}
		t.drop("disengaged by the operator")
		return nil
	})
	v.Declare(StateValue, hal.StringValue, func() hal.Value {
		return hal.Value{Kind: hal.StringValue, Text: t.text()}
	}, nil)
	v.Declare(EpisodeValue, hal.StringValue, func() hal.Value {
		text := fmt.Sprintf("%d kept", t.episodes.Kept())
		if e := t.episodes.Running(); e != nil {
			text = fmt.Sprintf("%d runs: %s", t.episodes.Kept()+1, e.Task)
		}
		return hal.Value{Kind: hal.StringValue, Text: text}
	}, func(v hal.Value) error { return t.episodes.Mark(v.Text, t.rig.LastCycle()+1) })
}

func (t *Teleop) text() string {
	if t.state == Off {
		return string(t.state) + ": " + t.reason
	}
	return string(t.state)
}

// set sets a value as every client does, so that a recording has it.
func (t *Teleop) set(name string, v hal.Value) error {
	id, _ := t.rig.Values().Lookup(name)
	return t.rig.Values().Set(id, v)
}

// Engage lets the followers follow. The error, of kind Unsafe, BusFault or Busy, is the first reason why they do not.
func (t *Teleop) Engage() error {
	return t.set(EngagedValue, hal.Value{Kind: hal.BoolValue, Bool: true})
}

// Disengage ends it: the followers hold, and other clients may command them.
func (t *Teleop) Disengage() error { return t.set(EngagedValue, hal.Value{Kind: hal.BoolValue}) }

// Mark marks an episode: "start TASK", "success", "failure", "end" or "discard".
func (t *Teleop) Mark(text string) error {
	return t.set(EpisodeValue, hal.Value{Kind: hal.StringValue, Text: text})
}

// engage begins. Under the rig's lock, between two cycles.
func (t *Teleop) engage() error {
	if t.state != Off {
		return nil
	}
	for i := range t.links {
		if err := t.links[i].ready(t.elapsed); err != nil {
			return err
		}
	}
	for _, m := range t.arms {
		if m.agent.Passive() {
			continue
		}
		err := m.agent.Ready()
		if err == nil {
			m.lease, err = t.session.AcquireNow(m.agent)
		}
		if err != nil {
			t.release()
			return err
		}
		m.goals = m.agent.Goals(m.goals)
	}
	for i := range t.links {
		l := &t.links[i]
		l.goal = l.follower.goal(l.to)
	}
	t.state, t.reason = Engaging, ""
	t.rig.Events().Raise(t.changed[0])
	return nil
}

// ready is why a link cannot begin, or nil.
func (l *link) ready(elapsed time.Duration) error {
	if why := l.fault(elapsed); why != "" {
		return &hal.Error{Kind: hal.BusFault, Op: "engage", Err: errors.New(why), Try: "halyard status"}
	}
	if d := l.difference(); l.matches && math.Abs(d) > l.within {
		return &hal.Error{Kind: hal.Unsafe, Op: "engage", Joint: l.follower.name(l.to),
			Err: fmt.Errorf("got %+.3f of difference to the leader, want at most %g", d, l.within),
			Try: "move the leader to the follower"}
	}
	return nil
}

// drop ends the engagement: the followers hold at the goals that their guards have reached.
func (t *Teleop) drop(why string) {
	if t.state == Off {
		return
	}
	t.state, t.reason = Off, why
	t.release()
	t.rig.Events().Raise(t.changed[1])
}

func (t *Teleop) release() {
	for _, m := range t.arms {
		if m.lease != nil {
			t.session.ReleaseNow(m.lease)
			m.lease = nil
		}
	}
}

// Cycle implements hal.Observer.
func (t *Teleop) Cycle(c *hal.Cycle) {
	dt := (c.Time - t.now).Seconds()
	t.now, t.elapsed = c.Time, c.Elapsed
	for _, m := range t.arms {
		m.read(c.Time, c.Elapsed, c.Reset)
	}
	for i := range t.links {
		t.links[i].compare(c.Elapsed)
	}
	if t.state == Off {
		return
	}
	if c.Reset {
		t.drop("the rig was reset")
		return
	}
	if why := t.fault(); why != "" {
		t.drop(why)
		return
	}
	t.advance(dt)
	for _, m := range t.arms {
		if m.lease != nil {
			m.lease.Command(m.inputs)
		}
	}
}

// advance moves the goals by a cycle of dt seconds.
func (t *Teleop) advance(dt float64) {
	near := true
	for i := range t.links {
		l := &t.links[i]
		step := l.follower.speed * dt
		if to := l.clamped(); t.state == Engaging {
			l.goal += bounded(to-l.goal, step)
			l.rest = l.goal - to
			near = near && math.Abs(l.rest) <= l.within
		} else {
			l.rest -= bounded(l.rest, step)
			l.goal = l.target + l.rest
		}
		l.follower.inputs[l.input] = l.goal
	}
	if near {
		t.state = Following
	}
}

func bounded(v, most float64) float64 { return min(most, max(-most, v)) }

// fault is why the followers must hold, or "".
func (t *Teleop) fault() string {
	for _, m := range t.arms {
		if m.agent.Passive() {
			continue
		}
		if m.lease.Agent() == nil {
			return m.agent.Name() + ": its lease is lost"
		}
		if s, _, _ := m.agent.Guard(); s != hal.Armed {
			return m.agent.Name() + " is " + s.String()
		}
	}
	for i := range t.links {
		if why := t.links[i].fault(t.elapsed); why != "" {
			return why
		}
	}
	return ""
}

// fault is why a link is lost, or "".
func (l *link) fault(elapsed time.Duration) string {
	for _, e := range [...]struct {
		m     *arm
		joint int
	}{{l.leader, l.from}, {l.follower, l.to}} {
		j := &e.m.joints[e.joint]
		switch {
		case j.stamp < 0:
			return e.m.name(e.joint) + ": no reading yet"
		case elapsed-j.seen > l.deadline:
			return fmt.Sprintf("%s: no reading for %v", e.m.name(e.joint), (elapsed - j.seen).Round(time.Millisecond))
		case j.leapt && e.m == l.leader:
			return fmt.Sprintf("%s jumped from %.3f to %.3f", e.m.name(e.joint), j.before, j.at)
		}
	}
	switch s := l.follower.agent.JointState(l.to); s {
	case hal.Faulty, hal.Disarmed, hal.Stopped:
		return l.follower.name(l.to) + ": " + s.String()
	}
	return ""
}

// compare computes where the leader has the follower, and how far both are apart while they are still.
func (l *link) compare(elapsed time.Duration) {
	l.target = l.scale*l.leader.joints[l.from].at + l.offset
	if !l.leader.still(elapsed) || !l.follower.still(elapsed) {
		l.sum, l.frames = 0, 0
		return
	}
	if d := l.difference(); !math.IsNaN(d) {
		l.sum, l.frames = l.sum+d, l.frames+1
		l.mean, l.count = l.sum/float64(l.frames), l.frames
	}
}

// clamped is the target within the follower's limits.
func (l *link) clamped() float64 { return min(l.high, max(l.low, l.target)) }

// difference is how far the follower is from the leader.
func (l *link) difference() float64 { return l.follower.joints[l.to].at - l.clamped() }

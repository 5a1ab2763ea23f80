package ros2

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/protocols/fields"
	"github.com/halyard-robotics/halyard/internal/protocols/rosmsg"
	"github.com/halyard-robotics/halyard/internal/protocols/rtps"
	"github.com/halyard-robotics/halyard/internal/protocols/topics"
)

const (
	follower      = "joint_trajectory_controller"
	feedbackEvery = 50 * time.Millisecond
	// stoppedVelocity is how fast a joint may still be at its goal, rad/s.
	stoppedVelocity = 0.01
)

// The error codes of FollowJointTrajectory.
const (
	codeInvalid = -1
	codePath    = -4
	codeGoal    = -5
)

// follow executes trajectories as joint_trajectory_controller does: in each cycle it commands where all joints are to
// be, as a client with the lease of the participant that sent the trajectory.
type follow struct {
	server  *Server
	names   []string // the controller's joints
	at      []int    // their actuators
	partial bool
	action  action
	bell    chan struct{}
	busy    atomic.Bool

	mu       sync.Mutex
	motion   *motion // nil: none
	from     rtps.Prefix
	goal     *goal // nil: a message's, or none
	path     []tolerance
	end      []tolerance
	wait     time.Duration // after the end, 0: for ever
	told     time.Duration // rig time of the last feedback
	desired  []state
	finished []func(context.Context) // to be called without mu
	results  chan func(context.Context)
}

// Cycle is the rig's call after each cycle.
func (f *follow) Cycle(*hal.Cycle) {
	if f.busy.Load() {
		select {
		case f.bell <- struct{}{}:
		default:
		}
	}
}

// newFollow adds the controller to a server.
func (s *Server) newFollow(partial bool) error {
	f := &follow{server: s, names: s.modes[0], partial: partial, bell: make(chan struct{}, 1),
		results: make(chan func(context.Context), 2*maxGoals)}
	if s.follow = f; len(f.names) == 0 {
		return nil
	}
	for _, name := range f.names {
		f.at = append(f.at, s.robot.Agent.Layout().Actuator(name))
	}
	f.action = action{accept: f.accept, cancel: f.cancel, refuse: s.refuse, now: func() fields.Time {
		return fields.At(s.robot.Label(s.robot.Sample().Time))
	}}
	if err := f.action.serve(s.node, follower+"/follow_joint_trajectory", actionTypes{send: &rosmsg.FollowSend{},
		accepted: &rosmsg.FollowAccepted{}, ask: &rosmsg.FollowAsk{}, result: &rosmsg.FollowEnded{},
		feedback: &rosmsg.FollowFeedbackMessage{}, unknown: &rosmsg.FollowEnded{}}); err != nil {
		return err
	}
	return s.command(follower+"/joint_trajectory", &rosmsg.JointTrajectory{},
		func(c *topics.Commander, from rtps.Prefix,
			m any) error {
			return f.take(m.(*rosmsg.JointTrajectory), from)
		})
}

// accept begins the motion of a goal, and aborts the goal before.
func (f *follow) accept(id rosmsg.ID, from rtps.Prefix, request any) error {
	g := &request.(*rosmsg.FollowSend).Body
	if len(g.MultiDOFTrajectory.Points) > 0 {
		return errors.New("got a trajectory of several degrees of freedom a joint, want one a joint")
	}
	m, err := f.prepare(&g.Trajectory, from)
	if err != nil {
		return err
	}
	f.mu.Lock()
	f.stop(aborted, codeInvalid, "preempted by another goal")
	f.motion, f.from, f.goal, f.told = m, from, f.action.add(id, from), m.begin
	f.path = tolerances(g.PathTolerance, f.names, tolerance{})
	f.end = tolerances(g.GoalTolerance, f.names, tolerance{velocity: stoppedVelocity})
	f.wait = duration(g.GoalTimeTolerance)
	f.busy.Store(true)
	f.mu.Unlock()
	return nil
}

// take begins a motion without a goal; a goal that is at work goes on with it.
func (f *follow) take(t *rosmsg.JointTrajectory, from rtps.Prefix) error {
	m, err := f.prepare(t, from)
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.motion, f.from = m, from
	f.busy.Store(true)
	return nil
}

// prepare checks a trajectory, and that its client may command now: it holds the lease from here on.
func (f *follow) prepare(t *rosmsg.JointTrajectory, from rtps.Prefix) (*motion, error) {
	s := f.server
	if !s.control.is(follower) {
		return nil, fmt.Errorf("%s: the controller is inactive (try: switch_controller)", follower)
	}
	sample, stamp := s.robot.Sample(), time.Duration(-1)
	if at := t.Header.Stamp; at != (fields.Time{}) {
		given := time.Duration(at.Sec)*time.Second + time.Duration(at.Nsec)
		stamp = max(0, given-s.robot.Label(sample.Time)+sample.Time)
	}
	m, err := check(t, f.names, f.partial, sample.Time, stamp)
	if err != nil {
		return nil, err
	}
	goals := s.robot.Agent.Goals(nil)
	m.from = make([]state, len(m.joints))
	hold := make([]topics.Goal, len(m.joints))
	for k, j := range m.joints { // from where each joint is commanded to be, else from where it is
		at := f.at[j]
		p, v, _ := sample.Joint(at)
		if g := goals[at]; g.Mode == hal.PositionMode && g.Value == g.Value {
			p = g.Value
		}
		if p != p {
			return nil, fmt.Errorf("joint %s: its position is not known", f.names[j])
		}
		if v != v {
			v = 0
		}
		m.from[k] = state{position: p, velocity: v}
		hold[k] = topics.Goal{Actuator: at, Mode: hal.PositionMode, Value: p}
	}
	c, err := s.commander(from)
	if err != nil {
		return nil, err
	}
	return m, c.Goals(hold)
}

// stop ends the goal at work, if any, and the motion. Under mu.
func (f *follow) stop(status int8, code int32, why string) {
	if g := f.goal; g != nil {
		result := &rosmsg.FollowEnded{Status: status, Result: rosmsg.FollowResult{ErrorCode: code, ErrorString: why}}
		f.finished = append(f.finished, func(ctx context.Context) { f.action.finish(ctx, g, status, result) })
	}
	f.goal, f.motion = nil, nil
}

// cancel ends a goal; its joints hold.
func (f *follow) cancel(g *goal) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.goal == g {
		f.release()
		f.stop(canceled, 0, "canceled")
	}
	f.ring()
}

// ring wakes run. Under mu.
func (f *follow) ring() {
	select {
	case f.bell <- struct{}{}:
	default:
	}
}

// deactivate aborts what is at work.
func (f *follow) deactivate(why string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.motion != nil {
		f.release()
		f.stop(aborted, codeInvalid, why)
		f.ring()
	}
}

// release gives the lease back: the body holds still. Under mu.
func (f *follow) release() {
	f.server.mu.Lock()
	c := f.server.commanders[f.from]
	f.server.mu.Unlock()
	if c != nil {
		c.Release()
	}
}

// prune aborts what a client that has left began.
func (f *follow) prune() {
	f.mu.Lock()
	gone := f.motion != nil && !f.server.node.p.Alive(f.from)
	f.mu.Unlock()
	if gone {
		f.deactivate("its client has left")
	}
}

// run executes until ctx ends.
func (f *follow) run(ctx context.Context) {
	session := f.server.robot.Rig.NewSession("ros2 trajectory", f)
	defer session.Close()
	for {
		select {
		case <-f.bell:
		case <-ctx.Done():
			return
		}
		f.mu.Lock()
		f.step()
		f.busy.Store(f.motion != nil)
		done := f.finished
		f.finished = nil
		f.mu.Unlock()
		for _, finish := range done {
			select {
			case f.results <- finish:
			case <-ctx.Done():
				return
			}
		}
	}
}

// answer sends results: a client that is gone does not delay a motion.
func (f *follow) answer(ctx context.Context) {
	for {
		select {
		case finish := <-f.results:
			finish(ctx)
		case <-ctx.Done():
			return
		}
	}
}

// step is one cycle of the motion. Under mu.
func (f *follow) step() {
	m := f.motion
	if m == nil {
		return
	}
	s := f.server
	sample := s.robot.Sample()
	now := sample.Time
	if len(f.desired) != len(m.joints) {
		f.desired = make([]state, len(m.joints))
	}
	m.at(now, f.desired)
	goals := make([]topics.Goal, len(m.joints))
	for k, j := range m.joints {
		goals[k] = topics.Goal{Actuator: f.at[j], Mode: hal.PositionMode, Value: f.desired[k].position}
	}
	c, err := s.commander(f.from)
	if err == nil {
		err = c.Goals(goals)
	}
	if err != nil {
		f.release()
		f.stop(aborted, codeInvalid, err.Error())
		return
	}
	over := now >= m.end()
	if over && !m.sent { // the last point is to arrive before the lease is released
		m.sent = true
		return
	}
	late, off := "", f.path
	if over {
		off = f.end
	}
	for k, j := range m.joints {
		var actual state
		actual.position, actual.velocity, _ = sample.Joint(f.at[j])
		if f.goal != nil && off[j].outside(f.desired[k], actual) {
			late = fmt.Sprintf("joint %s: got %.4g, want %.4g", f.names[j], actual.position, f.desired[k].position)
		}
	}
	switch {
	case f.goal == nil && over:
		f.release()
		f.motion = nil
	case over && late == "":
		f.release()
		f.stop(succeeded, 0, "")
	case over && f.wait > 0 && now > m.end()+f.wait:
		f.release()
		f.stop(aborted, codeGoal, late)
	case !over && late != "":
		f.release()
		f.stop(aborted, codePath, late)
	case f.goal != nil && now-f.told >= feedbackEvery:
		f.told = now
		f.report(sample)
	}
}

// report sends feedback. Under mu.
func (f *follow) report(sample *topics.Sample) {
	m := f.motion
	out := &rosmsg.FollowFeedbackMessage{GoalID: f.goal.id}
	out.Feedback.Header.Stamp = fields.At(f.server.robot.Label(sample.Time))
	d, a, e := &out.Feedback.Desired, &out.Feedback.Actual, &out.Feedback.Error
	for k, j := range m.joints {
		p, v, _ := sample.Joint(f.at[j])
		want := f.desired[k]
		out.Feedback.JointNames = append(out.Feedback.JointNames, f.names[j])
		d.Positions, d.Velocities = append(d.Positions, want.position), append(d.Velocities, want.velocity)
		d.Accelerations = append(d.Accelerations, want.acceleration)
		a.Positions, a.Velocities = append(a.Positions, p), append(a.Velocities, v)
		e.Positions, e.Velocities = append(e.Positions, want.position-p), append(e.Velocities, want.velocity-v)
	}
	at := max(0, sample.Time-m.start)
	d.TimeFromStart = rosmsg.Duration{Sec: int32(at / time.Second), Nanosec: uint32(at % time.Second)}
	a.TimeFromStart, e.TimeFromStart = d.TimeFromStart, d.TimeFromStart
	f.action.feedback.Send(out)
}

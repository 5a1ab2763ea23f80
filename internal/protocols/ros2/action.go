package ros2

import (
	"context"
	"fmt"
	"reflect"
	"sync"
	"time"

	"github.com/halyard-robotics/halyard/internal/protocols/fields"
	"github.com/halyard-robotics/halyard/internal/protocols/rosmsg"
	"github.com/halyard-robotics/halyard/internal/protocols/rtps"
)

// The states of a goal, as action_msgs numbers them.
const (
	accepted int8 = 1 + iota
	executing
	canceling
	succeeded
	canceled
	aborted
)

const (
	maxGoals   = 32 // kept with their results
	maxWaiting = 8  // requests for one result
)

// goal is one goal of an action.
type goal struct {
	id      rosmsg.ID
	stamp   fields.Time
	from    rtps.Prefix
	status  int8
	result  any // a pointer to the answer of get_result, once it has ended
	waiting []*Call
}

// actionTypes are the messages of an action.
type actionTypes struct {
	send, accepted, ask, result, feedback fields.Named
	unknown                               any // the answer about a goal that is not known
}

// action is the server of one action: services send_goal, get_result and cancel_goal, topics feedback and status.
type action struct {
	now      func() fields.Time
	accept   func(id rosmsg.ID, from rtps.Prefix, request any) error // begins it
	cancel   func(*goal)                                             // ends it, with finish
	status   *Publisher
	feedback *Publisher
	refuse   func(error)

	mu    sync.Mutex
	goals []*goal // oldest first
}

// serve adds the action to a node.
func (a *action) serve(n *Node, name string, t actionTypes) (err error) {
	path := name + "/_action/"
	if a.status, err = n.Publish(path+"status", &rosmsg.GoalStatusArray{}, Latched); err != nil {
		return err
	}
	if a.feedback, err = n.Publish(path+"feedback", t.feedback, Default); err != nil {
		return err
	}
	if err = n.Serve(path+"send_goal", t.send, t.accepted, Default, func(ctx context.Context, c *Call) {
		id := c.Request.(interface{ Goal() rosmsg.ID }).Goal()
		answer := rosmsg.SendGoal{Stamp: a.now()}
		if err := a.begin(id, c); err != nil {
			a.refuse(fmt.Errorf("%s: goal rejected: %w", name, err))
		} else {
			answer.Accepted = true
		}
		out := reflect.New(typeOf(t.accepted))
		out.Elem().Set(reflect.ValueOf(answer).Convert(out.Type().Elem()))
		c.Reply(ctx, out.Interface())
	}, a.refuse); err != nil {
		return err
	}
	if err = n.Serve(path+"get_result", t.ask, t.result, Default, func(ctx context.Context, c *Call) {
		id := c.Request.(interface{ Goal() rosmsg.ID }).Goal()
		a.mu.Lock()
		g := a.find(id)
		var answer any
		switch {
		case g == nil:
			answer = t.unknown
		case g.result != nil:
			answer = g.result
		case len(g.waiting) < maxWaiting:
			g.waiting = append(g.waiting, c)
		}
		a.mu.Unlock()
		if answer != nil {
			c.Reply(ctx, answer)
		}
	}, a.refuse); err != nil {
		return err
	}
	return n.Serve(path+"cancel_goal", &rosmsg.CancelGoalRequest{}, &rosmsg.CancelGoal{}, Default,
		func(ctx context.Context, c *Call) {
			c.Reply(ctx, a.cancelAll(c.Request.(*rosmsg.CancelGoalRequest)))
		}, a.refuse)
}

// find returns a goal, nil if unknown. Under mu.
func (a *action) find(id rosmsg.ID) *goal {
	for _, g := range a.goals {
		if g.id == id {
			return g
		}
	}
	return nil
}

// begin accepts a goal, or returns why not.
func (a *action) begin(id rosmsg.ID, c *Call) error {
	a.mu.Lock()
	have := a.find(id) != nil
	a.mu.Unlock()
	if have {
		return fmt.Errorf("got the id of another goal")
	}
	return a.accept(id, c.From, c.Request)
}

// add notes a goal that is executed from now on.
func (a *action) add(id rosmsg.ID, from rtps.Prefix) *goal {
	g := &goal{id: id, stamp: a.now(), from: from, status: executing}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.goals = append(a.goals, g)
	for i := 0; len(a.goals) > maxGoals && i < len(a.goals); i++ {
		if a.goals[i].status >= succeeded {
			a.goals = append(a.goals[:i], a.goals[i+1:]...)
			i--
		}
	}
	a.publish()
	return g
}

// finish ends a goal and answers who waits for its result. It may be called once.
func (a *action) finish(ctx context.Context, g *goal, status int8, result any) {
	a.mu.Lock()
	g.status, g.result = status, result
	waiting := g.waiting
	g.waiting = nil
	a.publish()
	a.mu.Unlock()
	for _, c := range waiting {
		c.Reply(ctx, result)
	}
}

// publish sends the states of all goals. Under mu.
func (a *action) publish() {
	m := &rosmsg.GoalStatusArray{}
	for _, g := range a.goals {
		m.StatusList = append(m.StatusList, rosmsg.GoalStatus{GoalInfo: rosmsg.GoalInfo{GoalID: g.id, Stamp: g.stamp},
			Status: g.status})
	}
	a.status.Send(m)
}

// cancelAll cancels one goal; with a time those up to it; without both all.
func (a *action) cancelAll(m *rosmsg.CancelGoalRequest) *rosmsg.CancelGoal {
	const ok, unknown, ended = 0, 2, 3
	out := &rosmsg.CancelGoal{ReturnCode: ok}
	id, until := m.GoalInfo.GoalID, m.GoalInfo.Stamp
	at := func(t fields.Time) time.Duration { return time.Duration(t.Sec)*time.Second + time.Duration(t.Nsec) }
	a.mu.Lock()
	var hit []*goal
	if g := a.find(id); id != (rosmsg.ID{}) && g == nil {
		out.ReturnCode = unknown
	} else if g != nil && g.status >= succeeded {
		out.ReturnCode = ended
	}
	for _, g := range a.goals {
		all := id == (rosmsg.ID{}) && until == (fields.Time{})
		if g.status < canceling && (all || g.id == id || until != (fields.Time{}) && at(g.stamp) <= at(until)) {
			g.status = canceling
			hit = append(hit, g)
			out.GoalsCanceling = append(out.GoalsCanceling, rosmsg.GoalInfo{GoalID: g.id, Stamp: g.stamp})
		}
	}
	if len(hit) > 0 {
		out.ReturnCode = ok
		a.publish()
	}
	a.mu.Unlock()
	for _, g := range hit {
		a.cancel(g)
	}
	return out
}

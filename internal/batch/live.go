package batch

import (
	"cmp"
	"context"
	"errors"

	"github.com/halyard-robotics/halyard/hal"
)

// Live is a running rig as a batch of one: the same arrays, at the rig's own pace, and under its guards. It holds the
// leases of all its agents until Close. In lock-step every step is one that other clients wait for too.
type Live struct {
	rig *hal.Rig
	arrays

	out  []float64     // filled in by the next cycle that answers; under the rig's lock
	done chan struct{} // of one element: it has
	what answer
}

// answer is which cycle answers.
type answer uint8

const (
	stepped answer = iota
	wasReset
)

// OpenLive acquires all agents of rig. The error is hal.Busy while another client holds one of them.
func OpenLive(rig *hal.Rig, o Options) (*Live, error) {
	l := &Live{rig: rig, done: make(chan struct{}, 1)}
	agents := rig.Agents()
	if len(agents) == 0 {
		return nil, &hal.Error{Kind: hal.Invalid, Op: "batch",
			Err: errors.New("got a rig without an agent, want at least one agent")}
	}
	if err := l.choose(agents, &o); err != nil {
		return nil, &hal.Error{Kind: hal.Invalid, Op: "batch", Err: err}
	}
	l.session = rig.NewSession("batch", l)
	if err := l.acquire(agents); err != nil {
		l.session.Close()
		return nil, err
	}
	return l, nil
}

// Actions and Observations are the columns of the arrays.
func (l *Live) Actions() []Channel      { return l.actions }
func (l *Live) Observations() []Channel { return l.observations }

// Cycle implements hal.Observer: it fills in the observations for the pending step or reset.
func (l *Live) Cycle(c *hal.Cycle) {
	if l.out == nil {
		return
	}
	for _, lease := range l.leases {
		if lease.Agent() == nil || l.what == stepped && !lease.Stepped() || l.what == wasReset && !lease.ResetDone() {
			return
		}
	}
	l.observe(l.out)
	l.out = nil
	l.done <- struct{}{}
}

// Step commands the rig and fills in the observations of the cycle that answers.
func (l *Live) Step(ctx context.Context, actions, observations []float64) error {
	l.command(actions)
	return cmp.Or(l.ask(ctx, stepped, observations,
		func(k int, lease *hal.Lease) error { return l.session.Step(lease, l.inputs[k]) }), l.ready())
}

// Reset returns the rig to its start: at once where it is simulated; a real body moves to its default pose, slowly.
func (l *Live) Reset(ctx context.Context, which []bool, seeds []int64, observations []float64) error {
	return l.ask(ctx, wasReset, observations,
		func(_ int, lease *hal.Lease) error { return l.session.Reset(lease, seeds[0]) })
}

// ask makes the request for every lease and waits for the answer.
func (l *Live) ask(ctx context.Context, what answer, observations []float64, each func(int, *hal.Lease) error) error {
	for _, lease := range l.leases {
		if lease.Agent() == nil {
			return &hal.Error{Kind: hal.Absent, Op: "batch", Err: errors.New("an agent has left the rig")}
		}
	}
	select {
	case <-l.done: // of a request that was given up
	default:
	}
	l.rig.BetweenCycles(func() { l.what, l.out = what, observations })
	for k, lease := range l.leases {
		if err := each(k, lease); err != nil {
			return err
		}
	}
	select {
	case <-l.done:
		return nil
	case <-ctx.Done():
		l.rig.BetweenCycles(func() { l.out = nil })
		return ctx.Err()
	}
}

// Close releases the agents; their bodies hold.
func (l *Live) Close() error {
	l.session.Close()
	return nil
}

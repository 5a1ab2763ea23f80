package topics

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/halyard-robotics/halyard/hal"
)

// Deadline is how long a client keeps the lease after its last command.
const Deadline = 500 * time.Millisecond

var errDeaf = errors.New("slow client: send queue is full")

// Goal is a goal of one actuator: rad, rad/s, N·m or a share of the supply; of a slide m, m/s, N.
type Goal struct {
	Actuator int
	Mode     hal.Mode
	Value    float64
}

// Commander commands a robot for one client. It acquires the lease with the first command and releases it when its
// deadline has passed since the last one, Deadline in a Feed. Its methods may be called from any goroutine.
type Commander struct {
	robot   *Robot
	session *hal.Session
	name    string
	blocked func() time.Duration
	wake    chan struct{}

	deadline time.Duration
	ends     func() // of one that NewCommander made: its goroutine

	mu    sync.Mutex
	lease *hal.Lease // nil: not held
	last  time.Time  // command
	held  []float64  // in lock-step: commanded since the last step
}

// NewCommander returns a Commander of r for a client that is no Feed's. name is the client in messages of the rig;
// blocked, how long it has left a write waiting. Close ends it.
func NewCommander(r *Robot, name string, blocked func() time.Duration, deadline time.Duration) *Commander {
	c := &Commander{robot: r, name: name, blocked: blocked, deadline: deadline, wake: make(chan struct{}, 1)}
	c.session = r.Rig.NewSession(name, noObserver{})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer r.Rig.Contain(name)
		c.run(ctx)
	}()
	c.ends = func() { cancel(); <-ended; c.session.Close() }
	return c
}

// noObserver ignores the cycle.
type noObserver struct{}

func (noObserver) Cycle(*hal.Cycle) {}

// Close releases the lease and ends a Commander of NewCommander; the body holds still.
func (c *Commander) Close() { c.ends() }

// Release releases the lease at once; the body holds still.
func (c *Commander) Release() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.lease != nil {
		c.session.Release(c.lease)
		c.lease = nil
	}
}

// Goals commands joints: all of them or, with an error, none.
func (c *Commander) Goals(goals []Goal) error {
	l := c.robot.Agent.Layout()
	inputs := make([]float64, len(l.Inputs))
	hal.FillNaN(inputs)
	if len(goals) == 0 {
		return fmt.Errorf("command %s: got no goal", c.robot.Agent.Name())
	}
	seen := map[int]bool{}
	for _, g := range goals {
		a := &l.Actuators[g.Actuator]
		at := a.Goal[g.Mode]
		switch {
		case seen[g.Actuator]:
			return fmt.Errorf("command %s: got two goals, want one goal", a.Name)
		case at == hal.None:
			return fmt.Errorf("command %s: got a %v goal, want a mode of its drive", a.Name, g.Mode)
		case math.IsNaN(g.Value) || math.IsInf(g.Value, 0):
			return fmt.Errorf("command %s: got %g, want a number", a.Name, g.Value)
		}
		seen[g.Actuator], inputs[at] = true, g.Value
	}
	switch c.robot.Agent.State() {
	case hal.Disarmed:
		return fmt.Errorf("command %s: disarmed (try: %s)", c.robot.Agent.Name(), c.robot.way("arm"))
	case hal.Stopped:
		return fmt.Errorf("command %s: the emergency stop is latched (try: %s)", c.robot.Agent.Name(),
			c.robot.way("reset"))
	case hal.Faulty:
		return c.robot.Agent.Ready()
	}
	if c.blocked() > c.deadline {
		return fmt.Errorf("command %s: %w", c.robot.Agent.Name(), errDeaf)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.lease == nil {
		lease, err := c.session.Acquire(c.robot.Agent)
		if err != nil {
			return err
		}
		c.lease = lease
		c.held = append(c.held[:0], inputs...)
		hal.FillNaN(c.held)
	}
	c.last = time.Now()
	rouse(c.wake)
	if c.robot.Rig.Mode() == hal.Realtime {
		return c.session.Step(c.lease, inputs)
	}
	for _, g := range goals {
		for _, at := range l.Actuators[g.Actuator].Goal {
			if at != hal.None {
				c.held[at] = inputs[at]
			}
		}
	}
	return nil
}

// Twist drives a robot by its wheels: x ahead and y to the left, m/s, and turn to the left, rad/s.
func (c *Commander) Twist(x, y, turn float64) error {
	d := c.robot.Drive
	if d == nil {
		return fmt.Errorf("command %s: got a twist, want goals of joints: it has no wheels that a twist turns "+
			"(try: drive: in the config)", c.robot.Agent.Name())
	}
	if y != 0 && !d.Sideways {
		return fmt.Errorf("command %s: got %g m/s to the side, want 0: its wheels do not roll sideways",
			c.robot.Agent.Name(), y)
	}
	var goals []Goal
	d.Goals(x, y, turn, func(actuator int, mode hal.Mode, goal float64) {
		goals = append(goals, Goal{actuator, mode, goal})
	})
	return c.Goals(goals)
}

// Stop is the emergency stop of the whole rig. The error names the joints that did not confirm; the stop is latched all
// the same. It waits for them as hal.Rig.EmergencyStop does.
func (c *Commander) Stop() error { return c.robot.Stop(c.name) }

// Stop is Commander.Stop by a client without one.
func (r *Robot) Stop(client string) error {
	var errs []error
	for _, j := range r.Rig.RequestStop(client) {
		if j.Err != nil {
			errs = append(errs, fmt.Errorf("%s/%s: %w", j.Agent, j.Joint, j.Err))
		}
	}
	return errors.Join(errs...)
}

// Reset clears a stop that only clients ordered, where clients arm; joints stay disarmed. Else only the operator does.
func (c *Commander) Reset() error { return c.robot.Rig.RequestRecover(c.name) }

// Arm lets commands pass again, where clients arm; see hal.Agent.RequestArm.
func (c *Commander) Arm() error { return c.robot.Agent.RequestArm(c.name) }

// way is how a client gets what: by its own service where clients arm, else by the operator's command.
func (r *Robot) way(what string) string {
	if r.Agent.ClientsArm() && (what == "arm" || r.Agent.BodyKind() != hal.Real) {
		return "/" + what
	}
	return "halyard " + what
}

// run releases the lease at its deadline. In lock-step, while the lease is held, it advances time at the pace of the
// wall clock, since these clients do not request steps. It ends with ctx.
func (c *Commander) run(ctx context.Context) {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	period, next := c.robot.Rig.Period(), time.Now()
	for {
		c.mu.Lock()
		now := time.Now()
		wait := time.Hour
		if c.lease != nil && now.Sub(c.last) >= c.deadline {
			c.session.Release(c.lease) // its body holds still
			c.lease = nil
		}
		if c.lease != nil {
			wait = c.last.Add(c.deadline).Sub(now)
			if c.robot.Rig.Mode() == hal.Lockstep {
				if !now.Before(next) {
					if next = next.Add(period); next.Before(now) {
						next = now.Add(period)
					}
					if !c.lease.Pending() {
						c.session.Step(c.lease, c.held)
						hal.FillNaN(c.held)
					}
				}
				wait = min(wait, next.Sub(now))
			}
		}
		c.mu.Unlock()
		timer.Reset(wait)
		select {
		case <-timer.C:
		case <-c.wake:
		case <-ctx.Done():
			return
		}
	}
}

func rouse(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

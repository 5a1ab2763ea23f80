package okon

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/halyard-robotics/halyard/hal"
)

// command tracks the commanding client and renews the guard's deadline.
//
// In real time the server holds the agent's lease while there is a commander. In lock-step a lease would make the rig
// wait for steps, which this protocol does not have: there commands override, as in other protocols without steps.
type command struct {
	server *Server
	party  *hal.Session
	name   atomic.Pointer[string] // of the commander, "" = none
	armed  atomic.Bool            // ARM_MTR was granted, and no DISARM_MTR came since
	stops  atomic.Uint64          // the guard's, as of then

	mu        sync.Mutex // taken before the rig's lock, never inside it
	commander *session
	lease     *hal.Lease
	received  time.Time
}

// refresh is how old the last sign of life may be before another is passed on. The guard's deadline passes early by as
// much, at most.
const refresh = 50 * time.Millisecond

func (m *command) begin(s *Server) {
	m.server = s
	m.name.Store(new(string))
	s.rig.Values().Declare("/"+s.robot.Agent.Name()+"/Commander", hal.StringValue,
		func() hal.Value { return hal.Value{Kind: hal.StringValue, Text: *m.name.Load()} }, nil)
}

// acquire makes c the commander, or fails with hal.Busy where another protocol has the agent, with hal.Unsafe where c
// does not read.
func (m *command) acquire(c *session) error {
	if c.out.deaf() {
		return &hal.Error{Kind: hal.Unsafe, Op: "command " + m.server.robot.Agent.Name(), Err: errBehind}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.sign(); err != nil {
		return err
	}
	m.received = time.Now()
	if m.commander != c {
		m.commander = c
		m.name.Store(&c.name)
		m.server.options.Log.Info("okon: commands the motors", "client", c.name, "agent", m.server.robot.Agent.Name())
	}
	return nil
}

// sign renews the guard's deadline. Under the lock.
func (m *command) sign() (err error) {
	agent := m.server.robot.Agent
	if m.server.rig.Mode() == hal.Lockstep {
		agent.Renew()
		return nil
	}
	if m.lease == nil {
		if m.lease, err = m.party.Acquire(agent); err != nil {
			return err
		}
	}
	m.party.Renew(m.lease)
	return nil
}

// arm lets the motors turn.
func (m *command) arm() {
	_, counts, _ := m.server.robot.Agent.Guard()
	m.stops.Store(counts.Stops)
	m.armed.Store(true)
	m.server.robot.Pilot.Arm()
}

// disarm switches the motors' torque off until arm.
func (m *command) disarm() {
	m.armed.Store(false)
	m.server.robot.Pilot.Disarm()
}

// resume arms the autopilot again for a new command, after the commander's deadline has passed: one program may arm and
// the next one drive. Where the motors stay disarmed it returns an error of kind Unsafe with the reason. It returns nil
// for a simulated robot, since the original sent no error, and where needed is false and no client has armed the
// motors.
func (m *command) resume(needed bool) error {
	r := m.server.robot
	if r.Pilot.Armed() {
		return nil
	}
	state, counts, _ := r.Agent.Guard()
	if m.armed.Load() && counts.Stops == m.stops.Load() && state == hal.Armed {
		r.Pilot.Arm()
		return nil
	}
	if r.Agent.BodyKind() == hal.Simulated || !needed && !m.armed.Load() {
		return nil
	}
	why := "the motors are not armed: send ARM_MTR"
	if state != hal.Armed {
		why = "the robot is " + state.String()
	}
	return &hal.Error{Kind: hal.Unsafe, Op: "command " + r.Agent.Name(), Err: errors.New(why), Try: "halyard status"}
}

// alive reports that c has sent something. Only of the commander it matters, and not each time. A client that does not
// read is not alive.
func (m *command) alive(c *session) {
	if m.name.Load() != &c.name || c.out.deaf() {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.commander == c && time.Since(m.received) >= refresh {
		m.received = time.Now()
		m.sign() // fails for the present commander only when the rig has ended
	}
}

// leave releases the agent if c is the commander. The guard then decides whether the motors hold or stop.
func (m *command) leave(c *session) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.commander != c {
		return
	}
	m.commander = nil
	m.name.Store(new(string))
	if m.lease != nil {
		m.party.Release(m.lease)
		m.lease = nil
	}
}

// foreign returns an error of kind Busy while a client of another protocol holds the agent: then the clients of this
// server must not move its world.
func (m *command) foreign() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if holder := m.server.robot.Agent.Holder(); holder != "" && m.lease == nil {
		return &hal.Error{Kind: hal.Busy, Op: "control " + m.server.robot.Agent.Name(),
			Err: fmt.Errorf("held by %s", holder)}
	}
	return nil
}

package okon

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/halyard-robotics/halyard/hal"
)

// command is who commands the motors, and what keeps the guard's deadline from passing.
//
// In real time the server holds the agent's lease while there is a commander. In lock-step a lease would stop the time,
// which is not this protocol's to pass: there it overrides, as protocols without steps do.
type command struct {
	server *Server
	party  *hal.Session
	name   atomic.Pointer[string] // of the commander, "" = none
	armed  atomic.Bool            // ARM_MTR was granted, and no DISARM_MTR came since
	stops  atomic.Uint64          // the guard's, as of then

	mu    sync.Mutex // taken before the rig's lock, never inside it
	who   *session
	lease *hal.Lease
	heard time.Time
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

// acquire makes c the commander, or fails with hal.Busy where another protocol has the agent.
func (m *command) acquire(c *session) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.sign(); err != nil {
		return err
	}
	m.heard = time.Now()
	if m.who != c {
		m.who = c
		m.name.Store(&c.name)
		m.server.options.Log.Info("okon: commands the motors", "client", c.name, "agent", m.server.robot.Agent.Name())
	}
	return nil
}

// sign gives the guard a sign of life. Under the lock.
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

// disarm takes the motors' torque, until arm.
func (m *command) disarm() {
	m.armed.Store(false)
	m.server.robot.Pilot.Disarm()
}

// resume lets the motors turn again for a new command, after the commander was silent for the deadline: one program may
// arm and the next one drive. The error, of kind Unsafe, reports why they do not turn; of a simulated robot it is nil, since
// the original said nothing, and where they need not and nobody has armed them.
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

// alive reports that c has sent something. Only of the commander it matters, and not each time.
func (m *command) alive(c *session) {
	if m.name.Load() != &c.name {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.who == c && time.Since(m.heard) >= refresh {
		m.heard = time.Now()
		m.sign() // who commands already is refused at the end of the rig alone
	}
}

// leave gives the agent back where c commanded. The guard decides what becomes of the motors.
func (m *command) leave(c *session) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.who != c {
		return
	}
	m.who = nil
	m.name.Store(new(string))
	if m.lease != nil {
		m.party.Release(m.lease)
		m.lease = nil
	}
}

// foreign reports whether somebody else than this server's clients has the agent, so that they must not move its world.
func (m *command) foreign() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if holder := m.server.robot.Agent.Holder(); holder != "" && m.lease == nil {
		return &hal.Error{Kind: hal.Busy, Op: "control " + m.server.robot.Agent.Name(), Err: fmt.Errorf("held by %s", holder)}
	}
	return nil
}

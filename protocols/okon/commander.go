package okon

import (
	"fmt"
	"math"
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

	mu    sync.Mutex // taken before the rig's lock, never inside it
	who   *session
	lease *hal.Lease
	heard time.Time
	quiet []float64 // inputs that say nothing: the autopilot says what the motors do
}

// refresh is how old the last sign of life may be before another is passed on. The guard's deadline passes early by as
// much, at most.
const refresh = 50 * time.Millisecond

func (m *command) begin(s *Server) {
	m.server = s
	m.name.Store(new(string))
	m.quiet = make([]float64, len(s.robot.Agent.Layout().Inputs))
	for i := range m.quiet {
		m.quiet[i] = math.NaN()
	}
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
		return agent.Override(m.quiet)
	}
	if m.lease == nil {
		if m.lease, err = m.party.Acquire(agent); err != nil {
			return err
		}
	}
	return m.party.Step(m.lease, m.quiet)
}

// alive says that c has sent something. Only of the commander it matters, and not each time.
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

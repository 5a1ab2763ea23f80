package osp

import (
	"errors"
	"net/netip"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/protocols"
)

// session is one client. Its goroutine reads the client's socket, answers, and calls the rig; it never waits for an
// acknowledgement, so that no client can hold it up. The rig calls Cycle from the goroutine that runs the cycle.
type session struct {
	server   *Server
	conn     protocols.PacketConn
	client   netip.AddrPort
	party    *hal.Session
	begun    time.Time
	received atomic.Int64 // when the client was last received or answered, within a tick; nanoseconds after begun
	once     sync.Once

	// The reading goroutine's own.
	in     []byte
	d      Datagram // the last datagram received
	agents []*hal.Agent
	values knownValues
	stir   bool // something was received since the last tick

	// mu guards the fields that Cycle and the reading goroutine share. Do not call the rig or the server while holding
	// it.
	mu         sync.Mutex
	out        []byte        // one short answer
	answer     Datagram      // of a step, being encoded
	list       outbox        // 91 or 96 with the datagrams after it
	completed  outbox        // 75
	leases     []*agentLease // agents under control, by id
	resetAsked request       // the last reset request
	events     knownEvents
	observed   []observed
	content    []byte // text of one observed value
}

// tickShare of AckTimeout is how exactly timeouts are kept. The read deadline moves once a tick, not once a datagram.
const tickShare = 4

// waitingShare times ClientTimeout may pass while a client waits for a step or reset: it sends nothing while other
// clients are slow or a real robot moves to its home position.
const waitingShare = 10

func newSession(s *Server, conn protocols.PacketConn, client netip.AddrPort) *session {
	c := &session{server: s, conn: conn, client: client, begun: time.Now(), in: make([]byte, MaxDatagram+1)}
	c.party = s.rig.NewSession("osp@"+client.String(), c)
	return c
}

// run reads until the session ends.
func (c *session) run() {
	defer c.server.wg.Done()
	defer c.server.rig.Contain("osp session")
	defer c.end("socket closed")
	c.arm()
	for {
		n, from, err := c.conn.ReadFromUDPAddrPort(c.in)
		switch {
		case err == nil:
			c.server.traffic.Receive()
			if protocols.Plain(from) != c.client {
				c.server.traffic.Drop(protocols.Stranger)
			} else if !c.receive(c.in[:n]) {
				return
			}
		case errors.Is(err, os.ErrDeadlineExceeded):
			if !c.tick(time.Now()) {
				c.end("silent")
				return
			}
			c.arm()
		case !protocols.Transient(err):
			return
		}
	}
}

// arm sets the next tick.
func (c *session) arm() {
	tick := c.server.options.AckTimeout / tickShare
	if t := c.server.options.ClientTimeout / tickShare; t > 0 {
		tick = min(tick, t)
	}
	c.conn.SetReadDeadline(time.Now().Add(tick))
}

// tick repeats datagrams that were not acknowledged in time. It returns false after ClientTimeout.
func (c *session) tick(now time.Time) bool {
	if c.stir {
		c.received.Store(int64(now.Sub(c.begun)))
		c.stir = false
	}
	// only the socket's deadline wakes the session of a silent client, so all timed work is done here
	c.mu.Lock()
	defer c.mu.Unlock()
	limit := c.server.options.ClientTimeout
	if c.waits() {
		limit *= waitingShare
	}
	if limit > 0 && c.silence() >= limit {
		return false
	}
	c.again(&c.list, now)
	c.again(&c.completed, now)
	for _, s := range c.leases {
		c.again(&s.completed, now)
	}
	return true
}

// again repeats o after AckTimeout, or gives it up. Under mu.
func (c *session) again(o *outbox, now time.Time) {
	if !o.waiting || now.Sub(o.sent) < c.server.options.AckTimeout {
		return
	}
	if o.tries >= c.server.options.AckTries {
		o.waiting = false
		c.server.traffic.Drop(protocols.Unanswered)
		return
	}
	o.tries++
	o.sent = now
	o.each(c.write)
}

// acknowledge is called for any valid command: the client has continued, so it has received the last answer.
func (c *session) acknowledge() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.acknowledgeAll()
}

// acknowledgeAll is acknowledge under mu.
func (c *session) acknowledgeAll() {
	c.list.waiting, c.completed.waiting = false, false
	for _, s := range c.leases {
		s.completed.waiting = false
	}
}

// receive handles one datagram of the client. It returns false when the session is over.
func (c *session) receive(b []byte) bool {
	if err := decode(b, &c.d); err != nil {
		c.server.traffic.Drop(causeOf(err))
		return true
	}
	c.stir = true

	// acknowledgements answer one thing; steps and resets decide for themselves whether they are a repetition
	switch c.d.Command {
	case agentOverviewAck, agentInfoAck, resetSimulationCompletedAck, StepCompletedAck, valueInfoAck:
		c.acknowledged()
		return true
	case NextStep:
		c.step(b)
		return true
	case resetSimulation:
		c.reset(b)
		return true
	}
	// all other requests may be repeated without harm: a client repeats a request whose answer was lost
	c.acknowledge()
	switch c.d.Command {
	case getAgentOverview:
		c.overview()
	case getAgentInfo:
		c.agentInfo()
	case registerForAgent:
		c.register()
	case deregisterFromAgent:
		c.deregister()
	case registerForEvent, deregisterFromEvent:
		c.event()
	case getValueIDs:
		c.findValues()
	case getValue:
		c.getValue()
	case setValue:
		c.setValue()
	case registerForValue, deregisterFromValue:
		c.observe()
	case resetCommunication:
		c.server.options.Log.Warn("osp: communication reset", "by", c.client)
		c.server.resetCommunication()
		return false
	case endCommunication:
		c.party.Close() // first: the agents are free when the client reads the answer
		c.reply(&Datagram{Command: endCommunicationAck})
		return false
	default: // a server's command, or INIT on the wrong port
		c.server.traffic.Drop(protocols.Unknown)
	}
	return true
}

// acknowledged ends the wait for the acknowledgement in c.d.
func (c *session) acknowledged() {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch c.d.Command {
	case agentOverviewAck, agentInfoAck:
		c.list.waiting = false
	case resetSimulationCompletedAck:
		c.completed.waiting = false
	case StepCompletedAck:
		if s := c.lease(c.d.ID); s != nil {
			s.completed.waiting = false
		}
	}
}

// reply sends one datagram that the client does not acknowledge.
func (c *session) reply(d *Datagram) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.send(d)
}

// send is reply under mu. The encoder's buffer is the session's, so that nothing is allocated.
func (c *session) send(d *Datagram) {
	c.out = Append(c.out[:0], d)
	c.write(c.out)
}

// deliver sends o and expects its acknowledgement. The client's silence counts from now: it does not send while it
// waits for the answer. Under mu.
func (c *session) deliver(o *outbox) {
	o.each(c.write)
	now := time.Now()
	o.wait(now)
	c.received.Store(int64(now.Sub(c.begun)))
}

// write sends bytes. An error of the socket counts as a loss on the network: important datagrams are repeated.
func (c *session) write(b []byte) {
	if _, err := c.conn.WriteToUDPAddrPort(b, c.client); err != nil {
		c.server.traffic.Drop(protocols.Unsent)
		return
	}
	c.server.traffic.Send()
}

// silence returns how long the client has sent nothing and got no answer, within a tick.
func (c *session) silence() time.Duration {
	return time.Since(c.begun) - time.Duration(c.received.Load())
}

// controls reports whether the client controls an agent.
func (c *session) controls() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.leases) > 0
}

// end frees the agents, closes the socket and forgets the client. Any goroutine may call it, again too.
func (c *session) end(why string) {
	c.once.Do(func() {
		c.party.Close()
		c.conn.Close()
		c.server.forget(c)
		c.server.options.Log.Info("osp: session ends", "client", c.client, "why", why)
	})
}

package simloid

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"sync/atomic"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/protocols"
)

// The reasons for the end of a session, in addition to the errors of its connection.
var (
	errExit    = errors.New("the client sent EXIT")
	errNoAck   = errors.New("the traits were not acknowledged")
	errRubbish = errors.New("too many unknown commands without a DONE")
	errSilent  = errors.New("silent")
	errClosed  = errors.New("server closed")
)

// maxUnknown is how many unknown lines the original accepts before a DONE.
const maxUnknown = 42

// session is one client. Its goroutine reads the commands, requests the step, and writes the status. The rig calls
// Cycle from the goroutine that runs the cycle; Cycle copies the measurements and never blocks. So a client that does
// not read blocks only this goroutine and, in lock-step, the simulated time.
type session struct {
	server   *Server
	log      *slog.Logger
	conn     net.Conn
	done     <-chan struct{} // the server ends
	party    *hal.Session
	in       protocols.LineReader
	requests io.Reader // conn's
	out      []byte
	until    time.Time   // the present write deadline
	look     *time.Timer // of wait: whether the client is still there

	// The robot, from enter on.
	robot   *Robot
	world   World
	lease   *hal.Lease
	sensors *sensors
	status  *Status // of the last cycle
	period  float64 // s
	zero    time.Duration

	// The message so far.
	command    Command
	joints     []joint
	kept       []joint // their state at the last SAVE; nil before the first
	inputs     []float64
	forces     [][3]float64 // N, on each body in the next step
	pushing    bool
	push       func() // pushAll, made once
	paused     bool
	interlaced bool
	model      *Command // pending MODEL
	unknown    int
	refused    [numVerbs]bool // already logged
	weightless bool
	idle       bool // its commands move nothing

	// Shared with Cycle: while want is not 0, Cycle owns the fields; after its answer the session does.
	want     atomic.Int32
	answered chan struct{}
	measured []float64
	time     time.Duration
}

// The states of a session's wait.
const (
	wantNothing = iota
	wantStep
	wantReset
)

func newSession(ctx context.Context, s *Server, conn net.Conn, robot *Robot, log *slog.Logger) *session {
	c := &session{server: s, log: log, conn: conn, requests: conn, done: ctx.Done(), robot: robot,
		answered: make(chan struct{}, 1), look: time.NewTimer(heartbeat)}
	c.look.Stop()
	c.party = s.rig.NewSession("simloid@"+conn.RemoteAddr().String(), c)
	c.in = protocols.LineReader{Read: c.read, Buf: make([]byte, maxLine), Ends: "\n", Long: errLong}
	c.push = c.pushAll
	c.interlaced = s.options.Dialect == Later
	return c
}

// run serves until the client leaves, and reports why it did.
func (c *session) run() error {
	if err := c.introduce(); err != nil {
		return err
	}
	for {
		if err := c.message(); err != nil {
			return err
		}
		c.server.traffic.Receive()
		switch {
		case c.model != nil:
			if err := c.remodel(); err != nil {
				return err
			}
		case !c.paused:
			if err := c.turn(); err != nil {
				return err
			}
		}
	}
}

// leave releases the agent and resets the settings that the next client does not expect.
func (c *session) leave() {
	if start := c.server.options.Weightless; c.weightless != start && c.lease != nil {
		c.server.rig.BetweenCycles(func() { c.setGravity(!start) })
	}
	c.party.Close()
}

// introduce sends the traits, waits for their acknowledgement, and answers it with the first status.
func (c *session) introduce() error {
	c.out = AppendTraits(c.out[:0], &c.robot.Traits, c.server.options.Dialect)
	if err := c.write(); err != nil {
		return err
	}
	if err := c.acknowledged(); err != nil {
		return err
	}
	if c.server.options.Poll { // not before: it reads past the check of the first line
		c.requests = pollConn(c.conn)
	}
	if err := c.enter(); err != nil {
		return err
	}
	// the original makes one step before it reads the first command
	if err := c.step(); err != nil {
		return err
	}
	if c.server.options.Dialect == Later {
		return c.turn() // ACK is as good as DONE
	}
	return c.send()
}

// acknowledged waits for the ACK. Before it the client controls nothing, so a client that only connects does not stop
// time. In the later dialect the client may select the order of status and step before it.
func (c *session) acknowledged() error {
	c.conn.SetReadDeadline(time.Now().Add(c.server.options.AckTimeout))
	defer c.arm()
	for range maxUnknown {
		line, err := c.in.Next()
		switch {
		case err != nil:
			return err
		case len(line) >= 3 && string(line[:3]) == "ACK":
			if !protocols.Recognize(c.conn) {
				return protocols.ErrStranger
			}
			return nil
		case c.server.options.Dialect != Later:
			return errNoAck
		}
		switch err := decode(line, Later, &c.command); {
		case err == nil && (c.command.Verb == Interlaced || c.command.Verb == Sequential):
			c.interlaced = c.command.Verb == Interlaced
		case err == nil && c.command.Verb == exit:
			return errExit
		default:
			return errNoAck
		}
	}
	return errNoAck
}

// enter acquires the agent. It resets a simulated robot, unless that would affect other clients.
func (c *session) enter() error {
	r := c.robot
	lease, err := c.party.Acquire(r.Agent)
	if err != nil {
		return err
	}
	o := &c.server.options
	c.lease, c.world = lease, r.World
	if r.Agent.BodyKind() == hal.Real {
		c.world = World{} // it never teleports
	}
	layout := r.Agent.Layout()
	// Devices have noise of their own.
	c.sensors, c.status = newSensors(o.Exact || r.Agent.BodyKind() != hal.Simulated, o.Seed),
		newStatus(&r.Traits, o.Dialect)
	c.measured = make([]float64, len(layout.Outputs)+len(layout.Infos))
	c.inputs, c.joints = make([]float64, len(layout.Inputs)), make([]joint, len(r.Joints))
	c.forces, c.kept = make([][3]float64, len(r.Bodies)), nil
	c.rest()
	if o.Weightless && c.world.Gravity != nil {
		c.server.rig.BetweenCycles(func() { c.setGravity(false) })
	}
	if c.world.Scene != nil && !o.Continue {
		return c.reset()
	}
	c.newTime()
	return nil
}

// message reads commands until DONE, and executes those that cannot wait.
func (c *session) message() error {
	c.paused, c.unknown = false, 0
	for {
		line, err := c.in.Next()
		if err == nil {
			err = decode(line, c.server.options.Dialect, &c.command)
		}
		switch {
		case err == nil && (c.command.Verb == done || c.command.Verb == Ack):
			return nil
		case err == nil && c.command.Verb == exit:
			return errExit
		case err == nil:
			if err := c.handle(); err != nil {
				return err
			}
		case errors.Is(err, ErrFormat):
			c.malformed(err)
		default:
			if err := c.noCommand(err); err != nil {
				return err
			}
		}
	}
}

// noCommand counts a line that is not a command. It returns err of anything else.
func (c *session) noCommand(err error) error {
	cause := protocols.Unknown
	switch {
	case errors.Is(err, errLong):
		cause = protocols.Oversized
	case !errors.Is(err, ErrUnknown):
		return err
	}
	c.server.traffic.Drop(cause)
	c.logOnce(unknown, fmt.Errorf("a line that is %s", cause))
	if c.unknown++; c.unknown > maxUnknown {
		return errRubbish
	}
	return nil
}

// malformed counts a command with malformed numbers.
func (c *session) malformed(why error) {
	c.server.traffic.Drop(protocols.Truncated)
	c.logOnce(c.command.Verb, why)
}

// refuse counts a command that this robot cannot execute.
func (c *session) refuse(why error) {
	c.server.traffic.Drop(protocols.Refused)
	c.logOnce(c.command.Verb, why)
}

// logOnce logs the fault of a verb once a session: the client gets no answer, and may repeat it a hundred times a
// second.
func (c *session) logOnce(v Verb, why error) {
	if !c.refused[v] {
		c.refused[v] = true
		c.log.Warn("simloid: command failed", "command", v, "why", why)
	}
}

// send writes the status.
func (c *session) send() error {
	c.out = AppendStatus(c.out[:0], c.status)
	return c.write()
}

// write sends out as one frame. The deadline moves when half of it has passed, not with every frame.
func (c *session) write() error {
	limit := c.server.options.WriteTimeout
	if now := time.Now(); c.until.Sub(now) < limit/2 {
		c.until = now.Add(limit)
		c.conn.SetWriteDeadline(c.until)
	}
	if _, err := c.conn.Write(c.out); err != nil {
		c.server.traffic.Drop(protocols.Unsent)
		return err
	}
	c.server.traffic.Send()
	return nil
}

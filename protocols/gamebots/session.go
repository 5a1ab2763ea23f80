package gamebots

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/protocols"
)

const (
	// maxLine bounds a command. The manual's longest is below 200 bytes.
	maxLine = 8192
	// maxReplies bounds the answers that are pending for a client that sends queries without reading.
	maxReplies = 256 << 10
)

var (
	errSilent = errors.New("gamebots: silent")
	errDeaf   = errors.New("gamebots: does not read its answers")
)

// session is one connection, and its robot from INIT on. Its reader, the goroutine of run, handles commands; its writer
// sends messages. The rig calls Cycle, which copies due measurements and waits for neither. A client that does not read
// blocks only its writer.
type session struct {
	server *Server
	log    *slog.Logger
	conn   net.Conn
	party  *hal.Session
	robot  atomic.Pointer[link]

	// The reader's.
	in      protocols.LineReader
	message Message
	control Control
	stepper protocols.Stepper
	name    string    // of the agent, "" before INIT
	inputs  []float64 // of the command in execution; NaN = no command
	stopped bool      // the battery's end was seen
	warned  map[string]bool

	viewports viewports
	chosen    bool // the client has shown a dialect
	dialect   currentDialect

	wake    chan struct{} // a message is due
	mu      sync.Mutex
	replies []byte
}

// newSession joins the rig as an observer; leave removes it.
func newSession(s *Server, conn net.Conn, log *slog.Logger) *session {
	c := &session{server: s, log: log, conn: conn, warned: map[string]bool{}, wake: make(chan struct{}, 1)}
	c.dialect.set(s.options.Dialect)
	c.in = lines(c.stepper.Read, maxLine)
	c.party = s.rig.NewSession("gamebots@"+conn.RemoteAddr().String(), c)
	c.stepper = protocols.Stepper{Rig: s.rig, Session: c.party, Conn: conn, Timeout: s.options.ClientTimeout,
		Silent: errSilent, Beat: c.beat}
	return c
}

// run serves until the client leaves or ctx ends, and reports why.
func (s *session) run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var writer sync.WaitGroup
	writer.Go(func() {
		defer s.server.rig.Contain("gamebots writer")
		defer s.conn.Close() // the reader ends with it
		s.write(ctx)
	})
	s.stepper.Received = time.Now()
	s.reply(func(t *text) { nfo(t, &s.server.arena) })
	err := s.handle()
	cancel()
	s.conn.Close() // a write in progress ends with it
	writer.Wait()
	return err
}

// leave releases the robot and removes it from the world.
func (s *session) leave() {
	s.party.Close()
	s.hide()
	s.robot.Store(nil)
	if s.name == "" {
		return
	}
	s.server.remove(s.name)
}

// begin makes k the session's robot.
func (s *session) begin(k *link) {
	s.inputs = make([]float64, len(k.layout.Inputs))
	hal.FillNaN(s.inputs)
	s.stepper.Begin(k.lease, k.layout)
	s.robot.Store(k)
	s.pace()
}

// handle reads and executes commands.
func (s *session) handle() error {
	s.control = Control{session: s, message: &s.message}
	for {
		line, err := nextLine(&s.in)
		switch {
		case errors.Is(err, errLong):
			s.drop(protocols.Oversized, "a line", err)
			continue
		case err != nil:
			return err
		}
		s.stepper.Received = time.Now()
		// Commands persist while the client sends lines. A hung client sends none, although its kernel still
		// acknowledges.
		s.stepper.Renew()
		if err := Parse(line, &s.message); err != nil {
			s.drop(protocols.Truncated, "a line", err)
			continue
		}
		if err := s.do(); err != nil {
			return err
		}
	}
}

// do handles the message. Its error ends the session.
func (s *session) do() error {
	c := &s.control
	c.err, c.staged = nil, false
	s.listen(&s.message)
	kind, command := s.find(&s.message)
	if command == nil {
		s.drop(protocols.Unknown, "a command", errUnknown)
		return nil
	}
	if !protocols.Recognize(s.conn) {
		return protocols.ErrStranger
	}
	var err error
	if !anytime(kind) {
		err = s.ready()
	}
	if err == nil {
		err = command(c)
	}
	if err == nil {
		err = c.err
	}
	switch {
	case errors.Is(err, ErrNumber), errors.Is(err, ErrFormat):
		s.drop(protocols.Truncated, kind, err)
	case err != nil:
		s.drop(protocols.Refused, kind, err)
	default:
		s.server.traffic.Receive()
		if c.staged {
			k := s.robot.Load()
			if err := k.agent.Ready(); err != nil { // no answer of the protocol could say it but STA
				s.server.traffic.Drop(protocols.Refused)
				s.warn(kind+", "+k.agent.State().String(), err)
			}
			return s.stepper.Commit(k.layout, s.inputs)
		}
	}
	if c.staged {
		hal.FillNaN(s.inputs)
	}
	return nil
}

// drop counts a line that is not executed; the log is notified of it once a kind and session.
func (s *session) drop(cause protocols.Cause, kind string, why error) {
	s.server.traffic.Receive()
	s.server.traffic.Drop(cause)
	s.warn(kind, why)
}

// warn logs a refused command, once per kind and session.
func (s *session) warn(kind string, why error) {
	if !s.warned[kind] {
		s.warned[kind] = true
		s.log.Warn("gamebots: command failed", "command", kind, "why", why)
	}
}

// beat stops the wheels of a robot whose battery is empty: no message can report it any more.
func (s *session) beat(time.Time) error {
	if k := s.robot.Load(); k.drained.Load() && !s.stopped {
		s.stopped = true
		s.halt(k)
	}
	return nil
}

// halt stops every wheel.
func (s *session) halt(k *link) {
	for _, i := range slices.Concat(k.robot.Left, k.robot.Right) {
		a := &k.layout.Actuators[k.robot.Joints[i].Actuator]
		if at := a.Goal[hal.VelocityMode]; at != hal.None {
			s.stepper.Held[at] = 0
		}
	}
}

// Cycle is the rig's call after each cycle.
func (s *session) Cycle(c *hal.Cycle) {
	k := s.robot.Load()
	if k == nil || c.Reset || k.lease.Agent() == nil {
		return
	}
	if k.cycle(k.lease.Frame()) {
		s.rouse()
	}
}

package gamebots

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"net"
	"os"
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
	// heartbeat is how often the state of a connected client is checked in real time.
	heartbeat = 100 * time.Millisecond
	// deaf is how long a client may leave a message unread before it counts no more as alive.
	deaf = 500 * time.Millisecond
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
	in       lineReader
	message  Message
	control  Control
	name     string    // of the agent, "" before INIT
	inputs   []float64 // of the command in execution; NaN = no command
	held     []float64 // commands since the last step, in lock-step
	beat     time.Time // of the next step
	received time.Time
	stopped  bool // the battery's end was seen
	warned   map[string]bool

	viewports viewports
	chosen    bool // the client has shown a dialect
	dialect   spoken

	wake    chan struct{} // a message is due
	writing atomic.Int64  // Unix time at which the pending Write began, ns; 0 = no pending Write
	mu      sync.Mutex
	replies []byte
}

// newSession joins the rig as an observer; leave removes it.
func newSession(s *Server, conn net.Conn, log *slog.Logger) *session {
	c := &session{server: s, log: log, conn: conn, warned: map[string]bool{}, wake: make(chan struct{}, 1)}
	c.dialect.set(s.options.Dialect)
	c.in = lineReader{read: c.read, buf: make([]byte, maxLine)}
	c.party = s.rig.NewSession("gamebots@"+conn.RemoteAddr().String(), c)
	return c
}

// run serves until the client leaves or ctx ends, and reports why.
func (s *session) run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { s.conn.Close() })
	defer stop()
	var writer sync.WaitGroup
	writer.Go(func() {
		defer s.server.rig.Contain("gamebots writer")
		defer s.conn.Close() // the reader ends with it
		s.write(ctx)
	})
	s.received = time.Now()
	s.reply(func(t *text) { nfo(t, &s.server.arena) })
	err := s.handle()
	cancel()
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
	s.held = make([]float64, len(k.layout.Inputs))
	clearInputs(s.inputs)
	clearInputs(s.held)
	s.beat = time.Time{}
	s.robot.Store(k)
	s.pace()
}

// clearInputs sets all inputs to NaN, which keeps earlier commands.
func clearInputs(inputs []float64) {
	for i := range inputs {
		inputs[i] = math.NaN()
	}
}

// handle reads and executes commands.
func (s *session) handle() error {
	s.control = Control{session: s, message: &s.message}
	for {
		line, err := s.in.line()
		switch {
		case errors.Is(err, errLong):
			s.drop(protocols.Oversized, "a line", err)
			continue
		case err != nil:
			return err
		}
		s.received = time.Now()
		// Commands persist while the client sends lines. A hung client sends none, although its kernel still acknowledges.
		if k := s.robot.Load(); k != nil {
			s.party.Renew(k.lease)
		}
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
			return s.commit()
		}
	}
	if c.staged {
		clearInputs(s.inputs)
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

// commit passes the staged inputs to the rig: at once in real time, with the next step in lock-step.
func (s *session) commit() error {
	k := s.robot.Load()
	if s.server.rig.Mode() == hal.Realtime {
		err := s.party.Step(k.lease, s.inputs)
		clearInputs(s.inputs)
		return err
	}
	for i := range k.layout.Actuators {
		a := &k.layout.Actuators[i]
		for _, given := range a.Goal {
			if given == hal.None || math.IsNaN(s.inputs[given]) {
				continue
			}
			for _, at := range a.Goal {
				if at != hal.None {
					s.held[at] = s.inputs[at]
				}
			}
		}
	}
	clearInputs(s.inputs)
	return nil
}

// read waits for the client. It is where the reader spends its time.
func (s *session) read(b []byte) (int, error) {
	for {
		if err := s.step(); err != nil {
			return 0, err
		}
		n, err := s.conn.Read(b)
		if n > 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
			return n, err
		}
		if t := s.server.options.ClientTimeout; t > 0 && time.Since(s.received) >= t {
			return 0, errSilent
		}
	}
}

// step renews the lease of the client. In lock-step it also advances time at the pace of the wall clock, since clients of
// this protocol do not request steps.
func (s *session) step() error {
	now := time.Now()
	if now.Before(s.beat) {
		return nil
	}
	k, every := s.robot.Load(), heartbeat
	if s.server.rig.Mode() == hal.Lockstep && k != nil {
		every = s.server.rig.Period()
	}
	// on a grid, so that the mean pace is exact; after a pause the grid restarts
	if s.beat = s.beat.Add(every); s.beat.Before(now) {
		s.beat = now.Add(every)
	}
	s.conn.SetReadDeadline(s.beat)
	if k == nil {
		return nil
	}
	// a client that does not read must not keep driving: its lease is not renewed, and the guard's deadline stops the robot
	if since := s.writing.Load(); since != 0 && now.UnixNano()-since > int64(deaf) && s.server.rig.Mode() == hal.Realtime {
		return nil
	}
	// an empty battery stops the wheels, and no message can report it any more
	if k.drained.Load() && !s.stopped {
		s.stopped = true
		s.halt(k)
	}
	if s.server.rig.Mode() == hal.Lockstep && k.lease.Pending() {
		return nil
	}
	err := s.party.Step(k.lease, s.held)
	clearInputs(s.held)
	return err
}

// halt stops every wheel.
func (s *session) halt(k *link) {
	for _, side := range [...][]int{k.robot.Left, k.robot.Right} {
		for _, i := range side {
			a := &k.layout.Actuators[k.robot.Joints[i].Actuator]
			if at := a.Goal[hal.VelocityMode]; at != hal.None {
				s.held[at] = 0
			}
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

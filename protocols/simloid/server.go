package simloid

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/protocols"
)

// DefaultPort is the original's port.
const DefaultPort = 8000

// Options are the settings of a server. The zero Options are the original of the document, noise included.
type Options struct {
	Dialect Dialect
	// Exact leaves the sensors' noise out; their resolution stays.
	Exact bool
	// Seed is the noise's; 0 = 1. Each client and each RESET begin with it again.
	Seed int64
	// Continue lets a new client find a simulated robot as the one before left it, not as at the start.
	Continue bool
	// Once ends the server when its client has left, by EXIT or without a word, as the original ends.
	Once bool
	// Weightless is a world without gravity until the client sends GRAVITY ON, as in the original.
	Weightless bool
	// StartTorque is the maximum torque of the position controllers until the client sets it, 0..1 of the stall
	// torque; 0 = 0.5.
	StartTorque float64
	// AckTimeout is how long a client has to acknowledge the traits; 0 = 30 s.
	AckTimeout time.Duration
	// WriteTimeout is how long a client may leave a status unread until its session ends; 0 = 5 s.
	WriteTimeout time.Duration
	// ClientTimeout is the silence after which a client counts as dead; 0 = never.
	ClientTimeout time.Duration
	// Poll lets the server poll up to 100 µs for the next request of a client in lock-step, where the system can: for
	// clients in processes of their own. One in this process would get the processor later.
	Poll bool
	// Log is notified of sessions that begin and end, and once a session of each kind of command that is refused; nil =
	// silent.
	Log *slog.Logger
}

func (o Options) withDefaults() Options {
	o.Seed = cmp.Or(o.Seed, 1)
	protocols.Positive(&o.StartTorque, startTorque)
	protocols.Positive(&o.AckTimeout, 30*time.Second)
	protocols.Positive(&o.WriteTimeout, 5*time.Second)
	o.Log = protocols.Logger(o.Log)
	return o
}

// grace is how long a new client waits for the previous session to end: that client may have disconnected, but its
// session not yet noticed.
const grace = 250 * time.Millisecond

// Server serves one robot to one client after another. One goroutine accepts, one serves the client.
type Server struct {
	rig      *hal.Rig
	listener net.Listener
	options  Options
	traffic  protocols.Traffic

	mu    sync.Mutex
	robot *Robot // of the next session
}

// NewServer returns a server of robot, an agent of rig, for the clients of listener. It owns listener. The error is
// hal.Invalid if robot does not fit its agent's layout.
func NewServer(rig *hal.Rig, listener net.Listener, robot *Robot, o Options) (*Server, error) {
	if err := robot.validate(); err != nil {
		return nil, err
	}
	return &Server{rig: rig, listener: listener, robot: robot, options: o.withDefaults()}, nil
}

// Address is where the server listens. Traffic counts messages that ended with DONE, frames sent, and lines dropped.
func (s *Server) Address() net.Addr           { return s.listener.Addr() }
func (s *Server) Traffic() *protocols.Traffic { return &s.traffic }

// Serve serves until ctx ends, the listener breaks or, with Options.Once, its client has left; then it ends the
// session, frees the agent and waits for it.
func (s *Server) Serve(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	a := protocols.Acceptor{Name: "simloid", Listener: s.listener, Limit: 1, Grace: grace, Contain: s.rig.Contain,
		Log: s.options.Log, Traffic: &s.traffic}
	return a.Serve(ctx, func(ctx context.Context, conn net.Conn) {
		if why := s.serve(ctx, conn); s.options.Once && !errors.Is(why, protocols.ErrStranger) {
			cancel()
		}
	})
}

// serve is one session, and returns why it ended.
func (s *Server) serve(ctx context.Context, conn net.Conn) error {
	s.mu.Lock()
	robot := s.robot
	s.mu.Unlock()

	log := s.options.Log.With("client", conn.RemoteAddr(), "agent", robot.Agent.Name())
	log.Info("simloid: session")
	c := newSession(ctx, s, conn, robot, log)
	defer c.leave()
	why := c.run()
	log.Info("simloid: session ends", "why", why)
	return why
}

// replace sets the robot of future sessions.
func (s *Server) replace(robot *Robot) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.robot = robot
}

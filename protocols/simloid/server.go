package simloid

import (
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
	// Poll lets the server poll up to 100 µs for the next request of a client in lock-step, where the system can: for clients
	// in processes of their own. One in this process would get the processor later.
	Poll bool
	// Log is notified of sessions that begin and end, and once a session of each kind of command that is refused; nil = silent.
	Log *slog.Logger
}

func (o Options) withDefaults() Options {
	if o.Seed == 0 {
		o.Seed = 1
	}
	if o.StartTorque <= 0 {
		o.StartTorque = startTorque
	}
	if o.AckTimeout <= 0 {
		o.AckTimeout = 30 * time.Second
	}
	if o.WriteTimeout <= 0 {
		o.WriteTimeout = 5 * time.Second
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}

// grace is how long a new client waits for the previous session to end: that client may have disconnected, but its session
// not yet noticed.
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

// Serve serves until ctx ends, the listener breaks or, with Options.Once, its client has left; then it ends the session,
// frees the agent and waits for it.
func (s *Server) Serve(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(ctx, func() { s.listener.Close() })
	defer stop()

	var current chan struct{} // closed when the session before has ended
	for {
		conn, err := s.listener.Accept()
		if err != nil {
			cancel()
			s.listener.Close()
			if current != nil {
				<-current
			}
			if errors.Is(err, net.ErrClosed) {
				return nil
			}
			return err
		}
		if !free(ctx, current) {
			s.options.Log.Warn("simloid: connection refused", "client", conn.RemoteAddr(), "why", "another client is there")
			s.traffic.Drop(protocols.Full)
			conn.Close()
			continue
		}
		ended := make(chan struct{})
		current = ended
		go func() {
			defer close(ended)
			defer s.rig.Contain("simloid session")
			s.serve(ctx, conn)
			if s.options.Once {
				cancel()
			}
		}()
	}
}

// free reports whether the session that closes current has ended, or ends within the grace.
func free(ctx context.Context, current <-chan struct{}) bool {
	if current == nil {
		return true
	}
	t := time.NewTimer(grace)
	defer t.Stop()
	select {
	case <-current:
		return true
	case <-ctx.Done():
	case <-t.C:
	}
	return false
}

// serve is one session.
func (s *Server) serve(ctx context.Context, conn net.Conn) {
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	defer conn.Close()
	if c, ok := conn.(interface{ SetNoDelay(bool) error }); ok {
		c.SetNoDelay(true) // a status is waited for
	}
	s.mu.Lock()
	robot := s.robot
	s.mu.Unlock()

	log := s.options.Log.With("client", conn.RemoteAddr(), "agent", robot.Agent.Name())
	log.Info("simloid: session")
	c := newSession(ctx, s, conn, robot, log)
	defer c.leave()
	why := c.run()
	log.Info("simloid: session ends", "why", why)
}

// replace sets the robot of future sessions.
func (s *Server) replace(robot *Robot) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.robot = robot
}
